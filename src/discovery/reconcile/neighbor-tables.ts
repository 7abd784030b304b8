// Conversion of a device's ARP, neighbor and address tables to sightings. Pure.

import { isLocalBridge } from "../../base/interface-name.ts";
import { ADDRESSES_PER_MAC_MAX } from "../../resources/ip-addresses/shared-macs.ts";
import type { ArpEntry, Device } from "../device.ts";
import { countRows, KEPT_ROW, narrowed, type RowCount } from "../rows.ts";
import type { AddressSighting, DeviceSighting } from "../sightings.ts";
import { isLinkLocal, isOwnAddress } from "./signs.ts";

export interface NeighborSightings {
  readonly sightings: readonly AddressSighting[];
  /** Kept rows become sightings. */
  readonly rows: RowCount;
}

/**
 * Lists the neighbors of a device, each address once per MAC address, excluding its own addresses and those that every
 * machine has.
 * @param knownMacs stored MAC addresses of its interfaces, in case it reports only some
 */
export function neighborSightingsOf(device: Device, knownMacs: readonly string[] = []): NeighborSightings {
  const own = new Set((device.addresses ?? []).map((each) => each.ip_address));
  const ownMacs = new Set([...knownMacs, ...(device.interfaces ?? []).flatMap((each) => each.mac_address ?? [])]);
  const bridges = new Set(
    (device.interfaces ?? []).flatMap(({ if_index, if_name, if_descr }) =>
      isLocalBridge(if_name ?? if_descr ?? "") ? [if_index] : [],
    ),
  );
  const isOnBridge = ({ if_index }: ArpEntry) => if_index !== null && bridges.has(if_index);
  const neighbors = new Map<string, ArpEntry>();
  const counts = new Map<string, number>();
  const entries = countRows(device.arp ?? [], (entry) => {
    const { ip_address, mac_address } = entry;
    if (own.has(ip_address) || ownMacs.has(mac_address)) return "own";
    if (!isOwnAddress(ip_address)) return isLinkLocal(ip_address) ? "link_local" : "loopback";
    const key = neighborKey(entry);
    const known = neighbors.get(key);
    if (known === undefined || isOnBridge(known)) neighbors.set(key, entry);
    if (known !== undefined) return "duplicate";
    counts.set(mac_address, (counts.get(mac_address) ?? 0) + 1);
    return KEPT_ROW;
  });
  const sightings = [...neighbors.values()].map((entry) => ({
    ip_address: entry.ip_address,
    mac_address: entry.mac_address,
    ...((counts.get(entry.mac_address) ?? 0) > ADDRESSES_PER_MAC_MAX ? { is_mac_shared: true as const } : {}),
    ...(isOnBridge(entry) ? { is_local: true as const } : {}),
    answered: [],
  }));
  return { sightings, rows: narrowed(device.rows.arp, entries) };
}

/** Identifies a neighbor: an IP address and a MAC address. */
export function neighborKey({ ip_address, mac_address }: Pick<AddressSighting, "ip_address" | "mac_address">): string {
  return `${ip_address} ${mac_address}`;
}

/**
 * Lists the neighbors of a device, for DeviceSighting.neighbors: every address with every MAC address and interface,
 * except its own.
 * @returns undefined if it serves no neighbor tables
 */
export function neighborLines(device: Device): string | undefined {
  if (device.arp === undefined) return undefined;
  const ownMacs = new Set((device.interfaces ?? []).map((each) => each.mac_address));
  const ownAddresses = new Set(ownMacs.size > 0 ? [] : (device.addresses ?? []).map((each) => each.ip_address));
  return linesOf(
    device.arp.filter(({ ip_address, mac_address }) => !ownMacs.has(mac_address) && !ownAddresses.has(ip_address)),
  );
}

/** Lists a device's own addresses, with the MAC address of their interface, else the one seen at the polled address. */
export function ownLines({ device, ip_address: polledAddress, mac_address }: DeviceSighting): string {
  const own = [...(device.addresses ?? [])];
  if (!own.some((each) => each.ip_address === polledAddress))
    own.push({ ip_address: polledAddress, prefix_length: null, if_index: null });
  const indexes = new Set(own.map(({ if_index }) => if_index));
  const interfaces = (device.interfaces ?? []).filter(({ if_index }) => indexes.has(if_index));
  const macs = new Map(interfaces.map((each) => [each.if_index, each.mac_address]));
  const seenMac = (address: string) => (address === polledAddress ? mac_address : null);
  return linesOf(
    own.map(({ ip_address, if_index }) => ({
      ip_address,
      if_index,
      mac_address: (if_index === null ? null : macs.get(if_index)) ?? seenMac(ip_address),
    })),
  );
}

/** @returns one line per distinct row, sorted: address, MAC address and ifIndex, each `-` if unknown */
export function linesOf(
  rows: ReadonlyArray<Pick<ArpEntry, "ip_address" | "if_index"> & { readonly mac_address: string | null }>,
): string {
  const lines = rows.map(({ ip_address, mac_address, if_index }) =>
    [ip_address, mac_address ?? "-", if_index ?? "-"].join(" "),
  );
  return [...new Set(lines)].sort().join("\n");
}
