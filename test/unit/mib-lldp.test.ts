import { describe, expect, test } from "bun:test";
import type { Device, LldpAnnouncement } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import type { SnmpValue } from "../../src/discovery/mib/reads.ts";
import { processorMs } from "../support/measure/processor-time.ts";
import {
  deviceWith,
  hex,
  NO_RESPONSE,
  readsWith,
  type SyntheticStep,
  tableOf,
  utf8,
} from "../support/reconcile/synthetic-reads.ts";

/** Interfaces 10101, 10102, …: Gi1/0/1, Gi1/0/2, …; bridge ports 1, 2, …. */
const NAMES = [1, 2, 3, 4].map((index) => ({
  ifIndex: 10_100 + index,
  descr: `GigabitEthernet1/0/${index}`,
  name: `Gi1/0/${index}`,
  alias: `room ${index}`,
  mac: `001b2100000${index}`,
}));
const ethernet = (descr: string) => ({ ifDescr: utf8(descr), ifType: 6, ifOperStatus: 1 });
const IF_TABLE: SyntheticStep = tableOf(
  Object.fromEntries(
    NAMES.map(({ ifIndex, descr, mac }) => [ifIndex, { ...ethernet(descr), ifPhysAddress: hex(mac) }]),
  ),
);
const IF_X_TABLE: SyntheticStep = tableOf(
  Object.fromEntries(NAMES.map(({ ifIndex, name, alias }) => [ifIndex, { ifName: utf8(name), ifAlias: utf8(alias) }])),
);
const BRIDGE: SyntheticStep = {
  columns: { dot1dBasePortIfIndex: Object.fromEntries(NAMES.map(({ ifIndex }, index) => [index + 1, ifIndex])) },
};
const BASE_TABLES = { if_table: IF_TABLE, if_x_table: IF_X_TABLE, bridge: BRIDGE };

const REMOTE = {
  chassisIdSubtype: 4,
  chassisId: hex("444ca8313edf"),
  portIdSubtype: 5,
  portId: utf8("Ethernet23"),
  portDesc: utf8(""),
  sysName: utf8("core-1"),
  sysDesc: utf8("EOS"),
};
const NO_NEIGHBORS = { 10101: [], 10102: [], 10103: [], 10104: [] };
const UNKNOWN = { 10101: undefined, 10102: undefined, 10103: undefined, 10104: undefined };
const ONE_OF_TWO_LOST = {
  state: "partial",
  problem: "1 of 2 neighbors are on ports that belong to no interface",
} as const;
const ANNOUNCED: LldpAnnouncement = {
  chassis_id: { subtype: "MacAddress", value: "44:4c:a8:31:3e:df" },
  port_id: { subtype: "InterfaceName", value: "Ethernet23" },
  sys_name: "core-1",
  sys_desc: "EOS",
};

