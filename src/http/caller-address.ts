// Request caller address: the connection's peer, or the address reported by a trusted proxy. Pure.

import { type Cidr, isIpWithinAny, peerSource } from "../base/ip.ts";

/**
 * Maximum number of X-Forwarded-For entries read, from the end: longer than any proxy chain, while the header may be as
 * long as allowed.
 */
export const FORWARDED_ENTRIES_MAX = 32;

/** Peer without a socket. */
export const NO_PEER = "local";

/**
 * Caller address of a request, normalized like peerSource. Each proxy appends its peer to X-Forwarded-For, so entries
 * from the end up to the first one that is not a trusted proxy were written by trusted proxies; everything before is
 * unverified input. If this yields no address (no header, a malformed entry, proxies only), the peer is the caller.
 * @param peer remote address of the socket
 * @param forwardedFor all lines of the header, joined by commas (RFC 9110 section 5.3); null without the header
 */
export function callerAddress(peer: string, forwardedFor: string | null, trusted: readonly Cidr[]): string {
  const { address } = peerSource(peer);
  if (forwardedFor === null || !isIpWithinAny(trusted, address)) return address;
  let end = forwardedFor.length;
  for (let entries = 0; end >= 0 && entries < FORWARDED_ENTRIES_MAX; entries += 1) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(",", end - 1);
    const entry = forwardedFor.slice(comma + 1, end).trim();
    end = comma;
    // RFC 9110 section 5.6.1: empty list elements are ignored.
    if (entry === "") continue;
    const forwarded = addressOf(entry);
    if (forwarded === null) return address;
    if (!isIpWithinAny(trusted, forwarded)) return forwarded;
  }
  return address;
}

/** An address, with or without port or zone; IPv6 with port in brackets. Null for anything else. */
function addressOf(entry: string): string | null {
  const [, bracketed, plain, bare] = ENTRY.exec(entry) ?? [];
  const text = bracketed ?? plain ?? bare;
  if (text === undefined) return null;
  const { address, isAddress } = peerSource(text);
  return isAddress ? address : null;
}

/** `[IPv6]` with or without a port, an IPv4 address with one, or an address alone. */
const ENTRY = /^(?:\[([\da-f:.]+(?:%[^\]]*)?)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([\da-f:.]+(?:%.*)?))$/i;
