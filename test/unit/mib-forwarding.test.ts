import { describe, expect, test } from "bun:test";
import type { Device, ForwardingEntry } from "../../src/discovery/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { SnmpValue } from "../../src/discovery/mib/reads.ts";
import {
  deviceWith,
  dotted,
  hex,
  NO_RESPONSE,
  readsWith,
  type SyntheticStep,
  tableOf,
  utf8,
} from "../support/reconcile/synthetic-reads.ts";

const [A, B, C] = ["00:1b:21:00:00:0a", "00:1b:21:00:00:0b", "00:1b:21:00:00:0c"];

const INTERFACES: SyntheticStep = tableOf(
  Object.fromEntries([101, 102, 103].map((ifIndex) => [ifIndex, { ifDescr: utf8(`port ${ifIndex}`), ifType: 6 }])),
);
/** Port 1 is interface 101, and so on. */
const BRIDGE: SyntheticStep = {
  scalars: { dot1dBaseBridgeAddress: hex("001b21ffffff") },
  columns: { dot1dBasePortIfIndex: { "1": 101, "2": 102, "3": 103, "4": 0, "5": 999 } },
};

function read(steps: Readonly<Record<string, SyntheticStep>>): Device {
  return deviceWith({ if_table: INTERFACES, bridge: BRIDGE, ...steps });
}

test("dot1dTpFdbTable is mapped to interfaces through bridge ports, by MAC address", () => {
  const device = read({ dot1d_tp_fdb_table: table("dot1d", { [dotted(B)]: 1, [dotted(A)]: 1, [dotted(C)]: 2 }) });
  expect(forwarding(device)).toEqual({ 101: [entry(A), entry(B)], 102: [entry(C)], 103: [] });
  expect(device.tables.forwarding).toEqual({ state: "complete", problem: null });
  expect(device.bridge_address).toBe("00:1b:21:ff:ff:ff");
});

test("dot1qTpFdbTable is mapped to VLANs by the databases of dot1qVlanCurrentTable", () => {
  const inBoth = { [`1.${dotted(A)}`]: 1, [`2.${dotted(A)}`]: 1 };
  const dot1qVlanFdbId = { "0.10": 1, "0.20": 2, "0.30": 3, "0.31": 3, "0.40": 9 };
  const device = read({
    dot1q_tp_fdb_table: table("dot1q", { ...inBoth, [`3.${dotted(B)}`]: 2, [`9.${dotted(C)}`]: 3 }),
    dot1q_vlan_current_table: { columns: { dot1qVlanFdbId } },
  });
  // VLANs 30 and 31 share a filtering database, so the VLAN is unknown.
  expect(forwarding(device)).toEqual({ 101: [entry(A, 10), entry(A, 20)], 102: [entry(B)], 103: [entry(C, 40)] });
});

test("a device that numbers its databases by VLAN in only one table is read by VLAN", () => {
  const device = read({
    dot1q_tp_fdb_table: table("dot1q", { [`602.${dotted(A)}`]: 1, [`90.${dotted(B)}`]: 2 }),
    dot1q_vlan_current_table: { columns: { dot1qVlanFdbId: { "0.1": 1, "0.602": 90, "0.90": 5 } } },
  });
  expect(forwarding(device)).toEqual({ 101: [entry(A, 602)], 102: [entry(B, 90)], 103: [] });
});

test("without dot1qVlanCurrentTable a database is the VLAN of its number, if that exists", () => {
  const fdb = table("dot1q", { [`10.${dotted(A)}`]: 1, [`131072.${dotted(B)}`]: 1, [`12.${dotted(C)}`]: 2 });
  const steps = { if_table: INTERFACES, bridge: BRIDGE, dot1q_tp_fdb_table: fdb };
  expect(forwarding(deviceWith(steps))).toEqual({ 101: [entry(A, 10), entry(B)], 102: [entry(C, 12)], 103: [] });
  const withNames = { ...steps, dot1q_vlan_static_table: { columns: { dot1qVlanStaticName: { "10": utf8("ten") } } } };
  expect(forwarding(deviceWith(withNames))).toEqual({ 101: [entry(A, 10), entry(B)], 102: [entry(C)], 103: [] });
});

