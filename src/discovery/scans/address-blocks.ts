// Address blocks as number ranges: host addresses, union, intersection and most specific block. Pure.

import { addressAt, prefixBlock } from "../../base/address-block.ts";
import { type Ip, parseCidr, parseIp } from "../../base/ip.ts";

export interface Block {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  readonly prefixLength: number;
  readonly isAddress: boolean;
  readonly cidr: string;
}

/** Address range with its permissions and the block that grants them. */
export interface BlockRange {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  /** True if a scan may poll these addresses. */
  readonly isAllowed: boolean;
  /** True if a scan polls each of them in turn. */
  readonly isEnumerated: boolean;
  readonly cidr: string;
}

export interface EvaluatedBlock extends Block {
  readonly isAllowed: boolean;
  readonly isEnumerated: boolean;
}

/**
 * Addresses without a host: this network (RFC 1122), multicast, reserved, broadcast; link-local IPv6, since the zone is
 * unknown.
 */
export const FORBIDDEN: ReadonlyArray<Block & { readonly description: string }> = Object.entries({
  "0.0.0.0/8": "0.0.0.0/8, which is not for hosts",
  "224.0.0.0/4": "multicast",
  "240.0.0.0/4": "240.0.0.0/4, which is reserved",
  "::/128": "the unspecified address",
  "::ffff:0:0/96": "IPv4-mapped: write the IPv4 address",
  "fe80::/10": "link-local, which needs a zone",
  "ff00::/8": "multicast",
}).map(([cidr, description]) => ({ ...(blockOf(cidr) as Block), description }));

/** Parses an address or CIDR; null for anything else. */
export function blockOf(text: string): Block | null {
  const ip = text.includes("/") ? null : parseIp(text);
  const parsed = ip === null ? parseCidr(text) : { ...ip, prefixLength: ip.bytes.length * 8 };
  if (parsed === null) return null;
  const { version, bytes, prefixLength, text: cidr } = parsed;
  const isAddress = prefixLength === bytes.length * 8;
  return { version, ...prefixBlock(parsed), prefixLength, isAddress, cidr };
}

/** Strips the network and broadcast address, or the subnet-router anycast address of IPv6 (RFC 4291 §2.6.1). */
export function interior(block: Block): Block {
  const [first, last] = edgesOf(block);
  return {
    ...block,
    first: first === null ? block.first : block.first + 1n,
    last: last === null ? block.last : block.last - 1n,
  };
}

/** Returns the addresses of a block that no host may have; null if none. */
export function edgesOf(block: Block): [first: bigint | null, last: bigint | null] {
  // In /31 (RFC 3021) and /127 (RFC 6164), both addresses are host addresses.
  if (block.version === 4) return block.prefixLength <= 30 ? [block.first, block.last] : [null, null];
  return [block.prefixLength <= 126 ? block.first : null, null];
}

export function withoutForbidden(block: Block): Block[] {
  let remaining = [block];
  for (const each of FORBIDDEN) {
    remaining = remaining.flatMap((piece) => {
      if (each.version !== piece.version || each.last < piece.first || each.first > piece.last) return [piece];
      const pieces: Block[] = [];
      if (each.first > piece.first) pieces.push({ ...piece, last: each.first - 1n });
      if (each.last < piece.last) pieces.push({ ...piece, first: each.last + 1n });
      return pieces;
    });
  }
  return remaining;
}

/** True if the outer block or range contains all of the inner one. */
export function isCovering(outer: Span, inner: Span): boolean {
  return outer.version === inner.version && outer.first <= inner.first && outer.last >= inner.last;
}

/** Intersects two lists, each ascending and without overlaps; other fields come from the first. */
export function intersect(ranges: readonly BlockRange[], others: readonly BlockRange[]): BlockRange[] {
  const shared: BlockRange[] = [];
  let index = 0;
  for (const range of ranges) {
    while (isBefore(others[index], range)) index += 1;
    for (let next = index; next < others.length && !isBefore(range, others[next]); next += 1) {
      const { first, last } = others[next] as BlockRange;
      shared.push({
        ...range,
        first: first > range.first ? first : range.first,
        last: last < range.last ? last : range.last,
      });
    }
  }
  return shared;
}

/** Merges blocks into ascending ranges without overlaps. */
export function union(blocks: ReadonlyArray<Span & Pick<Block, "cidr">>): BlockRange[] {
  const merged: BlockRange[] = [];
  for (const block of [...blocks].filter(({ first, last }) => first <= last).sort(byFirst)) {
    const previous = merged.at(-1);
    if (previous === undefined || previous.version !== block.version || block.first > previous.last + 1n) {
      const { version, first, last, cidr } = block;
      merged.push({ version, first, last, isAllowed: true, isEnumerated: true, cidr });
    } else if (block.last > previous.last) merged[merged.length - 1] = { ...previous, last: block.last };
  }
  return merged;
}

/** Assigns each address to its smallest block. Prefixes nest or are disjoint. */
export function mostSpecific(blocks: readonly EvaluatedBlock[]): BlockRange[] {
  const ranges: BlockRange[] = [];
  const stack: EvaluatedBlock[] = [];
  let next = 0n;
  const emit = (block: EvaluatedBlock, last: bigint) => {
    if (last < next) return;
    const { isAllowed, isEnumerated } = block;
    for (const { version, first, last: end, cidr } of withoutForbidden({ ...block, first: next, last }))
      ranges.push({ version, first, last: end, cidr, isAllowed, isEnumerated });
  };
  const closeUntil = (isInside: (block: EvaluatedBlock) => boolean) => {
    for (let top = stack.at(-1); top !== undefined && !isInside(top); top = stack.at(-1)) {
      emit(top, top.last);
      next = top.last + 1n;
      stack.pop();
    }
  };
  for (const block of [...blocks].sort(byFirstThenPrefix)) {
    closeUntil((outer) => outer.version === block.version && outer.last >= block.last);
    const outer = stack.at(-1);
    if (outer !== undefined) emit(outer, block.first - 1n);
    next = block.first;
    stack.push(block);
  }
  closeUntil(() => false);
  return ranges;
}

/** Returns 32 or 128 bits. */
export function numberOf(ip: Pick<Ip, "bytes">): bigint {
  return BigInt(`0x${ip.bytes.toHex()}`);
}

/** Formats canonically. */
export function addressText(version: 4 | 6, number: bigint): string {
  if (version === 4) {
    const value = Number(number);
    return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
  }
  return addressAt(number, version);
}

type Span = Pick<Block, "version" | "first" | "last">;

/** True if one ends before the other begins; false if either is undefined. */
function isBefore(a: Span | undefined, b: Span | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.version < b.version || (a.version === b.version && a.last < b.first);
}

function byFirst(a: Span, b: Span): number {
  if (a.version !== b.version) return a.version - b.version;
  if (a.first === b.first) return 0;
  return a.first < b.first ? -1 : 1;
}

function byFirstThenPrefix(a: Block, b: Block): number {
  return byFirst(a, b) || a.prefixLength - b.prefixLength;
}
