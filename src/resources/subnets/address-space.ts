// Subnet utilization arithmetic: nested prefixes, their content and the free addresses. Pure.

import {
  type AddressBlock,
  addressNumber,
  blockContains,
  blockOrder,
  cidrBlock,
  ipv4Numbers,
  mergedBlocks,
  sharedAddresses,
} from "../../base/address-block.ts";

/** A range that reserves its addresses exclusively. */
export interface ClaimedBlock extends AddressBlock {
  readonly version: 4 | 6;
  readonly subnetId: string;
  readonly isDhcp: boolean;
}

/** Utilization of a subnet in addresses; all except `used` count only usable addresses. */
export interface Fullness {
  readonly usable: bigint;
  readonly used: bigint;
  readonly dhcp: bigint;
  readonly reserved: bigint;
  readonly inSubnets: bigint;
  readonly free: bigint;
}

/** Utilization including all nested subnets: each address counts in the smallest subnet that contains it. */
export type WholeFullness = Pick<Fullness, "usable" | "used" | "free">;

/** Position of a subnet in the hierarchy. */
export interface PlacedSubnet {
  readonly id: string;
  /** The smallest enclosing subnet; null for none. */
  readonly parentId: string | null;
  /** Number of enclosing subnets. */
  readonly depth: number;
  /** Number of direct children. */
  readonly childCount: number;
}

/** Sorted distinct addresses as numbers; IPv4 uses plain numbers, which are much faster than bigints. */
type Addresses = readonly (number | bigint)[] | Uint32Array;
const NONE: Addresses = [];

/** A subnet with its nested subnets. */
class SpaceNode implements AddressBlock {
  readonly id: string;
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  /** Excludes the network and broadcast address in IPv4, except in /31 (RFC 3021) and /32. */
  readonly usable: AddressBlock;
  parent: SpaceNode | null = null;
  /** Direct children in address order. */
  readonly children: SpaceNode[] = [];
  /** Distinct addresses assigned to this subnet. */
  own: Addresses = NONE;
  /** Distinct host addresses whose smallest containing subnet is this one, assigned to another subnet. */
  readonly others: Array<number | bigint> = [];
  /** Assigned addresses for which this is the smallest containing subnet. */
  lying: Addresses = NONE;

  /** @param cidr canonical */
  constructor(id: string, cidr: string) {
    this.id = id;
    const { version, first, last } = cidrBlock(cidr);
    this.version = version;
    this.first = first;
    this.last = last;
    const isWhole = version === 6 || last - first < 3n;
    this.usable = isWhole ? this : { first: this.first + 1n, last: this.last - 1n };
  }
}

/** Subnets of one network. */
export class AddressSpace {
  private readonly nodes = new Map<string, SpaceNode>();
  private readonly claimed: readonly ClaimedBlock[];

  /**
   * @param subnets all of the network, with canonical prefixes
   * @param claimed all of the network, without overlaps
   */
  constructor(
    subnets: ReadonlyArray<{ readonly id: string; readonly cidr: string }>,
    claimed: readonly ClaimedBlock[],
  ) {
    this.claimed = [...claimed].sort((a, b) => a.version - b.version || blockOrder(a, b));
    const nodes = subnets.map(({ id, cidr }) => new SpaceNode(id, cidr));
    // Sort order: a prefix, its nested prefixes, then its next sibling.
    nodes.sort((a, b) => a.version - b.version || blockOrder(a, b) || (a.last > b.last ? -1 : 1));
    let around: SpaceNode | null = null;
    for (const node of nodes) {
      while (around !== null && !(around.version === node.version && blockContains(around, node)))
        around = around.parent;
      node.parent = around;
      around?.children.push(node);
      this.nodes.set(node.id, node);
      around = node;
    }
  }

  /** All subnets in address order, each before its nested ones. */
  *inOrder(): Generator<PlacedSubnet> {
    const depths = new Map<SpaceNode | null, number>([[null, -1]]);
    for (const node of this.nodes.values()) {
      const depth = (depths.get(node.parent) as number) + 1;
      depths.set(node, depth);
      yield { id: node.id, parentId: node.parent?.id ?? null, depth, childCount: node.children.length };
    }
  }

  /** The subnets and all enclosing ones: addresses assigned to any of these may be within the given subnets. */
  withThoseAround(ids: Iterable<string>): string[] {
    const found = new Set<string>();
    for (const id of ids)
      for (let node = this.nodes.get(id) ?? null; node !== null && !found.has(node.id); node = node.parent)
        found.add(node.id);
    return [...found];
  }

