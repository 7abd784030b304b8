// The name under which an address is asked for in DNS, and what of an answer is a host's name. Pure.

import type { Ip } from "../../base/ip.ts";

/** RFC 1035 section 3.5 and RFC 3596 section 2.5: `4.3.2.1.in-addr.arpa`. */
export function reverseName(ip: Ip): string {
  if (ip.version === 4) return `${[...ip.bytes].reverse().join(".")}.in-addr.arpa`;
  return `${[...ip.bytes.toHex()].reverse().join(".")}.ip6.arpa`;
}

/**
 * The host name in the answers, in lower case, without the dot at the end; null where none of them is one: whoever owns the address may write anything
 * there. Of several the first by letters, as servers give them in another order each time.
 */
export function hostnameIn(answers: readonly string[]): string | null {
  const names = answers.map((answer) => answer.toLowerCase().replace(/\.$/, "")).filter(isHostname);
  return names.sort()[0] ?? null;
}

/** RFC 1123 section 2.1, with the underscore that Windows and many a device put into their names. */
function isHostname(name: string): boolean {
  return name.length <= MAX_LENGTH && name.split(".").every((label) => LABEL.test(label)) && !/^[\d.]+$/.test(name);
}

/** RFC 1035 section 2.3.4, without the root. */
const MAX_LENGTH = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
