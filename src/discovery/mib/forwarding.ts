// Forwarding-table decoder: dot1qTpFdbTable (RFC 4363), dot1dTpFdbTable (RFC 4188), the latter per VLAN on Cisco.

import { isGroupAddress } from "../../base/mac.ts";
import type { ForwardingEntry, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount, type RowOutcome, type RowReason } from "../rows.ts";
import { BRIDGE_PORT_MAX, BRIDGE_STEP, type BridgePorts, type Interfaces } from "./bridge.ts";
import { CISCO_VLANS_STEP } from "./cisco-vlans.ts";
import { areComplete, areEnded, areLost, columnOf, countStep, reportOn } from "./columns.ts";
import type { ColumnRead, ReadStep, Reads } from "./reads.ts";
import { ifIndexOf, integerOf, macOfOctets, subIdsOf, vlanNumberOf } from "./values.ts";
import { areFidsComplete, contextVlansOf, vlanOfFidOf } from "./vlans.ts";

/** dot1qTpFdbTable: index dot1qFdbId.address. */
export const Q_FORWARDING_STEP = {
  name: "dot1q_tp_fdb_table",
  table: "forwarding",
  columns: {
    dot1qTpFdbPort: "1.3.6.1.2.1.17.7.1.2.2.1.2",
    dot1qTpFdbStatus: "1.3.6.1.2.1.17.7.1.2.2.1.3",
  },
} as const satisfies ReadStep;

/** dot1dTpFdbTable: index is the address. Bridges that serve both tables fill them differently. */
export const FORWARDING_STEP = {
  name: "dot1d_tp_fdb_table",
  table: "forwarding",
  columns: {
    dot1dTpFdbPort: "1.3.6.1.2.1.17.4.3.1.2",
    dot1dTpFdbStatus: "1.3.6.1.2.1.17.4.3.1.3",
  },
} as const satisfies ReadStep;

/** dot1dTpFdbTable per VLAN on Cisco switches without dot1qTpFdbTable: the default context holds only VLAN 1. */
export const VLAN_FORWARDING_STEP = {
  name: "vlan_dot1d_tp_fdb_table",
  table: "forwarding",
  columns: FORWARDING_STEP.columns,
  isNeeded: (reads) =>
    columnOf(reads, Q_FORWARDING_STEP, "dot1qTpFdbPort").values.size === 0 && contextVlansOf(reads).length > 0,
  dependsOn: [CISCO_VLANS_STEP.name],
  vlanContexts: contextVlansOf,
} as const satisfies ReadStep;

/** dot1dBasePortTable of each VLAN with learned entries: every VLAN has its own ports. */
export const VLAN_BRIDGE_STEP = {
  name: "vlan_bridge",
  table: "forwarding",
  columns: BRIDGE_STEP.columns,
  isNeeded: (reads) => learnedVlansOf(reads).length > 0,
  dependsOn: [VLAN_FORWARDING_STEP.name],
  vlanContexts: learnedVlansOf,
} as const satisfies ReadStep;

interface ReportedForwarding {
  /** Sorted by MAC address and VLAN; undefined if unknown. */
  forInterface(ifIndex: number): ForwardingEntry[] | undefined;
  /** True if entries without a VLAN may be missing: dot1dTpFdbTable was not read but the VLAN-aware tables were. */
  readonly isPartial: boolean;
  /** True if there were entries and none are left: they aged out or the agent no longer reports them. */
  readonly isLost: boolean;
  /** True if bridge ports were taken as ifIndexes because dot1dBasePortTable is missing. */
  readonly isAssumed: boolean;
  readonly report: TableReport;
  /** Counts as if every row assigned to an interface were reported. */
  readonly rows: Readonly<Record<EntryStep | typeof VLAN_BRIDGE_STEP.name, RowCount>>;
}

type EntryStep = typeof Q_FORWARDING_STEP.name | typeof FORWARDING_STEP.name | typeof VLAN_FORWARDING_STEP.name;

export function areLearnedPortsComplete(reads: Reads): boolean {
  return areComplete([...qColumns(reads), ...dColumns(reads)]);
}

/** Yields the port of each learned entry, with repeats. */
export function* learnedPortsOf(reads: Reads): Generator<number> {
  for (const { port } of learnedRows(...qColumns(reads))) yield port;
  for (const { port } of learnedRows(...dColumns(reads))) yield port;
}

/**
 * Uses only learned(3) entries: self(4), and usually mgmt(5), are the bridge's own; invalid(2) is gone; other(1) does
 * not say where frames go (RFC 4188). Without any status, uses all entries. Skips group addresses and port 0 ("learned,
 * port unknown"). Drops and counts entries on a port without an interface. Merges both tables: a MAC address appears on
 * an interface once per VLAN, and without a VLAN only if no VLAN is reported. Reports nothing if the VLANs of the
 * filtering databases were not all read: an entry without its VLAN is a different entry. Absent: neither bridge ports
 * nor entries. With bridge ports and no entries: complete and empty.
 */
