import { describe, expect, test } from "bun:test";
import { type CdpAnnouncement, DEVICE_TABLES, type Device } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
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

describe("the read plan", () => {
  test("has a unique name for each step, and a table that reports its failure", () => {
    const names = READING_PLAN.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(READING_PLAN.map(({ table }) => table))).toEqual(new Set(DEVICE_TABLES));
  });

  test("uses GET for scalars and the entry for columns, all numeric", () => {
    const scalars = READING_PLAN.flatMap((step) => Object.values(step.scalars ?? {}));
    const columns = READING_PLAN.flatMap((step) => Object.values(step.columns ?? {}));
    for (const oid of [...scalars, ...columns]) expect(oid).toMatch(/^1(\.\d+)+$/);
    for (const oid of scalars) expect(oid).toEndWith(".0");
  });

  test("reads little from a device that serves nothing, and no data that would be unusable", () => {
    expect([...readsWith({}).keys()]).not.toContainAnyValues(
      "lldp_loc_port_table lldp_v2_loc_port_table vlan_trunk_port_table vlan_dot1d_tp_fdb_table vlan_bridge".split(" "),
    );
  });
});

test("a device without data is empty", () => {
  const { tables, rows, ...others } = deviceOf(new Map());
  expect(others).toEqual({});
  for (const table of DEVICE_TABLES) expect(rows[table]).toEqual({ read: 0, kept: 0, set_aside: {} });
  for (const table of DEVICE_TABLES) expect(tables[table]).toEqual({ state: "absent", problem: null });
});

test("all tables of an unresponsive device have failed", () => {
  const broken = Object.fromEntries(
    READING_PLAN.filter((step) => step.isNeeded === undefined).map(({ name }) => [name, { broken: ["*"] }]),
  );
  const { tables, rows: _rows, ...others } = deviceWith(broken);
  // Only devices with aggregates or VLAN interfaces are asked for their layers.
  const asked = DEVICE_TABLES.filter((table) => table !== "interface_stack");
  expect(others).toEqual({ broken: asked });
  for (const table of asked) expect(tables[table]).toEqual({ state: "failed", problem: NO_RESPONSE });
});

test("each problem is reported once", () => {
  const steps = { ip_addr_table: { broken: ["*"] }, ip_address_table: { broken: ["*"] } };
  expect(deviceWith(steps).tables.addresses.problem).toBe(NO_RESPONSE);
});

describe("the system group", () => {
  test("has no control characters, and null for empty values", () => {
    const device = deviceWith({
      system: {
        scalars: {
          sysName: utf8("core-1\0"),
          sysDescr: utf8("IOS\r\nVersion 12"),
          sysObjectID: "1.3.6.1.4.1.9.1.516",
          sysLocation: utf8(""),
          sysContact: utf8(" noc@example.org "),
        },
      },
    });
    expect(device).toMatchObject({
      sys_name: "core-1",
      sys_descr: "IOS Version 12",
      sys_object_id: "1.3.6.1.4.1.9.1.516",
      sys_location: null,
      sys_contact: "noc@example.org",
    });
    expect(device.tables.system).toEqual({ state: "complete", problem: null });
  });

  test("is unknown where not served, or of an unexpected type", () => {
    const scalars = { sysName: 7, sysObjectID: utf8("1.3.6"), sysLocation: "10.0.0.1" };
    const device = deviceWith({ system: { scalars } });
    expect(device).not.toContainAnyKeys(["sys_name", "sys_descr", "sys_object_id", "sys_location", "sys_contact"]);
  });

  test("has no object id for zeroDotZero", () => {
    expect(deviceWith({ system: { scalars: { sysObjectID: "0.0" } } }).sys_object_id).toBeNull();
  });

  test("clears nothing if it could not be read", () => {
    const device = deviceWith({ system: { broken: ["*"] } });
    expect(device).not.toHaveProperty("sys_name");
    expect(device.tables.system).toEqual({ state: "failed", problem: NO_RESPONSE });
  });
});

