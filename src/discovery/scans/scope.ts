// Scope of a scan: the addresses that it may poll, derived from its targets or the network's subnets. Pure; every
// polled address is checked here. Independent of how addresses are polled.

import { parseIp } from "../../base/ip.ts";
import { SKIPPED_TYPES, type SubnetType } from "../../resources/subnets/subnet-type.ts";
import {
  addressText,
  type Block,
  type BlockRange,
  blockOf,
  type EvaluatedBlock,
  edgesOf,
  FORBIDDEN,
  interior,
  intersect,
  isCovering,
  mostSpecific,
  numberOf,
  union,
  withoutForbidden,
} from "./address-blocks.ts";
import { SCANNED_SUBNETS } from "./scan.ts";

/** A larger IPv4 target or subnet is walked only on request. */
const LARGEST_PREFIX_V4 = 16;
/** A larger IPv6 target or subnet is never walked: it would not end in a lifetime. */
const LARGEST_PREFIX_V6 = 112;
/** Maximum addresses per scan, regardless of the request: a /12. */
export const SCAN_ADDRESSES_MAX = 1_048_576;

/**
 * Addresses that only this machine reaches: itself and cloud metadata (169.254.169.254), regardless of the type of a
 * subnet with these addresses. Users who may write subnets must not see these.
 */
const MACHINE_LOCAL_ADDRESSES: readonly Block[] = ["127.0.0.0/8", "::1", "169.254.0.0/16", "fd00:ec2::254"].flatMap(
  (text) => blockOf(text) ?? [],
);

export interface KnownSubnet {
  readonly cidr: string;
  readonly subnet_type: SubnetType;
}

/** Part of a network that is not walked. */
interface SkippedBlock {
  readonly cidr: string;
  /** One clause. */
  readonly reason: string;
}

/** Rejected target. */
interface TargetProblem {
  /** Index in the list. */
  readonly index: number;
  /** Predicate of a sentence: "is larger than …". */
  readonly message: string;
}

export class Scope {
  /** Number of addresses to walk. */
  readonly total: number;
  readonly skipped: readonly SkippedBlock[];
  /** Ascending ranges without overlaps. */
  private readonly ranges: readonly BlockRange[];
  /** Addresses that denote a whole subnet, not a host. */
  private readonly edges: Edges;
  private readonly namedTargets: ReadonlySet<string>;

  private constructor(
    ranges: readonly BlockRange[],
    edges: Edges,
    skipped: readonly SkippedBlock[],
    namedTargets: ReadonlySet<string>,
  ) {
    this.ranges = ranges;
    this.edges = edges;
    this.skipped = skipped;
    this.namedTargets = namedTargets;
    this.total = enumeratedRanges(ranges).reduce(
      (sum, range) => sum + Number(range.last - range.first + 1n) - edges.countIn(range),
      0,
    );
  }

  /**
   * Builds the scope of validated targets.
   * @param subnets of the network: their broadcast addresses are skipped
   * @param knownAddresses addresses that hosts have, even if they look like edges
   * @param isWithinSubnets drops addresses that a scan of the subnets may not poll, for callers limited to these
   */
  static ofTargets(
    targets: readonly string[],
    subnets: readonly KnownSubnet[] = [],
    knownAddresses: ReadonlySet<string> = new Set(),
    isWithinSubnets = false,
  ): Scope {
    const blocks = targets.map((text) => blockOf(text)).filter((block) => block !== null);
    const namedTargets = blocks
      .filter((block) => block.isAddress)
      .map((block) => addressText(block.version, block.first));
    const requested = union(blocks.map(interior).flatMap(withoutForbidden));
    return new Scope(
      isWithinSubnets ? intersect(requested, allowedRanges(subnets)) : requested,
      Edges.of(blocksOf(subnets), knownAddresses),
      isWithinSubnets
        ? targetsOutside(targets, subnets).map((cidr) => ({
            cidr,
            reason: `not all of it is still inside ${SCANNED_SUBNETS}: only an Admin can name the rest`,
          }))
        : [],
      new Set(namedTargets),
    );
  }

