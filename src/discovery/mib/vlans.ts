// VLAN decoder for a device and its ports: Q-BRIDGE-MIB (RFC 4363). For Cisco switches see cisco-vlans.ts.

import type { DeviceVlan, PortList, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount } from "../rows.ts";
import type { BridgePorts, Interfaces } from "./bridge.ts";
import {
  areCiscoPortsEnded,
  areNativesComplete,
  CISCO_MEMBERSHIP_STEP,
  CISCO_TRUNKS_STEP,
  CISCO_VLANS_STEP,
  type CiscoPorts,
  type CiscoVlans,
  ciscoPortsOf,
  ciscoVlansOf,
} from "./cisco-vlans.ts";
import { areComplete, columnOf, countStep, reportOn, rowsOf } from "./columns.ts";
import { portListDecoderOf } from "./port-lists.ts";
import type { ColumnRead, ReadStep, Reads } from "./reads.ts";
import { IF_INDEX_MAX, integerOf, singleSubIdOf, subIdsOf, textOf, VLAN_ID_MAX, vlanNumberOf } from "./values.ts";

/** dot1qVlanCurrentTable: index dot1qVlanTimeMark.dot1qVlanIndex. */
export const VLAN_CURRENT_STEP = {
  name: "dot1q_vlan_current_table",
  table: "vlans",
  columns: {
    dot1qVlanFdbId: "1.3.6.1.2.1.17.7.1.4.2.1.3",
    dot1qVlanCurrentEgressPorts: "1.3.6.1.2.1.17.7.1.4.2.1.4",
  },
} as const satisfies ReadStep;

/** dot1qVlanStaticTable: index dot1qVlanIndex. Untagged lists are subsets of the egress lists and not polled. */
export const VLAN_STATIC_STEP = {
  name: "dot1q_vlan_static_table",
  table: "vlans",
  columns: {
    dot1qVlanStaticName: "1.3.6.1.2.1.17.7.1.4.3.1.1",
    dot1qVlanStaticEgressPorts: "1.3.6.1.2.1.17.7.1.4.3.1.2",
  },
} as const satisfies ReadStep;

/** dot1qPortVlanTable: index dot1dBasePort. */
export const PORT_VLAN_STEP = {
  name: "dot1q_port_vlan_table",
  table: "vlans",
  columns: { dot1qPvid: "1.3.6.1.2.1.17.7.1.4.5.1.1" },
} as const satisfies ReadStep;

/** VLANs of one interface. Undefined: not reported; null: none for untagged frames. */
interface PortVlans {
  readonly native: number | null | undefined;
  /** Ascending. */
  readonly members: readonly number[] | undefined;
}

interface ReportedVlans {
  readonly vlans: DeviceVlan[] | undefined;
  forInterface(ifIndex: number): PortVlans;
  readonly areNativesByIfIndex: boolean;
  /** Lists based on the assumption made without dot1dBasePortTable. */
  readonly assumed: readonly PortList[];
  readonly rows: CiscoVlans["rows"] & CiscoPorts["rows"] & Readonly<Record<VlanStep, RowCount>>;
  readonly report: TableReport;
}

type VlanStep = typeof VLAN_CURRENT_STEP.name | typeof VLAN_STATIC_STEP.name | typeof PORT_VLAN_STEP.name;

export function nativePortsOf(reads: Reads): number[] {
  const pvids = columnOf(reads, PORT_VLAN_STEP, "dot1qPvid");
  return [...pvids.values.keys()].flatMap((index) => singleSubIdOf(index, IF_INDEX_MAX) ?? []);
}

/**
 * VLANs: rows of the static table and of CISCO-VTP-MIB, with names, and rows of the current table with ports (agents
 * use the rest internally). Members: static or current, since some agents drop ports without a link from the current
 * table. An interface that is not a bridge port is in no VLAN. Without VLAN rows, members are not reported; without
 * dot1qPortVlanTable rows, native VLANs are not. Lists without any existing port are ignored. If all these tables have
 * ended, there are no VLANs. Absent: no rows; a bridge with VLANs has at least one.
 */
