// The kernel's address dump as rtnetlink(7) messages: the request, and the meaning of the answer's bytes.
// Pure: must not open a socket.

import type { Ip } from "../../base/ip.ts";
import { ipOfBytes } from "./ip-bytes.ts";

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

export interface AddressDatagram {
  addresses: KernelAddress[];
  /** Whether the dump ends with this datagram. */
  isLast: boolean;
  /** Whether the addresses changed while they were listed: some may be missing, so ask again. */
  isInterrupted: boolean;
  /** The errno by which the kernel refused; null when it did not. */
  refusedErrno: number | null;
}

/** RTM_GETADDR for all families. */
export function addressDumpRequest(): Uint8Array {
  const request = new Uint8Array(HEADER_BYTES + ADDRESS_HEADER_BYTES);
  const view = new DataView(request.buffer);
  view.setUint32(0, request.length, LITTLE_ENDIAN);
  view.setUint16(4, RTM_GETADDR, LITTLE_ENDIAN);
  view.setUint16(6, NLM_F_REQUEST | NLM_F_DUMP, LITTLE_ENDIAN);
  view.setUint32(8, 1, LITTLE_ENDIAN);
  return request;
}

/** Reads one datagram of the answer. Families other than IPv4 and IPv6 and attributes of no use here are skipped; a cut-off message ends the reading. */
export function parseAddressDatagram(datagram: Uint8Array): AddressDatagram {
  const result: AddressDatagram = { addresses: [], isLast: false, isInterrupted: false, refusedErrno: null };
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  for (const { start, end, type } of records(view, 0, HEADER_BYTES, 4)) {
    if (view.getUint16(start + 6, LITTLE_ENDIAN) & NLM_F_DUMP_INTR) result.isInterrupted = true;
    const body = start + HEADER_BYTES;
    if (type === NLMSG_DONE) result.isLast = true;
    if (type === NLMSG_ERROR && end - body >= 4) result.refusedErrno = -view.getInt32(body, LITTLE_ENDIAN);
    if (type !== RTM_NEWADDR || end - body < ADDRESS_HEADER_BYTES) continue;
    const address = readAddress(view, body, end);
    if (address) result.addresses.push(address);
  }
  return result;
}

/** Netlink speaks the machine's byte order: little-endian on all that we build for (x64, arm64). */
const LITTLE_ENDIAN = true;

/** struct nlmsghdr: length 4, type 2, flags 2, sequence 4, port 4. */
const HEADER_BYTES = 16;
/** struct ifaddrmsg: family 1, prefix length 1, flags 1, scope 1, interface index 4. */
const ADDRESS_HEADER_BYTES = 8;
/** struct rtattr: length 2, type 2. */
const ATTRIBUTE_HEADER_BYTES = 4;

const NLM_F_REQUEST = 0x001;
const NLM_F_DUMP = 0x300;
const NLM_F_DUMP_INTR = 0x010;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const RTM_NEWADDR = 20;
const RTM_GETADDR = 22;
const AF_INET = 2;
const AF_INET6 = 10;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_FLAGS = 8;
/** The same bit is IFA_F_SECONDARY in IPv4, where it means nothing to us. */
const IFA_F_TEMPORARY = 0x01;
const IFA_F_DADFAILED = 0x08;

function readAddress(view: DataView, body: number, end: number): KernelAddress | null {
  const family = view.getUint8(body);
  if (family !== AF_INET && family !== AF_INET6) return null;
  let flags = view.getUint8(body + 2);
  let address: Ip | null = null;
  let local: Ip | null = null;
  for (const attribute of records(view, body + ADDRESS_HEADER_BYTES, ATTRIBUTE_HEADER_BYTES, 2, end)) {
    const value = attribute.start + ATTRIBUTE_HEADER_BYTES;
    if (attribute.type === IFA_ADDRESS) address = readIp(view, value, attribute.end);
    if (attribute.type === IFA_LOCAL) local = readIp(view, value, attribute.end);
    // All 32 bits; the header has the lowest eight.
    if (attribute.type === IFA_FLAGS && attribute.end - value >= 4) flags = view.getUint32(value, LITTLE_ENDIAN);
  }
  // With a peer, ADDRESS is the far end and LOCAL our own; without one, IPv6 leaves LOCAL out and IPv4 repeats the address in it.
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

/** Messages and attributes alike: a length of `lengthBytes` that counts the header, then the type, each record padded to four bytes. */
function* records(view: DataView, from: number, headerBytes: number, lengthBytes: 2 | 4, to = view.byteLength) {
  for (let start = from; start + headerBytes <= to; ) {
    const length = lengthBytes === 2 ? view.getUint16(start, LITTLE_ENDIAN) : view.getUint32(start, LITTLE_ENDIAN);
    if (length < headerBytes || start + length > to) return;
    yield { start, end: start + length, type: view.getUint16(start + lengthBytes, LITTLE_ENDIAN) };
    start += (length + 3) & ~3;
  }
}

function readIp(view: DataView, start: number, end: number): Ip | null {
  return ipOfBytes(new Uint8Array(view.buffer, view.byteOffset + start, end - start));
}
