// How full subnets are, in plain numbers: prefixes within one another, what lies in them, and what is left. Pure.

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

/** A range that has its addresses for itself. */
export interface ClaimedBlock extends AddressBlock {
  readonly version: 4 | 6;
  readonly subnetId: string;
  readonly isDhcp: boolean;
}

/** How full a subnet is, in addresses; all but `used` are of those that are usable. */
export interface Fullness {
  readonly usable: bigint;
  readonly used: bigint;
  readonly dhcp: bigint;
  readonly reserved: bigint;
  readonly inSubnets: bigint;
  readonly free: bigint;
}

/** The same of a subnet with all that are within it: each address counts in the smallest one that it lies in. */
export type WholeFullness = Pick<Fullness, "usable" | "used" | "free">;

/** Where a subnet is among the others. */
export interface PlacedSubnet {
  readonly id: string;
  /** The smallest one around it; null for none. */
  readonly parentId: string | null;
  /** How many are around it. */
  readonly depth: number;
  /** How many are right within it. */
  readonly childCount: number;
}

/** Addresses as numbers, ascending and each once; in IPv4 those that are no big ones, which are much faster. */
type Addresses = readonly (number | bigint)[] | Uint32Array;
const NONE: Addresses = [];

/** A subnet and those within it. */
class SpaceNode implements AddressBlock {
  readonly id: string;
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  /** Without the network's and the broadcast address in IPv4, but for /31 (RFC 3021) and /32. */
  readonly usable: AddressBlock;
  parent: SpaceNode | null = null;
  /** Those right within it, in the order of their addresses. */
  readonly children: SpaceNode[] = [];
  /** The different addresses that say to be in it. */
  own: Addresses = NONE;
  /** The different addresses of hosts that lie in it and in no smaller subnet, but for those of its own that do. */
  readonly others: Array<number | bigint> = [];
  /** Those of its own. */
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

/** The subnets of one network. */
export class AddressSpace {
  private readonly nodes = new Map<string, SpaceNode>();
  private readonly claimed: readonly ClaimedBlock[];

  /**
   * @param subnets all of the network; their prefixes canonical
   * @param claimed all of the network: no two share an address
   */
  constructor(
    subnets: ReadonlyArray<{ readonly id: string; readonly cidr: string }>,
    claimed: readonly ClaimedBlock[],
  ) {
    this.claimed = [...claimed].sort((a, b) => a.version - b.version || blockOrder(a, b));
    const nodes = subnets.map(({ id, cidr }) => new SpaceNode(id, cidr));
    // A prefix comes before those within it, and these before the next one beside it.
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

  /** All of them, each before those within it, in the order of their addresses. */
  *inOrder(): Generator<PlacedSubnet> {
    const depths = new Map<SpaceNode | null, number>([[null, -1]]);
    for (const node of this.nodes.values()) {
      const depth = (depths.get(node.parent) as number) + 1;
      depths.set(node, depth);
      yield { id: node.id, parentId: node.parent?.id ?? null, depth, childCount: node.children.length };
    }
  }

  /** The subnets themselves and all around them: whose addresses may lie in them. */
  withThoseAround(ids: Iterable<string>): string[] {
    const found = new Set<string>();
    for (const id of ids)
      for (let node = this.nodes.get(id) ?? null; node !== null && !found.has(node.id); node = node.parent)
        found.add(node.id);
    return [...found];
  }

  /**
   * Counts the addresses of hosts that say to be in a subnet: once for each subnet.
   * @param addresses canonical, with commas between them
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

  /** Null for a subnet that is not there. */
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
   * How full each is with those within it. Prefixes nest or lie apart, so that what is counted in the smallest of them
   * is counted once.
   * @param fullnesses of all, by id
   */
  wholes(fullnesses: ReadonlyMap<string, Fullness>): Map<string, WholeFullness> {
    const wholes = new Map<string, WholeFullness>();
    // Those within a subnet stand behind it.
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

  /** In order. */
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

/** The usable addresses of hosts in a subnet that lie in none of these blocks. @param blocks in order, apart */
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

/** The different addresses of hosts that lie in a subnet and in no smaller one. */
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

/** The first place that a condition holds at, which holds at all after it; `length` for none. */
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