test("both tables yield a MAC address on one interface once, with its VLAN", () => {
  const device = read({
    dot1q_tp_fdb_table: table("dot1q", { [`10.${dotted(A)}`]: 1 }),
    dot1d_tp_fdb_table: table("dot1d", { [dotted(A)]: 1, [dotted(B)]: 1, [`6.${dotted(C)}`]: 2 }),
  });
  expect(forwarding(device)).toEqual({ 101: [entry(A, 10), entry(B)], 102: [entry(C)], 103: [] });
});

test("only learned entries are reported: no local, invalid, managed, other, group and port 0 entries", () => {
  const device = read({
    dot1d_tp_fdb_table: tableOf({
      [dotted(A)]: { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 },
      [dotted(B)]: { dot1dTpFdbPort: 0, dot1dTpFdbStatus: 3 },
      "0.0.0.0.0.1": { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 1 },
      "0.0.0.0.0.2": { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 2 },
      "0.0.0.0.0.4": { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 4 },
      "0.0.0.0.0.5": { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 5 },
      "0.0.0.0.0.6": { dot1dTpFdbPort: 1, dot1dTpFdbStatus: null },
      "0.0.0.0.0.7": { dot1dTpFdbPort: null, dot1dTpFdbStatus: 3 },
      "1.0.94.0.0.5": { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 },
      "0.0.0.0.0.0": { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 },
    }),
  });
  expect(forwarding(device)).toEqual({ 101: [entry(A)], 102: [], 103: [] });
  expect(device.tables.forwarding.state).toBe("complete");
});

test("without served statuses all entries count as learned", () => {
  const device = read({ dot1d_tp_fdb_table: { columns: { dot1dTpFdbPort: { [dotted(A)]: 3 } } } });
  expect(forwarding(device)).toEqual({ 101: [], 102: [], 103: [entry(A)] });
});

test("entries on bridge ports without an interface are counted and reported, next to the others", () => {
  const device = read({
    dot1q_tp_fdb_table: table("dot1q", { [`1.${dotted(A)}`]: 4, [`1.${dotted(B)}`]: 77, [`1.${dotted(C)}`]: 1 }),
    dot1d_tp_fdb_table: table("dot1d", { [dotted(A)]: 4, [dotted(C)]: 1 }),
  });
  expect(forwarding(device)).toEqual({ 101: [entry(C, 1)], 102: [], 103: [] });
  expect(device.tables.forwarding).toEqual({
    state: "partial",
    problem: "2 of 3 forwarding entries are on bridge ports that belong to no interface",
  });
});

test("without dot1dBasePortTable bridge ports count as interfaces", () => {
  const fdb = table("dot1d", { [dotted(A)]: 102, [dotted(B)]: 7 });
  const device = deviceWith({ if_table: INTERFACES, dot1d_tp_fdb_table: fdb });
  expect(forwarding(device)).toEqual({ 101: [], 102: [entry(A)], 103: [] });
  expect(device.tables.forwarding.problem).toStartWith("1 of 2 ");
});

