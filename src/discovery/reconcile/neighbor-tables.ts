// Conversion of a device's ARP and neighbor tables to sightings. Pure.

import { ADDRESSES_PER_MAC_MAX } from "../../resources/ip-addresses/shared-macs.ts";
import type { ArpEntry, Device } from "../device.ts";
import { countRows, KEPT_ROW, narrowed, type RowCount } from "../rows.ts";
import type { AddressSighting } from "../sightings.ts";
import { isLinkLocal, isOwnAddress } from "./signs.ts";

export interface NeighborSightings {
  readonly sightings: readonly AddressSighting[];
  /** Kept rows are the sightings. */
  readonly rows: RowCount;
}

/**
 * Lists the neighbors of a device, each address once, excluding its own addresses and those that every machine has.
 * @param knownMacs stored MAC addresses of its interfaces, in case it reports only some
 */
export function neighborSightingsOf(device: Device, knownMacs: readonly string[] = []): NeighborSightings {
  const own = new Set((device.addresses ?? []).map((each) => each.ip_address));
  const ownMacs = new Set([...knownMacs, ...(device.interfaces ?? []).flatMap((each) => each.mac_address ?? [])]);
  const byAddress = new Map<string, ArpEntry>();
  const counts = new Map<string, number>();
  const entries = countRows(device.arp ?? [], (entry) => {
    const { ip_address, mac_address } = entry;
    if (own.has(ip_address) || ownMacs.has(mac_address)) return "own";
    if (!isOwnAddress(ip_address)) return isLinkLocal(ip_address) ? "link_local" : "loopback";
    if (byAddress.has(ip_address)) return "duplicate";
    byAddress.set(ip_address, entry);
    counts.set(mac_address, (counts.get(mac_address) ?? 0) + 1);
    return KEPT_ROW;
  });
  const sightings = [...byAddress.values()].map(({ ip_address, mac_address }) => ({
    ip_address,
    mac_address,
    ...((counts.get(mac_address) ?? 0) > ADDRESSES_PER_MAC_MAX ? { is_mac_shared: true as const } : {}),
    answered: [],
  }));
  return { sightings, rows: narrowed(device.rows.arp, entries) };
}

/**
 * Lists what a device heard, for DeviceSighting.heard: every address with every MAC address and interface, except its
 * own.
 * @returns undefined if it serves no neighbor tables
 */
export function heardBy(device: Device): string | undefined {
  if (device.arp === undefined) return undefined;
  const ownMacs = new Set((device.interfaces ?? []).map((each) => each.mac_address));
  const ownAddresses = new Set(ownMacs.size > 0 ? [] : (device.addresses ?? []).map((each) => each.ip_address));
  return linesOf(
    device.arp.filter(({ ip_address, mac_address }) => !ownMacs.has(mac_address) && !ownAddresses.has(ip_address)),
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
