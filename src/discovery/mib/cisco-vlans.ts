// VLAN decoder for Cisco switches and their ports: CISCO-VTP-MIB and CISCO-VLAN-MEMBERSHIP-MIB, both by ifIndex.

import { KEPT_ROW, type RowCount } from "../rows.ts";
import type { Interfaces } from "./bridge.ts";
import { areComplete, areEnded, columnOf, countStep } from "./columns.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
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
  dependsOn: [CISCO_VLANS_STEP.name],
} as const satisfies ReadStep;

/** vmMembershipTable: index ifIndex. */
export const CISCO_MEMBERSHIP_STEP = {
  name: "vm_membership_table",
  table: "vlans",
  columns: { vmVlan: "1.3.6.1.4.1.9.9.68.1.2.2.1.2" },
  isNeeded: hasVtp,
  dependsOn: [CISCO_VLANS_STEP.name],
} as const satisfies ReadStep;

export interface CiscoVlans {
  readonly names: ReadonlyMap<number, string | null>;
  readonly isComplete: boolean;
  /** Ethernet VLANs that are operational(1), ascending. */
  readonly inUse: readonly number[];
  readonly rows: Readonly<Record<typeof CISCO_VLANS_STEP.name, RowCount>>;
}

export interface CiscoPorts {
  readonly byIfIndex: ReadonlyMap<number, CiscoPort>;
  readonly rows: Readonly<Record<typeof CISCO_TRUNKS_STEP.name | typeof CISCO_MEMBERSHIP_STEP.name, RowCount>>;
}

/** Undefined: not reported; null: none. */
interface CiscoPort {
  readonly native: number | null | undefined;
  readonly members: readonly number[] | undefined;
}

/** Lists the VLANs of all management domains, including the FDDI and Token Ring defaults (1002 to 1005). */
export function ciscoVlansOf(reads: Reads): CiscoVlans {
  const states = columnOf(reads, CISCO_VLANS_STEP, "vtpVlanState");
  const types = columnOf(reads, CISCO_VLANS_STEP, "vtpVlanType");
  const texts = columnOf(reads, CISCO_VLANS_STEP, "vtpVlanName");
  const names = new Map<number, string | null>();
  const inUse = new Set<number>();
  const rows = countStep(reads, CISCO_VLANS_STEP, (index) => {
    const subIds = subIdsOf(index);
    const number = subIds.length === 2 ? vlanNumberOf(subIds[1]) : null;
    const state = states.values.get(index);
    if (number === null) return "index";
    if (state === undefined) return "value";
    const name = texts.values.get(index);
    const isKnown = names.has(number);
    names.set(number, (names.get(number) ?? (name === undefined ? null : textOf(name))) || null);
    if (state === OPERATIONAL && (types.values.get(index) ?? ETHERNET) === ETHERNET) inUse.add(number);
    return isKnown ? "duplicate" : KEPT_ROW;
  });
  const isComplete = states.isComplete;
  return { names, isComplete, inUse: [...inUse].sort((a, b) => a - b), rows: { [CISCO_VLANS_STEP.name]: rows } };
}

/**
 * Keyed by ifIndex. A trunk is a member of the VLANs that exist and are enabled on it; any other port, of its vmVlan.
 * Ports with neither, such as a trunk without a link, are omitted. A partially read table reports nothing.
 */