describe("manufacturer, model and serial number", () => {
  const entityRow = (entPhysicalClass: number, serial: string, model = "", manufacturer = "Acme Networks") => ({
    entPhysicalClass,
    entPhysicalSerialNum: utf8(serial),
    entPhysicalModelName: utf8(model),
    entPhysicalMfgName: utf8(manufacturer),
  });
  const CISCO = { system: { scalars: { sysObjectID: "1.3.6.1.4.1.9.1.516" } } };

  test("are those of the chassis", () => {
    const chassis = entityRow(3, " FOC1408Z61U ", "WS-C3560G");
    const table = { "1": entityRow(9, "MODULE"), "20": chassis, "3": entityRow(10, "PORT") };
    expect(identityOf(table)).toEqual(["Acme Networks", "WS-C3560G", "FOC1408Z61U"]);
  });

  test("are a stack's first member's, completed by the stack", () => {
    const table = {
      "1": entityRow(11, "STACK", "", "Cisco Systems"),
      "2001": entityRow(3, "SECOND", "B"),
      "1001": entityRow(3, "FIRST", "A", ""),
    };
    expect(identityOf(table)).toEqual(["Cisco Systems", "A", "FIRST"]);
  });

  test("are those of the first chassis with a serial number", () => {
    const table = { "1": entityRow(3, "", "virtual"), "2": entityRow(3, "REAL", "unit") };
    expect(identityOf(table)).toEqual(["Acme Networks", "unit", "REAL"]);
  });

  test("are, without a chassis, the stack's, else those of the first permanent part", () => {
    const stack = { "1": entityRow(9, "MODULE"), "2": entityRow(11, "STACK", "S") };
    expect(identityOf(stack)).toEqual(["Acme Networks", "S", "STACK"]);
    const exchangeable = { "1": entityRow(6, "SUPPLY"), "2": entityRow(7, "FAN"), "3": entityRow(8, "SENSOR") };
    const parts = { ...exchangeable, "4": entityRow(10, "OPTIC"), "5": entityRow(9, "MODULE", "M") };
    expect(identityOf(parts)).toEqual(["Acme Networks", "M", "MODULE"]);
  });

  const PLACEHOLDERS =
    "N/A,none,None,0123456789,1234567890,To be filled by O.E.M.,Default string,unknown,not available,0000000,xxxx,-";
  test.each(["", ...PLACEHOLDERS.split(","), "..."])("are not the placeholder %p", (text) => {
    expect(identityOf({ "1": entityRow(3, text, text, text) })).toEqual([null, null, null]);
  });

  test.each(["X00", "0x21", "A0", "1234", "NONE-1", "00B"])("are %p, which only resembles a placeholder", (text) => {
    expect(identityOf({ "1": entityRow(3, text, text, text) })).toEqual([text, text, text]);
  });

  test("use sysObjectID for the manufacturer if ENTITY-MIB has none, or is not served", () => {
    const empty = { ent_physical_table: tableOf({ "1": entityRow(3, "S", "M", "") }) };
    expect(deviceWith({ ...CISCO, ...empty }).manufacturer).toBe("Cisco");
    const withoutEntityMib = deviceWith(CISCO);
    expect(withoutEntityMib.manufacturer).toBe("Cisco");
    expect(withoutEntityMib).not.toContainAnyKeys(["model", "serial_number"]);
    expect(withoutEntityMib.tables.entity.state).toBe("absent");
  });

  test("omit the manufacturer of a generic agent", () => {
    const device = deviceWith({ system: { scalars: { sysObjectID: "1.3.6.1.4.1.8072.3.2.10" } } });
    expect(device).not.toHaveProperty("manufacturer");
  });

  test("are the rows of a truncated table, and the rest is unknown", () => {
    const columns = rows({ "1": { entPhysicalClass: 3, entPhysicalSerialNum: utf8("FOC1") } });
    const device = deviceWith({ ...CISCO, ent_physical_table: { columns, broken: ["*"] } });
    expect(device.serial_number).toBe("FOC1");
    expect(device).not.toContainAnyKeys(["manufacturer", "model"]);
    expect(device.tables.entity).toEqual({ state: "partial", problem: NO_RESPONSE });
  });

  function identityOf(table: Parameters<typeof rows>[0]): unknown[] {
    const device = deviceWith({ ent_physical_table: tableOf(table) });
    return [device.manufacturer, device.model, device.serial_number];
  }
});

