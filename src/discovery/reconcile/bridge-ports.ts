// Guard against guessed bridge ports: ignores lists that use bridge ports as ifIndex values if the device has served
// dot1dBasePortTable before.

import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import type { Device, DeviceInterface, DeviceTable, PortList } from "../device.ts";
import { BRIDGE_STEP } from "../mib/bridge.ts";
import type { ScanWrite } from "./scan-write.ts";
import { hasServed } from "./served-data.ts";

const TABLE_OF: Readonly<Record<PortList, DeviceTable>> = {
  forwarding: "forwarding",
  vlans: "vlans",
  native_vlan: "vlans",
};

/** In the format of servedOf. */
const BRIDGE_PORTS = `${BRIDGE_STEP.name}.${"dot1dBasePortIfIndex" satisfies keyof typeof BRIDGE_STEP.columns}`;

/** Interface lists with unknown content: their stored values are kept. */
export function unknownLists(write: ScanWrite, host: HostRecord, device: Device): readonly PortList[] {
  const { assumed_lists: assumed = [] } = device;
  return assumed.length > 0 && hasServed(write, host, device, BRIDGE_PORTS) ? assumed : [];
}

export function withoutLists(
  interfaces: readonly DeviceInterface[],
  lists: readonly PortList[],
): readonly DeviceInterface[] {
  if (lists.length === 0) return interfaces;
  const cleared = Object.fromEntries(lists.map((list) => [list, undefined]));
  return interfaces.map((each) => ({ ...each, ...cleared }));
}

/** Reports the tables left unchanged. */
export function reportUnknownLists(write: ScanWrite, host: HostRecord, lists: readonly PortList[]): void {
  for (const table of new Set(lists.map((list) => TABLE_OF[list]))) {
    write.addFinding({
      type: "Partial",
      entity: hostKind.name,
      id: host.id,
      label: `${host.name}: ${table}`,
      reason: "it no longer serves dot1dBasePortTable: its bridge ports are unknown, and known values stay",
    });
  }
}