  /**
   * Builds the scope of a network's subnets. The most specific subnet of an address decides. Subnets that are too large
   * are not walked, but their known addresses may still be polled.
   */
  static ofSubnets(subnets: readonly KnownSubnet[], knownAddresses: ReadonlySet<string> = new Set()): Scope {
    const skipped: SkippedBlock[] = [];
    const evaluated = subnets.flatMap((subnet) => {
      const block = evaluateSubnet(subnet);
      if (block === null) return [];
      const { isMachineLocal, isAllowed, tooLarge } = block;
      // Every machine has loopback and link-local addresses: do not report those.
      const isReportable = subnet.subnet_type !== "Loopback" && forbiddenReason(block) === null;
      if (!isAllowed && isReportable)
        skipped.push({
          cidr: subnet.cidr,
          reason: `${isMachineLocal ? "a range that only this machine reaches" : `a subnet of type ${subnet.subnet_type}`} is scanned only as a named target`,
        });
      if (tooLarge !== null && isReportable)
        skipped.push({
          cidr: subnet.cidr,
          reason: `larger than ${tooLarge}: only its known addresses are scanned${block.version === 4 ? "; name it as a target with allow_large" : ""}`,
        });
      return [block];
    });
    const ranges: BlockRange[] = [];
    let total = 0;
    let isFull = false;
    for (const range of evaluatedRanges(evaluated)) {
      const size = Number(range.last - range.first + 1n);
      if (!range.isEnumerated || total + size <= SCAN_ADDRESSES_MAX) {
        if (range.isEnumerated) total += size;
        ranges.push(range);
        continue;
      }
      ranges.push({ ...range, isEnumerated: false });
      if (!isFull)
        skipped.push({
          cidr: range.cidr,
          reason: `from here on the scan would have more than ${SCAN_ADDRESSES_MAX} addresses; only known addresses are scanned there`,
        });
      isFull = true;
    }
    return new Scope(ranges, Edges.of(evaluated, knownAddresses), skipped, new Set());
  }

  /** True if the address may be polled at all. */
  contains(address: string): boolean {
    const ip = parseIp(address);
    if (ip === null) return false;
    const number = numberOf(ip);
    const range = this.rangeOf(ip.version, number);
    return range?.isAllowed === true && !this.edges.has(ip.version, number);
  }

  /** True if the address is among those walked. */
  enumerates(address: string): boolean {
    const ip = parseIp(address);
    if (ip === null) return false;
    const number = numberOf(ip);
    return this.rangeOf(ip.version, number)?.isEnumerated === true && !this.edges.has(ip.version, number);
  }

  /** Returns the single-address targets that may be polled. */
  get namedAddresses(): string[] {
    return [...this.namedTargets].filter((address) => this.contains(address));
  }

  /** True if the address is itself a target. */
  isTarget(address: string): boolean {
    return this.namedTargets.has(address);
  }

  /** Returns the walked blocks, ascending, as their first and last addresses. */
  get walkedBlocks(): Array<readonly [first: string, last: string]> {
    return enumeratedRanges(this.ranges).map(({ version, first, last }) => [
      addressText(version, first),
      addressText(version, last),
    ]);
  }

  /** Yields each walked address once: IPv4 before IPv6, in numeric order. */
  *addresses(): Generator<string> {
    for (const range of enumeratedRanges(this.ranges)) {
      for (let number = range.first; number <= range.last; number += 1n) {
        if (!this.edges.has(range.version, number)) yield addressText(range.version, number);
      }
    }
  }

  private rangeOf(version: 4 | 6, number: bigint): BlockRange | null {
    let low = 0;
    let high = this.ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const range = this.ranges[middle] as BlockRange;
      if (range.version < version || (range.version === version && range.last < number)) low = middle + 1;
      else if (range.version > version || range.first > number) high = middle - 1;
      else return range;
    }
    return null;
  }
}

/**
 * Validates targets, each an address or a CIDR.
 * @param allowLarge true to allow IPv4 targets above /16; null if the caller has no such option
 */
export function targetProblems(targets: readonly string[], allowLarge: boolean | null): TargetProblem[] {
  const problems: TargetProblem[] = [];
  const valid: Block[] = [];
  for (const [index, text] of targets.entries()) {
    const block = blockOf(text);
    const message =
      block === null
        ? "must be an IP address or a CIDR without host bits, such as 10.2.3.4 or 10.2.3.0/24"
        : problemOf(block, allowLarge);
    if (message !== null) problems.push({ index, message });
    else if (block !== null) valid.push(block);
  }
  const count = union(valid).reduce((sum, range) => sum + Number(range.last - range.first + 1n), 0);
  if (problems.length === 0 && count > SCAN_ADDRESSES_MAX)
    problems.push({
      index: 0,
      message: `is one of the targets, which have ${count} addresses in total; a scan takes at most ${SCAN_ADDRESSES_MAX}`,
    });
  return problems;
}

/**
 * Returns targets that reach beyond a scan of the network's subnets: outside all subnets, in one of a skipped type, or
 * at addresses that only this machine reaches. As the caller wrote them.
 */