export function vlansOf(reads: Reads, ports: BridgePorts, interfaces: Interfaces): ReportedVlans {
  const staticNames = columnOf(reads, VLAN_STATIC_STEP, "dot1qVlanStaticName");
  const staticPorts = columnOf(reads, VLAN_STATIC_STEP, "dot1qVlanStaticEgressPorts");
  const currentPorts = columnOf(reads, VLAN_CURRENT_STEP, "dot1qVlanCurrentEgressPorts");
  const currentFids = columnOf(reads, VLAN_CURRENT_STEP, "dot1qVlanFdbId");
  const pvids = columnOf(reads, PORT_VLAN_STEP, "dot1qPvid");
  const cisco = ciscoVlansOf(reads);

  const staticLists = listsOf(staticPorts, (index) => singleSubIdOf(index, VLAN_ID_MAX));
  const currentLists = listsOf(currentPorts, currentVlanOf);
  const all = [...staticLists.values(), ...currentLists.values()];
  const read = portListDecoderOf(all, ports.has);
  const areListsComplete = areComplete([staticPorts, currentPorts]);
  const notes: string[] = [];
  if (!ports.isComplete && all.length > 0) notes.push("the interfaces of the bridge's ports were not read");
  else if (read === null && areListsComplete) notes.push("the port lists contain none of the bridge's ports");

  const names = new Map<number, string | null>();
  for (const index of rowsOf([staticNames, staticPorts])) {
    const number = singleSubIdOf(index, VLAN_ID_MAX);
    const value = staticNames.values.get(index);
    if (number !== null && number > 0) names.set(number, (value === undefined ? null : textOf(value)) || null);
  }
  // Q-BRIDGE-MIB wins, even if unread.
  for (const [number, name] of cisco.names) {
    if ((names.get(number) ?? null) === null) names.set(number, staticNames.isComplete ? name : null);
  }
  for (const [number, list] of currentLists)
    if (!names.has(number) && list.some((byte) => byte !== 0)) names.set(number, null);

  const isMembershipServed = staticPorts.values.size + currentPorts.values.size > 0;
  const isMembershipComplete = isMembershipServed && read !== null && ports.isComplete && areListsComplete;
  const usesCiscoMembership = areListsComplete && (!isMembershipServed || read === null);
  const members = new Map<number, number[]>();
  if (isMembershipComplete) {
    for (const vlan of [...new Set([...staticLists.keys(), ...currentLists.keys()])].sort((a, b) => a - b)) {
      for (const list of [staticLists.get(vlan), currentLists.get(vlan)]) {
        if (list !== undefined) for (const port of read(list)) addTo(members, ports.ifIndexOf(port), vlan);
      }
    }
  }
  const areNativesByIfIndex = isByIfIndex(pvids, nativePortsOf(reads), ports, interfaces);
  const byNumber = areNativesByIfIndex === true ? (index: number) => index : ports.ifIndexOf;
  const { natives, rows: nativeRows } = nativesOf(reads, areNativesByIfIndex === null ? null : byNumber);
  const arePvidsComplete =
    areNativesByIfIndex !== null && pvids.values.size > 0 && pvids.isComplete && ports.isComplete;
  const isNativeKnown = (ifIndex: number): boolean =>
    arePvidsComplete && (areNativesByIfIndex || ports.isMappingKnown(ifIndex));
  const isAssumed = ports.basis === "assumed";
  const { byIfIndex: ciscoPorts, rows: ciscoPortRows } = ciscoPortsOf(reads, cisco, interfaces);
  const areCiscoNativesComplete = areNativesComplete(reads);
  // Every source of membership has ended: no port is in any VLAN.
  const areMembersEnded = areCiscoPortsEnded(reads, [staticPorts, currentPorts]);
  const areNativesEnded = areCiscoPortsEnded(reads, [pvids]);

  const rows = {
    ...cisco.rows,
    ...ciscoPortRows,
    [PORT_VLAN_STEP.name]: nativeRows,
    [VLAN_STATIC_STEP.name]: countStep(reads, VLAN_STATIC_STEP, (index) => {
      return vlanNumberOf(singleSubIdOf(index, VLAN_ID_MAX) ?? 0) === null ? "index" : KEPT_ROW;
    }),
    [VLAN_CURRENT_STEP.name]: currentRowsOf(reads, names),
  };

  const isServed = names.size + pvids.values.size + currentFids.values.size + currentPorts.values.size > 0;
  const steps = [
    VLAN_CURRENT_STEP.name,
    VLAN_STATIC_STEP.name,
    PORT_VLAN_STEP.name,
    CISCO_VLANS_STEP.name,
    CISCO_TRUNKS_STEP.name,
    CISCO_MEMBERSHIP_STEP.name,
  ];
  return {
    vlans:
      names.size === 0
        ? undefined
        : [...names].map(([number, name]) => ({ number, name })).sort((a, b) => a.number - b.number),
    forInterface: (ifIndex) => {
      const cisco = ciscoPorts.get(ifIndex);
      const isNone = cisco === undefined && areCiscoNativesComplete && isNativeKnown(ifIndex);
      const native = natives.has(ifIndex) ? natives.get(ifIndex) : isNone ? null : undefined;
      const isMember = isMembershipComplete && ports.isMappingKnown(ifIndex);
      return {
        native: areNativesEnded ? null : native === undefined && pvids.isComplete ? cisco?.native : native,
        members: areMembersEnded
          ? []
          : isMember
            ? (members.get(ifIndex) ?? [])
            : usesCiscoMembership
              ? cisco?.members
              : undefined,
      };
    },
    areNativesByIfIndex: areNativesByIfIndex === true,
    assumed: isAssumed
      ? [...optional("vlans", isMembershipComplete), ...optional("native_vlan", arePvidsComplete)]
      : [],
    rows,
    report: reportOn(reads, steps, isServed, notes),
  };
}

