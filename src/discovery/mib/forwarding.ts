// What a bridge has learned behind which interface: dot1qTpFdbTable (RFC 4363), dot1dTpFdbTable (RFC 4188), and the latter once per VLAN on Cisco switches.

import { isGroupAddress } from "../../base/mac.ts";
import type { ForwardingEntry, TableReport } from "../device.ts";
import { BRIDGE_PORT_MAX, BRIDGE_STEP, type BridgePorts } from "./bridge.ts";
import { areComplete, columnOf, reportOn } from "./columns.ts";
import type { ColumnRead, ReadStep, Reads } from "./reads.ts";
import { ifIndexOf, integerOf, macOfOctets, subIdsOf, vlanNumberOf } from "./values.ts";
import { contextVlansOf, vlanOfFidOf } from "./vlans.ts";

/** dot1qTpFdbTable: index dot1qFdbId.address. */
export const Q_FORWARDING_STEP = {
  name: "dot1q_tp_fdb_table",
  table: "forwarding",
  columns: {
    dot1qTpFdbPort: "1.3.6.1.2.1.17.7.1.2.2.1.2",
    dot1qTpFdbStatus: "1.3.6.1.2.1.17.7.1.2.2.1.3",
  },
} as const satisfies ReadStep;

/** dot1dTpFdbTable: index is the address. Bridges that serve both do not keep the same in them. */
export const FORWARDING_STEP = {
  name: "dot1d_tp_fdb_table",
  table: "forwarding",
  columns: {
    dot1dTpFdbPort: "1.3.6.1.2.1.17.4.3.1.2",
    dot1dTpFdbStatus: "1.3.6.1.2.1.17.4.3.1.3",
  },
} as const satisfies ReadStep;

/** dot1dTpFdbTable of each VLAN of a Cisco switch, where there is no dot1qTpFdbTable: in its own context there is only that of VLAN 1. */
export const VLAN_FORWARDING_STEP = {
  name: "vlan_dot1d_tp_fdb_table",
  table: "forwarding",
  columns: FORWARDING_STEP.columns,
  isNeeded: (reads) => columnOf(reads, Q_FORWARDING_STEP.name, "dot1qTpFdbPort").values.size === 0 && contextVlansOf(reads).length > 0,
  vlanContexts: contextVlansOf,
} as const satisfies ReadStep;

/** dot1dBasePortTable of those VLANs in which something was learned: each has its own ports. */
export const VLAN_BRIDGE_STEP = {
  name: "vlan_bridge",
  table: "forwarding",
  columns: BRIDGE_STEP.columns,
  isNeeded: (reads) => learnedVlansOf(reads).length > 0,
  vlanContexts: learnedVlansOf,
} as const satisfies ReadStep;

export interface ForwardingTold {
  /** By ifIndex, in the order of MAC address and VLAN. */
  readonly byInterface: ReadonlyMap<number, ForwardingEntry[]>;
  /** Whether that is all of it, so that an interface that is not in it has learned nothing. */
  readonly isWhole: boolean;
  readonly report: TableReport;
}

/**
 * Only what was learned, status learned(3): self(4) are the bridge's own addresses, and so is mostly what agents call mgmt(5); invalid(2) is gone,
 * and of other(1) the port does not say where frames go (RFC 4188, dot1dTpFdbStatus). Where an agent serves no status at all, all entries are taken.
 * Not groups, and not port 0, which is "learned, but not known where". Entries on a port that belongs to no interface are left out and said.
 *
 * Both tables together: one MAC address on one interface is in it once for each VLAN that is told, and without VLAN only where none is told.
 *
 * Absent: neither bridge ports nor forwarding entries. With bridge ports and without entries it is complete, and nothing is learned.
 */