describe("components", () => {
  interface Row {
    readonly as: number;
    readonly in?: number;
    readonly at?: number;
    readonly serial?: string;
    readonly manufacturer?: string;
    readonly model?: string;
  }
  const table = (parts: Readonly<Record<string, Row>>) =>
    rows(
      Object.fromEntries(
        Object.entries(parts).map(
          ([index, { as, in: container = 0, at = -1, serial = "", manufacturer = "Acme", model = "AX-48" }]) => [
            index,
            {
              entPhysicalContainedIn: container,
              entPhysicalClass: as,
              entPhysicalParentRelPos: at,
              entPhysicalSerialNum: utf8(serial),
              entPhysicalMfgName: utf8(manufacturer),
              entPhysicalModelName: utf8(model),
            },
          ],
        ),
      ),
    );
  const reportOf = (parts: Readonly<Record<string, Row>>, broken: readonly string[] = []) =>
    deviceWith({ ent_physical_table: { columns: table(parts), broken } });
  const listed = (parts: Readonly<Record<string, Row>>) =>
    reportOf(parts).components?.map((each) => `${each.class} ${each.position} ${each.serial_number}`);

  test("are the only chassis, without its contents", () => {
    const device = reportOf({ "1": { as: 3, serial: "AC1" }, "2": { as: 9, in: 1, at: 1, serial: "CARD" } });
    const part = { class: "Chassis", position: 1, manufacturer: "Acme", model: "AX-48", serial_number: "AC1" } as const;
    expect(device.components).toEqual([part]);
    expect(device.rows.entity).toEqual({ read: 2, kept: 1, set_aside: { component: 1 } });
    expect(
      listed({ "1": { as: 3, serial: "OUTER" }, "2": { as: 5, in: 1 }, "3": { as: 3, in: 2, serial: "INNER" } }),
    ).toEqual(["Chassis 1 OUTER"]);
    expect(listed({ "7": { as: 3, in: 7, serial: "AC1" } })).toEqual(["Chassis 1 AC1"]);
  });

  test("are the members of a stack, by position, and the lowest gives the host its serial number", () => {
    const stack = {
      "1": { as: 11 },
      "1001": { as: 3, in: 1, at: 2, serial: "AC2" },
      "2001": { as: 3, in: 1, at: 1, serial: "AC1" },
    };
    expect(listed(stack)).toEqual(["StackMember 1 AC1", "StackMember 2 AC2"]);
    expect(reportOf(stack).serial_number).toBe("AC1");
    expect(listed({ "1": { as: 11 }, "2": { as: 3, in: 1, at: 4, serial: "AC4" } })).toEqual(["Chassis 4 AC4"]);
    expect(listed({ "2": { as: 3, at: 0, serial: "A" }, "9": { as: 3, at: 1, serial: "B" } })).toEqual([
      "StackMember 0 A",
      "StackMember 1 B",
    ]);
  });

  test("omit empty slots of a stack, which some agents list as chassis without text", () => {
    const empty = { as: 3, in: 1, manufacturer: "", model: "" };
    const stack = { "1": { as: 11 }, "11": { as: 3, in: 1, at: 1, serial: "AC1" }, "12": { ...empty, at: 2 } };
    expect(listed(stack)).toEqual(["Chassis 1 AC1"]);
    expect(listed({ "11": { ...empty, at: 1 } })).toEqual(["Chassis 1 null"]);
  });

  test("have their rank as position if theirs is missing or duplicated", () => {
    const at = (...positions: number[]) =>
      listed(
        Object.fromEntries(
          positions.map((position, index) => [`${index + 10}`, { as: 3, at: position, serial: `S${index}` }]),
        ),
      );
    expect(at(-1, -1)).toEqual(["StackMember 1 S0", "StackMember 2 S1"]);
    expect(at(1, 1, 3)).toEqual(["StackMember 1 S0", "StackMember 2 S1", "StackMember 3 S2"]);
    expect(at(3, -1)).toEqual(["StackMember 2 S1", "StackMember 3 S0"]);
    expect(at(2, -1)).toEqual(["StackMember 1 S0", "StackMember 2 S1"]);
  });

  test("are unknown unless the table was read to the end", () => {
    const members = { "10": { as: 3, at: 2, serial: "AC2" }, "20": { as: 3, at: 1, serial: "AC1" } };
    for (const broken of ["*", "entPhysicalParentRelPos", "entPhysicalModelName"])
      expect(reportOf(members, [broken])).not.toHaveProperty("components");
    expect(reportOf(members, ["entPhysicalParentRelPos"])).not.toHaveProperty("serial_number");
    expect(reportOf(members, ["entPhysicalModelName"]).serial_number).toBe("AC1");
    expect(deviceWith({})).not.toHaveProperty("components");
    expect(reportOf({ "1": { as: 9, serial: "CARD" } }).components).toEqual([]);
  });
});