describe("bridge ports missing from dot1dBasePortTable", () => {
  const IDENTITY: SyntheticStep = { columns: { dot1dBasePortIfIndex: { "101": 101 } } };
  const read = (
    bridge: SyntheticStep,
    ports: Readonly<Record<string, number>>,
    moreSteps: Record<string, SyntheticStep> = {},
  ): Device => deviceWith({ if_table: INTERFACES, bridge, dot1d_tp_fdb_table: table("dot1d", ports), ...moreSteps });

  test("are interfaces if every row maps a port to the interface of its number", () => {
    const device = read(IDENTITY, { [dotted(A)]: 102, [dotted(B)]: 101 });
    expect(forwarding(device)).toEqual({ 101: [entry(B)], 102: [entry(A)], 103: [] });
    expect(device.tables.forwarding).toEqual({ state: "complete", problem: null });
    expect(device).not.toHaveProperty("assumed_lists");
  });

  test("are treated the same in dot1qTpFdbTable, port lists and dot1qPortVlanTable", () => {
    const moreSteps = {
      dot1q_tp_fdb_table: table("dot1q", { [`1.${dotted(A)}`]: 103 }),
      dot1q_vlan_static_table: { columns: { dot1qVlanStaticEgressPorts: { "5": portList(102) } } },
      dot1q_port_vlan_table: { columns: { dot1qPvid: { "101": 5, "102": 6 } } },
    };
    const device = read(IDENTITY, {}, moreSteps);
    expect(forwarding(device)).toEqual({ 101: [], 102: [], 103: [entry(A, 1)] });
    expect(device.interfaces?.map(({ vlans }) => vlans)).toEqual([[], [5], []]);
    expect(device.interfaces?.map(({ native_vlan }) => native_vlan)).toEqual([5, 6, null]);
  });

  test.each([
    ["one row maps a port to another interface", { "101": 101, "2": 103 }],
    ["one row maps a port to no interface", { "101": 101, "2": 0 }],
  ])("are unmapped if %s", (_name, dot1dBasePortIfIndex) => {
    const device = read({ columns: { dot1dBasePortIfIndex } }, { [dotted(A)]: 102, [dotted(B)]: 101 });
    expect(forwarding(device)).toMatchObject({ 101: [entry(B)], 102: [] });
    expect(device.tables.forwarding.problem).toStartWith("1 of 2 ");
  });

  test("make learned addresses of unlisted interfaces unknown, if only some are interfaces", () => {
    const device = read(IDENTITY, { [dotted(A)]: 102, [dotted(B)]: 101, [dotted(C)]: 4_000 });
    expect(forwarding(device)).toEqual({ 101: [entry(B)], 102: undefined, 103: undefined });
    expect(device.tables.forwarding.problem).toStartWith("2 of 3 ");
  });

  test("make them unknown too if the interfaces were not read completely", () => {
    const interfaces = { ...INTERFACES, broken: ["ifType"] };
    const device = read(IDENTITY, { [dotted(A)]: 999, [dotted(B)]: 101 }, { if_table: interfaces });
    expect(forwarding(device)).toEqual({ 101: [entry(B)], 102: undefined, 103: undefined });
  });

  test("do not affect the others if they are not interfaces, like the CPU's", () => {
    const device = read(IDENTITY, { [dotted(A)]: 999, [dotted(B)]: 101 });
    expect(forwarding(device)).toEqual({ 101: [entry(B)], 102: [], 103: [] });
  });

  test("are reported as assumed without any dot1dBasePortTable", () => {
    const vlans = {
      dot1q_vlan_static_table: { columns: { dot1qVlanStaticEgressPorts: { "5": portList(102) } } },
      dot1q_port_vlan_table: { columns: { dot1qPvid: { "102": 5 } } },
    };
    const assumed = read({}, { [dotted(A)]: 102 }, vlans);
    expect(assumed.assumed_lists).toEqual(["forwarding", "vlans", "native_vlan"]);
    expect(read({}, { [dotted(A)]: 102 }).assumed_lists).toEqual(["forwarding"]);
    expect(read(BRIDGE, { [dotted(A)]: 1 })).not.toHaveProperty("assumed_lists");
    expect(deviceWith({ if_table: INTERFACES })).not.toHaveProperty("assumed_lists");
  });
});

describe("an incomplete table", () => {
  const entries = table("dot1d", { [dotted(A)]: 1 });
  test.each([
    ["the entries", { bridge: BRIDGE, dot1d_tp_fdb_table: { ...entries, broken: ["dot1dTpFdbPort"] } }],
    ["their status", { bridge: BRIDGE, dot1d_tp_fdb_table: { ...entries, broken: ["dot1dTpFdbStatus"] } }],
    ["the other table", { bridge: BRIDGE, dot1d_tp_fdb_table: entries, dot1q_tp_fdb_table: { broken: ["*"] } }],
    ["the bridge ports", { bridge: { ...BRIDGE, broken: ["dot1dBasePortIfIndex"] }, dot1d_tp_fdb_table: entries }],
  ])("makes the entries of every interface unknown: %s", (_name, steps: Record<string, SyntheticStep>) => {
    const device = deviceWith({ if_table: INTERFACES, ...steps });
    expect(forwarding(device)).toEqual({ 101: undefined, 102: undefined, 103: undefined });
    expect(device.tables.forwarding.state).toBe("partial");
    expect(device.tables.forwarding.problem).toContain(NO_RESPONSE);
  });
});

