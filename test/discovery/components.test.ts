// Components recorded by scans: chassis and stack members, which keep their records while their devices report them.

import { describe, expect, test } from "bun:test";
import type { Device, DeviceComponent } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, device, deviceAt, ethernet, mac, rowsOf } from "../support/reconcile/sightings.ts";
import { deviceWith, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { hosts, get } = inventoryOf(appliance);
const scan = new ScanWriter(appliance);

const DAY_MS = 24 * 60 * 60 * 1_000;
const member = (position: number, serial: string | null, fields: Partial<DeviceComponent> = {}): DeviceComponent => ({
  class: "StackMember",
  position,
  manufacturer: "Acme",
  model: "AX-48",
  serial_number: serial,
  ...fields,
});
const stack = (components: readonly DeviceComponent[], fields: Partial<Device> = {}) =>
  deviceAt("10.0.0.2", {
    sys_name: "stack-1",
    serial_number: components[0]?.serial_number ?? null,
    components,
    interfaces: [ethernet(1)],
    addresses: [address("10.0.0.2")],
    chassis_id: { subtype: "MacAddress", value: mac(1) },
    up_time_ms: 40 * DAY_MS,
    ...fields,
  });
const components = async () => (await get("components?order_by=position")) as JsonRecord[];
const listed = async () => (await components()).map((each) => `${each.position} ${each.serial_number}`);
const idOf = async (serial: string) => (await components()).find((each) => each.serial_number === serial)?.id as string;
/** Expects that a repeated scan writes nothing. */
const expectSettled = async (...again: Parameters<typeof scan.devices>) =>
  expect((await scan.devices(...again)).sequence).toBeNull();

describe("a stack", () => {
  test("has a component per member, with the reported values", async () => {
    const { result } = await scan.devices(stack([member(1, "AC1"), member(2, "AC2", { model: "AX-24" })]));
    expect(result.records).toMatchObject({ components: { created: 2 } });
    const [host] = (await hosts()) as [JsonRecord];
    expect(await components()).toMatchObject([
      {
        host_id: host.id,
        class: "StackMember",
        position: 1,
        model: "AX-48",
        serial_number: "AC1",
        manufacturer: "Acme",
      },
      { host_id: host.id, class: "StackMember", position: 2, model: "AX-24", first_discovery_id: scan.scanId },
    ]);
    expect(host.serial_number).toBe("AC1");
    await expectSettled(stack([member(1, "AC1"), member(2, "AC2", { model: "AX-24" })]));
  });

  test("gets a new component for a replaced member", async () => {
    await scan.devices(stack([member(1, "AC1"), member(2, "AC2")]));
    const [first, second] = [await idOf("AC1"), await idOf("AC2")];
    const { result, sequence } = await scan.devices(stack([member(1, "AC1"), member(2, "AC3")]));
    expect(await listed()).toEqual(["1 AC1", "2 AC3"]);
    expect(await idOf("AC1")).toBe(first);
    expect(await idOf("AC3")).not.toBe(second);
    const reason = "not in entPhysicalTable, 0 rows, read to the end";
    expect(result.findings).toContainEqual({
      type: "Closed",
      entity: "component",
      id: second,
      label: "AC2 of stack-1",
      reason,
    });
    const [last] = await get(`components/${second}/history`);
    expect(last).toMatchObject({ operation: "Deleted", transaction: { sequence, actor: { type: "Discovery" } } });
  });

  test("keeps the components of members that swap positions, each at its new one", async () => {
    await scan.devices(stack([member(1, "AC1"), member(2, "AC2")]));
    const ids = [await idOf("AC1"), await idOf("AC2")];
    await scan.devices(stack([member(1, "AC2"), member(2, "AC1")]));
    expect(await listed()).toEqual(["1 AC2", "2 AC1"]);
    expect([await idOf("AC1"), await idOf("AC2")]).toEqual(ids);
    const [{ changed_fields }] = (await get(`components/${ids[0]}/history`)) as [JsonRecord];
    expect(changed_fields).toEqual(["position"]);
  });

  test("without serial numbers keeps its members by position, and learns serial numbers later", async () => {
    await scan.devices(stack([member(1, null), member(2, null)]));
    const ids = (await components()).map(({ id }) => id);
    await scan.devices(stack([member(1, "AC1"), member(2, "AC2"), member(3, "AC3")]));
    expect((await components()).map(({ id }) => id).slice(0, 2)).toEqual(ids);
    expect(await listed()).toEqual(["1 AC1", "2 AC2", "3 AC3"]);
  });

  test("with the same serial number twice keeps both members", async () => {
    const alike = stack([member(1, "AC1"), member(2, "AC1")]);
    await scan.devices(alike);
    expect(await listed()).toEqual(["1 AC1", "2 AC1"]);
    await expectSettled(alike);
  });

  test("to which a member returns has it with a new id and its lineage", async () => {
    await scan.devices(stack([member(1, "AC1"), member(2, "AC2")]));
    const id = await idOf("AC2");
    await scan.devices(stack([member(1, "AC1")]));
    await scan.devices(stack([member(1, "AC1"), member(2, "AC2")]));
    expect((await components())[1]).toMatchObject({ serial_number: "AC2", lineage_id: id });
    expect(await idOf("AC2")).not.toBe(id);
  });
});

describe("a missing member is kept", () => {
  const both = [member(1, "AC1"), member(2, "AC2")];
  const partial = { state: "partial", problem: "no response within 5 s" } as const;
  const absent = { state: "absent", problem: null } as const;

  test.each<[string, Partial<Device>]>([
    ["if entPhysicalTable was cut off", { tables: { ...device().tables, entity: partial }, broken: ["entity"] }],
    ["if entPhysicalTable is no longer served", { tables: { ...device().tables, entity: absent }, broken: ["entity"] }],
    ["if the device started less than ten minutes ago", { up_time_ms: 9 * 60_000, components: both.slice(0, 1) }],
  ])("%s", async (_when, fields) => {
    await scan.devices(stack(both));
    const { components: _none, ...bare } = stack(both).device;
    await scan.devices({ ...stack(both), device: { ...bare, ...fields } });
    expect(await listed()).toEqual(["1 AC1", "2 AC2"]);
    await scan.devices(stack(both.slice(0, 1)));
    expect(await listed()).toEqual(["1 AC1"]);
  });

  test("while more than half of entPhysicalTable is missing, until the next read confirms it", async () => {
    const withRows = (read: number, members: readonly DeviceComponent[]) =>
      stack(members, { rows: rowsOf({ entity: { read, kept: members.length, set_aside: {} } }) });
    await scan.devices(withRows(200, both));
    const { result } = await scan.devices(withRows(90, both.slice(0, 1)));
    expect(await listed()).toEqual(["1 AC1", "2 AC2"]);
    expect(result.findings).toContainEqual(
      expect.objectContaining({
        type: "Partial",
        label: "stack-1: entity",
        reason: "1 that it lacks stays: its table has 90 rows instead of 200, which the next read must confirm",
      }),
    );
    await scan.devices(withRows(90, both.slice(0, 1)));
    expect(await listed()).toEqual(["1 AC1"]);
  });
});

test("a component that a restore brought back becomes stale instead of ending", async () => {
  const both = [member(1, "AC1"), member(2, "AC2")];
  await scan.devices(stack(both));
  const at = appliance.clock.text();
  await scan.devices(stack(both.slice(0, 1)));
  const [host] = (await hosts()) as [JsonRecord];
  await appliance.owner.post(`hosts/${host.id}/restore`, { at });
  await scan.devices(stack(both.slice(0, 1), { sys_location: "Hall 2" }));
  const [, second] = (await components()) as [JsonRecord, JsonRecord];
  expect(second).toMatchObject({ serial_number: "AC2", stale_since: expect.any(String) });
});

test("a table read by SNMP becomes components of its host, whose first member names it", async () => {
  const row = (as: number, inside: number, at: number, serial: string) => ({
    entPhysicalContainedIn: inside,
    entPhysicalClass: as,
    entPhysicalParentRelPos: at,
    entPhysicalSerialNum: utf8(serial),
    entPhysicalModelName: utf8("AX-48"),
    entPhysicalMfgName: utf8("Acme"),
  });
  const read = deviceWith({
    system: { scalars: { sysName: utf8("stack-1") } },
    ent_physical_table: tableOf({
      "1": row(11, 0, -1, ""),
      "1001": row(3, 1, 2, "AC2"),
      "1002": row(9, 1001, 1, "CARD"),
      "2001": row(3, 1, 1, "AC1"),
    }),
  });
  await scan.devices(deviceAt("10.0.0.2", read));
  expect(await listed()).toEqual(["1 AC1", "2 AC2"]);
  expect(((await hosts()) as [JsonRecord])[0]).toMatchObject({ serial_number: "AC1", manufacturer: "Acme" });
});
