// Members of aggregates and units of ports, from hand-written rows and from recordings.

import { describe, expect, test } from "bun:test";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import { readRecording, readsOf, recordingNames } from "../support/reconcile/recorded-reads.ts";
import { deviceWith, hex, readsWith, type SyntheticStep, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

interface Row {
  readonly name: string;
  /** Ethernet by default. */
  readonly type?: number;
  readonly mac?: string;
}

const [LAG, VIRTUAL, L2_VLAN, SVI] = [161, 53, 135, 136];
const SHARED = "00:1b:21:0c:00:10";

function steps(rows: Readonly<Record<number, Row>>, more: Readonly<Record<string, SyntheticStep>> = {}) {
  const table = (row: (each: Row) => Record<string, number | Uint8Array | null>) =>
    tableOf(Object.fromEntries(Object.entries(rows).map(([index, each]) => [index, row(each)])));
  return {
    if_table: table(({ name, type = 6, mac }) => ({
      ifDescr: utf8(name),
      ifType: type,
      ifPhysAddress: mac === undefined ? null : hex(mac),
    })),
    if_x_table: table(({ name }) => ({ ifName: utf8(name) })),
    ...more,
  };
}

const stackRows = (...pairs: ReadonlyArray<readonly [index: string, status?: number]>): SyntheticStep =>
  tableOf(Object.fromEntries(pairs.map(([index, status = 1]) => [index, { ifStackStatus: status }])));
const attached = (ports: Readonly<Record<number, readonly [attached: number | null, selected: number | null]>>) =>
  tableOf(
    Object.fromEntries(
      Object.entries(ports).map(([port, [attachedId, selectedId]]) => [
        port,
        { dot3adAggPortAttachedAggID: attachedId, dot3adAggPortSelectedAggID: selectedId },
      ]),
    ),
  );

/** `Gi0/7 in Po1` for a member, `Po1.20 of Po1` for a unit; undefined if unknown. */
function stackingOf(
  rows: Readonly<Record<number, Row>>,
  more?: Readonly<Record<string, SyntheticStep>>,
): string[] | undefined {
  return deviceWith(steps(rows, more)).stacking?.flatMap(({ if_index, lag_if_index: lag, parent_if_index: parent }) => [
    ...(lag === undefined ? [] : [`${rows[if_index]?.name} in ${rows[lag]?.name}`]),
    ...(parent === undefined ? [] : [`${rows[if_index]?.name} of ${rows[parent]?.name}`]),
  ]);
}

const PORTS = { 7: { name: "Gi0/7" }, 8: { name: "Gi0/8" }, 100: { name: "Po1", type: VIRTUAL } } as const;

describe("dot3adAggPortTable", () => {
  test.each([
    ["the aggregate that a port is attached to", { 7: [100, 0], 8: [100, 100] }, ["Gi0/7 in Po1", "Gi0/8 in Po1"]],
    [
      "the selected aggregate while the port is down",
      { 7: [0, 100], 8: [null, 100] },
      ["Gi0/7 in Po1", "Gi0/8 in Po1"],
    ],
    ["no aggregate for a port attached to itself or to none", { 7: [7, 7], 8: [0, 0] }, []],
    ["no aggregate if the attached interface is another port, or does not exist", { 7: [8, 8], 8: [999, 999] }, []],
  ] as const)("shows %s", (_title, ports, expected) => {
    expect(stackingOf(PORTS, { dot3ad_agg_port_table: attached(ports) })).toEqual([...expected]);
  });

  test("takes precedence over ifStackTable, which may still list a former aggregate", () => {
    const rows = { ...PORTS, 101: { name: "Po2", type: VIRTUAL } };
    const more = {
      dot3ad_agg_port_table: attached({ 7: [101, 101] }),
      if_stack_table: stackRows(["100.7"], ["100.8"]),
    };
    expect(stackingOf(rows, more)).toEqual(["Gi0/7 in Po2", "Gi0/8 in Po1"]);
  });
});

describe("ifStackTable", () => {
  test("shows members below an aggregate, even if only their units are stacked", () => {
    expect(stackingOf(PORTS, { if_stack_table: stackRows(["100.7"], ["100.8"], ["0.100"], ["7.0"]) })).toEqual([
      "Gi0/7 in Po1",
      "Gi0/8 in Po1",
    ]);
    const juniper = {
      1: { name: "xe-0/0/0" },
      2: { name: "xe-0/0/0.0", type: VIRTUAL },
      3: { name: "ae0", type: LAG },
      4: { name: "ae0.0", type: VIRTUAL },
    };
    expect(stackingOf(juniper, { if_stack_table: stackRows(["4.2"], ["2.1"]) })).toEqual([
      "xe-0/0/0 in ae0",
      "xe-0/0/0.0 of xe-0/0/0",
      "ae0.0 of ae0",
    ]);
  });

  test("shows the port of a VLAN interface with one layer below it, but not of a bridge or an SVI", () => {
    const rows = {
      1: { name: "igb0" },
      2: { name: "igb1" },
      3: { name: "vlan20", type: L2_VLAN },
      4: { name: "vlan30", type: L2_VLAN },
      5: { name: "Vlan40", type: SVI },
      6: { name: "br0", type: 209 },
    };
    const table = stackRows(["3.1"], ["4.1"], ["4.2"], ["5.1"], ["6.1"], ["6.2"]);
    expect(stackingOf(rows, { if_stack_table: table })).toEqual(["vlan20 of igb0"]);
  });

  test("counts each row, with a reason for each one dropped", () => {
    const table = stackRows(["100.7"], ["100.8", 2], ["7.100"], ["0.100"], ["100.999"], ["100"]);
    const { rows, tables } = deviceWith(steps(PORTS, { if_stack_table: table }));
    expect(rows.interface_stack).toEqual({
      read: 6,
      kept: 1,
      set_aside: { index: 1, invalid: 1, no_interface: 1, unstacked: 2 },
    });
    expect(tables.interface_stack).toEqual({ state: "complete", problem: null });
  });

  test("is read only from devices with aggregates or VLAN interfaces", () => {
    const stepsOf = (rows: Readonly<Record<number, Row>>) =>
      [...readsWith(steps(rows)).keys()].filter(
        (name) => name === "if_stack_table" || name === "dot3ad_agg_port_table",
      );
    expect(stepsOf({ 1: { name: "Gi0/1" }, 2: { name: "Gi0/1.20", type: VIRTUAL } })).toEqual([]);
    expect(stepsOf({ 1: { name: "vlan20", type: L2_VLAN } })).toEqual(["if_stack_table"]);
    for (const name of ["Po1", "ae0", "bond0", "Trk1", "Eth-Trunk1", "Bridge-Aggregation10", "Port-channel 5", "lag2"])
      expect(stepsOf({ 1: { name } })).toEqual(["if_stack_table", "dot3ad_agg_port_table"]);
    expect(stepsOf({ 1: { name: "Aggregate", type: LAG } })).toEqual(["if_stack_table", "dot3ad_agg_port_table"]);
  });
});

describe("names and MAC addresses", () => {
  test("show a unit if exactly one interface has its base name", () => {
    const rows = { 1: { name: "ge-0/0/47" }, 2: { name: "ge-0/0/47.0" }, 3: { name: "1.1" }, 4: { name: "1" } };
    expect(stackingOf(rows)).toEqual(["ge-0/0/47.0 of ge-0/0/47"]);
    expect(stackingOf({ ...rows, 5: { name: "ge-0/0/47" } })).toEqual([]);
  });

  test("show the members of a bond in a bridge", () => {
    const mac = SHARED;
    const rows = {
      1: { name: "eth0", mac },
      2: { name: "eth1", mac },
      3: { name: "bond0", mac },
      4: { name: "vmbr0", mac },
      5: { name: "bond0.20", mac },
      6: { name: "eth2", mac: "00:1b:21:0c:00:11" },
    };
    expect(stackingOf(rows)).toEqual(["eth0 in bond0", "eth1 in bond0", "bond0.20 of bond0"]);
  });

  test("show nothing on a switch with one MAC address for all ports", () => {
    const ports = Object.fromEntries(
      Array.from({ length: 4 }, (_, port) => [port + 1, { name: `Port ${port + 1}`, mac: SHARED }]),
    );
    expect(stackingOf({ ...ports, 50: { name: "ch1", type: LAG, mac: SHARED } })).toEqual([]);
    const two = { 50: { name: "lag 1", type: LAG, mac: SHARED }, 51: { name: "lag 2", type: LAG, mac: SHARED } };
    expect(stackingOf({ ...ports, 9: { name: "Port 9", mac: "00:1b:21:0c:00:11" }, ...two })).toEqual([]);
  });
});

test("members and units are unknown if a table or the names were only partially read", () => {
  const table = stackRows(["100.7"], ["100.8"]);
  expect(stackingOf(PORTS, { if_stack_table: { ...table, broken: ["ifStackStatus"] } })).toBeUndefined();
  const names = { ...steps(PORTS).if_x_table, broken: ["ifName"] };
  expect(stackingOf(PORTS, { if_stack_table: table, if_x_table: names })).toBeUndefined();
});

const RECORDED = {
  "arista-dcs-7150s-52-cl": ["Port-Channel1: Ethernet47 Ethernet48"],
  "huawei-unknown-001": ["Eth-Trunk1: GigabitEthernet5/0/2 GigabitEthernet5/0/3"],
  "topsec-ngfw4000-uf": ["bond0: feth60 feth61"],
} as const;

test.skipIf(recordingNames().length === 0).each(Object.entries(RECORDED))(
  "the aggregates of %s have their members",
  (name, expected) => {
    const { interfaces = [], stacking = [] } = deviceOf(readsOf(readRecording(name), READING_PLAN));
    const nameOf = (ifIndex: number | undefined) => {
      const row = interfaces.find(({ if_index }) => if_index === ifIndex);
      return row?.if_name || row?.if_descr || "";
    };
    const members = Map.groupBy(
      stacking.filter(({ lag_if_index }) => lag_if_index !== undefined),
      ({ lag_if_index }) => nameOf(lag_if_index),
    );
    expect([...members].map(([lag, of]) => `${lag}: ${of.map(({ if_index }) => nameOf(if_index)).join(" ")}`)).toEqual([
      ...expected,
    ]);
  },
);
