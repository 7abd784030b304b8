// Row layout of a subnet from its first to its last address, with the state of each. Pure.

import {
  type AddressBlock,
  addressNumber,
  blockContains,
  blockOrder,
  blockSize,
  prefixBlock,
} from "../../base/address-block.ts";
import { type Cidr, parseCidr } from "../../base/ip.ts";
import { wordList } from "../../base/word-list.ts";
import { RANGE_PURPOSES } from "../../resources/ip-ranges/range-purpose.ts";
import { reservedAddresses } from "../../resources/subnets/free-space.ts";
import type { PastRange, SubnetOfNetwork } from "./subnet-at.ts";

/** State of an address: the first that applies. */
export const ADDRESS_STATES = wordList("Subnet Gateway Used Network Broadcast Dhcp Reserved Static Other Seen Free");
export type AddressState = (typeof ADDRESS_STATES)[number];

/** Up to this number of addresses in a subnet, or part of one, each has its own row. */
export const ROW_EACH_MAX = 4_096;

/** Precedence of overlapping ranges: by purpose, then smaller before larger, then by start. */
const RANGE_PRECEDENCE = ["Gateway", ...RANGE_PURPOSES.filter((purpose) => purpose !== "Gateway")];

export interface UsedAddress {
  readonly at: bigint;
  /** Numbers of the address records; empty if it was only seen. */
  readonly ns: readonly number[];
}

/** Consecutive addresses with the same state; an address in use or seen has its own row. */
export interface AddressRow extends AddressBlock {
  readonly state: AddressState;
  readonly range: PastRange | null;
  /** Nested subnet that contains them: one row. */
  readonly within: SubnetOfNetwork | null;
  readonly ns: readonly number[];
}

/** Consecutive addresses in the same range and nested subnet, regardless of hosts. */
type Segment = Omit<AddressRow, "state" | "ns"> & { readonly edge: "Network" | "Broadcast" | null };

/**
 * @param part of the subnet to lay out; rows are cut off at its ends
 * @param used addresses in that part, in order
 */
export function* addressRows(
  cidr: string,
  part: AddressBlock,
  context: { readonly within: readonly SubnetOfNetwork[]; readonly ranges: readonly PastRange[] },
  used: readonly UsedAddress[],
): Generator<AddressRow> {
  const isPerAddress = blockSize(part) <= BigInt(ROW_EACH_MAX);
  let next = 0;
  for (const segment of segmentsOf(parseCidr(cidr) as Cidr, context)) {
    const { range, within, edge } = segment;
    const first = segment.first < part.first ? part.first : segment.first;
    const last = segment.last > part.last ? part.last : segment.last;
    if (first > last) continue;
    if (within !== null) {
      yield { first, last, state: "Subnet", range, within, ns: [] };
      // Addresses of a nested subnet are listed by its own report.
      while ((used[next]?.at ?? last + 1n) <= last) next += 1;
      continue;
    }
    const isGateway = range?.purpose === "Gateway";
    const state = isGateway ? "Gateway" : (edge ?? range?.purpose ?? "Free");
    let from = first;
    while (from <= last) {
      const entry = used[next];
      if (entry !== undefined && entry.at === from) {
        const unassigned = state === "Free" ? "Seen" : state;
        const ownState = entry.ns.length === 0 ? unassigned : isGateway ? "Gateway" : "Used";
        yield { first: from, last: from, state: ownState, range, within, ns: entry.ns };
        next += 1;
        from += 1n;
        continue;
      }
      const end = isPerAddress ? from : entry === undefined || entry.at > last ? last : entry.at - 1n;
      yield { first: from, last: end, state, range, within, ns: [] };
      from = end + 1n;
    }
  }
}

interface OwnedBlock<T> extends AddressBlock {
  readonly owner: T;
}

/** Rows in order, each as long as possible. */
function segmentsOf(
  subnetCidr: Cidr,
  { within, ranges }: { readonly within: readonly SubnetOfNetwork[]; readonly ranges: readonly PastRange[] },
): Segment[] {
  const all = prefixBlock(subnetCidr);
  const subnets = outermost(within.map((owner) => ({ ...prefixBlock(parseCidr(owner.cidr) as Cidr), owner })));
  const blocks = ranges
    .filter(({ first }) => first.includes(":") === (subnetCidr.version === 6))
    .map((owner) => ({ first: addressNumber(owner.first), last: addressNumber(owner.last), owner }))
    .filter(({ first, last }) => first <= all.last && last >= all.first)
    .sort(blockOrder);
  const { network, broadcast } = reservedAddresses(subnetCidr);
  const points = new Set([all.first]);
  const unassignable = [network, broadcast].filter((at) => at !== null).map((at) => ({ first: at, last: at }));
  for (const { first, last } of [...subnets, ...blocks, ...unassignable]) {
    if (first > all.first) points.add(first);
    if (last < all.last) points.add(last + 1n);
  }
  const starts = [...points].sort((a, b) => (a < b ? -1 : 1));
  let active: Array<OwnedBlock<PastRange>> = [];
  let [nextRange, nextSubnet] = [0, 0];
  const found: Segment[] = [];
  for (const [index, first] of starts.entries()) {
    const last = (starts[index + 1] ?? all.last + 1n) - 1n;
    active = active.filter((range) => range.last >= first);
    for (let range = blocks[nextRange]; range !== undefined && range.first <= first; range = blocks[nextRange]) {
      if (range.last >= first) active.push(range);
      nextRange += 1;
    }
    while ((subnets[nextSubnet]?.last ?? first) < first) nextSubnet += 1;
    const subnet = subnets[nextSubnet];
    const inSubnet = subnet !== undefined && subnet.first <= first ? subnet.owner : null;
    const edge = first === network ? "Network" : first === broadcast ? "Broadcast" : null;
    const segment: Segment =
      inSubnet === null
        ? { first, last, range: dominantRange(active), within: null, edge }
        : { first, last, range: null, within: inSubnet, edge: null };
    const previous = found.at(-1);
    if (previous !== undefined && isAlike(previous, segment)) found[found.length - 1] = { ...previous, last };
    else found.push(segment);
  }
  return found;
}

function isAlike(left: Segment, right: Segment): boolean {
  return left.range === right.range && left.within === right.within && left.edge === right.edge;
}

/** Outermost prefixes, in order. Prefixes are either nested or disjoint. */
function outermost<T>(blocks: ReadonlyArray<OwnedBlock<T>>): Array<OwnedBlock<T>> {
  const found: Array<OwnedBlock<T>> = [];
  for (const each of [...blocks].sort((a, b) => blockOrder(a, b) || (a.last > b.last ? -1 : 1))) {
    const enclosing = found.at(-1);
    if (enclosing === undefined || !blockContains(enclosing, each)) found.push(each);
  }
  return found;
}

function dominantRange(active: ReadonlyArray<OwnedBlock<PastRange>>): PastRange | null {
  let best: OwnedBlock<PastRange> | null = null;
  for (const each of active) if (best === null || precedes(each, best)) best = each;
  return best?.owner ?? null;
}

function precedes(left: OwnedBlock<PastRange>, right: OwnedBlock<PastRange>): boolean {
  const rank = ({ owner }: OwnedBlock<PastRange>) => RANGE_PRECEDENCE.indexOf(owner.purpose);
  if (rank(left) !== rank(right)) return rank(left) < rank(right);
  const [size, otherSize] = [blockSize(left), blockSize(right)];
  return size === otherSize ? left.first < right.first : size < otherSize;
}