describe("a neighbor", () => {
  test("is on the interface of its local port, with its announcement", () => {
    const device = read({ lldp_rem_table: remote({ "0.2.1": { ...REMOTE, portDesc: utf8("to floor 2") } }) });
    expect(neighbors(device)).toEqual({ ...NO_NEIGHBORS, 10102: [{ ...ANNOUNCED, port_desc: "to floor 2" }] });
    expect(device.tables.lldp).toEqual({ state: "complete", problem: null });
  });

  test("is merged from equal rows, and separate for different ones", () => {
    const other = { ...REMOTE, portId: utf8("Ethernet24") };
    const device = read({ lldp_rem_table: remote({ "0.2.1": REMOTE, "1280.2.1": REMOTE, "0.2.2": other }) });
    const announced = { ...ANNOUNCED, port_id: { subtype: "InterfaceName", value: "Ethernet24" } } as const;
    expect(neighbors(device)[10_102]).toEqual([ANNOUNCED, announced]);
  });

  test("keeps its position when rows are renumbered", () => {
    const other = { ...REMOTE, chassisId: hex("001b21999999") };
    const first = read({ lldp_rem_table: remote({ "0.2.1": REMOTE, "0.2.2": other }) });
    const renumbered = read({ lldp_rem_table: remote({ "77.2.1": other, "99.2.5": REMOTE }) });
    expect(neighbors(first)[10_102]).toHaveLength(2);
    expect(neighbors(renumbered)).toEqual(neighbors(first));
  });

  test.each([
    [1, utf8("PS-1"), { subtype: "ChassisComponent", value: "PS-1" }],
    [2, utf8("uplink"), { subtype: "InterfaceAlias", value: "uplink" }],
    [3, hex("0102ff"), { subtype: "PortComponent", value: "01:02:ff" }],
    [4, hex("444ca8313edf"), { subtype: "MacAddress", value: "44:4c:a8:31:3e:df" }],
    [4, utf8("8C:60:4F:19:16:7C"), { subtype: "MacAddress", value: "8c:60:4f:19:16:7c" }],
    [4, hex("444ca8313e"), { subtype: "MacAddress", value: "44:4c:a8:31:3e" }],
    [5, hex("010a280113"), { subtype: "NetworkAddress", value: "10.40.1.19" }],
    [5, hex("0220010db8000000000000000000000001"), { subtype: "NetworkAddress", value: "2001:db8::1" }],
    [5, hex("0a280113"), { subtype: "NetworkAddress", value: "10.40.1.19" }],
    [5, utf8("2001:DB8::1"), { subtype: "NetworkAddress", value: "2001:db8::1" }],
    [5, hex("06444ca8313edf"), { subtype: "NetworkAddress", value: "06:44:4c:a8:31:3e:df" }],
    [6, utf8("mgmt0\0\0\0"), { subtype: "InterfaceName", value: "mgmt0" }],
    [7, utf8("NX-1(SSI183706KP)"), { subtype: "LocallyAssigned", value: "NX-1(SSI183706KP)" }],
    [7, hex("444ca8313edf"), { subtype: "LocallyAssigned", value: "44:4c:a8:31:3e:df" }],
    [0, utf8("x"), { subtype: "LocallyAssigned", value: "x" }],
    [9, utf8("x"), { subtype: "LocallyAssigned", value: "x" }],
    [4, utf8(""), undefined],
    [4, 12, undefined],
  ])("has a chassis id of subtype %p", (chassisIdSubtype, chassisId, expected) => {
    const device = read({ lldp_rem_table: remote({ "0.1.1": { ...REMOTE, chassisIdSubtype, chassisId } }) });
    expect(neighbors(device)[10_101]?.[0]?.chassis_id).toEqual(expected as never);
  });

  test.each([
    [1, "InterfaceAlias"],
    [2, "PortComponent"],
    [5, "InterfaceName"],
    [6, "AgentCircuitId"],
    [7, "LocallyAssigned"],
  ])("has a port id of subtype %p", (portIdSubtype, subtype) => {
    const device = read({ lldp_rem_table: remote({ "0.1.1": { ...REMOTE, portIdSubtype } }) });
    expect(neighbors(device)[10_101]?.[0]?.port_id).toEqual({ subtype: subtype as never, value: "Ethernet23" });
  });

  test("has a port id in the form of a MAC or network address if it announces the port that way", () => {
    const byMac = { ...REMOTE, portIdSubtype: 3, portId: hex("e839351aca99") };
    const byAddress = { ...REMOTE, portIdSubtype: 4, portId: hex("010a280113") };
    const device = read({ lldp_rem_table: remote({ "0.1.1": byMac, "0.2.1": byAddress }) });
    expect(neighbors(device)[10_101]?.[0]?.port_id).toEqual({ subtype: "MacAddress", value: "e8:39:35:1a:ca:99" });
    expect(neighbors(device)[10_102]?.[0]?.port_id).toEqual({ subtype: "NetworkAddress", value: "10.40.1.19" });
  });
});

describe("a neighbor's index", () => {
  const local = { lldp_loc_port_table: localPorts({ "3": [5, "Gi1/0/3"], "4": [5, "Gi1/0/4"] }) };
  test.each([
    ["one with a time mark", ["1169175.3.1", "8.4.1"]],
    ["one without a time mark", ["3.1", "4.1"]],
    ["one without the neighbor's number", ["1169175.3", "2.4"]],
    ["the port only", ["3", "4"]],
  ])("may be %s", (_name, [first = "", other = ""]) => {
    const device = read({ ...local, lldp_rem_table: remote({ [first]: REMOTE, [other]: REMOTE }) });
    expect(neighbors(device)).toEqual({ ...NO_NEIGHBORS, 10103: [ANNOUNCED], 10104: [ANNOUNCED] });
  });

  test("is counted and reported if malformed", () => {
    const device = read({ lldp_rem_table: remote({ "0.1.1": REMOTE, "0.2.1.4.5": REMOTE }) });
    expect(neighbors(device)[10_101]).toEqual([ANNOUNCED]);
    expect(device.tables.lldp).toEqual(ONE_OF_TWO_LOST);
  });
});

