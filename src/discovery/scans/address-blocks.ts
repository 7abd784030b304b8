// Address blocks as number ranges: host addresses, union, intersection and most specific block. Pure.

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
  readonly isWalked: boolean;
  readonly cidr: string;
}

export interface JudgedBlock extends Block {
  readonly isAllowed: boolean;
  readonly isWalked: boolean;
}

/**
 * Addresses without a host: this network (RFC 1122), multicast, reserved, broadcast; link-local IPv6, since the zone is
 * unknown.
 */
export const FORBIDDEN: ReadonlyArray<Block & { readonly what: string }> = [
  { ...forbidden("0.0.0.0/8"), what: "0.0.0.0/8, which is not for hosts" },
  { ...forbidden("224.0.0.0/4"), what: "multicast" },
  { ...forbidden("240.0.0.0/4"), what: "240.0.0.0/4, which is reserved" },
  { ...forbidden("::/128"), what: "the unspecified address" },
  { ...forbidden("::ffff:0:0/96"), what: "IPv4-mapped: write the IPv4 address" },
  { ...forbidden("fe80::/10"), what: "link-local, which needs a zone" },
  { ...forbidden("ff00::/8"), what: "multicast" },
];

/** Parses an address or CIDR; null for anything else. */
export function blockOf(text: string): Block | null {
  if (!text.includes("/")) {
    const ip = parseIp(text);
    if (ip === null) return null;
    const number = numberOf(ip);
    return {
      version: ip.version,
      first: number,
      last: number,
      prefixLength: ip.bytes.length * 8,
      isAddress: true,
      cidr: ip.text,
    };
  }
  const cidr = parseCidr(text);
  if (cidr === null) return null;
  const first = numberOf(cidr);
  const bits = cidr.bytes.length * 8;
  return {
    version: cidr.version,
    first,
    last: first + (1n << BigInt(bits - cidr.prefixLength)) - 1n,
    prefixLength: cidr.prefixLength,
    isAddress: cidr.prefixLength === bits,
    cidr: cidr.text,
  };
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
  let left = [block];
  for (const each of FORBIDDEN) {
    left = left.flatMap((piece) => {
      if (each.version !== piece.version || each.last < piece.first || each.first > piece.last) return [piece];
      const pieces: Block[] = [];
      if (each.first > piece.first) pieces.push({ ...piece, last: each.first - 1n });
      if (each.last < piece.last) pieces.push({ ...piece, first: each.last + 1n });
      return pieces;
    });
  }
  return left;
}

/** True if the outer block or range contains all of the inner one. */
export function isCovering(outer: Span, inner: Span): boolean {
  return outer.version === inner.version && outer.first <= inner.first && outer.last >= inner.last;
}

/** Intersects two lists, each ascending and without overlaps; other fields come from the first. */
export function common(ranges: readonly BlockRange[], others: readonly BlockRange[]): BlockRange[] {
  const shared: BlockRange[] = [];
  let place = 0;
  for (const range of ranges) {
    while (isBefore(others[place], range)) place += 1;
    for (let next = place; next < others.length && !isBefore(range, others[next]); next += 1) {
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
      merged.push({
        version: block.version,
        first: block.first,
        last: block.last,
        isAllowed: true,
        isWalked: true,
        cidr: block.cidr,
      });
    } else if (block.last > previous.last) merged[merged.length - 1] = { ...previous, last: block.last };
  }
  return merged;
}

/** Assigns each address to its smallest block. Prefixes nest or are disjoint. */
export function mostSpecific(blocks: readonly JudgedBlock[]): BlockRange[] {
  const ranges: BlockRange[] = [];
  const open: JudgedBlock[] = [];
  let next = 0n;
  const emit = (block: JudgedBlock, last: bigint) => {
    if (last >= next)
      ranges.push(
        ...withoutForbidden({ ...block, first: next, last }).map(({ version, first, last: end, cidr }) => ({
          version,
          first,
          last: end,
          cidr,
          isAllowed: block.isAllowed,
          isWalked: block.isWalked,
        })),
      );
  };
  const closeUntil = (isInside: (block: JudgedBlock) => boolean) => {
    for (let top = open.at(-1); top !== undefined && !isInside(top); top = open.at(-1)) {
      emit(top, top.last);
      next = top.last + 1n;
      open.pop();
    }
  };
  for (const block of [...blocks].sort(byPlace)) {
    closeUntil((outer) => outer.version === block.version && outer.last >= block.last);
    const outer = open.at(-1);
    if (outer !== undefined) emit(outer, block.first - 1n);
    next = block.first;
    open.push(block);
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
  const digits = number.toString(16).padStart(32, "0");
  return (parseIp((digits.match(/.{4}/g) as string[]).join(":")) as Ip).text;
}

function forbidden(cidr: string): Block {
  return blockOf(cidr) as Block;
}

type Span = Pick<Block, "version" | "first" | "last">;

/** True if one ends before the other begins; false if either is undefined. */
function isBefore(one: Span | undefined, other: Span | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.version < other.version || (one.version === other.version && one.last < other.first);
}

function byFirst(a: Span, b: Span): number {
  if (a.version !== b.version) return a.version - b.version;
  if (a.first === b.first) return 0;
  return a.first < b.first ? -1 : 1;
}

function byPlace(a: Block, b: Block): number {
  return byFirst(a, b) || a.prefixLength - b.prefixLength;
}