export function forwardingOf(reads: Reads, ports: BridgePorts, interfaces: Interfaces): ReportedForwarding {
  const [q, qStatuses] = qColumns(reads);
  const [d, dStatuses] = dColumns(reads);
  const [perVlan, perVlanStatuses] = perVlanColumns(reads);
  const perVlanPorts = columnOf(reads, VLAN_BRIDGE_STEP, "dot1dBasePortIfIndex");

  const learned = new LearnedEntries();
  const vlanOfFid = vlanOfFidOf(reads, learnedFids(q));
  const qRows = countStep(reads, Q_FORWARDING_STEP, (index) => {
    const port = learnedPortOf(index, q, qStatuses);
    if (typeof port !== "number") return port;
    const subIds = subIdsOf(index);
    // Some agents insert the address length before the address.
    const start = subIds.length === 8 && subIds[1] === 6 ? 2 : 1;
    const vlanOf = () => vlanOfFid(subIds[0] as number);
    return learned.add(ports.ifIndexOf(port), macOfOctets(subIds, start, subIds.length), vlanOf);
  });
  const perVlanRows = countStep(reads, VLAN_FORWARDING_STEP, (index) => {
    const port = learnedPortOf(index, perVlan, perVlanStatuses);
    if (typeof port !== "number") return port;
    const subIds = subIdsOf(index);
    const vlan = vlanNumberOf(subIds[0]);
    const ifIndex = ifIndexOf(perVlanPorts.values.get(`${vlan}.${port}`));
    const own = ifIndex !== null && interfaces.has(ifIndex) ? ifIndex : ports.isServed ? ports.ifIndexOf(port) : null;
    return learned.add(own, macOfOctets(subIds, 1, subIds.length), () => vlan);
  });
  const dRows = countStep(reads, FORWARDING_STEP, (index) => {
    const port = learnedPortOf(index, d, dStatuses);
    if (typeof port !== "number") return port;
    const subIds = subIdsOf(index);
    const start = subIds.length === 7 && subIds[0] === 6 ? 1 : 0;
    return learned.addUnlessKnown(ports.ifIndexOf(port), macOfOctets(subIds, start, subIds.length));
  });

  const isAnyRead = q.values.size + d.values.size + perVlan.values.size > 0;
  const basePorts = columnOf(reads, BRIDGE_STEP, "dot1dBasePortIfIndex");
  const isServed = ports.isServed || isAnyRead || areEnded([basePorts, q, d, perVlan]);
  const { assigned } = learned;
  const unassigned = learned.unassigned.size;
  const all = assigned + unassigned;
  const areInterfacesKnown = ports.isComplete && interfaces.areComplete;
  const notes: string[] = [];
  if (unassigned > 0 && areInterfacesKnown) {
    notes.push(`${unassigned} of ${all} forwarding entries are on bridge ports that belong to no interface`);
  }
  const areVlansComplete = q.values.size + perVlan.values.size === 0 || areFidsComplete(reads);
  if (!areVlansComplete) notes.push("the VLANs of forwarding entries are unknown: the device's VLANs were not read");
  const report = reportOn(reads, STEPS, isServed, notes);
  const areMainTablesComplete = areComplete([q, qStatuses, perVlan, perVlanStatuses, perVlanPorts]);
  const isDTableComplete = areComplete([d, dStatuses]);
  const isMainReported = q.values.size + perVlan.values.size > 0;
  const isReported =
    isServed && ports.isComplete && areMainTablesComplete && areVlansComplete && (isDTableComplete || isMainReported);
  const byInterface = learned.sorted();
  return {
    forInterface: (ifIndex) =>
      isReported && ports.isMappingKnown(ifIndex) ? (byInterface.get(ifIndex) ?? []) : undefined,
    isPartial: isReported && !isDTableComplete,
    isLost: areLost([q, d, perVlan]),
    isAssumed: isReported && ports.basis === "assumed" && q.values.size + d.values.size > 0,
    report,
    rows: {
      [Q_FORWARDING_STEP.name]: qRows,
      [FORWARDING_STEP.name]: dRows,
      [VLAN_FORWARDING_STEP.name]: perVlanRows,
      [VLAN_BRIDGE_STEP.name]: countStep(reads, VLAN_BRIDGE_STEP, (index) => {
        const ifIndex = ifIndexOf(perVlanPorts.values.get(index));
        return ifIndex !== null && interfaces.has(ifIndex) ? KEPT_ROW : "no_interface";
      }),
    },
  };
}

