// Stacking decoder: members of aggregates and units of ports, from ifStackTable (IF-MIB, RFC 2863) and dot3adAggPortTable
// (IEEE8023-LAG-MIB), else from names and equal MAC addresses.

import { isAggregateName, isLogicalName, unitOf } from "../../base/interface-name.ts";
import type { IfRow, StackedInterface, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount, type RowOutcome } from "../rows.ts";
import { areComplete, columnOf, countStep, reportOn } from "./columns.ts";
import { IF_TABLE_STEP, IF_X_TABLE_STEP } from "./interfaces.ts";
import type { ColumnRead, ReadStep, Reads } from "./reads.ts";
import { IF_INDEX_MAX, ifIndexOf, singleSubIdOf, subIdsOf, textOf } from "./values.ts";

const INTERFACE_STEPS = [IF_TABLE_STEP.name, IF_X_TABLE_STEP.name];

/** ifStackTable: index ifStackHigherLayer.ifStackLowerLayer. Without aggregates, names show all units of Ethernet ports. */
export const IF_STACK_STEP = {
  name: "if_stack_table",
  table: "interface_stack",
  columns: { ifStackStatus: "1.3.6.1.2.1.31.1.2.1.3" },
  isNeeded: (reads) => hasAggregate(reads) || hasType(reads, L2_VLAN),
  dependsOn: INTERFACE_STEPS,
} as const satisfies ReadStep;

/** dot3adAggPortTable: index dot3adAggPortIndex, an ifIndex. */
export const AGGREGATION_PORTS_STEP = {
  name: "dot3ad_agg_port_table",
  table: "interface_stack",
  columns: {
    dot3adAggPortSelectedAggID: "1.2.840.10006.300.43.1.2.1.1.12",
    dot3adAggPortAttachedAggID: "1.2.840.10006.300.43.1.2.1.1.13",
  },
  isNeeded: (reads) => hasAggregate(reads),
  dependsOn: INTERFACE_STEPS,
} as const satisfies ReadStep;

interface ReportedStacking {
  /** By ifIndex, without interfaces that are neither a member nor a unit; undefined if unknown. */
  readonly stacking: readonly StackedInterface[] | undefined;
  readonly report: TableReport;
  readonly rows: Readonly<Record<typeof IF_STACK_STEP.name | typeof AGGREGATION_PORTS_STEP.name, RowCount>>;
}

/** @param areNamesComplete true if a missing interface does not exist and a missing name means none */
export function stackingOf(
  reads: Reads,
  interfaces: ReadonlyMap<number, IfRow>,
  areNamesComplete: boolean,
): ReportedStacking {
  const stack = columnOf(reads, IF_STACK_STEP, "ifStackStatus");
  const selected = columnOf(reads, AGGREGATION_PORTS_STEP, "dot3adAggPortSelectedAggID");
  const attached = columnOf(reads, AGGREGATION_PORTS_STEP, "dot3adAggPortAttachedAggID");
  const layers = new Layers(interfaces);
  const aggregationOutcomes = new Map<string, RowOutcome>();
  for (const index of new Set([...attached.values.keys(), ...selected.values.keys()]))
    aggregationOutcomes.set(
      index,
      layers.addMember(index, aggregateOf(attached, index) ?? aggregateOf(selected, index)),
    );
  const stackOutcomes = new Map<string, RowOutcome>();
  for (const [index, status] of stack.values)
    stackOutcomes.set(index, status === ACTIVE ? layers.addLayer(index) : "invalid");
  layers.addByMac();
  const isKnown = interfaces.size > 0 && areNamesComplete && areComplete([stack, selected, attached]);
  const isServed = stack.values.size + attached.values.size + selected.values.size > 0;
  return {
    stacking: isKnown ? layers.stacked() : undefined,
    report: reportOn(reads, [IF_STACK_STEP.name, AGGREGATION_PORTS_STEP.name], isServed),
    rows: {
      [IF_STACK_STEP.name]: countStep(reads, IF_STACK_STEP, (index) => stackOutcomes.get(index) ?? "index"),
      [AGGREGATION_PORTS_STEP.name]: countStep(
        reads,
        AGGREGATION_PORTS_STEP,
        (index) => aggregationOutcomes.get(index) ?? "index",
      ),
    },
  };
}

/** RowStatus (RFC 2579). */
const ACTIVE = 1;
/** IANAifType-MIB. */
const LAG = 161;
const L2_VLAN = 135;
const ETHERNET: ReadonlySet<number> = new Set([6, 62, 69, 117]);
/** Most links of an aggregate by LACP. */
const MEMBERS_MAX = 8;

class Layers {
  private readonly interfaces: ReadonlyMap<number, IfRow>;
  /** ifIndex of a unit → that of its port. */
  private readonly parents = new Map<number, number>();
  /** ifIndex of a member → that of its aggregate. */
  private readonly lags = new Map<number, number>();
  /** Layers right below each interface, by ifStackTable. */
  private readonly below = new Map<number, number[]>();

