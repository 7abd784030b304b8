// rtnetlink(7) messages for routes and interfaces: builds the requests and parses the responses. Pure; opens no socket.

import { type Ip, ipOfBytes } from "../../base/ip.ts";
import { macOfBytes } from "./neighbor-messages.ts";
import {
  bytesOf,
  LITTLE_ENDIAN,
  NLM_F_DUMP,
  netlinkAttribute,
  netlinkAttributes,
  netlinkMessages,
  netlinkRequest,
  viewOf,
} from "./netlink-messages.ts";

/** RTN_* of linux/rtnetlink.h; Refused covers the types that pass no packets (blackhole, unreachable, prohibit …). */
type RouteType = "Unicast" | "Local" | "Broadcast" | "Multicast" | "Refused";

interface KernelRoute {
  readonly type: RouteType;
  readonly ifIndex: number | null;
  /** True if the route goes through a router. */
  readonly hasGateway: boolean;
  /** Source address of the packets. */
  readonly source: Ip | null;
}

export interface KernelLink {
  readonly ifIndex: number;
  /** `aa:bb:cc:dd:ee:ff`; null for interfaces without an EUI-48 address. */
  readonly mac: string | null;
  /** True if stations on the link find each other by ARP or neighbor discovery. */
  readonly hasNeighbors: boolean;
}

/** RTM_GETROUTE for one address. */
export function routeRequest(ip: Ip): Uint8Array {
  const header = new Uint8Array(ROUTE_HEADER_BYTES);
  header[0] = ip.version === 4 ? AF_INET : AF_INET6;
  header[1] = ip.bytes.length * 8;
  return netlinkRequest(RTM_GETROUTE, 0, Buffer.concat([header, netlinkAttribute(RTA_DST, ip.bytes)]));
}

/** Parses the route in the kernel's response; null if none. */
export function parseRouteResponse(datagram: Uint8Array): KernelRoute | null {
  const view = viewOf(datagram);
  for (const { type, body, end } of netlinkMessages(view)) {
    if (type !== RTM_NEWROUTE || end - body < ROUTE_HEADER_BYTES) continue;
    let ifIndex: number | null = null;
    let hasGateway = false;
    let source: Ip | null = null;
    for (const attribute of netlinkAttributes(view, body + ROUTE_HEADER_BYTES, end)) {
      if (attribute.type === RTA_OIF && attribute.end - attribute.body >= 4)
        ifIndex = view.getInt32(attribute.body, LITTLE_ENDIAN);
      // A router of the other family uses a separate attribute.
      if (attribute.type === RTA_GATEWAY || attribute.type === RTA_VIA) hasGateway = true;
      if (attribute.type === RTA_PREFSRC) source = ipOfBytes(bytesOf(view, attribute));
    }
    return { type: ROUTE_TYPES.get(view.getUint8(body + 7)) ?? "Refused", ifIndex, hasGateway, source };
  }
  return null;
}

/** RTM_GETLINK for all interfaces. */
export function linkDumpRequest(): Uint8Array {
  return netlinkRequest(RTM_GETLINK, NLM_F_DUMP, new Uint8Array(LINK_HEADER_BYTES));
}

/** Parses one datagram of the response; stops at a truncated message. */
export function parseLinkDatagram(datagram: Uint8Array): KernelLink[] {
  const view = viewOf(datagram);
  const links: KernelLink[] = [];
  for (const { type, body, end } of netlinkMessages(view)) {
    if (type !== RTM_NEWLINK || end - body < LINK_HEADER_BYTES) continue;
    let mac: string | null = null;
    for (const attribute of netlinkAttributes(view, body + LINK_HEADER_BYTES, end)) {
      if (attribute.type === IFLA_ADDRESS) mac = macOfBytes(bytesOf(view, attribute));
    }
    const isEthernet = view.getUint16(body + 2, LITTLE_ENDIAN) === ARPHRD_ETHER;
    const flags = view.getUint32(body + 8, LITTLE_ENDIAN);
    links.push({
      ifIndex: view.getInt32(body + 4, LITTLE_ENDIAN),
      mac,
      hasNeighbors: isEthernet && (flags & (IFF_LOOPBACK | IFF_NOARP)) === 0,
    });
  }
  return links;
}

/**
 * struct rtmsg: family 1, destination length 1, source length 1, TOS 1, table 1, protocol 1, scope 1, type 1, flags 4.
 */
const ROUTE_HEADER_BYTES = 12;
/** struct ifinfomsg: family 1, padding 1, type 2, interface index 4, flags 4, change mask 4. */
const LINK_HEADER_BYTES = 16;

const RTM_NEWLINK = 16;
const RTM_GETLINK = 18;
const RTM_NEWROUTE = 24;
const RTM_GETROUTE = 26;
const AF_INET = 2;
const AF_INET6 = 10;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_PREFSRC = 7;
const RTA_VIA = 18;
const IFLA_ADDRESS = 1;
const ARPHRD_ETHER = 1;
const IFF_LOOPBACK = 0x08;
const IFF_NOARP = 0x80;

const ROUTE_TYPES: ReadonlyMap<number, RouteType> = new Map([
  [1, "Unicast"],
  [2, "Local"],
  [3, "Broadcast"],
  [4, "Local"], // anycast: in IPv6, an address of this machine
  [5, "Multicast"],
]);