describe("a management address", () => {
  const MALFORMED = ["0.1.1.1.4.0.0.0.0", "0.1.1.6.6.0.27.33.1.2.3", "0.1.1.1.4.10.0.0", "0.1.1"];
  const remotes = { lldp_rem_table: remote({ "0.1.1": REMOTE, "9.2.1": { ...REMOTE, sysName: utf8("core-2") } }) };
  test.each([
    ["is in the index", ["0.1.1.1.4.10.0.0.1"], "10.0.0.1"],
    ["is IPv4 before IPv6", ["0.1.1.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1", "0.1.1.1.4.10.0.0.1"], "10.0.0.1"],
    ["is the first of its type", ["0.1.1.1.4.10.0.0.1", "0.1.1.1.4.10.0.0.2"], "10.0.0.1"],
    ["is IPv6 without an alternative", ["0.1.1.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1"], "2001:db8::1"],
    ["is read without its length", ["0.1.1.1.10.0.0.1"], "10.0.0.1"],
    ["is absent if malformed", MALFORMED, undefined],
  ])("%s", (_name, indexes, address) => {
    const device = read({ ...remotes, lldp_rem_man_addr_table: addresses(indexes) });
    expect(neighbors(device)[10_101]?.[0]?.mgmt_addr).toBe(address as string);
    expect(neighbors(device)[10_102]?.[0]).not.toHaveProperty("mgmt_addr");
  });

  test("is found after the time mark has changed", () => {
    const device = read({ ...remotes, lldp_rem_man_addr_table: addresses(["12.2.1.1.4.10.0.0.2"]) });
    expect(neighbors(device)[10_102]?.[0]?.mgmt_addr).toBe("10.0.0.2");
  });

  test("is found by a short index", () => {
    const device = read({
      lldp_rem_table: remote({ "1.1": REMOTE, "2.1": REMOTE }),
      lldp_rem_man_addr_table: addresses(["1.1.1.4.10.0.0.1", "2.1.1.4.10.0.0.2"]),
    });
    expect(neighbors(device)[10_101]?.[0]?.mgmt_addr).toBe("10.0.0.1");
    expect(neighbors(device)[10_102]?.[0]?.mgmt_addr).toBe("10.0.0.2");
  });
});

