// The kernel's address dump as rtnetlink(7) messages: the request, and the meaning of the answer's bytes.
// Pure: must not open a socket.

import { type Ip, ipOfBytes } from "../../base/ip.ts";
import {
  type AnswerEnd,
  answerEnd,
  bytesOf,
  LITTLE_ENDIAN,
  NLM_F_DUMP,
  netlinkAttributes,
  netlinkMessages,
  netlinkRequest,
  viewOf,
} from "../kernel/netlink-messages.ts";

/** One address of one interface, as the kernel has it. */
export interface KernelAddress {
  ip: Ip;
  /** Of the peer's block where there is a peer. */
  prefixLength: number;
  ifIndex: number;
  /** The far end of a point-to-point interface; null on all others. */
  peer: Ip | null;
  /** IPv6 only: made by the privacy extensions (RFC 8981), to be replaced within a day. */
  isTemporary: boolean;
  /** IPv6 only: another machine has it (RFC 4862 §5.4). */
  isDuplicate: boolean;
}

interface AddressDatagram extends AnswerEnd {
  addresses: KernelAddress[];
}

/** Of linux/if_addr.h. The same bit is IFA_F_SECONDARY in IPv4, where it means nothing to us. */
export const IFA_F_TEMPORARY = 0x01;
export const IFA_F_DADFAILED = 0x08;

/** RTM_GETADDR for all families. */
export function addressDumpRequest(): Uint8Array {
  return netlinkRequest(RTM_GETADDR, NLM_F_DUMP, new Uint8Array(ADDRESS_HEADER_BYTES));
}

/**
 * Reads one datagram of the answer. Families other than IPv4 and IPv6 and attributes of no use here are skipped; a
 * cut-off message ends the reading.
 */
export function parseAddressDatagram(datagram: Uint8Array): AddressDatagram {
  const view = viewOf(datagram);
  const addresses: KernelAddress[] = [];
  for (const { type, body, end } of netlinkMessages(view)) {
    if (type !== RTM_NEWADDR || end - body < ADDRESS_HEADER_BYTES) continue;
    const address = readAddress(view, body, end);
    if (address) addresses.push(address);
  }
  return { addresses, ...answerEnd(view) };
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
    // All 32 bits; the header has the lowest eight.
    if (attribute.type === IFA_FLAGS && attribute.end - attribute.body >= 4)
      flags = view.getUint32(attribute.body, LITTLE_ENDIAN);
  }
  // With a peer, ADDRESS is the far end and LOCAL our own; without one, IPv6 leaves LOCAL out and IPv4 repeats the
  // address in it.
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
