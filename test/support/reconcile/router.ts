// Routers with ARP entries, for tests of who has an address.

import type { ArpEntry, Device } from "../../../src/discovery/device.ts";
import { address, ethernet, mac } from "./sightings.ts";

export const arpEntry = (mac_address: string, ip_address = "10.0.0.7"): ArpEntry => ({
  ip_address,
  mac_address,
  if_index: 1,
});

/** A router at an address, numbered by its last octet. */
export function routerAt(at: string, arp: readonly ArpEntry[], fields: Partial<Device> = {}): Partial<Device> {
  const number = Number(at.split(".").at(-1));
  return {
    sys_name: `router-${number}`,
    serial_number: `SERIAL ${number}`,
    interfaces: [ethernet(1, { if_name: "Vl20", mac_address: mac(1, number) })],
    addresses: [address(at)],
    arp,
    ...fields,
  };
}
