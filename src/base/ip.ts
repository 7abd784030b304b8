// IP addresses and CIDR blocks as values: strict reading, one canonical text each, containment, order.
// Must not know what an address is used for.

import ipaddr from "ipaddr.js";

export interface Ip {
  version: 4 | 6;
  /** Canonical: dotted decimal, or RFC 5952 (an IPv4-mapped address as `::ffff:192.0.2.1`, its section 5). */
  text: string;
  /** 4 or 16 bytes in network order. */
  bytes: Uint8Array;
}

export interface Cidr {
  version: 4 | 6;
  /** Canonical: the network's address as in Ip, `/`, the prefix length. */
  text: string;
  /** The network's address: 4 or 16 bytes in network order, all bits beyond the prefix zero. */
  bytes: Uint8Array;
  /** 0–32 or 0–128 bits. */
  prefixLength: number;
}

/**
 * Reads an address: four decimal numbers without leading zeros, or any form of RFC 4291 §2.2. Null for everything else,
 * also for what laxer readers take: zone ids, `010.1.1.1` (octal to some), hexadecimal quads, `1`, `1.2.3`, white
 * space. An IPv4-mapped IPv6 address stays IPv6.
 */
export function parseIp(text: string): Ip | null {
  if (text.length > MAX_IP_LENGTH) return null;
  if (!text.includes(":")) {
    return ipaddr.IPv4.isValidFourPartDecimal(text)
      ? toIp(Uint8Array.from(ipaddr.IPv4.parse(text).toByteArray()))
      : null;
  }
  const plain = expandDottedTail(text);
  // The library takes zone ids.
  if (plain === null || plain.includes("%") || !ipaddr.IPv6.isValid(plain)) return null;
  return toIp(Uint8Array.from(ipaddr.IPv6.parse(plain).toByteArray()));
}

/** The address of 4 or 16 bytes in network order; null for any other length. */
export function ipOfBytes(bytes: Uint8Array): Ip | null {
  if (bytes.length === 4) return parseIp(bytes.join("."));
  return bytes.length === 16 ? parseIp(bytes.toHex().replace(/(.{4})(?=.)/g, "$1:")) : null;
}

/**
 * Reads `address/length`. Null for anything else, and when bits beyond the prefix are set: `describeCidrProblem` says
 * which.
 */
export function parseCidr(text: string): Cidr | null {
  const result = readCidr(text);
  return typeof result === "string" ? null : result;
}

/** One sentence on why `parseCidr` refuses the text; empty when it does not. Never echoes the text. */
export function describeCidrProblem(text: string): string {
  const result = readCidr(text);
  return typeof result === "string" ? result : "";
}

/** A peer's address as a place that requests come from. */
export interface PeerPlace {
  /**
   * One canonical text each: an IPv4 address also where a dual-stack listener shows it as `::ffff:192.0.2.1`, no zone
   * id.
   */
  readonly address: string;
  /** As `address`, IPv6 as its /64: one machine has 2^64 addresses there. */
  readonly place: string;
  /** False for a text that stands for itself. */
  readonly isAddress: boolean;
}

/** What a socket tells of its peer; a text that is no address (a Unix socket's) stands for itself. */
export function peerPlace(peer: string): PeerPlace {
  const ip = parseIp(peer.replace(/%.*$/s, ""));
  if (ip === null) return { address: peer, place: peer, isAddress: false };
  const address = MAPPED.exec(ip.text)?.[1] ?? ip.text;
  return { address, place: address.includes(":") ? cidrOf(ip, 64).text : address, isAddress: true };
}

const MAPPED = /^::ffff:(\d+\..+)$/;

/** Whether the address lies in the block. Never across versions: `::ffff:10.0.0.1` is not in `10.0.0.0/8`. */
export function cidrContains(cidr: Cidr, ip: Ip): boolean {
  return cidr.version === ip.version && equalBytes(maskBytes(ip.bytes, cidr.prefixLength), cidr.bytes);
}

/** Whether an address lies in a prefix, both as they are written. */
export function isIpWithin(address: string, prefix: string): boolean {
  const [ip, cidr] = [parseIp(address), parseCidr(prefix)];
  return ip !== null && cidr !== null && cidrContains(cidr, ip);
}

/** Whether an address, as it is written, lies in one of the blocks. False for a text that is none. */
export function isIpWithinAny(blocks: readonly Cidr[], address: string): boolean {
  if (blocks.length === 0) return false;
  const ip = parseIp(address);
  return ip !== null && blocks.some((block) => cidrContains(block, ip));
}

