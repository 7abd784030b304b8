// Factories for scan sightings: devices, their ports, addresses.

import {
  DEVICE_TABLES,
  type Device,
  type DeviceAddress,
  type DeviceInterface,
  type TableReport,
} from "../../../src/discovery/device.ts";
import { NO_ROWS } from "../../../src/discovery/rows.ts";
import type { AddressSighting, DeviceSighting } from "../../../src/discovery/sightings.ts";

const COMPLETE = Object.fromEntries(
  DEVICE_TABLES.map((table) => [table, { state: "complete", problem: null } satisfies TableReport]),
) as unknown as Device["tables"];

/** A device that was read completely. */
export function device(fields: Partial<Device> = {}): Device {
  return { tables: COMPLETE, rows: rowsOf({}), ...fields };
}

/** Row counts of some tables; zero for the others. */
export function rowsOf(counts: Partial<Device["rows"]>): Device["rows"] {
  return Object.fromEntries(DEVICE_TABLES.map((table) => [table, counts[table] ?? NO_ROWS])) as Device["rows"];
}

/** An Ethernet port that is up. */
export function ethernet(ifIndex: number, fields: Partial<DeviceInterface> = {}): DeviceInterface {
  return {
    if_index: ifIndex,
    if_descr: `GigabitEthernet0/${ifIndex}`,
    if_name: `Gi0/${ifIndex}`,
    if_alias: null,
    if_type: 6,
    speed_bps: 1_000_000_000,
    admin_status: "Up",
    oper_status: "Up",
    mac_address: mac(ifIndex),
    native_vlan: null,
    vlans: [],
    forwarding: [],
    lldp: [],
    cdp: [],
    ...fields,
  };
}

/** One of 16 million MAC addresses of one manufacturer. @param device number of the device */
export function mac(number: number, device = 0): string {
  const hex = (device * 256 + number).toString(16).padStart(6, "0");
  return `00:1b:21:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`;
}

/** An address that a device reports for one of its interfaces. */
export function address(ip_address: string, if_index = 1) {
  return { ip_address, prefix_length: 24, if_index } satisfies DeviceAddress;
}

export function deviceAt(
  address: string,
  fields: Partial<Device>,
  overrides: Partial<DeviceSighting> = {},
): DeviceSighting {
  return { ip_address: address, mac_address: null, device: device(fields), credential: null, ...overrides };
}

/** A device with a port and the address `10.0.0.N`. @param respondsAt address at which it responds */
export function numbered(number: number, fields: Partial<Device>, respondsAt = `10.0.0.${number}`): DeviceSighting {
  const interfaces = [ethernet(1, { mac_address: mac(1, number) })];
  return deviceAt(respondsAt, { interfaces, addresses: [address(`10.0.0.${number}`)], ...fields });
}

export function seenAt(address: string, overrides: Partial<AddressSighting> = {}): AddressSighting {
  return { ip_address: address, mac_address: null, answered: ["Icmp"], ...overrides };
}