/** Lists the VLANs to poll in their own contexts: those in use on a Cisco switch without VLANs in Q-BRIDGE-MIB. */
export function contextVlansOf(reads: Reads): readonly number[] {
  const isQBridge =
    columnOf(reads, VLAN_CURRENT_STEP, "dot1qVlanFdbId").values.size +
      columnOf(reads, VLAN_STATIC_STEP, "dot1qVlanStaticName").values.size >
    0;
  return isQBridge ? [] : ciscoVlansOf(reads).inUse;
}

export function areFidsComplete(reads: Reads): boolean {
  const fids = columnOf(reads, VLAN_CURRENT_STEP, "dot1qVlanFdbId");
  const names = columnOf(reads, VLAN_STATIC_STEP, "dot1qVlanStaticName");
  return areComplete([fids, names]) && (contextVlansOf(reads).length === 0 || ciscoVlansOf(reads).isComplete);
}

/**
 * Maps a filtering database to its VLAN by dot1qVlanFdbId; null if shared or unknown. Some agents number databases by
 * VLAN despite that column, detectable by an ID in `used` that the column lacks.
 * @param used databases referenced by the forwarding table
 */
export function vlanOfFidOf(reads: Reads, used: ReadonlySet<number>): (fid: number) => number | null {
  const vlans = new Set<number>();
  for (const index of columnOf(reads, VLAN_STATIC_STEP, "dot1qVlanStaticName").values.keys()) vlans.add(Number(index));
  const byFid = new Map<number, number | null>();
  const fids = columnOf(reads, VLAN_CURRENT_STEP, "dot1qVlanFdbId");
  for (const [index, value] of fids.values) {
    const vlan = currentVlanOf(index);
    if (vlan === null) continue;
    vlans.add(vlan);
    const fid = integerOf(value, 0, 2 ** 32 - 1);
    if (fid !== null) byFid.set(fid, byFid.has(fid) && byFid.get(fid) !== vlan ? null : vlan);
  }
  const isKnown = (fid: number): boolean => (vlans.size === 0 ? fid <= VLAN_ID_MAX : vlans.has(fid));
  const byNumber = (fid: number): number | null => (isKnown(fid) ? vlanNumberOf(fid) : null);
  const isByFid = byFid.size > 0 && ([...used].every((fid) => byFid.has(fid)) || ![...used].every(isKnown));
  return (fid) => (isByFid ? (byFid.has(fid) ? (byFid.get(fid) ?? null) : byNumber(fid)) : byNumber(fid));
}

