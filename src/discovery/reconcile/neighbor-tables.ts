// What a device's ARP and neighbor tables tell of others, as sightings. Pure.

import type { ArpEntry, Device } from "../device.ts";
import type { AddressSighting } from "../sightings.ts";
import { isOwnAddress } from "./signs.ts";

/** A MAC address that stands for more addresses than these answers on behalf of others (proxy ARP, RFC 1027): it is no sign of who has them. */
export const ADDRESSES_PER_MAC_MAX = 32;

/**
 * Whom a device has spoken with, each address once, without itself and without what everybody has.
 */
export function heardOf(device: Device): AddressSighting[] {
  const own = new Set((device.addresses ?? []).map((each) => each.ip_address));
  const ownMacs = new Set((device.interfaces ?? []).flatMap((each) => each.mac_address ?? []));
  const byAddress = new Map<string, ArpEntry>();
  const counts = new Map<string, number>();
  for (const entry of device.arp ?? []) {
    const { ip_address, mac_address } = entry;
    if (own.has(ip_address) || ownMacs.has(mac_address) || byAddress.has(ip_address) || !isOwnAddress(ip_address)) continue;
    byAddress.set(ip_address, entry);
    counts.set(mac_address, (counts.get(mac_address) ?? 0) + 1);
  }
  return [...byAddress.values()].map(({ ip_address, mac_address }) => ({
    ip_address,
    mac_address: (counts.get(mac_address) ?? 0) > ADDRESSES_PER_MAC_MAX ? null : mac_address,
    answered: [],
  }));
}
