// Snapshot of a fictitious machine for self discovery.

import type { MachineInterface, MachineSnapshot } from "../../../src/discovery/self/machine.ts";

/** Machine with one Ethernet interface with an address, and SSH, by default. */
export function machineWith(fields: Partial<MachineSnapshot> = {}): MachineSnapshot {
  return {
    hostname: "appliance-1",
    machine_id: null,
    interfaces: [machineInterface({ if_index: 2, mac_address: "00:1b:21:aa:bb:cc" })],
    addresses: [{ ip_address: "192.0.2.4", prefix_length: 24, if_index: 2, cidr: "192.0.2.0/24" }],
    default_interfaces: ["eth0"],
    has_all_addresses: true,
    ports: [{ number: 22, protocol: "Tcp", bound: [] }],
    sys_descr: "Linux",
    manufacturer: null,
    model: null,
    serial_number: null,
    ...fields,
  };
}

/** eth0, up. */
export function machineInterface(fields: Partial<MachineInterface> & { readonly if_index: number }): MachineInterface {
  return {
    if_name: "eth0",
    if_descr: "eth0",
    if_alias: null,
    if_type: 6,
    mac_address: null,
    speed_bps: null,
    admin_status: "Up",
    oper_status: "Up",
    ...fields,
  };
}
