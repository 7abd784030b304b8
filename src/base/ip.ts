// IP addresses and CIDR blocks as values: strict parsing, one canonical form each, containment, order. Independent of
// the use of an address.

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
  /** Canonical: the network address as in Ip, `/`, the prefix length. */
  text: string;
  /** The network address: 4 or 16 bytes in network order, all host bits zero. */
  bytes: Uint8Array;
  /** 0–32 or 0–128 bits. */
  prefixLength: number;
}

/**
 * Parses an address: four decimal numbers without leading zeros, or any form of RFC 4291 §2.2. Null for everything
 * else, including forms that lax parsers accept: zone ids, `010.1.1.1` (octal to some), hexadecimal quads, `1`,
 * `1.2.3`, white space. An IPv4-mapped IPv6 address stays IPv6.
 */
export function parseIp(text: string): Ip | null {
  if (text.length > MAX_IP_LENGTH) return null;
  if (!text.includes(":")) {
    return ipaddr.IPv4.isValidFourPartDecimal(text)
      ? toIp(Uint8Array.from(ipaddr.IPv4.parse(text).toByteArray()))
      : null;
  }
  const plain = expandDottedTail(text);
  // The library accepts zone ids.
  if (plain === null || plain.includes("%") || !ipaddr.IPv6.isValid(plain)) return null;
  return toIp(Uint8Array.from(ipaddr.IPv6.parse(plain).toByteArray()));
}

/** The address of 4 or 16 bytes in network order; null for any other length. */
export function ipOfBytes(bytes: Uint8Array): Ip | null {
  return bytes.length === 4 || bytes.length === 16 ? toIp(Uint8Array.from(bytes)) : null;
}

/** Parses `address/length`. Null for anything else, and if host bits are set; see `describeCidrProblem`. */
export function parseCidr(text: string): Cidr | null {
  const result = readCidr(text);
  return typeof result === "string" ? null : result;
}

/** One sentence on why `parseCidr` rejects the text; empty if valid. Never echoes the text. */
export function describeCidrProblem(text: string): string {
  const result = readCidr(text);
  return typeof result === "string" ? result : "";
}

/** A peer's address, normalized as a source of requests. */
export interface PeerSource {
  /** Canonical text without zone id; IPv4 even if a dual-stack listener reports it as `::ffff:192.0.2.1`. */
  readonly address: string;
  /** As `address`, but IPv6 as its /64, in which one machine has 2^64 addresses. */
  readonly source: string;
  /** False for a peer without an IP address. */
  readonly isAddress: boolean;
}

/** Normalizes the peer of a socket; a string that is not an address (a Unix socket) is returned unchanged. */
export function peerSource(peer: string): PeerSource {
  const ip = parseIp(peer.replace(/%.*$/s, ""));
  if (ip === null) return { address: peer, source: peer, isAddress: false };
  const address = MAPPED.exec(ip.text)?.[1] ?? ip.text;
  return { address, source: address.includes(":") ? cidrOf(ip, 64).text : address, isAddress: true };
}

const MAPPED = /^::ffff:(\d+\..+)$/;

/** Whether the block contains the address. Never across versions: `::ffff:10.0.0.1` is not in `10.0.0.0/8`. */
export function cidrContains(cidr: Cidr, ip: Ip): boolean {
  return cidr.version === ip.version && equalBytes(maskBytes(ip.bytes, cidr.prefixLength), cidr.bytes);
}

/** Whether a prefix contains an address, both as text. */
export function isIpWithin(address: string, prefix: string): boolean {
  const [ip, cidr] = [parseIp(address), parseCidr(prefix)];
  return ip !== null && cidr !== null && cidrContains(cidr, ip);
}

/** Whether one of the blocks contains an address given as text. False for malformed text. */
export function isIpWithinAny(blocks: readonly Cidr[], address: string): boolean {
  if (blocks.length === 0) return false;
  const ip = parseIp(address);
  return ip !== null && blocks.some((block) => cidrContains(block, ip));
}

