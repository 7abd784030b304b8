// Prefix of an address as reported by its device. Pure.

import { type Cidr, cidrContains, cidrOf, type Ip, parseCidr } from "../../base/ip.ts";

/** A shorter prefix is a mistake or a default route. */
export const SHORTEST_PREFIX = { 4: 8, 6: 16 };

export const LOOPBACKS = ["127.0.0.0/8", "::1/128"].flatMap((text) => parseCidr(text) ?? []);
export const LINK_LOCALS = ["169.254.0.0/16", "fe80::/64"].flatMap((text) => parseCidr(text) ?? []);

/** Returns null if unknown, of one address, or too short, and for loopback and link-local addresses. */
export function reportedPrefix(ip: Ip, prefixLength: number | null): Cidr | null {
  const isUsable =
    prefixLength !== null && prefixLength < ip.bytes.length * 8 && prefixLength >= SHORTEST_PREFIX[ip.version];
  return isUsable && commonBlockOf(ip) === null ? cidrOf(ip, prefixLength) : null;
}

/** Loopback and link-local addresses belong to one block each, regardless of their mask. */
export function commonBlockOf(ip: Ip): Cidr | null {
  return [...LOOPBACKS, ...LINK_LOCALS].find((block) => cidrContains(block, ip)) ?? null;
}
