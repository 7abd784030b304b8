// Synthetic devices for cases without a recording: a BRIDGE-MIB per VLAN, LLDP-V2-MIB, and speeds that one of the
// two tables reports wrong.

import { READING_PLAN } from "../../../src/discovery/mib/plan.ts";
import type { RecordedSteps } from "./reduced-reads.ts";
import { dotted, hex, readsWith, rows, type SyntheticStep, tableOf, utf8 } from "./synthetic-reads.ts";

const mac = (number: number): string => `001b21aa00${number.toString(16).padStart(2, "0")}`;
const port = (number: number, ifSpeed: number) => ({
  ifDescr: utf8(`GigabitEthernet0/${number}`),
  ifType: 6,
  ifSpeed,
  ifPhysAddress: hex(mac(number)),
  ifAdminStatus: 1,
  ifOperStatus: 1,
});
const nameRow = (number: number, ifHighSpeed: number) => ({
  ifName: utf8(`Gi0/${number}`),
  ifHighSpeed,
  ifAlias: utf8(`to ${number}`),
});
const system = (sysName: string): SyntheticStep => ({
  scalars: {
    sysName: utf8(sysName),
    sysObjectID: "1.3.6.1.4.1.9.1.516",
    sysDescr: utf8("by hand"),
    sysLocation: utf8("here"),
  },
});
/** ifSpeed at its maximum, wrapped around, or too small for megabits, and ifHighSpeed in bits per second. */
const INTERFACES: Readonly<Record<string, SyntheticStep>> = {
  if_table: tableOf({
    101: port(1, 2 ** 32 - 1),
    102: port(2, 1_410_065_408),
    103: port(3, 64_000),
    104: port(4, 100_000_000),
  }),
  if_x_table: tableOf({
    101: nameRow(1, 20_000),
    102: nameRow(2, 10_000),
    103: nameRow(3, 0),
    104: nameRow(4, 100_000_000),
  }),
  ip_addr_table: tableOf({ "10.9.0.1": { ipAdEntIfIndex: 101, ipAdEntNetMask: "255.255.255.0" } }),
  ip_net_to_media_table: tableOf({
    "101.10.9.0.7": { ipNetToMediaPhysAddress: hex(mac(70)), ipNetToMediaType: 3 },
    // The device's own MAC address, with an IP address it does not have.
    "101.10.9.0.8": { ipNetToMediaPhysAddress: hex(mac(2)), ipNetToMediaType: 3 },
  }),
};
const entityRow = (entPhysicalClass: number, serial: string, manufacturer: string, model: string) => ({
  entPhysicalClass,
  entPhysicalSerialNum: utf8(serial),
  entPhysicalMfgName: utf8(manufacturer),
  entPhysicalModelName: utf8(model),
});
/** A stack of two switches, in which only the stack reports the manufacturer. */
const entity = (manufacturer: string): SyntheticStep =>
  tableOf({
    "1": entityRow(11, "", manufacturer, "stack"),
    "1001": entityRow(3, "FOC1", "", "M-1"),
    "2001": entityRow(3, "FOC2", "", "M-2"),
  });
const vtpVlan = (number: number) => ({ vtpVlanState: 1, vtpVlanType: 1, vtpVlanName: utf8(`v-${number}`) });

/** A Cisco switch: VTP, a trunk, and forwarding tables per VLAN, each with separate ports. */
const PER_VLAN: Readonly<Record<string, SyntheticStep>> = {
  ...INTERFACES,
  system: system("per-vlan"),
  ent_physical_table: entity("Cisco Systems"),
  bridge: { scalars: { dot1dBaseBridgeAddress: hex(mac(0)) }, columns: { dot1dBasePortIfIndex: { "1": 104 } } },
  vtp_vlan_table: tableOf({ "1.1": vtpVlan(1), "1.10": vtpVlan(10), "1.20": vtpVlan(20) }),
  vlan_trunk_port_table: tableOf({
    "104": {
      vlanTrunkPortDynamicStatus: 1,
      vlanTrunkPortNativeVlan: 1,
      vlanTrunkPortVlansEnabled: hex("402008"),
      vlanTrunkPortVlansEnabled2k: hex("00"),
      vlanTrunkPortVlansEnabled3k: hex("00"),
      vlanTrunkPortVlansEnabled4k: hex("00"),
    },
  }),
  vm_membership_table: { columns: { vmVlan: { "101": 10, "102": 20, "104": 20 } } },
  dot1d_tp_fdb_table: tableOf({ [dotted(mac(50))]: { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 } }),
  vlan_dot1d_tp_fdb_table: tableOf({
    [`10.${dotted(mac(51))}`]: { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 },
    [`10.${dotted(mac(1))}`]: { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 4 },
    [`20.${dotted(mac(52))}`]: { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 },
  }),
  vlan_bridge: { columns: { dot1dBasePortIfIndex: { "10.1": 101, "20.1": 102 } } },
  cdp_cache_table: {
    scalars: { cdpGlobalRun: 1 },
    columns: rows({
      "104.1": {
        cdpCacheAddressType: 1,
        cdpCacheAddress: hex("0a090002"),
        cdpCacheDeviceId: utf8("far"),
        cdpCacheDevicePort: utf8("Gi0/9"),
        cdpCachePlatform: utf8("P"),
      },
    }),
  },
};

