// Device assembly from the results of the read plan. Pure; no agent response makes it throw.

import { defined } from "../../base/fields.ts";
import type { OperStatus } from "../../resources/if-entries/vocabulary.ts";
import {
  DEVICE_TABLES,
  type Device,
  type DeviceInterface,
  type DeviceTable,
  type InterfaceLinks,
  type PortList,
} from "../device.ts";
import { type RowCount, setAside, sumRows } from "../rows.ts";
import { addressesOf } from "./addresses.ts";
import { arpOf } from "./arp.ts";
import { bridgeAddressOf, bridgePortsOf, type PortBasis } from "./bridge.ts";
import { cdpOf } from "./cdp.ts";
import { hasScalarsProblem, isStepComplete } from "./columns.ts";
import { entityOf } from "./entity.ts";
import { areLearnedPortsComplete, forwardingOf, learnedPortsOf } from "./forwarding.ts";
import { interfacesOf } from "./interfaces.ts";
import { ownOctetsOf } from "./link-addresses.ts";
import { lldpOf } from "./lldp.ts";
import { READING_PLAN, type RowStep } from "./plan.ts";
import type { ReadStep, Reads } from "./reads.ts";
import { markLost, type ServedBefore, servedOf } from "./served.ts";
import { stackingOf } from "./stacking.ts";
import { systemOf } from "./system.ts";
import { nativePortsOf, PORT_VLAN_STEP, vlansOf } from "./vlans.ts";

/**
 * Builds the device from a run of READING_PLAN. Partial tables still fill `interfaces`, `addresses`, `arp` and `vlans`.
 * Per-interface lists (`vlans`, `forwarding`, `lldp`, `cdp`) are set only if complete: a partial read clears nothing. A
 * fully read table is partial too if some rows matched no interface; `problem` says so.
 * @param before earlier responses of the agent: data it no longer serves counts as a partial read
 */
export function deviceOf(read: Reads, before: ServedBefore | null = null): Device {
  const { reads, missed } = markLost(read, before);
  const system = systemOf(reads);
  const entity = entityOf(reads);
  const addresses = addressesOf(reads);
  const broken = brokenOf(reads);
  const {
    interfaces,
    extended,
    areComplete,
    areNamesComplete,
    report,
    ifXTableReport,
    rows: counts,
  } = interfacesOf(reads, ownOctetsOf(addresses.addresses ?? [], !broken.includes("addresses")));
  const stacking = stackingOf(reads, interfaces, areNamesComplete);
  const arp = arpOf(reads);
  const knownInterfaces = { has: (ifIndex: number) => interfaces.has(ifIndex), areComplete };
  const referencedPorts = new Set([...learnedPortsOf(reads), ...nativePortsOf(reads)]);
  const ports = bridgePortsOf(
    reads,
    knownInterfaces,
    referencedPorts,
    areLearnedPortsComplete(reads) && isStepComplete(reads, PORT_VLAN_STEP),
  );
  const forwarding = forwardingOf(reads, ports, knownInterfaces);
  const vlans = vlansOf(reads, ports, knownInterfaces);
  const lldp = lldpOf(reads, interfaces, areNamesComplete, ports);
  const cdp = cdpOf(reads, knownInterfaces);

  const lists = [...interfaces].map(([ifIndex, row]): DeviceInterface => {
    const { native, members } = vlans.forInterface(ifIndex);
    // A link that is down cannot have a neighbor that is no longer announced.
    const cleared = row.oper_status !== undefined && DOWN.has(row.oper_status) ? [] : undefined;
    const links = defined<InterfaceLinks>({
      native_vlan: native,
      vlans: members,
      forwarding: forwarding.forInterface(ifIndex) ?? (forwarding.isLost ? cleared : undefined),
      lldp: lldp.forInterface(ifIndex) ?? (lldp.isLost ? cleared : undefined),
      cdp: cdp.forInterface(ifIndex) ?? (cdp.isLost ? cleared : undefined),
    });
    return { ...row, ...links };
  });
  const counted: Readonly<Record<RowStep, RowCount>> = {
    ...entity.rows,
    ...counts,
    ...stacking.rows,
    ...addresses.rows,
    ...arp.rows,
    ...ports.rows,
    ...forwarding.rows,
    ...vlans.rows,
    ...lldp.rows,
    ...cdp.rows,
  };
  const assumed = assumedOf(forwarding.isAssumed, vlans.assumed);
  return defined<Device>({
    tables: {
      system: system.report,
      entity: entity.report,
      interfaces: report,
      interface_extensions: ifXTableReport,
      interface_stack: stacking.report,
      addresses: addresses.report,
      arp: arp.report,
      forwarding: forwarding.report,
      vlans: vlans.report,
      lldp: lldp.report,
      cdp: cdp.report,
    },
    rows: rowsOfTables(counted, {
      forwarding: sum(lists, (each) => each.forwarding),
      lldp: sum(lists, (each) => each.lldp),
      cdp: sum(lists, (each) => each.cdp),
    }),
    ...system.fields,
    ...entity.fields,
    components: entity.components,
    served: nonEmpty(servedOf(read)),
    missed: nonEmpty(missed),
    broken: nonEmpty(broken),
    is_forwarding_partial: forwarding.isPartial || undefined,
    chassis_id: lldp.chassisId,
    capabilities: lldp.capabilities,
    bridge_address: bridgeAddressOf(reads),
    interfaces: nonEmpty(lists),
    extended_interfaces: nonEmpty(extended),
    stacking: stacking.stacking,
    addresses: addresses.addresses,
    arp: arp.arp,
    vlans: vlans.vlans,
    assumed_lists: assumed,
    conclusions: conclusionsOf(ports.basis, assumed ?? [], vlans.areNativesByIfIndex),
  });
}

