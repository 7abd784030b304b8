import { describe, expect, test } from "bun:test";
import type { DeviceInterface } from "../../src/discovery/device.ts";
import { columnOf, scalarOf } from "../../src/discovery/mib/columns.ts";
import { IF_TABLE_STEP } from "../../src/discovery/mib/interfaces.ts";
import type { Reads, SnmpValue } from "../../src/discovery/mib/reads.ts";
import { SYSTEM_STEP } from "../../src/discovery/mib/system.ts";
import { deviceWith, hex, NO_RESPONSE, rows, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

const ROW = {
  ifDescr: utf8("GigabitEthernet0/1"),
  ifType: 6,
  ifSpeed: 1_000_000_000,
  ifPhysAddress: hex("001b21aabbcc"),
  ifAdminStatus: 1,
  ifOperStatus: 2,
};
const X_ROW = { ifName: utf8("Gi0/1"), ifHighSpeed: 1_000, ifAlias: utf8("uplink") };

test("an interface combines ifTable and ifXTable", () => {
  const device = deviceWith({ if_table: tableOf({ "10101": ROW }), if_x_table: tableOf({ "10101": X_ROW }) });
  expect(device.interfaces).toEqual([
    {
      if_index: 10_101,
      if_descr: "GigabitEthernet0/1",
      if_name: "Gi0/1",
      if_alias: "uplink",
      if_type: 6,
      speed_bps: 1_000_000_000,
      admin_status: "Up",
      oper_status: "Down",
      mac_address: "00:1b:21:aa:bb:cc",
    },
  ]);
  expect(device.tables.interfaces).toEqual({ state: "complete", problem: null });
  expect(device.tables.interface_extensions).toEqual({ state: "complete", problem: null });
});

test("interfaces are ordered by number", () => {
  const device = deviceWith({ if_table: tableOf({ "2": ROW, "10": ROW, "1": ROW }) });
  expect(device.interfaces?.map(({ if_index }) => if_index)).toEqual([1, 2, 10]);
});

test("without ifXTable names and aliases are unknown", () => {
  const device = deviceWith({ if_table: tableOf({ "1": ROW }) });
  expect(device.tables.interface_extensions.state).toBe("absent");
  expect(device.interfaces?.[0]).not.toHaveProperty("if_name");
  expect(device.interfaces?.[0]).not.toHaveProperty("if_alias");
  expect(device.interfaces?.[0]?.speed_bps).toBe(1_000_000_000);
});

test("a device without interfaces reports none", () => {
  const device = deviceWith({});
  expect(device).not.toHaveProperty("interfaces");
  expect(device.tables.interfaces.state).toBe("absent");
});

test("rows only in ifXTable are not interfaces, unless there is no ifTable", () => {
  const extensions = tableOf({ "1": X_ROW, "2": X_ROW });
  expect(deviceWith({ if_table: tableOf({ "1": ROW }), if_x_table: extensions }).interfaces).toHaveLength(1);
  const withoutIfTable = deviceWith({ if_x_table: extensions });
  const fields = { if_name: "Gi0/1", if_alias: "uplink", speed_bps: 1_000_000_000 };
  expect(withoutIfTable.interfaces).toEqual([1, 2].map((if_index) => ({ if_index, ...fields })));
  expect(withoutIfTable.tables.interfaces.state).toBe("absent");
  expect(deviceWith({ if_table: { broken: ["*"] }, if_x_table: extensions })).not.toHaveProperty("interfaces");
});

test("an ifXTable row is stored if it has data, and excluded otherwise", () => {
  const rowsOf = (row: Readonly<Record<string, SnmpValue>>, overrides = {}) => {
    const if_table = { columns: rows({ "1": ROW }), ...overrides };
    return deviceWith({ if_table, if_x_table: tableOf({ "1": row }) }).rows.interface_extensions;
  };
  const kept = { read: 1, kept: 1, set_aside: {} };
  expect(rowsOf({ ifHighSpeed: 1_000 })).toEqual(kept);
  expect(rowsOf({ ifHighSpeed: 0 })).toEqual(kept);
  expect(rowsOf({ ifName: utf8("") })).toEqual(kept);
  expect(rowsOf({ ifName: 7, ifHighSpeed: -1 })).toEqual({ read: 1, kept: 0, set_aside: { value: 1 } });
  const incomplete = { columns: rows({ "1": { ifType: 6 } }), broken: ["ifSpeed"] };
  expect(rowsOf({ ifHighSpeed: 1_000 }, incomplete)).toEqual({ read: 1, kept: 0, set_aside: { withheld: 1 } });
  expect(rowsOf({ ifHighSpeed: 1_000, ifAlias: utf8("uplink") }, incomplete)).toEqual(kept);
});

test("empty names and aliases are absent, an empty description is empty", () => {
  const [first] = interfaces({ ...ROW, ifDescr: utf8("") }, { ...X_ROW, ifName: utf8(""), ifAlias: utf8("  ") });
  expect(first).toMatchObject({ if_descr: "", if_name: null, if_alias: null });
});

test("a value missing from a complete column is absent", () => {
  const device = deviceWith({
    if_table: tableOf({ "1": ROW, "2": ROW }),
    if_x_table: tableOf({ "1": X_ROW, "2": { ...X_ROW, ifAlias: null } }),
  });
  expect(device.interfaces?.[1]?.if_alias).toBeNull();
});

test("a value missing from a truncated column is unknown", () => {
  const broken = ["ifDescr", "ifSpeed", "ifPhysAddress", "ifAdminStatus", "ifOperStatus"];
  const device = deviceWith({
    if_table: { columns: rows({ "1": ROW, "2": { ifType: 6 } }), broken },
    if_x_table: { columns: rows({ "1": X_ROW }), broken: ["*"] },
  });
  expect(device.interfaces?.[1]).toEqual({ if_index: 2, if_type: 6 });
  expect(device.tables.interfaces).toEqual({ state: "partial", problem: NO_RESPONSE });
  expect(device.tables.interface_extensions).toEqual({ state: "partial", problem: NO_RESPONSE });
});

test("a table without any row read has failed", () => {
  const device = deviceWith({ if_table: { broken: ["*"] } });
  expect(device.tables.interfaces).toEqual({ state: "failed", problem: NO_RESPONSE });
  expect(device).not.toHaveProperty("interfaces");
});

describe("an interface's speed", () => {
  const MAX = 2 ** 32 - 1;
  test.each([
    ["is that of ifHighSpeed", MAX, 10_000, 10_000_000_000],
    ["is ifHighSpeed's if ifSpeed has none", 0, 100, 100_000_000],
    ["is ifSpeed's if ifHighSpeed is zero", 10_000_000, 0, 10_000_000],
    ["is ifSpeed's if ifHighSpeed is missing", 64_000, null, 64_000],
    ["is absent if both are zero", 0, 0, null],
    ["is unknown if ifSpeed is at its maximum and ifHighSpeed is missing", MAX, null, undefined],
    ["is ifHighSpeed's if ifSpeed wrapped around", 1_410_065_408, 10_000, 10_000_000_000],
    ["is not in millions if a device gives ifHighSpeed in bits per second", 100_000_000, 100_000_000, 100_000_000],
    ["is ifSpeed's if ifHighSpeed is negative", 100_000_000, -1, 100_000_000],
    ["is ifSpeed's if ifHighSpeed is out of range", 100_000_000, Number.MAX_SAFE_INTEGER, 100_000_000],
  ])("%s", (_name, ifSpeed, ifHighSpeed, speed) => {
    const [first] = interfaces({ ...ROW, ifSpeed }, { ...X_ROW, ifHighSpeed });
    expect(first?.speed_bps).toBe(speed as number);
  });

  test("is unknown if ifHighSpeed was not read, even if ifSpeed was", () => {
    const device = deviceWith({ if_table: tableOf({ "1": ROW }), if_x_table: { broken: ["ifHighSpeed"] } });
    expect(device.interfaces?.[0]).not.toHaveProperty("speed_bps");
  });

  test("is unknown if it is not a number", () => {
    const [first] = interfaces({ ...ROW, ifSpeed: utf8("fast") }, { ...X_ROW, ifHighSpeed: "1.3" });
    expect(first).not.toHaveProperty("speed_bps");
  });
});

describe("a misreporting device", () => {
  test("has only interfaces with valid numbers", () => {
    const table = { "0": ROW, "1": ROW, "2147483647": ROW, "2147483648": ROW, "4294967295": ROW, "1.2": ROW, x: ROW };
    const device = deviceWith({ if_table: tableOf(table) });
    expect(device.interfaces?.map(({ if_index }) => if_index)).toEqual([1, 2_147_483_647]);
  });

  test.each([
    [0, 1],
    [-5, 1],
    [2 ** 31, 1],
    [1.5, 1],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [utf8("6"), undefined],
  ])("ifType %p becomes %p", (ifType, type) => expect(interfaces({ ...ROW, ifType })[0]?.if_type).toBe(type as number));

  test.each([
    [0, undefined, "Unknown"],
    [3, "Testing", "Testing"],
    [7, undefined, "LowerLayerDown"],
    [8, undefined, "Unknown"],
    [-1, undefined, "Unknown"],
    [utf8("up"), undefined, undefined],
  ])("status %p becomes administratively %p and operationally %p", (status, adminStatus, operStatus) => {
    const [first] = interfaces({ ...ROW, ifAdminStatus: status, ifOperStatus: status });
    expect([first?.admin_status, first?.oper_status]).toEqual([adminStatus as never, operStatus as never]);
  });

  test.each([
    [hex("000000000000"), null],
    [utf8(""), null],
    [hex("0011223344556677"), null],
    [1, undefined],
  ])("address %p becomes %p", (ifPhysAddress, mac) => {
    expect(interfaces({ ...ROW, ifPhysAddress })[0]?.mac_address).toBe(mac as null);
  });

  test("has no description if it gives a number", () => {
    const [first] = interfaces({ ...ROW, ifDescr: 5 }, { ...X_ROW, ifName: 5, ifAlias: "1.3" });
    expect(first).not.toContainAnyKeys(["if_descr", "if_name", "if_alias"]);
  });
});

test("a column or scalar missing from its step does not compile", () => {
  const misspelled = (reads: Reads) => [
    // @ts-expect-error: a column of IF-MIB is ifPhysAddress
    columnOf(reads, IF_TABLE_STEP, "ifPhysAdress"),
    // @ts-expect-error: a column of ifXTable
    columnOf(reads, IF_TABLE_STEP, "ifAlias"),
    // @ts-expect-error: a scalar of SNMPv2-MIB is sysObjectID
    scalarOf(reads, SYSTEM_STEP, "sysObjectId"),
  ];
  expect(misspelled).toHaveLength(1);
});

function interfaces(
  row: Record<string, SnmpValue | null>,
  xRow: Record<string, SnmpValue | null> = X_ROW,
): readonly DeviceInterface[] {
  return deviceWith({ if_table: tableOf({ "1": row }), if_x_table: tableOf({ "1": xRow }) }).interfaces ?? [];
}