export function forwardingOf(reads: Reads, ports: BridgePorts, interfaces: { has(ifIndex: number): boolean }): ForwardingTold {
  const q = columnOf(reads, Q_FORWARDING_STEP.name, "dot1qTpFdbPort");
  const d = columnOf(reads, FORWARDING_STEP.name, "dot1dTpFdbPort");
  const perVlan = columnOf(reads, VLAN_FORWARDING_STEP.name, "dot1dTpFdbPort");
  const perVlanPorts = columnOf(reads, VLAN_BRIDGE_STEP.name, "dot1dBasePortIfIndex");
  const qStatuses = columnOf(reads, Q_FORWARDING_STEP.name, "dot1qTpFdbStatus");
  const dStatuses = columnOf(reads, FORWARDING_STEP.name, "dot1dTpFdbStatus");
  const perVlanStatuses = columnOf(reads, VLAN_FORWARDING_STEP.name, "dot1dTpFdbStatus");

  const learned = new Learned();
  const vlanOfFid = vlanOfFidOf(reads, learnedFids(q));
  for (const { subIds, port } of learnedRows(q, qStatuses)) {
    // Some agents put the address's length before it.
    const start = subIds.length === 8 && subIds[1] === 6 ? 2 : 1;
    learned.add(ports.ifIndexOf(port), macOfOctets(subIds, start, subIds.length), () => vlanOfFid(subIds[0] as number));
  }
  for (const { subIds, port } of learnedRows(perVlan, perVlanStatuses)) {
    const vlan = vlanNumberOf(subIds[0]);
    const ifIndex = ifIndexOf(perVlanPorts.values.get(`${vlan}.${port}`));
    const own = ifIndex !== null && interfaces.has(ifIndex) ? ifIndex : ports.isServed ? ports.ifIndexOf(port) : null;
    learned.add(own, macOfOctets(subIds, 1, subIds.length), () => vlan);
  }
  for (const { subIds, port } of learnedRows(d, dStatuses)) {
    const start = subIds.length === 7 && subIds[0] === 6 ? 1 : 0;
    learned.addUnlessKnown(ports.ifIndexOf(port), macOfOctets(subIds, start, subIds.length));
  }

  const isServed = ports.isServed || q.values.size + d.values.size + perVlan.values.size > 0;
  const { placed, placeless } = learned;
  const notes = placeless === 0 ? [] : [`${placeless} of ${placed + placeless} forwarding entries are on bridge ports that belong to no interface`];
  const report = reportOn(reads, [BRIDGE_STEP.name, Q_FORWARDING_STEP.name, FORWARDING_STEP.name, VLAN_FORWARDING_STEP.name, VLAN_BRIDGE_STEP.name], isServed, notes);
  const isWhole = isServed && ports.isComplete && areComplete([q, qStatuses, d, dStatuses, perVlan, perVlanStatuses, perVlanPorts]);
  return { byInterface: learned.sorted(), isWhole, report };
}

const LEARNED = 3;

interface LearnedRow {
  readonly subIds: readonly number[];
  readonly port: number;
}

function* learnedRows(ports: ColumnRead, statuses: ColumnRead): Generator<LearnedRow> {
  const hasStatuses = statuses.values.size > 0 || !statuses.isComplete;
  for (const [index, value] of ports.values) {
    if (hasStatuses && statuses.values.get(index) !== LEARNED) continue;
    const port = integerOf(value, 1, BRIDGE_PORT_MAX);
    if (port !== null) yield { subIds: subIdsOf(index), port };
  }
}

/** The numbers of forwarding databases in use. */
function learnedFids(q: ColumnRead): ReadonlySet<number> {
  const texts = new Set<string>();
  for (const index of q.values.keys()) texts.add(index.slice(0, index.indexOf(".")));
  return new Set([...texts].map(Number));
}

function learnedVlansOf(reads: Reads): readonly number[] {
  const vlans = new Set<number>();
  for (const index of columnOf(reads, VLAN_FORWARDING_STEP.name, "dot1dTpFdbPort").values.keys()) vlans.add(Number(index.slice(0, index.indexOf("."))));
  return [...vlans];
}

class Learned {
  placed = 0;
  placeless = 0;
  readonly #byInterface = new Map<number, Map<string, (number | null)[]>>();
  readonly #placeless = new Set<string>();

  add(ifIndex: number | null, mac: string | null, vlanOf: () => number | null): void {
    const vlans = this.#vlansOf(ifIndex, mac);
    if (vlans === null) return;
    const vlan = vlanOf();
    if (vlans.includes(vlan)) return;
    vlans.push(vlan);
    this.placed += 1;
  }

  addUnlessKnown(ifIndex: number | null, mac: string | null): void {
    const vlans = this.#vlansOf(ifIndex, mac);
    if (vlans === null || vlans.length > 0) return;
    vlans.push(null);
    this.placed += 1;
  }

  sorted(): Map<number, ForwardingEntry[]> {
    const lists = new Map<number, ForwardingEntry[]>();
    for (const [ifIndex, macs] of this.#byInterface) {
      const entries: ForwardingEntry[] = [];
      for (const mac of [...macs.keys()].sort()) {
        const vlans = macs.get(mac) as (number | null)[];
        // A VLAN that is not known adds nothing to those that are.
        const told = vlans.length > 1 ? vlans.filter((vlan) => vlan !== null).sort((a, b) => a - b) : vlans;
        for (const vlan of told) entries.push({ mac_address: mac, vlan_number: vlan });
      }
      lists.set(ifIndex, entries);
    }
    return lists;
  }

  #vlansOf(ifIndex: number | null, mac: string | null): (number | null)[] | null {
    if (mac === null || isGroupAddress(mac)) return null;
    if (ifIndex === null) {
      // Both tables may have it: it is missing once.
      if (!this.#placeless.has(mac)) {
        this.#placeless.add(mac);
        this.placeless += 1;
      }
      return null;
    }
    let macs = this.#byInterface.get(ifIndex);
    if (macs === undefined) this.#byInterface.set(ifIndex, (macs = new Map()));
    let vlans = macs.get(mac);
    if (vlans === undefined) macs.set(mac, (vlans = []));
    return vlans;
  }
}