export function targetsOutside(targets: readonly string[], subnets: readonly KnownSubnet[]): string[] {
  const allowed = allowedRanges(subnets);
  return targets.filter((text) => {
    const block = blockOf(text);
    return block === null || !allowed.some((range) => isCovering(range, block));
  });
}

/** Validates the targets of a schedule, which has no `allow_large`. */
export function scheduledTargetProblems(targets: readonly string[]): TargetProblem[] {
  return targetProblems(targets, null);
}

function problemOf(block: Block, allowLarge: boolean | null): string | null {
  const allowed = largerThanAllowed(block, allowLarge === true);
  if (allowed !== null) {
    return block.version === 6
      ? `is larger than ${allowed}, the limit for IPv6; name smaller blocks or single addresses`
      : `is larger than ${allowed}; name smaller blocks${allowLarge === null ? "" : ", or set allow_large"}`;
  }
  const forbiddenBlock = forbiddenReason(block);
  return forbiddenBlock === null ? null : `is ${forbiddenBlock}`;
}

/** Returns the reason if no host may have any address of the block; else null. */
function forbiddenReason(block: Block): string | null {
  return FORBIDDEN.find((each) => isCovering(each, block))?.description ?? null;
}

/** Returns the largest prefix allowed; null if the block is not larger. */
function largerThanAllowed(block: Block, allowLarge: boolean): string | null {
  if (block.version === 6) return block.prefixLength < LARGEST_PREFIX_V6 ? `/${LARGEST_PREFIX_V6}` : null;
  return block.prefixLength < LARGEST_PREFIX_V4 && !allowLarge ? `/${LARGEST_PREFIX_V4}` : null;
}

interface EvaluatedSubnet extends EvaluatedBlock {
  /** True for addresses that only this machine reaches. */
  readonly isMachineLocal: boolean;
  /** Largest prefix walked, if this subnet is larger; else null. */
  readonly tooLarge: string | null;
}

/** Determines whether a subnet may be polled and walked; null for an invalid CIDR. */
function evaluateSubnet({ cidr, subnet_type }: KnownSubnet): EvaluatedSubnet | null {
  const block = blockOf(cidr);
  if (block === null) return null;
  const isMachineLocal = MACHINE_LOCAL_ADDRESSES.some((each) => isCovering(each, block));
  const isAllowed = !isMachineLocal && !SKIPPED_TYPES.includes(subnet_type);
  const tooLarge = isAllowed ? largerThanAllowed(block, false) : null;
  return { ...block, isMachineLocal, isAllowed, tooLarge, isEnumerated: isAllowed && tooLarge === null };
}

/** The most specific subnet decides, except for addresses that only this machine reaches. */
function evaluatedRanges(subnets: readonly EvaluatedSubnet[]): BlockRange[] {
  const machineLocal = MACHINE_LOCAL_ADDRESSES.map((block) => ({ ...block, isAllowed: false, isEnumerated: false }));
  return mostSpecific([...machineLocal, ...subnets]);
}

/** Ascending and disjoint, with adjacent subnets merged. */
function allowedRanges(subnets: readonly KnownSubnet[]): BlockRange[] {
  const ranges = evaluatedRanges(subnets.flatMap((subnet) => evaluateSubnet(subnet) ?? []));
  return union(ranges.filter(({ isAllowed }) => isAllowed));
}

function blocksOf(subnets: readonly KnownSubnet[]): Block[] {
  return subnets.map(({ cidr }) => blockOf(cidr)).filter((block) => block !== null);
}

class Edges {
  private readonly byVersion: { readonly 4: ReadonlySet<bigint>; readonly 6: ReadonlySet<bigint> };

  private constructor(byVersion: { 4: ReadonlySet<bigint>; 6: ReadonlySet<bigint> }) {
    this.byVersion = byVersion;
  }

  static of(blocks: readonly Block[], knownAddresses: ReadonlySet<string>): Edges {
    const byVersion = { 4: new Set<bigint>(), 6: new Set<bigint>() };
    for (const block of blocks) {
      for (const edge of edgesOf(block))
        if (edge !== null && !knownAddresses.has(addressText(block.version, edge))) byVersion[block.version].add(edge);
    }
    return new Edges(byVersion);
  }

  has(version: 4 | 6, number: bigint): boolean {
    return this.byVersion[version].has(number);
  }

  countIn(range: BlockRange): number {
    let count = 0;
    for (const edge of this.byVersion[range.version]) if (edge >= range.first && edge <= range.last) count += 1;
    return count;
  }
}

function enumeratedRanges(ranges: readonly BlockRange[]): BlockRange[] {
  return ranges.filter((range) => range.isEnumerated);
}