/** Returns undefined for an empty list. */
function nonEmpty<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list;
}

/**
 * ifOperStatus values that pass no frames: bridges and LLDP (IEEE 802.1AB §9.2) flush entries learned on such ports.
 */
const DOWN: ReadonlySet<OperStatus> = new Set(["Down", "NotPresent", "LowerLayerDown"] as const);

function brokenOf(reads: Reads): DeviceTable[] {
  const isBroken = (step: ReadStep): boolean => !isStepComplete(reads, step) || hasScalarsProblem(reads, step);
  return DEVICE_TABLES.filter((table) => READING_PLAN.some((step) => step.table === table && isBroken(step)));
}

const ITEMS: Readonly<Record<keyof ItemCounts, readonly RowStep[]>> = {
  forwarding: ["dot1q_tp_fdb_table", "dot1d_tp_fdb_table", "vlan_dot1d_tp_fdb_table"],
  lldp: ["lldp_rem_table", "lldp_v2_rem_table"],
  cdp: ["cdp_cache_table"],
};

interface ItemCounts {
  readonly forwarding: number;
  readonly lldp: number;
  readonly cdp: number;
}

/**
 * Adds up the row counts of a table's steps. Rows assigned to an interface but dependent on unread data are withheld.
 * @param reported number of items in the interfaces' lists
 */
function rowsOfTables(
  counted: Readonly<Record<RowStep, RowCount>>,
  reported: ItemCounts,
): Record<DeviceTable, RowCount> {
  const countOf = (table: DeviceTable): RowCount => {
    const steps = READING_PLAN.filter((step) => step.table === table).map(({ name }) => name as RowStep);
    const count = sumRows(steps.flatMap((name) => counted[name] ?? []));
    if (!hasItems(table)) return count;
    return setAside(count, "withheld", sumRows(ITEMS[table].map((name) => counted[name])).kept - reported[table]);
  };
  return Object.fromEntries(DEVICE_TABLES.map((table) => [table, countOf(table)])) as Record<DeviceTable, RowCount>;
}

function hasItems(table: DeviceTable): table is keyof ItemCounts {
  return Object.hasOwn(ITEMS, table);
}

function sum(
  interfaces: readonly DeviceInterface[],
  list: (each: DeviceInterface) => readonly unknown[] | undefined,
): number {
  return interfaces.reduce((total, each) => total + (list(each)?.length ?? 0), 0);
}

type Conclusions = NonNullable<Device["conclusions"]>;

/** @param assumed lists based on ports taken as ifIndexes */
function conclusionsOf(
  basis: PortBasis,
  assumed: readonly PortList[],
  areNativesByIfIndex: boolean,
): Conclusions | undefined {
  const ports = PORT_CONCLUSIONS[basis];
  const affectsVlans = assumed.some((list) => list !== "forwarding");
  const vlans = [
    ...(basis === "assumed" && affectsVlans ? [PORT_CONCLUSIONS.assumed] : []),
    ...(areNativesByIfIndex
      ? ["the rows of dot1qPortVlanTable match interfaces instead of bridge ports: they are read as interfaces"]
      : []),
  ];
  const affectsForwarding = ports !== undefined && (basis !== "assumed" || assumed.includes("forwarding"));
  const conclusions: Conclusions = {
    ...(affectsForwarding ? { forwarding: [ports] } : {}),
    ...(vlans.length > 0 ? { vlans } : {}),
  };
  return Object.keys(conclusions).length === 0 ? undefined : conclusions;
}

const PORT_CONCLUSIONS = {
  extended:
    "every port in dot1dBasePortTable is the interface with the same number; the missing ports are assumed to be as well",
  unclear:
    "dot1dBasePortTable lacks ports, and not all of these are interfaces: interfaces missing from it are left unchanged",
  assumed: "there is no dot1dBasePortTable: bridge ports are assumed to be the interfaces with the same numbers",
} as const satisfies Partial<Record<PortBasis, string>> as Partial<Record<PortBasis, string>> & {
  readonly assumed: string;
};

/** Returns undefined if no list is based on assumed ports. */
function assumedOf(isForwarding: boolean, vlans: readonly PortList[]): readonly PortList[] | undefined {
  const assumed: readonly PortList[] = isForwarding ? ["forwarding", ...vlans] : vlans;
  return nonEmpty(assumed);
}