  /**
   * Adds the addresses of hosts assigned to a subnet; call once per subnet.
   * @param addresses canonical, comma-separated
   */
  add(subnetId: string, addresses: string): void {
    const node = this.nodes.get(subnetId);
    if (node === undefined) return;
    node.own = addresses.includes(":") ? sortedOnce(addresses.split(",").map(addressNumber)) : ipv4Numbers(addresses);
    if (node.children.length === 0) {
      node.lying = node.own;
      return;
    }
    const lying: Array<number | bigint> = [];
    for (const at of node.own) {
      let smallest: SpaceNode = node;
      for (let next = childWith(node, at); next !== null; next = childWith(next, at)) smallest = next;
      if (smallest === node) lying.push(at);
      else smallest.others.push(at);
    }
    node.lying = lying;
  }

  isSix(id: string): boolean {
    return this.nodes.get(id)?.version === 6;
  }

  /** Null for an unknown subnet. */
  fullnessOf(id: string): Fullness | null {
    const node = this.nodes.get(id);
    if (node === undefined) return null;
    const { usable } = node;
    const claimed = this.claimedIn(node);
    const blocks = mergedBlocks([...node.children, ...claimed]);
    const taken = sum(blocks.map((block) => sharedAddresses(block, usable)));
    const own = claimed.filter(({ subnetId }) => subnetId === id);
    return {
      usable: sharedAddresses(usable, usable),
      used: BigInt(node.own.length),
      dhcp: sum(own.filter(({ isDhcp }) => isDhcp).map((block) => sharedAddresses(block, usable))),
      reserved: sum(own.filter(({ isDhcp }) => !isDhcp).map((block) => sharedAddresses(block, usable))),
      inSubnets: sum(node.children.map((block) => sharedAddresses(block, usable))),
      free: sharedAddresses(usable, usable) - taken - BigInt(countOutside(node, blocks)),
    };
  }

  /**
   * Utilization of each subnet including its nested ones. Prefixes are nested or disjoint, so counting each address in
   * its smallest subnet counts it once.
   * @param fullnesses of all subnets, by id
   */
  wholes(fullnesses: ReadonlyMap<string, Fullness>): Map<string, WholeFullness> {
    const wholes = new Map<string, WholeFullness>();
    // Reverse order visits nested subnets first.
    for (const node of [...this.nodes.values()].reverse()) {
      const { usable, inSubnets, free } = fullnesses.get(node.id) as Fullness;
      const within = node.children.map(({ id }) => wholes.get(id) as WholeFullness);
      wholes.set(node.id, {
        usable: usable - inSubnets + sum(within.map((each) => each.usable)),
        used: BigInt(lyingIn(node).length) + sum(within.map((each) => each.used)),
        free: free + sum(within.map((each) => each.free)),
      });
    }
    return wholes;
  }

  /** In address order. */
  private claimedIn(node: SpaceNode): ClaimedBlock[] {
    const { claimed } = this;
    const place = firstPlace(claimed.length, (each) => {
      const { version, last } = claimed[each] as ClaimedBlock;
      return version > node.version || (version === node.version && last >= node.first);
    });
    const found: ClaimedBlock[] = [];
    for (let each = claimed[place]; each !== undefined; each = claimed[place + found.length]) {
      if (each.version !== node.version || each.first > node.last) break;
      found.push(each);
    }
    return found;
  }
}

/** Usable host addresses of a subnet outside these blocks. @param blocks in order, disjoint */
function countOutside(node: SpaceNode, blocks: readonly AddressBlock[]): number {
  const { version, usable } = node;
  const ends = ({ first, last }: AddressBlock) =>
    version === 4 ? { first: Number(first), last: Number(last) } : { first, last };
  const [within, apart] = [ends(usable), blocks.map(ends)];
  let [count, place] = [0, 0];
  for (const at of lyingIn(node)) {
    if (at < within.first || at > within.last) continue;
    while (place < apart.length && (apart[place] as (typeof apart)[0]).last < at) place += 1;
    const block = apart[place];
    if (block === undefined || block.first > at) count += 1;
  }
  return count;
}

/** Distinct host addresses for which this is the smallest containing subnet. */
function lyingIn({ lying, others }: SpaceNode): Addresses {
  return others.length === 0 ? lying : sortedOnce([...lying, ...others]);
}

function childWith({ children }: SpaceNode, at: number | bigint): SpaceNode | null {
  const place = firstPlace(children.length, (each) => (children[each] as SpaceNode).last >= at);
  const child = children[place];
  return child !== undefined && child.first <= at ? child : null;
}

function sortedOnce(addresses: ReadonlyArray<number | bigint>): Addresses {
  const isSmall = addresses.every((at) => typeof at === "number");
  const sorted = isSmall
    ? Uint32Array.from(addresses as readonly number[]).sort()
    : [...addresses].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let count = 0;
  for (const at of sorted) if (count === 0 || sorted[count - 1] !== at) sorted[count++] = at;
  return sorted instanceof Uint32Array ? sorted.subarray(0, count) : sorted.slice(0, count);
}

/** The first index at which a monotonic condition holds; `length` for none. */
function firstPlace(length: number, holds: (place: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
