import { describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import type { SnmpValue } from "../../src/discovery/mib/reads.ts";
import {
  deviceWith,
  hex,
  NO_RESPONSE,
  readsWith,
  rows,
  type SyntheticStep,
  tableOf,
  utf8,
} from "../support/reconcile/synthetic-reads.ts";

/** Ports 1 to 28 are interfaces 101 to 128; interface 200 is not a bridge port. */
const PORTS = Array.from({ length: 28 }, (_, index) => index + 1);
const INTERFACES: SyntheticStep = tableOf(
  Object.fromEntries(
    [...PORTS.map((port) => port + 100), 200].map((ifIndex) => [ifIndex, { ifDescr: utf8(`port ${ifIndex}`) }]),
  ),
);
const BRIDGE: SyntheticStep = {
  columns: { dot1dBasePortIfIndex: Object.fromEntries(PORTS.map((port) => [port, port + 100])) },
};

describe("Q-BRIDGE-MIB", () => {
  test("VLANs have their static names, ordered by number", () => {
    const dot1qVlanStaticName = { "20": utf8("twenty"), "3": utf8(""), "100": utf8("hundred\0") };
    const device = read({ dot1q_vlan_static_table: { columns: { dot1qVlanStaticName } } });
    expect(device.vlans).toEqual([
      { number: 3, name: null },
      { number: 20, name: "twenty" },
      { number: 100, name: "hundred" },
    ]);
    expect(device.tables.vlans).toEqual({ state: "complete", problem: null });
  });

  test("a port's memberships are the static and current lists, with any time mark", () => {
    const fixed = {
      dot1qVlanStaticName: { "1": utf8("default"), "20": utf8("twenty") },
      dot1qVlanStaticEgressPorts: { "1": hex("f0000000"), "20": hex("80") },
    };
    const current = {
      dot1qVlanFdbId: { "0.1": 1, "1280.20": 2 },
      dot1qVlanCurrentEgressPorts: { "0.1": hex("8000"), "1280.20": hex("00000010"), "7.30": hex("4000000000") },
    };
    const device = readVlanTables(fixed, current);
    expect(memberships(device)).toEqual({ 101: [1, 20], 102: [1, 30], 103: [1], 104: [1], 128: [20] });
    expect(device.interfaces?.find(({ if_index }) => if_index === 200)?.vlans).toEqual([]);
    expect(device.vlans?.map(({ number }) => number)).toEqual([1, 20, 30]);
  });

  test("VLANs only in the current table and without ports are internal", () => {
    const fixed = { dot1qVlanStaticName: { "1": utf8("default") }, dot1qVlanStaticEgressPorts: { "1": hex("80") } };
    const current = { dot1qVlanFdbId: { "0.4091": 4_091 }, dot1qVlanCurrentEgressPorts: { "0.4091": hex("") } };
    const device = readVlanTables(fixed, current);
    expect(device.vlans).toEqual([{ number: 1, name: "default" }]);
  });

  test("dot1qPvid is the native VLAN, 0 and 4095 mean none", () => {
    const dot1qPvid = { "1": 20, "2": 0, "3": 4_095, "99": 7 };
    const device = read({ dot1q_port_vlan_table: { columns: { dot1qPvid } } });
    expect(nativeVlans(device)).toMatchObject({ 101: 20, 102: null, 103: null, 104: null, 200: null });
    expect(device).not.toHaveProperty("vlans");
    expect(memberships(device)).toEqual({});
    expect(device.interfaces?.[0]).not.toHaveProperty("vlans");
    expect(device.tables.vlans.state).toBe("complete");
  });

  test("dot1qPvid is indexed by ifIndex if no row is a bridge port's, and all are interfaces", () => {
    const pvids = (dot1qPvid: Record<string, number>, bridge = BRIDGE): Record<number, unknown> =>
      nativeVlans(deviceWith({ if_table: INTERFACES, bridge, dot1q_port_vlan_table: { columns: { dot1qPvid } } }));
    expect(pvids({ "101": 20, "102": 0, "200": 30 })).toMatchObject({ 101: 20, 102: null, 103: null, 200: 30 });
    // A bridge port, or a number without an interface, is not taken for an ifIndex.
    expect(pvids({ "1": 20, "102": 40 })).toMatchObject({ 101: 20, 102: null });
    expect(pvids({ "101": 20, "999": 40 })).toMatchObject({ 101: null });
    // Nor is any number if not all bridge ports were read.
    expect(pvids({ "101": 20 }, { ...BRIDGE, broken: ["*"] })).toMatchObject({ 101: undefined });
  });

  test("bridge ports without an interface have no visible VLAN", () => {
    const device = deviceWith({
      if_table: INTERFACES,
      bridge: { columns: { dot1dBasePortIfIndex: { "1": 101, "2": 0 } } },
      ...staticLists({ "20": hex("c0") }),
      dot1q_port_vlan_table: { columns: { dot1qPvid: { "1": 20, "2": 20 } } },
    });
    expect(memberships(device)).toEqual({ 101: [20] });
    expect(device.tables.vlans.problem).toBeNull();
  });

  test("4,094 VLANs work on ports that need hundreds of bytes", () => {
    const numbers = Array.from({ length: 4_094 }, (_, index) => index + 1);
    const list = new Uint8Array(512);
    list[511] = 1;
    const device = deviceWith({
      if_table: tableOf({ "9": { ifDescr: utf8("trunk") } }),
      bridge: { columns: { dot1dBasePortIfIndex: { "4096": 9 } } },
      ...staticLists(Object.fromEntries(numbers.map((number) => [number, list]))),
    });
    expect(device.interfaces?.[0]?.vlans).toEqual(numbers);
  });

  const columns = { dot1qVlanStaticEgressPorts: { "1": hex("80") } };
  test.each([
    ["a static column", { dot1q_vlan_static_table: { columns, broken: ["dot1qVlanStaticEgressPorts"] } }],
    ["the current table", { dot1q_vlan_current_table: { broken: ["*"] } }],
    ["the bridge ports", { bridge: { ...BRIDGE, broken: ["*"] } }],
  ])("members are unknown if %s broke off", (_name, steps: Record<string, SyntheticStep>) => {
    const device = read({ dot1q_vlan_static_table: { columns }, ...steps });
    for (const port of device.interfaces ?? []) expect(port).not.toHaveProperty("vlans");
    expect(device.vlans).toEqual([{ number: 1, name: null }]);
  });

  test("native VLANs that were not read are unknown, others are reported", () => {
    const device = read({ dot1q_port_vlan_table: { columns: { dot1qPvid: { "1": 20 } }, broken: ["dot1qPvid"] } });
    expect(device.interfaces?.[0]?.native_vlan).toBe(20);
    expect(device.interfaces?.[1]).not.toHaveProperty("native_vlan");
    expect(device.tables.vlans).toEqual({ state: "partial", problem: NO_RESPONSE });
  });

  test("VLANs 0 and 4095, and malformed rows, are ignored", () => {
    const fixed = {
      dot1qVlanStaticName: { "0": utf8("a"), "4095": utf8("b"), "1.2": utf8("c"), "5": 5 },
      dot1qVlanStaticEgressPorts: { "0": hex("80"), "4095": hex("80"), "5": 12 },
    };
    const current = { dot1qVlanCurrentEgressPorts: { "0.4095": hex("80"), "0.0": hex("80"), "1.2.6": hex("80") } };
    const device = readVlanTables(fixed, current);
    expect(device.vlans).toEqual([{ number: 5, name: null }]);
    expect(memberships(device)).toEqual({});
  });

  test("a device without VLANs reports none", () => {
    const device = read({});
    expect(device).not.toHaveProperty("vlans");
    expect(device.tables.vlans.state).toBe("absent");
  });
});

describe("nonstandard port lists", () => {
  test("are decimal numbers with commas on Junos", () => {
    const device = read(staticLists({ "5": utf8("12"), "28": utf8("3,27"), "30": utf8(""), "37": utf8("0,28") }));
    expect(memberships(device)).toEqual({ 103: [28], 112: [5], 127: [28], 128: [37] });
  });

  test("are numbers on Junos even without a comma, if those ports exist and the ports of the bits do not", () => {
    const device = deviceWith({
      if_table: INTERFACES,
      bridge: { columns: { dot1dBasePortIfIndex: { "3": 103, "13": 113, "42": 128 } } },
      ...staticLists({ "5": utf8("42"), "6": utf8("13") }),
    });
    expect(memberships(device)).toEqual({ 113: [6], 128: [5] });
  });

  test("are bits even if they resemble digits, if those ports exist", () => {
    // "0" is 0x30: ports 3 and 4.
    expect(memberships(read(staticLists({ "5": utf8("0") })))).toEqual({ 103: [5], 104: [5] });
  });

  test("are one number with port 1 as its lowest bit on D-Link", () => {
    const lists = { "1": hex("0000000000000000"), "602": hex("000000000cffffff"), "2004": hex("0000000003000000") };
    const device = read(staticLists(lists));
    expect(memberships(device)[125]).toEqual([2_004]);
    expect(memberships(device)[126]).toEqual([2_004]);
    expect(memberships(device)[101]).toEqual([602]);
    expect(memberships(device)[128]).toEqual([602]);
    expect(device.tables.vlans.problem).toBeNull();
  });

  test("omit nonexistent ports", () => {
    expect(memberships(read(staticLists({ "1": hex("0604ffffffffffffffe0") })))).toMatchObject({ 106: [1], 107: [1] });
  });

  test("are unknown, and reported, if they cannot be parsed", () => {
    const device = read(staticLists({ "1": hex("000000000018004200430044") }));
    for (const port of device.interfaces ?? []) expect(port).not.toHaveProperty("vlans");
    const problem = "the port lists contain none of the bridge's ports";
    expect(device.tables.vlans).toEqual({ state: "partial", problem });
  });
});

describe("CISCO-VTP-MIB", () => {
  /** Bits of VLANs 2, 10 and 1500. */
  const ENABLED = {
    vlanTrunkPortVlansEnabled: hex("2020"),
    vlanTrunkPortVlansEnabled2k: hex(`${"00".repeat(59)}08`),
    vlanTrunkPortVlansEnabled3k: hex("ff"),
    vlanTrunkPortVlansEnabled4k: utf8(""),
  };
  const VLANS = { "1.1": vlan("default"), "1.2": vlan("two"), "1.10": vlan(""), "1.1500": vlan("far") };
  const VTP = tableOf({ ...VLANS, "1.0": vlan("none"), "1.4095": vlan("none"), "7": vlan("none") });
  const trunk = (status: number, native = 1): Record<string, SnmpValue> => ({
    vlanTrunkPortDynamicStatus: status,
    vlanTrunkPortNativeVlan: native,
    ...ENABLED,
  });

  test("names the VLANs", () => {
    expect(read({ vtp_vlan_table: VTP }).vlans).toEqual([
      { number: 1, name: "default" },
      { number: 2, name: "two" },
      { number: 10, name: null },
      { number: 1_500, name: "far" },
    ]);
  });

  test("a trunk is in its enabled and existing VLANs, an access port in its own", () => {
    const device = read({
      vtp_vlan_table: VTP,
      vlan_trunk_port_table: tableOf({ "101": trunk(1, 10), "102": trunk(2), "103": trunk(2) }),
      vm_membership_table: { columns: { vmVlan: { "101": 1, "102": 2, "104": 0, "999": 7 } } },
    });
    expect(memberships(device)).toEqual({ 101: [2, 10, 1_500], 102: [2] });
    expect(device.interfaces?.slice(0, 4).map(({ native_vlan }) => native_vlan)).toEqual([10, 2, undefined, null]);
    expect(device.interfaces?.[3]?.vlans).toEqual([]);
    // A trunk without a link, and an interface that is not a switch port: neither is reported.
    expect(device.interfaces?.[2]).not.toHaveProperty("vlans");
    expect(device.interfaces?.at(-1)).not.toHaveProperty("native_vlan");
    expect(device.tables.vlans).toEqual({ state: "complete", problem: null });
  });

  test("trunks and possible trunks are unknown if the VLANs or the enabled VLANs broke off", () => {
    const trunks = rows({ "101": trunk(1, 10) });
    const membership = { columns: { vmVlan: { "101": 1, "102": 2 } } };
    const withoutVlans = read({
      vtp_vlan_table: { ...VTP, broken: ["*"] },
      vlan_trunk_port_table: { columns: trunks },
      vm_membership_table: membership,
    });
    expect(withoutVlans.interfaces?.[0]).toMatchObject({ native_vlan: 10 });
    expect(withoutVlans.interfaces?.[0]).not.toHaveProperty("vlans");
    expect(withoutVlans.interfaces?.[1]?.vlans).toEqual([2]);
    const withoutTrunks = read({
      vtp_vlan_table: VTP,
      vlan_trunk_port_table: { columns: trunks, broken: ["vlanTrunkPortDynamicStatus", "vlanTrunkPortVlansEnabled"] },
      vm_membership_table: membership,
    });
    expect(withoutTrunks.interfaces?.[0]).not.toHaveProperty("vlans");
    expect(withoutTrunks.interfaces?.[1]).not.toHaveProperty("vlans");
  });

  test("ports are read only with VLANs", () => {
    expect(readsWith({}).has("vlan_trunk_port_table")).toBeFalse();
    expect(readsWith({ vtp_vlan_table: VTP }).has("vm_membership_table")).toBeTrue();
  });

  test("yields to Q-BRIDGE-MIB for the same data", () => {
    const device = read({
      vtp_vlan_table: VTP,
      vm_membership_table: { columns: { vmVlan: { "101": 2 } } },
      ...staticLists({ "10": hex("80") }),
      dot1q_port_vlan_table: { columns: { dot1qPvid: { "1": 10 } } },
    });
    expect(device.interfaces?.[0]).toMatchObject({ native_vlan: 10, vlans: [10] });
    expect(device.vlans?.map(({ number }) => number)).toEqual([1, 2, 10, 1_500]);
  });
});

function read(steps: Readonly<Record<string, SyntheticStep>>): Device {
  return deviceWith({ if_table: INTERFACES, bridge: BRIDGE, ...steps });
}

type Columns = NonNullable<SyntheticStep["columns"]>;
function readVlanTables(fixed: Columns, current: Columns): Device {
  return read({ dot1q_vlan_static_table: { columns: fixed }, dot1q_vlan_current_table: { columns: current } });
}

function staticLists(lists: Readonly<Record<string, Uint8Array>>): Record<string, SyntheticStep> {
  return { dot1q_vlan_static_table: { columns: { dot1qVlanStaticEgressPorts: lists } } };
}

function vlan(name: string): Record<string, SnmpValue> {
  return { vtpVlanState: 1, vtpVlanType: 1, vtpVlanName: utf8(name) };
}

/** ifIndex → VLANs, for interfaces with any. */
function memberships(device: Device): Record<number, readonly number[]> {
  return Object.fromEntries(
    (device.interfaces ?? []).flatMap(({ if_index, vlans }) =>
      vlans === undefined || vlans.length === 0 ? [] : [[if_index, vlans]],
    ),
  );
}

function nativeVlans(device: Device): Record<number, number | null | undefined> {
  return Object.fromEntries((device.interfaces ?? []).map(({ if_index, native_vlan }) => [if_index, native_vlan]));
}
