// Enumeration of the addresses in CIDR blocks, in constant memory. Pure.

import { type Cidr, cidrContains, ipOfBytes, ipSortKey } from "../../base/ip.ts";

/** Longest IPv6 block enumerated: 65,536 addresses. A /64 at 3,000 per second would take 195 million years. */
const MIN_IPV6_PREFIX_LENGTH = 112;

export function isEnumerable(cidr: Cidr): boolean {
  return cidr.version === 4 || cidr.prefixLength >= MIN_IPV6_PREFIX_LENGTH;
}

/**
 * Yields every address once, canonical, in block order, without the network and broadcast addresses of IPv4 prefixes
 * shorter than /31 (RFC 3021). Nested blocks count once. Throws a RangeError for a block that is not enumerable.
 */
export function eachAddress(cidrs: Iterable<Cidr>): Iterable<string> {
  const ranges = rangesOf(cidrs);
  return {
    *[Symbol.iterator]() {
      for (const { version, first, last } of ranges) {
        for (let number = first; number <= last; number += 1n) yield textOf(version, number);
      }
    },
  };
}

/** Number of addresses from eachAddress; throws likewise. */
export function addressCount(cidrs: Iterable<Cidr>): bigint {
  return rangesOf(cidrs).reduce((sum, { first, last }) => sum + (last - first) + 1n, 0n);
}

interface AddressRange {
  version: 4 | 6;
  first: bigint;
  last: bigint;
}

function rangesOf(cidrs: Iterable<Cidr>): AddressRange[] {
  return outermost([...cidrs]).map((cidr) => {
    if (!isEnumerable(cidr)) throw new RangeError(`${cidr.text} has too many addresses to scan.`);
    const network = BigInt(`0x${cidr.bytes.toHex()}`);
    const hostBits = cidr.bytes.length * 8 - cidr.prefixLength;
    const edge = cidr.version === 4 && hostBits > 1 ? 1n : 0n;
    return { version: cidr.version, first: network + edge, last: network + (1n << BigInt(hostBits)) - 1n - edge };
  });
}

/** Blocks nest or are disjoint. */
function outermost(cidrs: readonly Cidr[]): Cidr[] {
  const sorted = cidrs.map((cidr, place) => ({ cidr, place, key: ipSortKey(cidr) }));
  sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.cidr.prefixLength - b.cidr.prefixLength));
  const kept: typeof sorted = [];
  for (const each of sorted) {
    const last = kept.at(-1);
    const isInside =
      last !== undefined && last.cidr.prefixLength <= each.cidr.prefixLength && cidrContains(last.cidr, each.cidr);
    if (!isInside) kept.push(each);
  }
  return kept.sort((a, b) => a.place - b.place).map(({ cidr }) => cidr);
}

function textOf(version: 4 | 6, number: bigint): string {
  if (version === 4) {
    const value = Number(number);
    return `${value >>> 24}.${(value >>> 16) & 0xff}.${(value >>> 8) & 0xff}.${value & 0xff}`;
  }
  const ip = ipOfBytes(Uint8Array.fromHex(number.toString(16).padStart(32, "0")));
  if (ip === null) throw new RangeError("An IPv6 address has 128 bits.");
  return ip.text;
}
