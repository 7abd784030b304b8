// ARP (RFC 826) requests and replies for IPv4 over Ethernet. Pure.

import { type Ip, ipOfBytes } from "../../base/ip.ts";
import { macOfBytes } from "../kernel/neighbor-messages.ts";

export const ETHERTYPE_ARP = 0x0806;

interface ArpReply {
  readonly ip_address: string;
  readonly mac_address: string;
}

/** @param mac canonical, of the sending interface @param source IPv4 address of that interface */
export function arpRequest(mac: string, source: Ip, target: Ip): Uint8Array {
  const message = new Uint8Array(MESSAGE_BYTES);
  message.set(HEADER);
  message[7] = OPERATION_REQUEST;
  message.set(Uint8Array.fromHex(mac.replaceAll(":", "")), 8);
  message.set(source.bytes, 14);
  message.set(target.bytes, 24);
  return message;
}

/** Returns null for anything but a reply from a single station (no broadcast, multicast or zeros). */
export function parseArpReply(message: Uint8Array): ArpReply | null {
  if (
    message.length < MESSAGE_BYTES ||
    HEADER.some((byte, index) => message[index] !== byte) ||
    message[7] !== OPERATION_REPLY
  )
    return null;
  const mac = macOfBytes(message.slice(8, 14));
  const ip = ipOfBytes(message.slice(14, 18));
  if (mac === null || ip === null || ((message[8] ?? 0) & 1) === 1) return null;
  return { ip_address: ip.text, mac_address: mac };
}

/** Hardware type 2, protocol type 2, hardware length 1, protocol length 1, operation 2, sender 6 + 4, target 6 + 4. */
const MESSAGE_BYTES = 28;
/** Ethernet, IPv4, six bytes, four bytes, and the first byte of the operation. */
const HEADER = Uint8Array.of(0, 1, 8, 0, 6, 4, 0);
const OPERATION_REQUEST = 1;
const OPERATION_REPLY = 2;
