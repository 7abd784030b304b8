// rtnetlink(7) messages of the kernel's address dump: builds the request and parses the response. Pure; opens no
// socket.

import { type Ip, ipOfBytes } from "../../base/ip.ts";
import {
  bytesOf,
  LITTLE_ENDIAN,
  NLM_F_DUMP,
  netlinkAttributes,
  netlinkMessages,
  netlinkRequest,
  type ResponseEnd,
  responseEnd,
  viewOf,
} from "../kernel/netlink-messages.ts";

/** One address of one interface, as reported by the kernel. */
export interface KernelAddress {
  ip: Ip;
  /** Prefix length of the peer's block if there is a peer. */
  prefixLength: number;
  ifIndex: number;
  /** Far end of a point-to-point interface; null on all others. */
  peer: Ip | null;
  /** IPv6 only: created by the privacy extensions (RFC 8981), replaced within a day. */
  isTemporary: boolean;
  /** IPv6 only: another machine has it (RFC 4862 §5.4). */
  isDuplicate: boolean;
}

interface AddressDatagram extends ResponseEnd {
  addresses: KernelAddress[];
}

/** From linux/if_addr.h. In IPv4, the same bit is IFA_F_SECONDARY, which is irrelevant here. */
export const IFA_F_TEMPORARY = 0x01;
export const IFA_F_DADFAILED = 0x08;

/** RTM_GETADDR for all families. */
export function addressDumpRequest(): Uint8Array {
  return netlinkRequest(RTM_GETADDR, NLM_F_DUMP, new Uint8Array(ADDRESS_HEADER_BYTES));
}

/**
 * Parses one datagram of the response. Skips families other than IPv4 and IPv6 and unused attributes; stops at a
 * truncated message.
 */
export function parseAddressDatagram(datagram: Uint8Array): AddressDatagram {
  const view = viewOf(datagram);
  const addresses: KernelAddress[] = [];
  for (const { type, body, end } of netlinkMessages(view)) {
    if (type !== RTM_NEWADDR || end - body < ADDRESS_HEADER_BYTES) continue;
    const address = readAddress(view, body, end);
    if (address) addresses.push(address);
  }
  return { addresses, ...responseEnd(view) };
}

/** struct ifaddrmsg: family 1, prefix length 1, flags 1, scope 1, interface index 4. */
const ADDRESS_HEADER_BYTES = 8;

const RTM_NEWADDR = 20;
const RTM_GETADDR = 22;
const AF_INET = 2;
const AF_INET6 = 10;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_FLAGS = 8;

function readAddress(view: DataView, body: number, end: number): KernelAddress | null {
  const family = view.getUint8(body);
  if (family !== AF_INET && family !== AF_INET6) return null;
  let flags = view.getUint8(body + 2);
  let address: Ip | null = null;
  let local: Ip | null = null;
  for (const attribute of netlinkAttributes(view, body + ADDRESS_HEADER_BYTES, end)) {
    if (attribute.type === IFA_ADDRESS) address = ipOfBytes(bytesOf(view, attribute));
    if (attribute.type === IFA_LOCAL) local = ipOfBytes(bytesOf(view, attribute));
    // All 32 bits; the header has only the low eight.
    if (attribute.type === IFA_FLAGS && attribute.end - attribute.body >= 4)
      flags = view.getUint32(attribute.body, LITTLE_ENDIAN);
  }
  // With a peer, ADDRESS is the far end and LOCAL our own; without one, IPv6 omits LOCAL and IPv4 repeats the address
  // in it.
  const ip = local ?? address;
  if (!ip) return null;
  return {
    ip,
    prefixLength: Math.min(view.getUint8(body + 1), ip.bytes.length * 8),
    ifIndex: view.getUint32(body + 4, LITTLE_ENDIAN),
    peer: address && address.text !== ip.text ? address : null,
    isTemporary: family === AF_INET6 && (flags & IFA_F_TEMPORARY) !== 0,
    isDuplicate: family === AF_INET6 && (flags & IFA_F_DADFAILED) !== 0,
  };
}