/** Some agents omit the time mark. */
function currentVlanOf(index: string): number | null {
  const subIds = subIdsOf(index);
  return subIds.length === 1 || subIds.length === 2 ? vlanNumberOf(subIds.at(-1)) : null;
}

/** Keeps one row per VLAN if several time marks exist. */
function currentRowsOf(reads: Reads, names: ReadonlyMap<number, unknown>): RowCount {
  const seen = new Set<number>();
  return countStep(reads, VLAN_CURRENT_STEP, (index) => {
    const vlan = currentVlanOf(index);
    if (vlan === null) return "index";
    if (seen.has(vlan)) return "duplicate";
    seen.add(vlan);
    return names.has(vlan) ? KEPT_ROW : "no_ports";
  });
}

/** Keyed by VLAN; with several time marks, the last wins. */
function listsOf(column: ColumnRead, vlanOf: (index: string) => number | null): Map<number, Uint8Array> {
  const lists = new Map<number, Uint8Array>();
  for (const [index, value] of column.values) {
    const vlan = vlanOf(index);
    if (vlan !== null && vlan > 0 && value instanceof Uint8Array) lists.set(vlan, value);
  }
  return lists;
}

/**
 * True if dot1qPortVlanTable is indexed by ifIndex, as on some agents: no row is a port of dot1dBasePortTable and all
 * rows are interfaces. Null if rows or interfaces were not fully read.
 */
function isByIfIndex(
  pvids: ColumnRead,
  indexes: readonly number[],
  ports: BridgePorts,
  interfaces: Interfaces,
): boolean | null {
  if (!ports.isServed || !ports.isComplete || indexes.length === 0) return false;
  if (indexes.some((index) => ports.isListed(index))) return false;
  const areInterfaces = indexes.every((index) => interfaces.has(index));
  return pvids.isComplete && (areInterfaces || interfaces.areComplete) ? areInterfaces : null;
}

/** @param interfaceOf null if the numbering is unknown */
function nativesOf(reads: Reads, interfaceOf: ((index: number) => number | null) | null) {
  const pvids = columnOf(reads, PORT_VLAN_STEP, "dot1qPvid");
  const natives = new Map<number, number | null>();
  const rows = countStep(reads, PORT_VLAN_STEP, (index) => {
    const number = singleSubIdOf(index, IF_INDEX_MAX);
    if (interfaceOf === null) return "withheld";
    const ifIndex = number === null ? null : interfaceOf(number);
    const vlan = integerOf(pvids.values.get(index), 0, 2 ** 32 - 1);
    if (number === null) return "index";
    if (ifIndex === null) return "no_interface";
    if (vlan === null) return "value";
    const before = natives.get(ifIndex);
    natives.set(ifIndex, before ?? vlanNumberOf(vlan));
    return before === undefined ? KEPT_ROW : "duplicate";
  });
  return { natives, rows };
}

function optional(list: PortList, isPresent: boolean): PortList[] {
  return isPresent ? [list] : [];
}

function addTo(members: Map<number, number[]>, ifIndex: number | null, vlan: number): void {
  if (ifIndex === null) return;
  const list = members.get(ifIndex);
  if (list === undefined) members.set(ifIndex, [vlan]);
  else if (list.at(-1) !== vlan) list.push(vlan);
}
