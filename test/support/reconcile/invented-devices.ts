// Invented devices of one site that contradict each other: a pair of routers with a virtual address, switches that name
// a VLAN differently, machines with a card in common, and neighbor tables that disagree.

import { READING_PLAN } from "../../../src/discovery/mib/plan.ts";
import type { RecordedSteps } from "./reduced-reads.ts";
import { dotted, hex, readsWith, type SyntheticStep, tableOf, utf8 } from "./synthetic-reads.ts";

/** MAC addresses: of cards, of stations, of VRRP, and of a card that virtual machines have in common. */
const card = (device: number, port: number) => `001b2100${two(device)}${two(port)}`;
const station = (number: number) => `3c0000aa00${two(number)}`;
const VIRTUAL_ROUTER = "00005e000105";
const SHARED_CARD = "0800275d3c01";

interface Invented {
  readonly name: string;
  readonly number: number;
  readonly serial?: string;
  readonly vlanName?: string;
  /** Address → MAC address, of other machines. */
  readonly neighbors?: Readonly<Record<string, string>>;
  /** Has the card, and the address on it, of all virtual machines. */
  readonly isVirtual?: true;
}

const DEVICES: readonly Invented[] = [
  {
    name: "gw-1",
    number: 1,
    serial: "INV0001",
    vlanName: "users",
    neighbors: { "10.61.0.1": VIRTUAL_ROUTER, "10.61.0.100": station(1), "10.61.0.101": station(2) },
  },
  {
    name: "gw-2",
    number: 2,
    serial: "INV0002",
    vlanName: "Users",
    // Another MAC address at the second station, and the other router.
    neighbors: { "10.61.0.100": station(1), "10.61.0.101": station(3), "10.61.0.11": card(1, 1) },
  },
  { name: "acc-1", number: 3, serial: "INV0003", vlanName: "VLAN0010" },
  { name: "acc-2", number: 4, serial: "INV0004", vlanName: "Vlan 10", neighbors: { "10.61.0.102": station(2) } },
  { name: "acc-3", number: 5, serial: "INV0005", vlanName: "Users" },
  { name: "vm-a", number: 6, isVirtual: true },
  { name: "vm-b", number: 7, isVirtual: true, neighbors: { "10.0.2.2": "525400123502" } },
  // Clones of one image.
  { name: "image", number: 8, isVirtual: true },
  { name: "image", number: 9, isVirtual: true },
];

/** Complete reads of each device, by name and number. */
export function inventedDevices(): ReadonlyMap<string, RecordedSteps> {
  const plan = READING_PLAN.map(({ isNeeded: _always, ...step }) => step);
  return new Map(
    DEVICES.map((device) => [`${device.name} ${device.number}`, readsWith(stepsOf(device), plan) as RecordedSteps]),
  );
}

function stepsOf({
  name,
  number,
  serial,
  vlanName,
  neighbors = {},
  isVirtual,
}: Invented): Record<string, SyntheticStep> {
  const shared = isVirtual === undefined ? {} : { 3: port(3, SHARED_CARD) };
  const sharedAddress = isVirtual === undefined ? {} : { "10.0.2.15": onPort(3) };
  return {
    system: { scalars: { sysName: utf8(name), sysDescr: utf8("an invented device"), sysServices: 72 } },
    if_table: tableOf({ 1: port(1, card(number, 1)), 2: port(2, card(number, 2)), ...shared }),
    ip_addr_table: tableOf({ [`10.61.0.${number + 10}`]: onPort(1), ...sharedAddress }),
    ip_net_to_media_table: tableOf(
      Object.fromEntries(
        Object.entries(neighbors).map(([address, mac]) => [
          `1.${address}`,
          { ipNetToMediaPhysAddress: hex(mac), ipNetToMediaType: 3 },
        ]),
      ),
    ),
    ...(serial === undefined
      ? {}
      : { ent_physical_table: tableOf({ 1: { entPhysicalClass: 3, entPhysicalSerialNum: utf8(serial) } }) }),
    ...(vlanName === undefined
      ? {}
      : {
          bridge: { columns: { dot1dBasePortIfIndex: { 1: 1, 2: 2 } } },
          dot1q_vlan_static_table: tableOf({
            10: { dot1qVlanStaticName: utf8(vlanName), dot1qVlanStaticEgressPorts: hex("80") },
          }),
          dot1q_tp_fdb_table: tableOf({
            [`10.${dotted(station(number))}`]: { dot1qTpFdbPort: 2, dot1qTpFdbStatus: 3 },
          }),
        }),
  };
}

function port(index: number, mac: string) {
  return { ifDescr: utf8(`eth${index}`), ifType: 6, ifPhysAddress: hex(mac), ifAdminStatus: 1, ifOperStatus: 1 };
}

function onPort(index: number) {
  return { ipAdEntIfIndex: index, ipAdEntNetMask: "255.255.255.0" };
}

function two(number: number): string {
  return number.toString(16).padStart(2, "0");
}