export function ciscoPortsOf(reads: Reads, vlans: CiscoVlans, interfaces: Interfaces): CiscoPorts {
  const ports = new Map<number, CiscoPort>();
  const numbers = [...vlans.names.keys()].sort((a, b) => a - b);
  const statuses = columnOf(reads, CISCO_TRUNKS_STEP, "vlanTrunkPortDynamicStatus");
  const memberships = columnOf(reads, CISCO_MEMBERSHIP_STEP, "vmVlan");
  const membershipRows = countStep(reads, CISCO_MEMBERSHIP_STEP, (index) => {
    const ifIndex = singleSubIdOf(index, IF_INDEX_MAX);
    const vlan = integerOf(memberships.values.get(index), 0, 4_095);
    if (ifIndex === null) return "index";
    if (vlan === null) return "value";
    // This table also lists trunks, with a meaningless VLAN.
    if (!statuses.isComplete && !statuses.values.has(index)) return "withheld";
    if (!interfaces.has(ifIndex)) return "no_interface";
    const native = vlanNumberOf(vlan);
    ports.set(ifIndex, { native, members: native === null ? [] : [native] });
    return statuses.values.get(index) === TRUNKING ? "superseded" : KEPT_ROW;
  });

  const natives = columnOf(reads, CISCO_TRUNKS_STEP, "vlanTrunkPortNativeVlan");
  const enabled = ENABLED.map((name) => columnOf(reads, CISCO_TRUNKS_STEP, name));
  const isComplete = vlans.isComplete && areComplete(enabled);
  const trunkRows = countStep(reads, CISCO_TRUNKS_STEP, (index) => {
    const ifIndex = singleSubIdOf(index, IF_INDEX_MAX);
    if (ifIndex === null) return "index";
    if (statuses.values.get(index) !== TRUNKING) return "not_trunk";
    if (!interfaces.has(ifIndex)) return "no_interface";
    const lists = enabled.map(({ values }) => values.get(index));
    const native = natives.values.get(index);
    const members = isComplete ? numbers.filter((number) => isEnabled(lists, number)) : undefined;
    ports.set(ifIndex, { native: native === undefined ? undefined : vlanNumberOf(native), members });
    return KEPT_ROW;
  });
  const rows = { [CISCO_MEMBERSHIP_STEP.name]: membershipRows, [CISCO_TRUNKS_STEP.name]: trunkRows };
  return { byIfIndex: ports, rows };
}

/** True if a port missing from ciscoPortsOf has no VLAN. */
export function areNativesComplete(reads: Reads): boolean {
  const vlans = columnOf(reads, CISCO_MEMBERSHIP_STEP, "vmVlan");
  const statuses = columnOf(reads, CISCO_TRUNKS_STEP, "vlanTrunkPortDynamicStatus");
  return areComplete([vlans, statuses]);
}

/** True if these MIBs and the other columns are empty and the agent once served one of them. */
export function areCiscoPortsEnded(reads: Reads, others: readonly ColumnRead[]): boolean {
  const columnsIn = (step: string): ColumnRead[] => [...(reads.get(step)?.columns.values() ?? [])];
  const ports = [...columnsIn(CISCO_TRUNKS_STEP.name), ...columnsIn(CISCO_MEMBERSHIP_STEP.name)];
  return areEnded([...others, ...ports, ...(hasVtp(reads) ? [] : columnsIn(CISCO_VLANS_STEP.name))]);
}

const OPERATIONAL = 1;
const ETHERNET = 1;
const TRUNKING = 1;
/** VLANs 0 to 1023, 1024 to 2047, 2048 to 3071, 3072 to 4095. */
const ENABLED = [
  "vlanTrunkPortVlansEnabled",
  "vlanTrunkPortVlansEnabled2k",
  "vlanTrunkPortVlansEnabled3k",
  "vlanTrunkPortVlansEnabled4k",
] as const;
const VLANS_PER_LIST = 1_024;

function hasVtp(reads: Reads): boolean {
  return columnOf(reads, CISCO_VLANS_STEP, "vtpVlanState").values.size > 0;
}

/** The most significant bit of the first byte is the first VLAN of a list. */
function isEnabled(lists: readonly (SnmpValue | undefined)[], vlan: number): boolean {
  const list = lists[Math.floor(vlan / VLANS_PER_LIST)];
  const offset = vlan % VLANS_PER_LIST;
  return list instanceof Uint8Array && ((list[offset >> 3] ?? 0) & (0x80 >> (offset & 7))) !== 0;
}
