// Reverse DNS name of an address, and the host name in a PTR response. Pure.

import type { Ip } from "../../base/ip.ts";

/** RFC 1035 section 3.5 and RFC 3596 section 2.5: `4.3.2.1.in-addr.arpa`. */
export function reverseName(ip: Ip): string {
  if (ip.version === 4) return `${[...ip.bytes].reverse().join(".")}.in-addr.arpa`;
  return `${[...ip.bytes.toHex()].reverse().join(".")}.ip6.arpa`;
}

/**
 * Lower case, without the final dot; null if none is a valid host name, since PTR records may contain anything. Of
 * several, the first alphabetically, since servers rotate them.
 */
export function hostnameIn(records: readonly string[]): string | null {
  const names = records.map((record) => record.toLowerCase().replace(/\.$/, "")).filter(isHostname);
  return names.sort()[0] ?? null;
}

/** RFC 1123 section 2.1, with the underscore used by Windows and many devices. */
function isHostname(name: string): boolean {
  return name.length <= MAX_LENGTH && name.split(".").every((label) => LABEL.test(label)) && !/^[\d.]+$/.test(name);
}

/** RFC 1035 section 2.3.4, without the root. */
const MAX_LENGTH = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