describe("CDP", () => {
  const NEIGHBOR = {
    cdpCacheAddressType: 1,
    cdpCacheAddress: hex("0a280113"),
    cdpCacheDeviceId: utf8("sw-2(SSI1)"),
    cdpCacheDevicePort: utf8("Ethernet1/19"),
    cdpCachePlatform: utf8("N5K-C5548UP"),
  };
  const IDS = { device_id: "sw-2(SSI1)", port_id: "Ethernet1/19", platform: "N5K-C5548UP" };
  const ANNOUNCED: CdpAnnouncement = { ...IDS, address: "10.40.1.19" };

  test("has neighbors on the interface in the index, in a fixed order, each once", () => {
    const other = { ...NEIGHBOR, cdpCacheDeviceId: utf8("a-1") };
    const device = read(tableOf({ "7.1": NEIGHBOR, "7.2": other, "7.3": NEIGHBOR }));
    expect(cdp(device)).toEqual({ 7: [{ ...ANNOUNCED, device_id: "a-1" }, ANNOUNCED], 8: [] });
    expect(device.tables.cdp).toEqual({ state: "complete", problem: null });
  });

  test.each([
    ["IPv6", 20, hex("20010db8000000000000000000000001"), "2001:db8::1"],
    ["another protocol's", 65_535, utf8(""), undefined],
    ["four bytes of another protocol", 3, hex("0a280113"), undefined],
    ["IPv4 of the wrong length", 1, hex("0a2801"), undefined],
    ["IPv6 declared as IPv4", 1, hex("20010db8000000000000000000000001"), undefined],
    ["none", 1, hex("00000000"), undefined],
  ])("accepts an address of IPv4 or IPv6 only: %s", (_name, cdpCacheAddressType, cdpCacheAddress, address) => {
    const device = read(tableOf({ "7.1": { ...NEIGHBOR, cdpCacheAddressType, cdpCacheAddress } }));
    expect(cdp(device)[7]?.[0]?.address).toBe(address as string);
  });

  test("shows binary ids in hexadecimal, and omits empty ones", () => {
    const ids = { cdpCacheDeviceId: hex("e839351aca99"), cdpCacheDevicePort: utf8(""), cdpCachePlatform: utf8(" ") };
    const device = read(tableOf({ "7.1": { ...NEIGHBOR, ...ids } }));
    expect(cdp(device)[7]).toEqual([{ device_id: "e8:39:35:1a:ca:99", address: "10.40.1.19" }]);
  });

  test("counts and reports neighbors on unknown interfaces", () => {
    const device = read(tableOf({ "7.1": NEIGHBOR, "99.1": NEIGHBOR, "0.1": NEIGHBOR }));
    expect(cdp(device)).toEqual({ 7: [ANNOUNCED], 8: [] });
    expect(device.tables.cdp).toEqual({
      state: "partial",
      problem: "2 of 3 neighbors are on interfaces that the device does not have",
    });
  });

  test("reports none without neighbors, and is unknown if not served", () => {
    expect(cdp(read({ scalars: { cdpGlobalRun: 1 } }))).toEqual({ 7: [], 8: [] });
    const withoutCdp = read({});
    expect(cdp(withoutCdp)).toEqual({ 7: undefined, 8: undefined });
    expect(withoutCdp.tables.cdp.state).toBe("absent");
  });

  test("is unknown for every interface if it broke off", () => {
    const device = read({ columns: rows({ "7.1": NEIGHBOR }), broken: ["cdpCachePlatform"] });
    expect(cdp(device)).toEqual({ 7: undefined, 8: undefined });
    expect(device.tables.cdp).toEqual({ state: "partial", problem: NO_RESPONSE });
  });

  function read(step: SyntheticStep): Device {
    const interfaces = tableOf({ "7": { ifDescr: utf8("a") }, "8": { ifDescr: utf8("b") } });
    return deviceWith({ if_table: interfaces, cdp_cache_table: step });
  }

  function cdp(device: Device): Record<number, readonly CdpAnnouncement[] | undefined> {
    return Object.fromEntries((device.interfaces ?? []).map((port) => [port.if_index, port.cdp]));
  }
});

test("a bridge's address is reported, or null if all zeros", () => {
  const address = (dot1dBaseBridgeAddress: Uint8Array): string | null | undefined =>
    deviceWith({ bridge: { scalars: { dot1dBaseBridgeAddress } } }).bridge_address;
  expect(address(hex("001b21aabbcc"))).toBe("00:1b:21:aa:bb:cc");
  expect(address(hex("000000000000"))).toBeNull();
  expect(deviceWith({})).not.toHaveProperty("bridge_address");
});
