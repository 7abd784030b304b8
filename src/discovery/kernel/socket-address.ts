// Encoder and decoder for struct sockaddr of the families in use. Pure.

import { type Ip, ipOfBytes } from "../../base/ip.ts";
import { AF_INET, AF_INET6, AF_PACKET } from "./sockets.ts";

/**
 * struct sockaddr_in or sockaddr_in6; the field in host byte order (the family) is little-endian on all supported
 * platforms.
 */
export function socketAddress(ip: Ip, port: number): Uint8Array {
  const address = new Uint8Array(ip.version === 4 ? 16 : 28);
  const view = new DataView(address.buffer);
  view.setUint16(0, ip.version === 4 ? AF_INET : AF_INET6, true);
  view.setUint16(2, port);
  address.set(ip.bytes, ip.version === 4 ? 4 : 8);
  return address;
}

/** Address and port of a struct sockaddr_in or sockaddr_in6; null for any other. */
export function ipOfSocketAddress(address: Uint8Array): { ip: Ip; port: number } | null {
  if (address.length < 16) return null;
  const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
  const family = view.getUint16(0, true);
  const port = view.getUint16(2);
  const ip =
    family === AF_INET
      ? ipOfBytes(address.slice(4, 8))
      : family === AF_INET6 && address.length >= 24
        ? ipOfBytes(address.slice(8, 24))
        : null;
  return ip === null ? null : { ip, port };
}

/** struct sockaddr_ll (packet(7)) for all stations on an Ethernet link. @param protocol EtherType */
export function linkBroadcastAddress(ifIndex: number, protocol: number): Uint8Array {
  const address = new Uint8Array(20);
  const view = new DataView(address.buffer);
  view.setUint16(0, AF_PACKET, true);
  view.setUint16(2, protocol);
  view.setInt32(4, ifIndex, true);
  view.setUint8(11, 6);
  address.fill(0xff, 12, 18);
  return address;
}

/** Interface index of a struct sockaddr_ll; null for any other. */
export function ifIndexOfLinkAddress(address: Uint8Array): number | null {
  if (address.length < 12) return null;
  const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
  return view.getUint16(0, true) === AF_PACKET ? view.getInt32(4, true) : null;
}
