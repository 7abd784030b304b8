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
export interface ExclusiveBlock extends AddressBlock {
  readonly version: 4 | 6;
  readonly subnetId: string;
  readonly isDhcp: boolean;
}

/** Utilization of a subnet in addresses; all except `used` count only usable addresses. */
export interface UtilizationCounts {
  readonly usable: bigint;
  readonly used: bigint;
  readonly dhcp: bigint;
  readonly reserved: bigint;
  readonly inSubnets: bigint;
  readonly free: bigint;
}

/** Utilization including all nested subnets: each address counts in the smallest subnet that contains it. */
export type TotalCounts = Pick<UtilizationCounts, "usable" | "used" | "free">;

/** Position of a subnet in the hierarchy. */
export interface SubnetNode {
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
  /** Distinct host addresses in this subnet, as their smallest containing one, that are assigned to another subnet. */
  readonly others: Array<number | bigint> = [];
  /** Assigned addresses for which this is the smallest containing subnet. */
  contained: Addresses = NONE;

  /** @param cidr canonical */
  constructor(id: string, cidr: string) {
    this.id = id;
    const { version, first, last } = cidrBlock(cidr);
    this.version = version;
    this.first = first;
    this.last = last;
    const isFullyUsable = version === 6 || last - first < 3n;
    this.usable = isFullyUsable ? this : { first: this.first + 1n, last: this.last - 1n };
  }
}

/** Subnets of one network. */
export class AddressSpace {
  private readonly nodes = new Map<string, SpaceNode>();
  private readonly exclusive: readonly ExclusiveBlock[];

  /**
   * @param subnets all of the network, with canonical prefixes
   * @param exclusive all of the network, without overlaps
   */
  constructor(
    subnets: ReadonlyArray<{ readonly id: string; readonly cidr: string }>,
    exclusive: readonly ExclusiveBlock[],
  ) {
    this.exclusive = [...exclusive].sort((a, b) => a.version - b.version || blockOrder(a, b));
    const nodes = subnets.map(({ id, cidr }) => new SpaceNode(id, cidr));
    // Sort order: a prefix, its nested prefixes, then its next sibling.
    nodes.sort((a, b) => a.version - b.version || blockOrder(a, b) || (a.last > b.last ? -1 : 1));
    let enclosing: SpaceNode | null = null;
    for (const node of nodes) {
      while (enclosing !== null && !(enclosing.version === node.version && blockContains(enclosing, node)))
        enclosing = enclosing.parent;
      node.parent = enclosing;
      enclosing?.children.push(node);
      this.nodes.set(node.id, node);
      enclosing = node;
    }
  }

  /** All subnets in address order, each before its nested ones. */
  *inOrder(): Generator<SubnetNode> {
    const depths = new Map<SpaceNode | null, number>([[null, -1]]);
    for (const node of this.nodes.values()) {
      const depth = (depths.get(node.parent) as number) + 1;
      depths.set(node, depth);
      yield { id: node.id, parentId: node.parent?.id ?? null, depth, childCount: node.children.length };
    }
  }

  /** The subnets and all enclosing ones: addresses assigned to any of these may be within the given subnets. */
  withEnclosing(ids: Iterable<string>): string[] {
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
    node.own = addresses.includes(":") ? sortedUnique(addresses.split(",").map(addressNumber)) : ipv4Numbers(addresses);
    if (node.children.length === 0) {
      node.contained = node.own;
      return;
    }
    const contained: Array<number | bigint> = [];
    for (const address of node.own) {
      let smallest: SpaceNode = node;
      for (let next = childWith(node, address); next !== null; next = childWith(next, address)) smallest = next;
      if (smallest === node) contained.push(address);
      else smallest.others.push(address);
    }
    node.contained = contained;
  }

  isIpv6(id: string): boolean {
    return this.nodes.get(id)?.version === 6;
  }

