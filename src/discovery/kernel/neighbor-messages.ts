// rtnetlink(7) messages of the kernel's neighbor table (ARP and neighbor discovery): builds the request and parses the
// response. Pure; opens no socket.

import { ipOfBytes } from "../../base/ip.ts";
import {
  bytesOf,
  LITTLE_ENDIAN,
  NLM_F_DUMP,
  netlinkAttributes,
  netlinkMessages,
  netlinkRequest,
  viewOf,
} from "./netlink-messages.ts";

/** NUD_* of linux/neighbour.h. Resolving: requested, no reply yet. Unknown: present, state not in /proc/net/arp. */
export type NeighborState =
  | "Unknown"
  | "Resolving"
  | "Reachable"
  | "Stale"
  | "Delay"
  | "Probe"
  | "Failed"
  | "NoArp"
  | "Permanent"
  | "None";

export interface KernelNeighbor {
  /** Canonical. */
  readonly ip_address: string;
  /** Null if the kernel has none, or one that it knows is no longer valid (Resolving, Failed, NoArp). */
  readonly mac_address: string | null;
  readonly ifIndex: number;
  readonly state: NeighborState;
  /** Time since the neighbor last confirmed its presence, in steps of 10 ms; null if the kernel does not report it. */
  readonly confirmedAgoMs: number | null;
}

/** RTM_GETNEIGH for all families. */
export function neighborDumpRequest(): Uint8Array {
  return netlinkRequest(RTM_GETNEIGH, NLM_F_DUMP, new Uint8Array(NEIGHBOR_HEADER_BYTES));
}

/**
 * Parses one datagram of the response. Skips bridge forwarding entries, which use the same messages; stops at a
 * truncated message.
 */
export function parseNeighborDatagram(datagram: Uint8Array): KernelNeighbor[] {
  const view = viewOf(datagram);
  const neighbors: KernelNeighbor[] = [];
  for (const { type, body, end } of netlinkMessages(view)) {
    if (type !== RTM_NEWNEIGH || end - body < NEIGHBOR_HEADER_BYTES) continue;
    const neighbor = readNeighbor(view, body, end);
    if (neighbor) neighbors.push(neighbor);
  }
  return neighbors;
}

/** struct ndmsg: family 1, padding 3, interface index 4, state 2, flags 1, type 1. */
const NEIGHBOR_HEADER_BYTES = 12;

const RTM_NEWNEIGH = 28;
const RTM_GETNEIGH = 30;
const AF_INET = 2;
const AF_INET6 = 10;
const NDA_DST = 1;
const NDA_LLADDR = 2;
/** struct nda_cacheinfo: confirmed 4, used 4, updated 4, references 4; ages in ticks. */
const NDA_CACHEINFO = 3;

/** USER_HZ is 100 on all supported platforms. */
const TICK_MS = 10;

const STATES: ReadonlyMap<number, NeighborState> = new Map([
  [0x01, "Resolving"],
  [0x02, "Reachable"],
  [0x04, "Stale"],
  [0x08, "Delay"],
  [0x10, "Probe"],
  [0x20, "Failed"],
  [0x40, "NoArp"],
  [0x80, "Permanent"],
]);

const STATES_WITH_MAC: ReadonlySet<NeighborState> = new Set(["Reachable", "Stale", "Delay", "Probe", "Permanent"]);

function readNeighbor(view: DataView, body: number, end: number): KernelNeighbor | null {
  const family = view.getUint8(body);
  if (family !== AF_INET && family !== AF_INET6) return null;
  const state = STATES.get(view.getUint16(body + 8, LITTLE_ENDIAN)) ?? "None";
  let address: string | null = null;
  let mac: string | null = null;
  let confirmedAgoMs: number | null = null;
  for (const attribute of netlinkAttributes(view, body + NEIGHBOR_HEADER_BYTES, end)) {
    const value = bytesOf(view, attribute);
    if (attribute.type === NDA_DST) address = ipOfBytes(value)?.text ?? null;
    if (attribute.type === NDA_LLADDR) mac = macOfBytes(value);
    if (attribute.type === NDA_CACHEINFO && value.length >= 4)
      confirmedAgoMs = view.getUint32(attribute.body, LITTLE_ENDIAN) * TICK_MS;
  }
  if (address === null) return null;
  return {
    ip_address: address,
    mac_address: STATES_WITH_MAC.has(state) ? mac : null,
    ifIndex: view.getInt32(body + 4, LITTLE_ENDIAN),
    state,
    confirmedAgoMs,
  };
}

/** Null for anything but an EUI-48, and for all zeros, as on tunnels. */
export function macOfBytes(bytes: Uint8Array): string | null {
  if (bytes.length !== 6 || bytes.every((byte) => byte === 0)) return null;
  return bytes.toHex().replace(/(..)(?=.)/g, "$1:");
}
