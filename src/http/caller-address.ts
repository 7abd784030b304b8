// Where a request comes from: the peer of its connection, or whom a trusted proxy names. Pure; believes nobody else.

import { type Cidr, isIpWithinAny, peerPlace } from "../base/ip.ts";

/**
 * Entries of an X-Forwarded-For that are looked at, from its end: no chain of proxies is as long, and what stands
 * before them may be as long as a header can be.
 */
export const FORWARDED_ENTRIES_MAX = 32;

/** Where there is no socket. */
export const NO_PEER = "local";

/**
 * The address of a request's caller, in the one form that peerPlace gives an address. Each proxy adds whom it got the
 * request from at the end of X-Forwarded-For, so that from the end up to the first entry that is no trusted proxy
 * everything was written by trusted ones; what stands before it is whatever the caller sent. Where that leads to no
 * address (no header, an entry that is none, proxies alone), the peer is the caller.
 * @param peer what the socket tells of its other end
 * @param forwardedFor all lines of the header, joined by commas (RFC 9110 section 5.3); null where there is none
 */
export function callerAddress(peer: string, forwardedFor: string | null, trusted: readonly Cidr[]): string {
  const { address } = peerPlace(peer);
  if (forwardedFor === null || !isIpWithinAny(trusted, address)) return address;
  let end = forwardedFor.length;
  for (let looked = 0; end >= 0 && looked < FORWARDED_ENTRIES_MAX; looked += 1) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(",", end - 1);
    const entry = forwardedFor.slice(comma + 1, end).trim();
    end = comma;
    // RFC 9110 section 5.6.1: an empty element of a list is none.
    if (entry === "") continue;
    const named = addressOf(entry);
    if (named === null) return address;
    if (!isIpWithinAny(trusted, named)) return named;
  }
  return address;
}

/** An address, with or without a port or a zone; IPv6 with a port in brackets. Null for anything else. */
function addressOf(entry: string): string | null {
  const [, bracketed, plain, bare] = ENTRY.exec(entry) ?? [];
  const text = bracketed ?? plain ?? bare;
  if (text === undefined) return null;
  const { address, isAddress } = peerPlace(text);
  return isAddress ? address : null;
}

/** `[IPv6]` with or without a port, an IPv4 address with one, or an address alone. */
const ENTRY = /^(?:\[([\da-f:.]+(?:%[^\]]*)?)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([\da-f:.]+(?:%.*)?))$/i;