  constructor(interfaces: ReadonlyMap<number, IfRow>) {
    this.interfaces = interfaces;
    const byName = Map.groupBy(interfaces.keys(), (ifIndex) => this.nameOf(ifIndex));
    for (const ifIndex of interfaces.keys()) {
      const name = unitOf(this.nameOf(ifIndex));
      const [parent, ...others] = name === null ? [] : (byName.get(name) ?? []);
      if (parent !== undefined && others.length === 0 && parent !== ifIndex) this.parents.set(ifIndex, parent);
    }
  }

  /** @param aggregate its ifIndex; null for a port outside of all aggregates */
  addMember(index: string, aggregate: number | null): RowOutcome {
    const port = singleSubIdOf(index, IF_INDEX_MAX);
    if (port === null) return "index";
    if (!this.interfaces.has(port)) return "no_interface";
    // A port that is not aggregated may be its own aggregate.
    if (aggregate === null || aggregate === port || !this.isAggregate(aggregate)) return "unstacked";
    this.lags.set(this.portOf(port), aggregate);
    return KEPT_ROW;
  }

  addLayer(index: string): RowOutcome {
    const [higher, lower, ...more] = subIdsOf(index);
    if (higher === undefined || lower === undefined || more.length > 0) return "index";
    if (higher === 0 || lower === 0) return "unstacked";
    if (!this.interfaces.has(higher) || !this.interfaces.has(lower)) return "no_interface";
    const [above, port] = [this.portOf(higher), this.portOf(lower)];
    if (above === port) return KEPT_ROW;
    if (this.isAggregate(above) && this.isMemberPort(port)) {
      if (!this.lags.has(port)) this.lags.set(port, above);
      return KEPT_ROW;
    }
    if (this.interfaces.get(higher)?.if_type !== L2_VLAN) return "unstacked";
    this.below.set(higher, [...(this.below.get(higher) ?? []), lower]);
    return KEPT_ROW;
  }

  /** Linux and FreeBSD give the ports of an aggregate its MAC address. Switches may use one for all of their ports. */
  addByMac(): void {
    const known = new Set(this.lags.values());
    const withMac = [...this.interfaces.keys()].filter((ifIndex) => this.macOf(ifIndex) !== null);
    const aggregates = withMac.filter((ifIndex) => this.isAggregate(ifIndex) && !this.parents.has(ifIndex));
    const ports = withMac.filter((ifIndex) => this.isMemberPort(ifIndex) && !isLogicalName(this.nameOf(ifIndex)));
    for (const [mac, [aggregate, ...others]] of Map.groupBy(aggregates, (each) => this.macOf(each))) {
      if (aggregate === undefined || others.length > 0 || known.has(aggregate)) continue;
      const members = ports.filter((port) => this.macOf(port) === mac && !this.lags.has(port));
      const isSoftware = /^(bond|team|lagg)/i.test(this.nameOf(aggregate));
      if (members.length <= MEMBERS_MAX && (isSoftware || members.length < ports.length))
        for (const port of members) this.lags.set(port, aggregate);
    }
  }

  stacked(): StackedInterface[] {
    for (const [unit, [port, ...others]] of this.below)
      if (port !== undefined && others.length === 0 && !this.parents.has(unit)) this.parents.set(unit, port);
    const found = [...new Set([...this.lags.keys(), ...this.parents.keys()])].sort((a, b) => a - b);
    return found.map((if_index) => {
      const [lag, parent] = [this.lags.get(if_index), this.parents.get(if_index)];
      return {
        if_index,
        ...(lag === undefined ? {} : { lag_if_index: lag }),
        ...(parent === undefined ? {} : { parent_if_index: parent }),
      };
    });
  }

  private portOf(ifIndex: number): number {
    return this.parents.get(ifIndex) ?? ifIndex;
  }

  private isAggregate(ifIndex: number): boolean {
    return this.interfaces.get(ifIndex)?.if_type === LAG || isAggregateName(this.nameOf(ifIndex));
  }

  private isMemberPort(ifIndex: number): boolean {
    const type = this.interfaces.get(ifIndex)?.if_type ?? 0;
    return ETHERNET.has(type) && !this.isAggregate(ifIndex) && !this.parents.has(ifIndex);
  }

  private macOf(ifIndex: number): string | null {
    return this.interfaces.get(ifIndex)?.mac_address ?? null;
  }

  private nameOf(ifIndex: number): string {
    const row = this.interfaces.get(ifIndex);
    return row?.if_name || row?.if_descr || "";
  }
}

function aggregateOf({ values }: ColumnRead, index: string): number | null {
  return ifIndexOf(values.get(index));
}

function hasAggregate(reads: Reads): boolean {
  if (hasType(reads, LAG)) return true;
  const names = [columnOf(reads, IF_X_TABLE_STEP, "ifName"), columnOf(reads, IF_TABLE_STEP, "ifDescr")];
  return names.some(({ values }) => values.values().some((value) => isAggregateName(textOf(value) ?? "")));
}

function hasType(reads: Reads, type: number): boolean {
  return columnOf(reads, IF_TABLE_STEP, "ifType")
    .values.values()
    .some((value) => value === type);
}