/** The columns of a forwarding table: ports, then statuses. */
type EntryColumns = (reads: Reads) => [ports: ColumnRead, statuses: ColumnRead];

const qColumns: EntryColumns = (reads) => [
  columnOf(reads, Q_FORWARDING_STEP, "dot1qTpFdbPort"),
  columnOf(reads, Q_FORWARDING_STEP, "dot1qTpFdbStatus"),
];
const columnsOfD =
  (step: typeof FORWARDING_STEP | typeof VLAN_FORWARDING_STEP): EntryColumns =>
  (reads) => [columnOf(reads, step, "dot1dTpFdbPort"), columnOf(reads, step, "dot1dTpFdbStatus")];
const dColumns = columnsOfD(FORWARDING_STEP);
const perVlanColumns = columnsOfD(VLAN_FORWARDING_STEP);
const STEPS = [BRIDGE_STEP, Q_FORWARDING_STEP, FORWARDING_STEP, VLAN_FORWARDING_STEP, VLAN_BRIDGE_STEP].map(
  ({ name }) => name,
);

const LEARNED = 3;

function* learnedRows(ports: ColumnRead, statuses: ColumnRead): Generator<{ readonly port: number }> {
  for (const index of ports.values.keys()) {
    const port = learnedPortOf(index, ports, statuses);
    if (typeof port === "number") yield { port };
  }
}

/** Returns the port of a learned entry, else the reason for skipping the row. */
function learnedPortOf(index: string, ports: ColumnRead, statuses: ColumnRead): number | RowReason {
  const hasStatuses = statuses.values.size > 0 || !statuses.isComplete;
  if (hasStatuses && statuses.values.get(index) !== LEARNED) return "not_learned";
  return integerOf(ports.values.get(index), 1, BRIDGE_PORT_MAX) ?? "no_port";
}

function learnedFids(q: ColumnRead): ReadonlySet<number> {
  const texts = new Set<string>();
  for (const index of q.values.keys()) texts.add(index.slice(0, index.indexOf(".")));
  return new Set([...texts].map(Number));
}

function learnedVlansOf(reads: Reads): readonly number[] {
  const vlans = new Set<number>();
  for (const index of columnOf(reads, VLAN_FORWARDING_STEP, "dot1dTpFdbPort").values.keys())
    vlans.add(Number(index.slice(0, index.indexOf("."))));
  return [...vlans];
}

class LearnedEntries {
  assigned = 0;
  /** MAC addresses without an interface, each counted once across both tables. */
  readonly unassigned = new Set<string>();
  private readonly byInterface = new Map<number, Map<string, (number | null)[]>>();

  add(ifIndex: number | null, mac: string | null, vlanOf: () => number | null): RowOutcome {
    const vlans = this.vlansOf(ifIndex, mac);
    if (typeof vlans === "string") return vlans;
    const vlan = vlanOf();
    if (vlans.includes(vlan) || (vlan === null && vlans.length > 0)) return "duplicate";
    // A known VLAN replaces an unknown one.
    if (vlans[0] === null) {
      vlans[0] = vlan;
      return "duplicate";
    }
    vlans.push(vlan);
    this.assigned += 1;
    return KEPT_ROW;
  }

  addUnlessKnown(ifIndex: number | null, mac: string | null): RowOutcome {
    const vlans = this.vlansOf(ifIndex, mac);
    if (typeof vlans === "string") return vlans;
    if (vlans.length > 0) return "duplicate";
    vlans.push(null);
    this.assigned += 1;
    return KEPT_ROW;
  }

  sorted(): Map<number, ForwardingEntry[]> {
    const lists = new Map<number, ForwardingEntry[]>();
    for (const [ifIndex, macs] of this.byInterface) {
      const entries: ForwardingEntry[] = [];
      for (const mac of [...macs.keys()].sort()) {
        const vlans = macs.get(mac) as (number | null)[];
        for (const vlan of vlans.sort((a, b) => (a ?? 0) - (b ?? 0)))
          entries.push({ mac_address: mac, vlan_number: vlan });
      }
      lists.set(ifIndex, entries);
    }
    return lists;
  }

  private vlansOf(ifIndex: number | null, mac: string | null): (number | null)[] | RowReason {
    if (mac === null) return "index";
    if (isGroupAddress(mac)) return "group";
    if (ifIndex === null) {
      this.unassigned.add(mac);
      return "no_interface";
    }
    let macs = this.byInterface.get(ifIndex);
    if (macs === undefined) this.byInterface.set(ifIndex, (macs = new Map()));
    let vlans = macs.get(mac);
    if (vlans === undefined) macs.set(mac, (vlans = []));
    return vlans;
  }
}