describe("the interface of a local port", () => {
  /** Interfaces with a neighbor, by default one on local port 77: neither a bridge port nor an ifIndex. */
  const interfacesFor = (
    texts: SyntheticStep,
    tables: Readonly<Record<string, SyntheticStep>> = {},
    index = "0.77.1",
  ): number[] => {
    const device = read({ ...tables, lldp_loc_port_table: texts, lldp_rem_table: remote({ [index]: REMOTE }) });
    const found = Object.entries(neighbors(device)).filter(([, list]) => list?.length === 1);
    return found.map(([ifIndex]) => Number(ifIndex));
  };

  test.each([
    ["the name", localPorts({ "77": [5, "Gi1/0/3"] })],
    ["the description", localPorts({ "77": [5, "GigabitEthernet1/0/3"] })],
    ["the name ignoring spaces and case", localPorts({ "77": [5, "gigabitEthernet 1/0/3"] })],
    ["a local id that is a name", localPorts({ "77": [7, "Gi1/0/3"] })],
    ["the alias", localPorts({ "77": [1, "room 3"] })],
    ["the MAC address", localPorts({ "77": [3, hex("001b21000003")] })],
    ["the MAC address as a string", localPorts({ "77": [3, "00:1b:21:00:00:03"] })],
    ["the port description", localPorts({ "77": [7, "77", "GigabitEthernet1/0/3"] })],
    ["the port description, which is an alias", localPorts({ "77": [3, hex("ffffffffffff"), "room 3"] })],
  ])("is found by %s", (_name, texts) => expect(interfacesFor(texts)).toEqual([10_103]));

  test("is found by an abbreviated name without ifXTable", () => {
    expect(interfacesFor(localPorts({ "77": [5, "Gi1/0/3"] }), { if_x_table: {} })).toEqual([10_103]);
    expect(interfacesFor(localPorts({ "77": [5, "Te1/0/3"] }), { if_x_table: {} })).toEqual([]);
  });

  test("is the bridge port of its number without other data", () => {
    expect(interfacesFor({}, {}, "0.3.1")).toEqual([10_103]);
    expect(interfacesFor(localPorts({ "3": [7, "3", "-"] }), {}, "0.3.1")).toEqual([10_103]);
  });

  test("is the interface of its number if that is not a bridge port", () => {
    expect(interfacesFor({}, {}, "0.10103.1")).toEqual([10_103]);
    expect(interfacesFor({}, { bridge: {} }, "0.10103.1")).toEqual([10_103]);
  });

  test("follows the numbering of the other ports", () => {
    // The name identifies port 2 as interface 2: so 3 is interface 3, not bridge port 3.
    const if_table = describedAs({ "2": "ge-0/0/2", "3": "ge-0/0/3", "9": "ge-0/0/9" });
    const bridge: SyntheticStep = { columns: { dot1dBasePortIfIndex: { "2": 3, "3": 9 } } };
    for (const [name, ifIndex] of [
      ["ge-0/0/2", 3],
      ["ge-0/0/3", 9],
    ] as const) {
      const texts = localPorts({ "2": [7, "2", name], "3": [7, "3", "-"] });
      expect(interfacesFor(texts, { if_table, if_x_table: {}, bridge }, "0.3.1")).toEqual([ifIndex]);
    }
  });

  test("matches the end of a name, but not within a number", () => {
    const if_table = describedAs({ "1": "Port 11", "101": "Port 1", "2": "Port 102" });
    const bridge: SyntheticStep = { columns: { dot1dBasePortIfIndex: { "1": 101, "2": 1 } } };
    const texts = localPorts({ "1": [7, "1"], "2": [7, "2"] });
    expect(interfacesFor(texts, { if_table, if_x_table: {}, bridge }, "0.1.1")).toEqual([101]);
  });

  test("is a candidate that can have neighbors if names do not decide", () => {
    const if_table: SyntheticStep = tableOf({ "3": ethernet("a"), "9": { ...ethernet("b"), ifOperStatus: 2 } });
    const bridge: SyntheticStep = { columns: { dot1dBasePortIfIndex: { "3": 9 } } };
    expect(interfacesFor({}, { if_table, if_x_table: {}, bridge }, "0.3.1")).toEqual([3]);
  });

  test("is the one with its number among several with one MAC address", () => {
    const port = { ifPhysAddress: hex("001b21000001"), ifType: 6 };
    const if_table: SyntheticStep = tableOf({ "1": port, "2": port, "3": port });
    const texts = localPorts({ "2": [3, hex("001b21000001")] });
    expect(interfacesFor(texts, { if_table, if_x_table: {}, bridge: {} }, "0.2.1")).toEqual([2]);
  });

  test("is the port among a port and its VLANs with one MAC address", () => {
    const mac = { ifPhysAddress: hex("001b21000001") };
    const vlan = { ...mac, ifType: 53 };
    const port = { ...mac, ifType: 6 };
    const if_table: SyntheticStep = tableOf({ "1": vlan, "2": port, "3": vlan });
    const texts = localPorts({ "77": [3, hex("001b21000001")] });
    expect(interfacesFor(texts, { if_table, if_x_table: {}, bridge: {} })).toEqual([2]);
  });

  test("is the one matching the description among several with one name", () => {
    const if_table = describedAs({ "1": "lo0", "2": "oob" });
    const if_x_table: SyntheticStep = tableOf({ "1": { ifName: utf8("x") }, "2": { ifName: utf8("x") } });
    expect(interfacesFor(localPorts({ "77": [5, "x", "oob"] }), { if_table, if_x_table, bridge: {} })).toEqual([2]);
    expect(interfacesFor(localPorts({ "77": [5, "x"] }), { if_table, if_x_table, bridge: {} })).toEqual([1]);
  });

  test("is counted and reported if missing; other neighbors are unaffected", () => {
    const device = read({ lldp_rem_table: remote({ "0.1.1": REMOTE, "0.77.1": REMOTE }) });
    expect(neighbors(device)).toEqual({ ...NO_NEIGHBORS, 10101: [ANNOUNCED] });
    expect(device.tables.lldp).toEqual(ONE_OF_TWO_LOST);
  });

  test("is found for 151 neighbors without ifXTable", () => {
    const portNumbers = Array.from({ length: 151 }, (_, index) => index + 1);
    const byPort = <T>(entryOf: (index: number) => readonly [string | number, T]) =>
      Object.fromEntries(portNumbers.map((index) => entryOf(index)));
    const device = deviceWith({
      if_table: tableOf(byPort((index) => [1_000 + index, ethernet(`X770 Port ${index}`)])),
      lldp_rem_table: remote(
        byPort((index) => [`${index * 3}.${1_000 + index}.${index}`, { ...REMOTE, portId: utf8(`p${index}`) }]),
      ),
      lldp_loc_port_table: localPorts(byPort((index) => [1_000 + index, [5, String(index)] as const])),
    });
    expect(device.tables.lldp.problem).toBeNull();
    for (const port of device.interfaces ?? [])
      expect(port.lldp?.map(({ port_id }) => port_id?.value)).toEqual([`p${port.if_index - 1_000}`]);
  });
});