/**
 * Whether a block is of IPv4 addresses written as IPv6 (RFC 4291 section 2.5.5.2): callers' addresses are never written
 * so, and none would lie in it.
 */
export function isMappedBlock({ version, bytes, prefixLength }: Cidr): boolean {
  return version === 6 && prefixLength >= 96 && equalBytes(bytes.subarray(0, 12), MAPPED_PREFIX);
}

/** The block of that prefix length which the address lies in. Throws RangeError when the version has no such length. */
export function cidrOf(ip: Ip, prefixLength: number): Cidr {
  if (!Number.isInteger(prefixLength) || prefixLength < 0 || prefixLength > ip.bytes.length * 8) {
    throw new RangeError(`IPv${ip.version} has no prefix length ${prefixLength}`);
  }
  const bytes = maskBytes(ip.bytes, prefixLength);
  return { version: ip.version, text: `${toIp(bytes).text}/${prefixLength}`, bytes, prefixLength };
}

/**
 * 33 characters whose text order is the order of the addresses: the version, then 32 hexadecimal digits. All IPv4 come
 * before all IPv6.
 */
export function ipSortKey(ip: Ip): string {
  return ip.version + ip.bytes.toHex().padStart(32, "0");
}

/**
 * As ipSortKey by the prefix's first address; a prefix stands before the longer ones that begin where it does. The
 * empty text for no prefix.
 */
export function cidrSortKey(text: string): string {
  const cidr = parseCidr(text);
  return cidr === null ? "" : ipSortKey(cidr) + String(cidr.prefixLength).padStart(3, "0");
}

/**
 * Where an address or a prefix's first address means one thing only: on one link or machine (loopback, link-local,
 * multicast), within one network (private and other special ranges: RFC 1918, RFC 4193, RFC 6598, RFC 6890), or
 * everywhere.
 */
export function uniqueWithin({ version, bytes }: Pick<Ip, "version" | "bytes">): "link" | "network" | "everywhere" {
  const range = (version === 4 ? new ipaddr.IPv4(Array.from(bytes)) : new ipaddr.IPv6(Array.from(bytes))).range();
  if (OF_A_LINK.has(range)) return "link";
  return range === "unicast" ? "everywhere" : "network";
}

const OF_A_LINK: ReadonlySet<string> = new Set(["unspecified", "broadcast", "multicast", "linkLocal", "loopback"]);

/** Six full groups and a dotted tail, the longest text that an address can have. */
const MAX_IP_LENGTH = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255".length;

const MAPPED_PREFIX = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff);

function toIp(bytes: Uint8Array): Ip {
  if (bytes.length === 4) return { version: 4, text: bytes.join("."), bytes };
  const mapped = equalBytes(bytes.subarray(0, 12), MAPPED_PREFIX);
  const text = mapped ? `::ffff:${bytes.subarray(12).join(".")}` : new ipaddr.IPv6(Array.from(bytes)).toRFC5952String();
  return { version: 6, text, bytes };
}

/**
 * The library reads `::1.2.3.4` as an IPv4-mapped address and takes octal and hexadecimal quads, so it never gets to
 * see dots.
 */
function expandDottedTail(text: string): string | null {
  if (!text.includes(".")) return text;
  const tailStart = text.lastIndexOf(":") + 1;
  const tail = text.slice(tailStart);
  if (!ipaddr.IPv4.isValidFourPartDecimal(tail)) return null;
  const hex = Uint8Array.from(ipaddr.IPv4.parse(tail).toByteArray()).toHex();
  return `${text.slice(0, tailStart)}${hex.slice(0, 4)}:${hex.slice(4)}`;
}

/** The block, or one sentence on what is wrong. */
function readCidr(text: string): Cidr | string {
  const slash = text.indexOf("/");
  if (slash < 0) return "The prefix length is missing: write address/length, such as 192.0.2.0/24.";
  const ip = parseIp(text.slice(0, slash));
  if (!ip) return "The part before the slash is not an IP address (no leading zeros, no zone id).";
  const lengthText = text.slice(slash + 1);
  const bits = ip.bytes.length * 8;
  if (!/^(0|[1-9]\d{0,2})$/.test(lengthText) || Number(lengthText) > bits) {
    return `The prefix length of an IPv${ip.version} block is a whole number from 0 to ${bits}, without leading zeros.`;
  }
  const cidr = cidrOf(ip, Number(lengthText));
  return equalBytes(cidr.bytes, ip.bytes) ? cidr : `Host bits are set: the block of this address is ${cidr.text}.`;
}

function maskBytes(bytes: Uint8Array, prefixLength: number): Uint8Array {
  return bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefixLength - index * 8));
    return byte & (0xff << (8 - kept));
  });
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
