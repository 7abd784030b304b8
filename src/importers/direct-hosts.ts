// Syntactic test for URL hosts that denote this machine: requests to them use no network and no proxy.

/** Counts names as local however they resolve: `localhost` and names below it (RFC 6761 section 6.3). */
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(?:[^.]+\.)*localhost\.?)$/i;

/** @param hostname of a URL, in the form of the WHATWG parser: `127.1` is `127.0.0.1`, IPv6 addresses have brackets */
export function isThisMachine(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