test("a bridge without learned entries reports none, and other devices nothing", () => {
  expect(forwarding(deviceWith({ if_table: INTERFACES, bridge: BRIDGE }))).toEqual({ 101: [], 102: [], 103: [] });
  const scalars = { dot1dBaseBridgeAddress: hex("001b21ffffff") };
  const router = deviceWith({ if_table: INTERFACES, bridge: { scalars } });
  expect(forwarding(router)).toEqual({ 101: undefined, 102: undefined, 103: undefined });
  expect(router.tables.forwarding.state).toBe("absent");
});

describe("a Cisco switch", () => {
  const VTP = tableOf({ "1.1": vlan(1), "1.10": vlan(1), "1.1003": vlan(3), "1.30": { ...vlan(1), vtpVlanState: 2 } });
  const contexts = { vtp_vlan_table: VTP, if_table: INTERFACES };

  test("has a separate table and ports for each VLAN", () => {
    const ports = { [`1.${dotted(A)}`]: 1, [`10.${dotted(B)}`]: 2, [`10.${dotted(C)}`]: 9 };
    const device = deviceWith({
      ...contexts,
      bridge: { columns: { dot1dBasePortIfIndex: { "1": 101 } } },
      dot1d_tp_fdb_table: table("dot1d", { [dotted(A)]: 1 }),
      vlan_dot1d_tp_fdb_table: table("dot1d", ports),
      vlan_bridge: { columns: { dot1dBasePortIfIndex: { "1.1": 101, "10.2": 102 } } },
    });
    expect(forwarding(device)).toEqual({ 101: [entry(A, 1)], 102: [entry(B, 10)], 103: [] });
    expect(device.tables.forwarding.problem).toStartWith("1 of 3 ");
  });

  test("is read only for active Ethernet VLANs, and ports only with learned entries", () => {
    const fdb = table("dot1d", { [`10.${dotted(B)}`]: 2 });
    const reads = readsWith({ ...contexts, vlan_dot1d_tp_fdb_table: fdb });
    expect(contextsRead(reads, "vlan_dot1d_tp_fdb_table")).toEqual([1, 10]);
    expect(contextsRead(reads, "vlan_bridge")).toEqual([10]);
    expect(readsWith(contexts).has("vlan_bridge")).toBeFalse();
    expect(readsWith({}).has("vlan_dot1d_tp_fdb_table")).toBeFalse();
  });

  test("is not read by VLAN if it has dot1qTpFdbTable, or VLANs of Q-BRIDGE-MIB", () => {
    const withEntries = { ...contexts, dot1q_tp_fdb_table: table("dot1q", { [`1.${dotted(A)}`]: 1 }) };
    const withVlans = { ...contexts, dot1q_vlan_current_table: { columns: { dot1qVlanFdbId: { "0.1": 1 } } } };
    for (const steps of [withEntries, withVlans]) expect(readsWith(steps).has("vlan_dot1d_tp_fdb_table")).toBeFalse();
  });
});

/** PortList of one port. */
function portList(port: number): Uint8Array {
  const list = new Uint8Array(Math.ceil(port / 8));
  list[(port - 1) >> 3] = 0x80 >> ((port - 1) & 7);
  return list;
}

function vlan(type: number): Record<string, SnmpValue> {
  return { vtpVlanState: 1, vtpVlanType: type, vtpVlanName: utf8("x") };
}

function table(mib: "dot1d" | "dot1q", ports: Readonly<Record<string, number>>): SyntheticStep {
  return tableOf(
    Object.fromEntries(
      Object.entries(ports).map(([index, port]) => [index, { [`${mib}TpFdbPort`]: port, [`${mib}TpFdbStatus`]: 3 }]),
    ),
  );
}

function entry(mac_address: string, vlan_number: number | null = null): ForwardingEntry {
  return { mac_address, vlan_number };
}

function forwarding(device: Device): Record<number, readonly ForwardingEntry[] | undefined> {
  return Object.fromEntries((device.interfaces ?? []).map((port) => [port.if_index, port.forwarding]));
}

function contextsRead(reads: ReturnType<typeof readsWith>, name: string): readonly number[] | undefined {
  return READING_PLAN.find((step) => step.name === name)?.vlanContexts?.(reads);
}
