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
import { RANGE_PURPOSES } from "../../resources/ip-ranges/range-purpose.ts";
import { addressesOfNobody } from "../../resources/subnets/free-space.ts";
import type { RangeThen, SubnetOfNetwork } from "./subnet-then.ts";

/** State of an address: the first that applies. */
export const ADDRESS_STATES = [
  "Subnet",
  "Gateway",
  "Used",
  "Network",
  "Broadcast",
  "Dhcp",
  "Reserved",
  "Static",
  "Other",
  "Free",
] as const;
export type AddressState = (typeof ADDRESS_STATES)[number];

/** Up to this number of addresses in a subnet, or part of one, each has its own row. */
export const ROW_EACH_MAX = 4_096;

/** Precedence of overlapping ranges: by purpose, then the smaller one, then the one that begins first. */
const TOLD_FIRST = ["Gateway", ...RANGE_PURPOSES.filter((purpose) => purpose !== "Gateway")];

export interface UsedAddress {
  readonly at: bigint;
  /** Numbers of the address records. */
  readonly ns: readonly number[];
}

/** Consecutive addresses with the same state; an address in use has its own row. */
export interface AddressRow extends AddressBlock {
  readonly state: AddressState;
  readonly range: RangeThen | null;
  /** Nested subnet that contains them: one row. */
  readonly within: SubnetOfNetwork | null;
  readonly ns: readonly number[];
}

/** Consecutive addresses in the same range and nested subnet, regardless of hosts. */
type Stretch = Omit<AddressRow, "state" | "ns"> & { readonly edge: "Network" | "Broadcast" | null };

/**
 * @param part of the subnet; rows are cut off at its ends
 * @param used in that part, in order
 */
export function* addressRows(
  cidr: string,
  part: AddressBlock,
  then: { readonly within: readonly SubnetOfNetwork[]; readonly ranges: readonly RangeThen[] },
  used: readonly UsedAddress[],
): Generator<AddressRow> {
  const isEach = blockSize(part) <= BigInt(ROW_EACH_MAX);
  let next = 0;
  for (const stretch of stretches(parseCidr(cidr) as Cidr, then)) {
    const { range, within, edge } = stretch;
    const first = stretch.first < part.first ? part.first : stretch.first;
    const last = stretch.last > part.last ? part.last : stretch.last;
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
      const one = used[next];
      if (one !== undefined && one.at === from) {
        yield { first: from, last: from, state: isGateway ? "Gateway" : "Used", range, within, ns: one.ns };
        next += 1;
        from += 1n;
        continue;
      }
      const end = isEach ? from : one === undefined || one.at > last ? last : one.at - 1n;
      yield { first: from, last: end, state, range, within, ns: [] };
      from = end + 1n;
    }
  }
}

interface Laid<T> extends AddressBlock {
  readonly of: T;
}

/** In order, each as long as possible. */
function stretches(
  whole: Cidr,
  { within, ranges }: { readonly within: readonly SubnetOfNetwork[]; readonly ranges: readonly RangeThen[] },
): Stretch[] {
  const all = prefixBlock(whole);
  const subnets = outermost(within.map((of) => ({ ...prefixBlock(parseCidr(of.cidr) as Cidr), of })));
  const laid = ranges
    .filter(({ first }) => first.includes(":") === (whole.version === 6))
    .map((of) => ({ first: addressNumber(of.first), last: addressNumber(of.last), of }))
    .filter(({ first, last }) => first <= all.last && last >= all.first)
    .sort(blockOrder);
  const { network, broadcast } = addressesOfNobody(whole);
  const points = new Set([all.first]);
  const nobodys = [network, broadcast].filter((at) => at !== null).map((at) => ({ first: at, last: at }));
  for (const { first, last } of [...subnets, ...laid, ...nobodys]) {
    if (first > all.first) points.add(first);
    if (last < all.last) points.add(last + 1n);
  }
  const starts = [...points].sort((a, b) => (a < b ? -1 : 1));
  let open: Array<Laid<RangeThen>> = [];
  let [nextRange, nextSubnet] = [0, 0];
  const found: Stretch[] = [];
  for (const [place, first] of starts.entries()) {
    const last = (starts[place + 1] ?? all.last + 1n) - 1n;
    open = open.filter((range) => range.last >= first);
    for (let range = laid[nextRange]; range !== undefined && range.first <= first; range = laid[nextRange]) {
      if (range.last >= first) open.push(range);
      nextRange += 1;
    }
    while ((subnets[nextSubnet]?.last ?? first) < first) nextSubnet += 1;
    const subnet = subnets[nextSubnet];
    const inSubnet = subnet !== undefined && subnet.first <= first ? subnet.of : null;
    const edge = first === network ? "Network" : first === broadcast ? "Broadcast" : null;
    const stretch: Stretch =
      inSubnet === null
        ? { first, last, range: told(open), within: null, edge }
        : { first, last, range: null, within: inSubnet, edge: null };
    const previous = found.at(-1);
    if (previous !== undefined && isAlike(previous, stretch)) found[found.length - 1] = { ...previous, last };
    else found.push(stretch);
  }
  return found;
}

function isAlike(one: Stretch, other: Stretch): boolean {
  return one.range === other.range && one.within === other.within && one.edge === other.edge;
}

/** Outermost prefixes in order: prefixes are nested or disjoint. */
function outermost<T>(laid: ReadonlyArray<Laid<T>>): Array<Laid<T>> {
  const found: Array<Laid<T>> = [];
  for (const each of [...laid].sort((a, b) => blockOrder(a, b) || (a.last > b.last ? -1 : 1))) {
    const around = found.at(-1);
    if (around === undefined || !blockContains(around, each)) found.push(each);
  }
  return found;
}

function told(open: ReadonlyArray<Laid<RangeThen>>): RangeThen | null {
  let best: Laid<RangeThen> | null = null;
  for (const each of open) if (best === null || comesBefore(each, best)) best = each;
  return best?.of ?? null;
}

function comesBefore(one: Laid<RangeThen>, other: Laid<RangeThen>): boolean {
  const rank = ({ of }: Laid<RangeThen>) => TOLD_FIRST.indexOf(of.purpose);
  if (rank(one) !== rank(other)) return rank(one) < rank(other);
  const [size, otherSize] = [blockSize(one), blockSize(other)];
  return size === otherSize ? one.first < other.first : size < otherSize;
}