  /** Null for an unknown subnet. */
  countsOf(id: string): UtilizationCounts | null {
    const node = this.nodes.get(id);
    if (node === undefined) return null;
    const { usable } = node;
    const exclusive = this.exclusiveIn(node);
    const blocks = mergedBlocks([...node.children, ...exclusive]);
    const occupied = sum(blocks.map((block) => sharedAddresses(block, usable)));
    const own = exclusive.filter(({ subnetId }) => subnetId === id);
    return {
      usable: sharedAddresses(usable, usable),
      used: BigInt(node.own.length),
      dhcp: sum(own.filter(({ isDhcp }) => isDhcp).map((block) => sharedAddresses(block, usable))),
      reserved: sum(own.filter(({ isDhcp }) => !isDhcp).map((block) => sharedAddresses(block, usable))),
      inSubnets: sum(node.children.map((block) => sharedAddresses(block, usable))),
      free: sharedAddresses(usable, usable) - occupied - BigInt(countOutside(node, blocks)),
    };
  }

  /**
   * Utilization of each subnet including its nested ones. Prefixes are nested or disjoint, so counting each address in
   * its smallest subnet counts it once.
   * @param countsById of all subnets, by id
   */
  totals(countsById: ReadonlyMap<string, UtilizationCounts>): Map<string, TotalCounts> {
    const totals = new Map<string, TotalCounts>();
    // Reverse order visits nested subnets first.
    for (const node of [...this.nodes.values()].reverse()) {
      const { usable, inSubnets, free } = countsById.get(node.id) as UtilizationCounts;
      const inner = node.children.map(({ id }) => totals.get(id) as TotalCounts);
      totals.set(node.id, {
        usable: usable - inSubnets + sum(inner.map((each) => each.usable)),
        used: BigInt(containedAddresses(node).length) + sum(inner.map((each) => each.used)),
        free: free + sum(inner.map((each) => each.free)),
      });
    }
    return totals;
  }

  /** In address order. */
  private exclusiveIn(node: SpaceNode): ExclusiveBlock[] {
    const { exclusive } = this;
    const index = firstIndex(exclusive.length, (each) => {
      const { version, last } = exclusive[each] as ExclusiveBlock;
      return version > node.version || (version === node.version && last >= node.first);
    });
    const found: ExclusiveBlock[] = [];
    for (let each = exclusive[index]; each !== undefined; each = exclusive[index + found.length]) {
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
  const [inner, excluded] = [ends(usable), blocks.map(ends)];
  let [count, index] = [0, 0];
  for (const address of containedAddresses(node)) {
    if (address < inner.first || address > inner.last) continue;
    while (index < excluded.length && (excluded[index] as (typeof excluded)[0]).last < address) index += 1;
    const block = excluded[index];
    if (block === undefined || block.first > address) count += 1;
  }
  return count;
}

/** Distinct host addresses for which this is the smallest containing subnet. */
function containedAddresses({ contained, others }: SpaceNode): Addresses {
  return others.length === 0 ? contained : sortedUnique([...contained, ...others]);
}

function childWith({ children }: SpaceNode, address: number | bigint): SpaceNode | null {
  const index = firstIndex(children.length, (each) => (children[each] as SpaceNode).last >= address);
  const child = children[index];
  return child !== undefined && child.first <= address ? child : null;
}

function sortedUnique(addresses: ReadonlyArray<number | bigint>): Addresses {
  const isSmall = addresses.every((address) => typeof address === "number");
  const sorted = isSmall
    ? Uint32Array.from(addresses as readonly number[]).sort()
    : [...addresses].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let count = 0;
  for (const address of sorted) if (count === 0 || sorted[count - 1] !== address) sorted[count++] = address;
  return sorted instanceof Uint32Array ? sorted.subarray(0, count) : sorted.slice(0, count);
}

/** The first index at which a monotonic condition holds; `length` for none. */
function firstIndex(length: number, predicate: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (predicate(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