describe("LLDP-V2-MIB", () => {
  const v2 = (indexes: readonly string[]): SyntheticStep =>
    remote(Object.fromEntries(indexes.map((index) => [index, REMOTE])));

  test("has ifIndex and a destination address in the index", () => {
    const device = read({
      lldp_v2_local: { scalars: { chassisIdSubtype: 4, chassisId: hex("001b21000001") } },
      lldp_v2_rem_table: v2(["7.10102.1.1", "7.10102.2.1"]),
      lldp_v2_rem_man_addr_table: addresses(["7.10102.1.1.1.4.10.0.0.1", "7.10102.2.1.1.4.10.0.0.1"]),
    });
    expect(neighbors(device)).toEqual({ ...NO_NEIGHBORS, 10102: [{ ...ANNOUNCED, mgmt_addr: "10.0.0.1" }] });
    expect(device.chassis_id).toEqual({ subtype: "MacAddress", value: "00:1b:21:00:00:01" });
  });

  test("has ifIndex even if a bridge port has that number", () => {
    const device = read({
      if_table: describedAs({ "3": "a", "9": "b" }),
      if_x_table: {},
      bridge: { columns: { dot1dBasePortIfIndex: { "3": 9 } } },
      lldp_v2_rem_table: v2(["0.3.1.1"]),
    });
    expect(neighbors(device)).toEqual({ 3: [ANNOUNCED], 9: [] });
  });

  test("is read only if version 1 has no neighbors", () => {
    expect(readsWith({ lldp_rem_table: remote({ "0.1.1": REMOTE }) }).has("lldp_v2_rem_table")).toBeFalse();
    expect(readsWith({ lldp_local: { scalars: { chassisId: utf8("x") } } }).has("lldp_v2_rem_table")).toBeTrue();
  });
});

describe("missing LLDP data", () => {
  test("makes neighbors unknown if it is missing from all tables", () => {
    const device = read({});
    expect(neighbors(device)).toEqual(UNKNOWN);
    expect(device).not.toHaveProperty("chassis_id");
    expect(device.tables.lldp.state).toBe("absent");
  });

  test("means no neighbors if the tables are empty", () => {
    const device = read({ lldp_local: { scalars: { chassisIdSubtype: 4, chassisId: hex("001b21000001") } } });
    expect(neighbors(device)).toEqual(NO_NEIGHBORS);
    expect(device.tables.lldp.state).toBe("complete");
  });

  test("is null for an empty chassis id", () => {
    expect(read({ lldp_local: { scalars: { chassisIdSubtype: 4, chassisId: utf8("") } } }).chassis_id).toBeNull();
  });

  const REM_TABLE = remote({ "0.1.1": REMOTE });
  const LOCAL = { scalars: { chassisIdSubtype: 4, chassisId: hex("001b21000001") } };
  test.each([
    ["a column of neighbors", { lldp_rem_table: { ...REM_TABLE, broken: ["sysName"] } }],
    ["the local ports", { lldp_rem_table: REM_TABLE, lldp_loc_port_table: { broken: ["*"] } }],
    ["the interfaces", { lldp_rem_table: REM_TABLE, if_table: { ...IF_TABLE, broken: ["ifOperStatus"] } }],
    ["the bridge ports", { lldp_rem_table: REM_TABLE, bridge: { ...BRIDGE, broken: ["*"] } }],
    ["version 2 where version 1 has none", { lldp_local: LOCAL, lldp_v2_rem_table: { broken: ["*"] } }],
  ])(
    "makes the neighbors of every interface unknown if %s broke off",
    (_name, steps: Record<string, SyntheticStep>) => {
      expect(neighbors(read(steps))).toEqual(UNKNOWN);
    },
  );

  test("makes absent addresses unknown if management addresses are truncated", () => {
    const device = read({
      lldp_rem_table: remote({ "0.1.1": REMOTE, "0.2.1": REMOTE }),
      lldp_rem_man_addr_table: { ...addresses(["0.1.1.1.4.10.0.0.1"]), broken: ["*"] },
    });
    const [known, unknown] = ["10.0.0.1", null].map((mgmt_addr) => [{ ...ANNOUNCED, mgmt_addr }]);
    expect(neighbors(device)).toEqual({ ...NO_NEIGHBORS, 10101: known, 10102: unknown });
    expect(device.tables.lldp).toEqual({ state: "partial", problem: NO_RESPONSE });
  });
});