/** A switch with Q-BRIDGE-MIB, its local chassis ID in LLDP-MIB and its neighbors in LLDP-V2-MIB. */
const LLDP_V2: Readonly<Record<string, SyntheticStep>> = {
  ...INTERFACES,
  system: system("lldp-v2"),
  ent_physical_table: entity(""),
  // Filtering databases with ids other than the VLANs'; a port whose number is another interface's.
  bridge: {
    scalars: { dot1dBaseBridgeAddress: hex(mac(0)) },
    columns: { dot1dBasePortIfIndex: { "101": 102, "102": 101 } },
  },
  dot1q_vlan_current_table: tableOf({
    "0.10": { dot1qVlanFdbId: 7, dot1qVlanCurrentEgressPorts: hex(`${"00".repeat(12)}0c`) },
    "0.20": { dot1qVlanFdbId: 10, dot1qVlanCurrentEgressPorts: hex(`${"00".repeat(12)}04`) },
  }),
  dot1q_vlan_static_table: tableOf({
    "10": { dot1qVlanStaticName: utf8("users"), dot1qVlanStaticEgressPorts: hex(`${"00".repeat(12)}08`) },
    "20": { dot1qVlanStaticName: utf8("guests"), dot1qVlanStaticEgressPorts: hex(`${"00".repeat(12)}04`) },
  }),
  dot1q_port_vlan_table: { columns: { dot1qPvid: { "101": 10, "102": 20 } } },
  dot1q_tp_fdb_table: tableOf({
    [`7.${dotted(mac(60))}`]: { dot1qTpFdbPort: 101, dot1qTpFdbStatus: 3 },
    [`10.${dotted(mac(61))}`]: { dot1qTpFdbPort: 102, dot1qTpFdbStatus: 3 },
    [`10.${dotted(mac(2))}`]: { dot1qTpFdbPort: 102, dot1qTpFdbStatus: 4 },
  }),
  dot1d_tp_fdb_table: tableOf({
    [dotted(mac(60))]: { dot1dTpFdbPort: 101, dot1dTpFdbStatus: 3 },
    [dotted(mac(62))]: { dot1dTpFdbPort: 102, dot1dTpFdbStatus: 3 },
  }),
  lldp_local: { scalars: { chassisIdSubtype: 4, chassisId: hex(mac(0)) } },
  lldp_v2_local: { scalars: { chassisIdSubtype: 7, chassisId: utf8("another word for it") } },
  lldp_v2_rem_table: tableOf({
    "0.11.1.1": {
      chassisIdSubtype: 4,
      chassisId: hex(mac(90)),
      portIdSubtype: 5,
      portId: utf8("Gi0/7"),
      portDesc: utf8("uplink"),
      sysName: utf8("far"),
      sysDesc: utf8("a switch"),
    },
  }),
  lldp_v2_rem_man_addr_table: { columns: { manAddrIfSubtype: { "0.11.1.1.1.4.10.9.0.9": 2 } } },
  // Numbers without an interface: only the name identifies it, and that is in ifXTable.
  lldp_v2_loc_port_table: tableOf({ "11": { portIdSubtype: 1, portId: utf8("to 3"), portDesc: utf8("") } }),
};

/** Synthetic devices, in the form of recordings: with steps that the plan does not need. */
export function syntheticDevices(): ReadonlyMap<string, RecordedSteps> {
  const plan = READING_PLAN.map(({ isNeeded: _always, ...step }) => step);
  return new Map([
    ["a switch with a bridge for each VLAN", readsWith(PER_VLAN, plan) as RecordedSteps],
    ["a switch with LLDP-V2-MIB", readsWith(LLDP_V2, plan) as RecordedSteps],
  ]);
}