/**
 * Whether a block consists of IPv4-mapped IPv6 addresses (RFC 4291 section 2.5.5.2): caller addresses never have this
 * form, so none would match.
 */
export function isMappedBlock({ version, bytes, prefixLength }: Cidr): boolean {
  return version === 6 && prefixLength >= 96 && equalBytes(bytes.subarray(0, 12), MAPPED_PREFIX);
}

/** The block of that prefix length around an address. Throws RangeError if the IP version has no such length. */
export function cidrOf(ip: Ip, prefixLength: number): Cidr {
  if (!Number.isInteger(prefixLength) || prefixLength < 0 || prefixLength > ip.bytes.length * 8) {
    throw new RangeError(`IPv${ip.version} has no prefix length ${prefixLength}`);
  }
  const bytes = maskBytes(ip.bytes, prefixLength);
  return { version: ip.version, text: `${toIp(bytes).text}/${prefixLength}`, bytes, prefixLength };
}

/**
 * 33 characters whose text order is the address order: the version, then 32 hexadecimal digits. IPv4 sorts before IPv6.
 */
export function ipSortKey(ip: Ip): string {
  return ip.version + ip.bytes.toHex().padStart(32, "0");
}

/**
 * As ipSortKey of the prefix's first address; shorter prefixes sort before longer ones with the same first address.
 * Empty for malformed text.
 */
export function cidrSortKey(text: string): string {
  const cidr = parseCidr(text);
  return cidr === null ? "" : ipSortKey(cidr) + String(cidr.prefixLength).padStart(3, "0");
}

/**
 * Scope in which an address or prefix is unique: one link or machine (loopback, link-local, multicast), one network
 * (private and other special ranges: RFC 1918, RFC 4193, RFC 6598, RFC 6890), or everywhere.
 */
export function uniqueWithin({ version, bytes }: Pick<Ip, "version" | "bytes">): "link" | "network" | "everywhere" {
  const range = (version === 4 ? new ipaddr.IPv4(Array.from(bytes)) : new ipaddr.IPv6(Array.from(bytes))).range();
  if (LINK_SCOPED.has(range)) return "link";
  return range === "unicast" ? "everywhere" : "network";
}

const LINK_SCOPED: ReadonlySet<string> = new Set(["unspecified", "broadcast", "multicast", "linkLocal", "loopback"]);

/** Six full groups and a dotted tail: the longest address text. */
const MAX_IP_LENGTH = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255".length;

const MAPPED_PREFIX = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff);

function toIp(bytes: Uint8Array): Ip {
  if (bytes.length === 4) return { version: 4, text: bytes.join("."), bytes };
  const mapped = equalBytes(bytes.subarray(0, 12), MAPPED_PREFIX);
  const text = mapped ? `::ffff:${bytes.subarray(12).join(".")}` : new ipaddr.IPv6(Array.from(bytes)).toRFC5952String();
  return { version: 6, text, bytes };
}

/**
 * The library reads `::1.2.3.4` as an IPv4-mapped address and accepts octal and hexadecimal quads, so it never gets
 * dots.
 */
function expandDottedTail(text: string): string | null {
  if (!text.includes(".")) return text;
  const tailStart = text.lastIndexOf(":") + 1;
  const tail = text.slice(tailStart);
  if (!ipaddr.IPv4.isValidFourPartDecimal(tail)) return null;
  const hex = Uint8Array.from(ipaddr.IPv4.parse(tail).toByteArray()).toHex();
  return `${text.slice(0, tailStart)}${hex.slice(0, 4)}:${hex.slice(4)}`;
}

/** The block, or one sentence describing the error. */
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
    const networkBits = Math.min(8, Math.max(0, prefixLength - index * 8));
    return byte & (0xff << (8 - networkBits));
  });
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