describe("thousands of neighbors", () => {
  const numbers = Array.from({ length: 3_000 }, (_, index) => index + 1);
  const byNumber = (value: SnmpValue) => Object.fromEntries(numbers.map((number) => [number, value]));
  /** Checking every interface for every port would take a minute. */
  const LIMIT_MS = 5_000;

  test("are matched quickly on ports named alike", async () => {
    const [port, NAME] = [1_000_000, "Ethernet Interface"];
    const reads = readsWith({
      if_table: { columns: { ifDescr: byNumber(utf8(NAME)) } },
      if_x_table: { columns: { ifName: byNumber(utf8(NAME)) } },
      lldp_loc_port_table: localPorts(
        Object.fromEntries(numbers.map((number) => [port + number, [5, NAME, NAME] as const])),
      ),
      lldp_rem_table: remote(Object.fromEntries(numbers.map((number) => [`0.${port + number}.1`, REMOTE]))),
    });
    let device = deviceWith({});
    expect(await processorMs(() => (device = deviceOf(reads)))).toBeLessThan(LIMIT_MS);
    expect(device.interfaces?.[0]?.lldp).toEqual([ANNOUNCED]);
  });

  test("get their addresses quickly even if the time marks differ", async () => {
    const indexes = Array.from({ length: 20_000 }, (_, index) => index);
    const named = indexes.map((index) => [`${index}.2.1`, { ...REMOTE, sysName: utf8(`n-${index}`) }]);
    const addressed = indexes.map((index) => `${index + 100_000}.2.1.1.4.10.0.${index >> 8}.${index & 255}`);
    const steps = {
      lldp_rem_table: remote(Object.fromEntries(named)),
      lldp_rem_man_addr_table: addresses(addressed),
    };
    let device = read({});
    const elapsedMs = await processorMs(() => (device = read(steps)));
    expect(elapsedMs).toBeLessThan(LIMIT_MS);
    expect(device.interfaces?.[1]?.lldp).toHaveLength(indexes.length);
    expect(device.interfaces?.[1]?.lldp?.every((neighbor) => neighbor.mgmt_addr === "10.0.0.0")).toBe(true);
  });
});

function read(steps: Readonly<Record<string, SyntheticStep>>): Device {
  return deviceWith({ ...BASE_TABLES, ...steps });
}

function remote(table: Readonly<Record<string, Readonly<Record<string, SnmpValue>>>>): SyntheticStep {
  return tableOf(table);
}

function describedAs(names: Readonly<Record<string, string>>): SyntheticStep {
  return tableOf(Object.fromEntries(Object.entries(names).map(([index, name]) => [index, { ifDescr: utf8(name) }])));
}

type LocalPort = readonly [subtype: number, id: string | Uint8Array, desc?: string];

function localPorts(table: Readonly<Record<string, LocalPort>>): SyntheticStep {
  const rows = Object.entries(table).map(([port, [portIdSubtype, id, desc = ""]]) => {
    const portId = typeof id === "string" ? utf8(id) : id;
    return [port, { portIdSubtype, portId, portDesc: utf8(desc) }];
  });
  return tableOf(Object.fromEntries(rows));
}

function addresses(indexes: readonly string[]): SyntheticStep {
  return { columns: { manAddrIfSubtype: Object.fromEntries(indexes.map((index) => [index, 2])) } };
}

function neighbors(device: Device): Record<number, readonly LldpAnnouncement[] | undefined> {
  return Object.fromEntries((device.interfaces ?? []).map(({ if_index, lldp }) => [if_index, lldp]));
}
