// Which hosts of URLs are this machine itself, by how they are written: what is sent there goes over no network, and
// through no proxy.

/** A name counts as its own, whatever resolves it: `localhost` and names below it (RFC 6761 section 6.3). */
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(?:[^.]+\.)*localhost\.?)$/i;

/** @param hostname of a URL, as WHATWG's parser writes it: `127.1` is `127.0.0.1`, IPv6 addresses have brackets */
export function isThisMachine(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
