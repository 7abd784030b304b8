// The VLANs of Cisco switches and of their ports: CISCO-VTP-MIB and CISCO-VLAN-MEMBERSHIP-MIB, both by ifIndex.

import { areComplete, columnOf } from "./columns.ts";
import type { ReadStep, Reads, SnmpValue } from "./reads.ts";
import { IF_INDEX_MAX, integerOf, singleSubIdOf, subIdsOf, textOf, vlanNumberOf } from "./values.ts";

/** vtpVlanTable: index managementDomainIndex.vtpVlanIndex. */
export const CISCO_VLANS_STEP = {
  name: "vtp_vlan_table",
  table: "vlans",
  columns: {
    vtpVlanState: "1.3.6.1.4.1.9.9.46.1.3.1.1.2",
    vtpVlanType: "1.3.6.1.4.1.9.9.46.1.3.1.1.3",
    vtpVlanName: "1.3.6.1.4.1.9.9.46.1.3.1.1.4",
  },
} as const satisfies ReadStep;

/** vlanTrunkPortTable: index ifIndex. */
export const CISCO_TRUNKS_STEP = {
  name: "vlan_trunk_port_table",
  table: "vlans",
  columns: {
    vlanTrunkPortVlansEnabled: "1.3.6.1.4.1.9.9.46.1.6.1.1.4",
    vlanTrunkPortNativeVlan: "1.3.6.1.4.1.9.9.46.1.6.1.1.5",
    vlanTrunkPortDynamicStatus: "1.3.6.1.4.1.9.9.46.1.6.1.1.14",
    vlanTrunkPortVlansEnabled2k: "1.3.6.1.4.1.9.9.46.1.6.1.1.17",
    vlanTrunkPortVlansEnabled3k: "1.3.6.1.4.1.9.9.46.1.6.1.1.18",
    vlanTrunkPortVlansEnabled4k: "1.3.6.1.4.1.9.9.46.1.6.1.1.19",
  },
  isNeeded: hasVtp,
} as const satisfies ReadStep;

/** vmMembershipTable: index ifIndex. */
export const CISCO_MEMBERSHIP_STEP = {
  name: "vm_membership_table",
  table: "vlans",
  columns: { vmVlan: "1.3.6.1.4.1.9.9.68.1.2.2.1.2" },
  isNeeded: hasVtp,
} as const satisfies ReadStep;

export interface CiscoVlans {
  readonly names: ReadonlyMap<number, string | null>;
  readonly isComplete: boolean;
  /** Ethernet VLANs that are operational(1), ascending. */
  readonly inUse: readonly number[];
}

/** Undefined: not told; null: none. */
export interface CiscoPort {
  readonly native: number | null | undefined;
  readonly members: readonly number[] | undefined;
}

/** Every VLAN of every management domain, those that are there by default for FDDI and Token Ring (1002 to 1005) too: the device has them. */
export function ciscoVlansOf(reads: Reads): CiscoVlans {
  const states = columnOf(reads, CISCO_VLANS_STEP.name, "vtpVlanState");
  const types = columnOf(reads, CISCO_VLANS_STEP.name, "vtpVlanType");
  const texts = columnOf(reads, CISCO_VLANS_STEP.name, "vtpVlanName");
  const names = new Map<number, string | null>();
  const inUse = new Set<number>();
  for (const [index, state] of states.values) {
    const subIds = subIdsOf(index);
    const number = subIds.length === 2 ? vlanNumberOf(subIds[1]) : null;
    if (number === null) continue;
    const name = texts.values.get(index);
    names.set(number, (names.get(number) ?? (name === undefined ? null : textOf(name))) || null);
    if (state === OPERATIONAL && (types.values.get(index) ?? ETHERNET) === ETHERNET) inUse.add(number);
  }
  return { names, isComplete: states.isComplete, inUse: [...inUse].sort((a, b) => a - b) };
}

/**
 * By ifIndex. A port that acts as a trunk is a member of those VLANs that are enabled on it and that the device has; another one is of the VLAN
 * that vmVlan says. A port of which neither is told, such as a trunk without a link, is not in it. What broke off says nothing.
 */
export function ciscoPortsOf(reads: Reads, vlans: CiscoVlans): ReadonlyMap<number, CiscoPort> {
  const ports = new Map<number, CiscoPort>();
  const numbers = [...vlans.names.keys()].sort((a, b) => a - b);
  const statuses = columnOf(reads, CISCO_TRUNKS_STEP.name, "vlanTrunkPortDynamicStatus");
  for (const [index, value] of columnOf(reads, CISCO_MEMBERSHIP_STEP.name, "vmVlan").values) {
    const ifIndex = singleSubIdOf(index, IF_INDEX_MAX);
    const vlan = integerOf(value, 0, 4_095);
    // Trunks are in this table too, with a VLAN that means nothing: without their status nothing is known.
    if (ifIndex === null || vlan === null || (!statuses.isComplete && !statuses.values.has(index))) continue;
    const native = vlanNumberOf(vlan);
    ports.set(ifIndex, { native, members: native === null ? [] : [native] });
  }

  const natives = columnOf(reads, CISCO_TRUNKS_STEP.name, "vlanTrunkPortNativeVlan");
  const enabled = ENABLED.map((name) => columnOf(reads, CISCO_TRUNKS_STEP.name, name));
  const isWhole = vlans.isComplete && areComplete(enabled);
  for (const [index, status] of statuses.values) {
    const ifIndex = singleSubIdOf(index, IF_INDEX_MAX);
    if (ifIndex === null || status !== TRUNKING) continue;
    const lists = enabled.map(({ values }) => values.get(index));
    const native = natives.values.get(index);
    ports.set(ifIndex, { native: native === undefined ? undefined : vlanNumberOf(native), members: isWhole ? numbers.filter((number) => isEnabled(lists, number)) : undefined });
  }
  return ports;
}

const OPERATIONAL = 1;
const ETHERNET = 1;
const TRUNKING = 1;
/** VLANs 0 to 1023, 1024 to 2047, 2048 to 3071, 3072 to 4095. */
const ENABLED = ["vlanTrunkPortVlansEnabled", "vlanTrunkPortVlansEnabled2k", "vlanTrunkPortVlansEnabled3k", "vlanTrunkPortVlansEnabled4k"] as const;
const VLANS_PER_LIST = 1_024;

function hasVtp(reads: Reads): boolean {
  return columnOf(reads, CISCO_VLANS_STEP.name, "vtpVlanState").values.size > 0;
}

/** The most significant bit of the first byte is the first VLAN of a list. */
function isEnabled(lists: readonly (SnmpValue | undefined)[], vlan: number): boolean {
  const list = lists[Math.floor(vlan / VLANS_PER_LIST)];
  const at = vlan % VLANS_PER_LIST;
  return list instanceof Uint8Array && ((list[at >> 3] ?? 0) & (0x80 >> (at & 7))) !== 0;
}
