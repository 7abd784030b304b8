// Records that end when they are missing from a complete read of their device, and those that are kept.

import { describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import type { DeviceSighting } from "../../src/discovery/sightings.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { addressesOf, inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, device, deviceAt, ethernet, mac } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { owner, tick } = appliance;
const { hosts, entries, get } = inventoryOf(appliance);
const scan = new ScanWriter(appliance);

const DAY_MS = 24 * 60 * 60 * 1_000;
const UP = { up_time_ms: 40 * DAY_MS };
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const cards = (...given: number[]) => given.map((number) => ethernet(number));
const chassis = (given: readonly number[], fields: Partial<Device> = {}, at = "10.0.0.2") =>
  deviceAt(at, {
    sys_name: "core-1",
    serial_number: "SER100",
    chassis_id: { subtype: "MacAddress", value: mac(1) },
    interfaces: cards(...given),
    addresses: [address("10.0.0.2")],
    ...UP,
    ...fields,
  });
/** Another device, for the same host once they are consolidated. */
const second = (given: number[]) =>
  deviceAt("10.0.0.9", {
    sys_name: "core-1b",
    serial_number: "SER200",
    interfaces: given.map((number) => ethernet(number, { if_name: `Te1/${number}`, mac_address: mac(2, number) })),
    addresses: [address("10.0.0.9")],
    ...UP,
  });
const indexes = async () => (await entries()).map(({ if_index }) => if_index);
const entry = async (ifIndex: number) => (await entries()).find(({ if_index }) => if_index === ifIndex) as JsonRecord;
const host = async () => ((await hosts()) as [JsonRecord])[0];
/** Expects that a repeated scan writes nothing. */
const expectSettled = async (...again: Parameters<typeof scan.devices>) =>
  expect((await scan.devices(...again)).sequence).toBeNull();

describe("an interface missing from a complete ifTable", () => {
  test("has no stations while it waits for the next read, if no row of the forwarding table is of it", async () => {
    const learning = ethernet(14, { forwarding: [{ mac_address: mac(9, 9), vlan_number: null }] });
    const stack = chassis([], { interfaces: [...cards(...numbers(1, 13)), learning] });
    const rest = (fields: Partial<Device> = {}) => chassis([], { interfaces: cards(1, 2, 3), ...fields });
    await scan.devices(stack);
    const tables = {
      ...rest().device.tables,
      forwarding: { state: "partial", problem: "1 row of no interface" } as const,
    };
    await scan.devices(rest({ tables }));
    expect((await entry(14)).fdb_macs).toEqual([mac(9, 9)]);
    await scan.devices(stack);
    await scan.devices(rest());
    expect(await entry(14)).not.toHaveProperty("fdb_macs");
    await scan.devices(rest());
    expect(await indexes()).toEqual([1, 2, 3]);
  });

  test("ends with its forwarding entries in one version, with the reason among the findings", async () => {
    const pulled = ethernet(3, { forwarding: [{ mac_address: mac(9, 9), vlan_number: null }] });
    await scan.devices(chassis([], { interfaces: [...cards(1, 2), pulled] }));
    const { id } = await entry(3);
    const { result, sequence } = await scan.devices(chassis([1, 2]));
    expect(await indexes()).toEqual([1, 2]);
    expect(result.findings).toContainEqual({
      type: "Closed",
      entity: "if_entry",
      id,
      label: "Gi0/3 of core-1",
      reason: "not in ifTable, 2 rows, read to the end",
    });
    const [last] = await get(`if-entries/${id}/history`);
    expect(last).toMatchObject({ operation: "Deleted", transaction: { sequence, actor: { type: "Discovery" } } });
    expect(result.records).toMatchObject({ if_entries: { deleted: 1 }, fdb_entries: { deleted: 1 } });
    await expectSettled(chassis([1, 2]));
  });

  test("ends as the removed SVI of a switch, and as each veth of a container host that is replaced daily", async () => {
    for (let day = 0; day < 4; day += 1) {
      await scan.devices(chassis([1, 2, ...numbers(100 + 40 * day, 139 + 40 * day)]));
      expect(await entries()).toHaveLength(42);
    }
  });

  test("was present before its end, and absent after it", async () => {
    await scan.devices(chassis([1, 2]));
    const before = appliance.clock.text();
    await scan.devices(chassis([1]));
    expect((await get(`if-entries?at=${before}`)).map(({ if_index }: JsonRecord) => if_index)).toEqual([1, 2]);
    expect(await indexes()).toEqual([1]);
  });

  test("returns with a new id and its lineage", async () => {
    await scan.devices(chassis([1, 2]));
    const { id } = await entry(2);
    await scan.devices(chassis([1]));
    await scan.devices(chassis([1, 2]));
    expect(await entry(2)).toMatchObject({ lineage_id: id });
    expect((await entry(2)).id).not.toBe(id);
  });

  test.each([
    [89, true],
    [91, false],
  ])("returns under its name with another ifIndex after %i days: has its lineage %p", async (days, isKnown) => {
    await scan.devices(chassis([1, 2]));
    const { id } = await entry(2);
    await scan.devices(chassis([1]));
    appliance.clock.advance(days * DAY_MS);
    const other = { ...ethernet(4), if_index: 8 };
    await scan.devices(chassis([], { interfaces: [...cards(1), { ...ethernet(2), if_index: 7 }, other] }));
    // The earlier session has expired.
    const { data } = await (await appliance.signedIn(appliance.first.userId)).get("if-entries?order_by=if_index");
    const lineages = data.map((each: JsonRecord) => [each.if_name, each.lineage_id]);
    expect(lineages.slice(1)).toEqual([
      ["Gi0/2", isKnown ? id : undefined],
      ["Gi0/4", undefined],
    ]);
  });

  test("ends if it was last reported at another address of the device, once that is read too", async () => {
    const at = (polled: string, given: number[]) =>
      chassis(given, { addresses: [address("10.0.0.2"), address("10.0.0.3")] }, polled);
    await scan.devices(at("10.0.0.2", [1, 2]), at("10.0.0.3", [1, 2]));
    await scan.devices(at("10.0.0.2", [1]), at("10.0.0.3", [1]));
    expect(await indexes()).toEqual([1]);
    await expectSettled(at("10.0.0.2", [1]), at("10.0.0.3", [1]));
  });
});

describe("a missing interface is kept", () => {
  const failed = { state: "failed", problem: "no response within 5 s" } as const;
  const partial = { state: "partial", problem: "no response within 5 s" } as const;

  test.each<[string, Partial<Device>]>([
    ["if ifTable was cut off", { tables: { ...device().tables, interfaces: partial }, broken: ["interfaces"] }],
    ["if ifTable is no longer served", { tables: { ...device().tables, interfaces: failed }, broken: ["interfaces"] }],
    ["if ifTable has fewer rows than ifNumber", { if_number: 3 }],
    ["if the device started less than ten minutes ago", { up_time_ms: 9 * 60_000 }],
  ])("%s", async (_when, fields) => {
    await scan.devices(chassis([1, 2, 3]));
    await scan.devices(chassis([1, 2], fields));
    expect(await indexes()).toEqual([1, 2, 3]);
    // It ends with the next trusted read, even if that reports the same.
    await scan.devices(chassis([1, 2]));
    expect(await indexes()).toEqual([1, 2]);
  });

  test.each<[string, "lag" | "parent", Partial<Device>]>([
    ["the aggregate of its members while ifNumber counts it", "lag", { if_number: 3 }],
    ["the aggregate of its members after a restart", "lag", { up_time_ms: 9 * 60_000 }],
    ["the port of its units while ifNumber counts it", "parent", { if_number: 3 }],
  ])("as %s", async (_when, kind, fields) => {
    const whole = chassis([1, 2, 3], { stacking: [{ if_index: 1, [`${kind}_if_index`]: 3 }] });
    const layerOf = async (ifIndex: number) => (await entry(ifIndex))[`${kind}_id`];
    await scan.devices(whole);
    const other = (await entry(3)).id;
    expect(await layerOf(1)).toBe(other);
    await scan.devices(chassis([1, 2], { stacking: [], ...fields }));
    expect(await layerOf(1)).toBe(other);
    await expectSettled(whole);
    await scan.devices(chassis([1, 2], { stacking: [] }));
    expect(await layerOf(1)).toBeUndefined();
  });

  test("on a device that no longer serves ifTable, which stays the same host under its name", async () => {
    await scan.devices(chassis([1, 2, 3]));
    const [{ id }] = (await hosts()) as [JsonRecord];
    const { interfaces: _none, ...bare } = chassis([]).device;
    const tables = { ...device().tables, interfaces: failed };
    await scan.devices(deviceAt("10.0.0.2", { ...bare, tables, broken: ["interfaces"] }));
    expect((await hosts()).map((each) => [each.id, each.name])).toEqual([[id, "core-1"]]);
    expect(await indexes()).toEqual([1, 2, 3]);
  });

  test("until the third short read in a row if ifNumber is always too large", async () => {
    await scan.devices(chassis([1, 2, 3]));
    for (const left of [3, 3, 2]) {
      await scan.devices(chassis([1, 2], { if_number: 60 }));
      expect(await entries()).toHaveLength(left);
    }
    // From then on, the count is ignored.
    await expectSettled(chassis([1, 2], { if_number: 60 }));
    await scan.devices(chassis([1], { if_number: 60 }));
    expect(await indexes()).toEqual([1]);
  });

  test("while more than half of the table and at least eight rows are missing, until the next read confirms it", async () => {
    await scan.devices(chassis(numbers(1, 20)));
    const { result } = await scan.devices(chassis(numbers(1, 9)));
    expect(await entries()).toHaveLength(20);
    expect(result.findings).toContainEqual(
      expect.objectContaining({
        type: "Partial",
        label: "core-1: interfaces",
        reason: "11 that it lacks stay: its table has 9 rows instead of 20, which the next read must confirm",
      }),
    );
    await scan.devices(chassis(numbers(1, 9)));
    expect(await entries()).toHaveLength(9);
    await expectSettled(chassis(numbers(1, 9)));
  });

  test("if the table was short only once", async () => {
    await scan.devices(chassis(numbers(1, 20)));
    await scan.devices(chassis(numbers(1, 9)));
    await scan.devices(chassis(numbers(1, 20)));
    expect((await scan.devices(chassis(numbers(1, 9)))).sequence).toBeNull();
    expect(await entries()).toHaveLength(20);
  });

  test("unlike rows that are replaced by as many others", async () => {
    await scan.devices(chassis(numbers(1, 43)));
    await scan.devices(chassis(numbers(101, 143)));
    expect(await indexes()).toEqual(numbers(101, 143));
  });

  test("and like a loss of seven rows, if not more than half is missing", async () => {
    await scan.devices(chassis(numbers(1, 10)));
    await scan.devices(chassis(numbers(1, 3)));
    expect(await entries()).toHaveLength(3);
  });

  test("if another device of a merged host reports it", async () => {
    await scan.devices(chassis([1, 2]), second([51, 52]));
    const [first, other] = (await hosts()) as [JsonRecord, JsonRecord];
    expect((await owner.put(`hosts/${first.id}/consolidate/${other.id}`, undefined)).status).toBe(200);
    tick();
    for (let times = 0; times < 2; times += 1) {
      await scan.devices(chassis([1, 2]));
      await scan.devices(second([51, 52]));
      expect(await indexes()).toEqual([1, 2, 51, 52]);
    }
  });
});

describe("on a host into which a user consolidated another one", () => {
  const consolidate = async (name: string) => {
    const [into, other] = await Promise.all(
      ["core-1", name].map(async (each) => (await hosts()).find((h) => h.name === each)),
    );
    expect((await owner.put(`hosts/${into?.id}/consolidate/${other?.id}`, undefined)).status).toBe(200);
    tick();
  };

  test("a removed network card, an address and a component end, if only a sweep had seen the other device", async () => {
    const parts = (...positions: number[]) => ({
      components: positions.map((position) => ({
        class: "StackMember" as const,
        position,
        manufacturer: null,
        model: null,
        serial_number: `SER10${position}`,
      })),
    });
    const full = chassis([1, 2], { addresses: [address("10.0.0.2"), address("10.1.0.1")], ...parts(1, 2) });
    await scan.devices(full);
    await scan.addresses({ ip_address: "10.0.0.9", mac_address: null, answered: ["Icmp"] });
    await consolidate("10.0.0.9");
    await scan.devices(full);
    await scan.devices(chassis([1], parts(1)));
    expect([addressesOf(await host()), await indexes(), (await get("components")).length]).toEqual([
      ["10.0.0.2", "10.0.0.9"],
      [1],
      1,
    ]);
  });

  test("ports of either device end once it no longer reports them, and each table awaits its own confirmation", async () => {
    const both = async (given: number[], others: number[]) => {
      await scan.devices(chassis(given));
      await scan.devices(second(others));
    };
    await scan.devices(chassis(numbers(1, 20)), second([51, 52]));
    await consolidate("core-1b");
    await both(numbers(1, 20), [51, 52]);
    await both(numbers(1, 19), [51, 52]);
    expect(await indexes()).toEqual([...numbers(1, 19), 51, 52]);
    await both(numbers(1, 5), [51, 52]);
    expect(await indexes()).toEqual([...numbers(1, 19), 51, 52]);
    await both(numbers(1, 5), [51, 52]);
    expect(await indexes()).toEqual([...numbers(1, 5), 51, 52]);
  });

  test.each<[string, Partial<Device>]>([
    ["", {}],
    [
      ", although another table is never read to the end",
      {
        tables: { ...device().tables, vlans: { state: "partial", problem: "no response within 5 s" } },
        broken: ["vlans"],
      },
    ],
    [", although it counts more rows than it has", { if_number: 9 }],
  ])("a port, an address and a component end that it reported at two addresses%s", async (_case, fields) => {
    const part = (position: number) =>
      ({ class: "StackMember", position, manufacturer: null, model: null, serial_number: `SER10${position}` }) as const;
    const read = async (count: 1 | 2) => {
      const reported = {
        addresses: [address("10.0.0.2"), address("10.0.0.3"), ...(count === 2 ? [address("10.1.0.1")] : [])],
        components: [1, 2].slice(0, count).map(part),
        ...fields,
      };
      for (const at of ["10.0.0.2", "10.0.0.3"]) await scan.devices(chassis([1, 2].slice(0, count), reported, at));
      await scan.devices(second([51]));
    };
    await read(2);
    await consolidate("core-1b");
    for (const count of [2, 2, 1, 1, 1] as const) await read(count);
    expect([addressesOf(await host()), await indexes(), (await get("components")).length]).toEqual([
      ["10.0.0.2", "10.0.0.3", "10.0.0.9"],
      [1, 51],
      1,
    ]);
  });

  test("most of its ports wait for confirmation, even if they are missing from the first read after that", async () => {
    await scan.devices(chassis(numbers(1, 20)));
    await scan.addresses({ ip_address: "10.0.0.9", mac_address: null, answered: ["Icmp"] });
    await consolidate("10.0.0.9");
    await scan.devices(chassis([1, 2]));
    expect(await indexes()).toEqual(numbers(1, 20));
    await scan.devices(chassis(numbers(1, 20)));
    await scan.devices(chassis(numbers(1, 19)));
    expect(await indexes()).toEqual(numbers(1, 19));
    await scan.devices(chassis([1, 2]));
    await scan.devices(chassis([1, 2]));
    expect(await indexes()).toEqual([1, 2]);
  });
});

describe("a record that a user edited or refers to", () => {
  test("stays as stale and not present, and becomes current again when it returns", async () => {
    await scan.devices(chassis([1, 2]));
    const written = await entry(2);
    const body = { ...written, custom_fields: undefined, if_alias: "reserved for the lab" };
    expect((await owner.put(`if-entries/${written.id}`, body)).status).toBe(200);
    tick();
    await scan.devices(chassis([1]));
    expect(await entry(2)).toMatchObject({
      id: written.id,
      oper_status: "NotPresent",
      stale_since: expect.any(String),
      if_alias: "reserved for the lab",
    });
    await expectSettled(chassis([1]));
    await scan.devices(chassis([1, 2]));
    const again = await entry(2);
    expect([again.id, again.oper_status, again.stale_since]).toEqual([written.id, "Up", undefined]);
  });

  test("stays if it is the far end of a manually documented link", async () => {
    await scan.devices(chassis([1, 2]));
    const [near, far] = (await entries()) as [JsonRecord, JsonRecord];
    const body = { ...near, neighbor: { type: "IfEntry", id: far.id } };
    expect((await owner.put(`if-entries/${near.id}`, body)).status).toBe(200);
    tick();
    await scan.devices(chassis([1]));
    expect(await entry(2)).toMatchObject({ id: far.id, oper_status: "NotPresent" });
    expect((await entry(1)).neighbor).toEqual({ type: "IfEntry", id: far.id });
  });

  test("loses discovered data of an interface, which is then neither up nor in use, until it returns", async () => {
    const used = ethernet(2, {
      forwarding: [{ mac_address: mac(9, 9), vlan_number: 20 }],
      lldp: [
        { chassis_id: { subtype: "MacAddress", value: mac(8) }, port_id: { subtype: "InterfaceName", value: "x" } },
      ],
      native_vlan: 10,
      vlans: [20],
    });
    const vlans = [10, 20].map((number) => ({ number, name: `v-${number}` }));
    const both = chassis([], {
      interfaces: [...cards(1), used],
      addresses: [address("10.0.0.2"), address("10.0.0.9", 2)],
      vlans,
    });
    await scan.devices(both);
    const written = await entry(2);
    const body = { ...written, custom_fields: undefined, if_alias: "reserved for the lab" };
    expect((await owner.put(`if-entries/${written.id}`, body)).status).toBe(200);
    tick();
    await scan.runAll([
      ["discovery.devices", { sightings: [chassis([1], { vlans: [] })] }],
      ["discovery.vlans", {}],
    ]);
    const absent = await entry(2);
    expect(absent).toMatchObject({ id: written.id, oper_status: "NotPresent", if_alias: "reserved for the lab" });
    for (const field of ["fdb_macs", "lldp_chassis_id", "native_vlan_id", "vlan_ids", "ip_address_id"])
      expect([field, field in written, field in absent]).toEqual([field, true, false]);
    expect(await get("vlans")).toEqual([]);
    const network = `network_id=${appliance.first.networkId}`;
    expect((await get(`summary?${network}`)).interfaces_by_oper_status).toMatchObject({ Up: 1, NotPresent: 1 });
    expect((await get('if-entries?filter=oper_status="Up"')).map(({ if_index }: JsonRecord) => if_index)).toEqual([1]);
    const stations = await get(`stations?${network}`);
    expect(stations).toEqual([]);
    const [{ ports }] = (await get(`hosts/${absent.host_id}/faceplate`)).groups;
    expect(ports[1]).toMatchObject({
      oper_status: "NotPresent",
      stations: [],
      neighbor: null,
      unused_since: absent.updated_at,
    });
    await scan.devices(both);
    expect(await entry(2)).toMatchObject({
      oper_status: "Up",
      fdb_macs: [mac(9, 9)],
      if_alias: "reserved for the lab",
    });
  });

  test("stays if it is an interface whose ifIndex another interface takes over", async () => {
    await scan.devices(chassis([1, 2, 3]));
    const written = await entry(2);
    expect((await owner.put(`if-entries/${written.id}`, { ...written, if_alias: "spare" })).status).toBe(200);
    tick();
    const renumbered = chassis([], { interfaces: [...cards(1), { ...ethernet(3), if_index: 2 }] });
    await scan.devices(renumbered);
    const names = (await entries()).map((each) => [each.if_index, each.if_name, each.oper_status]);
    expect(names).toEqual([
      [1, "Gi0/1", "Up"],
      [2, "Gi0/3", "Up"],
      [2_147_483_647, "Gi0/2", "NotPresent"],
    ]);
    await expectSettled(renumbered);
    await scan.devices(chassis([1, 2, 3]));
    expect((await entry(2)).id).toBe(written.id);
    expect(await indexes()).toEqual([1, 2, 3]);
  });

  test("keeps its ifIndex if it is a stale interface and an ignored one gets that", async () => {
    await scan.devices(chassis([1, 2, 9]));
    const [written, ignored] = [await entry(2), await entry(9)];
    const body = { ...written, custom_fields: undefined, if_alias: "do not reuse" };
    expect((await owner.put(`if-entries/${written.id}`, body)).status).toBe(200);
    tick();
    expect((await owner.delete(`if-entries/${ignored.id}?ignore=true`)).status).toBe(200);
    tick();
    await scan.devices(chassis([1]));
    await scan.devices(chassis([], { interfaces: [...cards(1), { ...ethernet(9), if_index: 2 }] }));
    expect(await indexes()).toEqual([1, 2]);
    expect(await entry(2)).toMatchObject({ id: written.id, if_name: "Gi0/2", oper_status: "NotPresent" });
  });

  test("stays if it is a stale interface whose ifIndex a new one gets, and returns under another ifIndex", async () => {
    await scan.devices(chassis([1, 2]));
    const written = await entry(2);
    const body = { ...written, custom_fields: undefined, if_alias: "do not reuse" };
    expect((await owner.put(`if-entries/${written.id}`, body)).status).toBe(200);
    tick();
    await scan.devices(chassis([1]));
    const other = { ...ethernet(9), if_index: 2 };
    const replaced = chassis([], { interfaces: [...cards(1), other] });
    await scan.devices(replaced);
    const shown = (await entries()).map((each) => [each.if_index, each.if_name, each.oper_status, each.if_alias]);
    expect(shown).toEqual([
      [1, "Gi0/1", "Up", undefined],
      [2, "Gi0/9", "Up", undefined],
      [2_147_483_647, "Gi0/2", "NotPresent", "do not reuse"],
    ]);
    await expectSettled(replaced);
    await scan.devices(chassis([], { interfaces: [...cards(1), other, { ...ethernet(2), if_index: 7 }] }));
    expect(await entry(7)).toMatchObject({ id: written.id, oper_status: "Up", if_alias: "do not reuse" });
    expect(await indexes()).toEqual([1, 2, 7]);
  });

  test("stays if it is a host that a user placed on the map, even if a device has its address", async () => {
    await scan.addresses({ ip_address: "10.0.0.9", mac_address: null, answered: ["Icmp"] });
    const { id } = await host();
    const { networkId } = appliance.first;
    const nodes = { [id]: { x: 10, y: 20 } };
    expect((await owner.put(`networks/${networkId}/map-positions`, { nodes })).status).toBe(200);
    tick();
    await scan.devices(chassis([1], { addresses: [address("10.0.0.2"), address("10.0.0.9")] }));
    expect((await hosts()).map((each) => each.id)).toContain(id);
  });

  test("stays if it is an address that a user named", async () => {
    const both = { addresses: [address("10.0.0.2"), address("10.0.0.9", 2)] };
    await scan.devices(chassis([1, 2], both));
    const named = (await host()).ip_addresses.find(({ ip_address }: JsonRecord) => ip_address === "10.0.0.9");
    expect((await owner.put(`ip-addresses/${named.id}`, { ...named, name: "VIP of the lab" })).status).toBe(200);
    tick();
    await scan.devices(chassis([1, 2]));
    expect(addressesOf(await host())).toEqual(["10.0.0.2", "10.0.0.9"]);
    const [, stale] = (await host()).ip_addresses;
    expect(stale).toMatchObject({ id: named.id, stale_since: expect.any(String) });
  });
});

describe("an address missing from complete address tables", () => {
  const having = (...own: string[]) => chassis([1, 2], { addresses: own.map((each) => address(each)) });

  test("ends at the device that reported it, like a CARP address that has moved to the peer", async () => {
    const peer = (...own: string[]) =>
      deviceAt("10.0.0.3", {
        sys_name: "core-2",
        serial_number: "SER200",
        interfaces: [ethernet(1, { mac_address: mac(2, 1) })],
        addresses: own.map((each) => address(each)),
        ...UP,
      });
    await scan.devices(having("10.0.0.2", "10.0.0.1"), peer("10.0.0.3"));
    await scan.devices(having("10.0.0.2"), peer("10.0.0.3", "10.0.0.1"));
    expect((await hosts()).map((each) => [each.name, ...addressesOf(each)])).toEqual([
      ["core-1", "10.0.0.2"],
      ["core-2", "10.0.0.1", "10.0.0.3"],
    ]);
    await expectSettled(having("10.0.0.2"), peer("10.0.0.3", "10.0.0.1"));
  });

  test("returns with a new id and its lineage, also after a user deleted it in between", async () => {
    const found = async () => (await host()).ip_addresses[1];
    const both = having("10.0.0.2", "10.1.0.1");
    await scan.devices(both);
    const { id } = await found();
    await scan.devices(having("10.0.0.2"));
    await scan.devices(both);
    const again = await found();
    expect([again.lineage_id, again.id === id]).toEqual([id, false]);
    expect((await owner.delete(`ip-addresses/${again.id}`)).status).toBe(200);
    tick();
    await scan.devices(both);
    expect((await found()).lineage_id).toBe(id);
    expect((await found()).id).not.toBe(again.id);
  });

  test("ends when the device is renumbered, and takes a subnet's gateway with it", async () => {
    await scan.devices(having("10.0.0.2", "10.1.0.1", "10.2.0.1"));
    const { result } = await scan.devices(having("10.0.0.2", "10.3.0.1"));
    expect(addressesOf(await host())).toEqual(["10.0.0.2", "10.3.0.1"]);
    expect(result.findings).toContainEqual(
      expect.objectContaining({
        type: "Closed",
        entity: "ip_address",
        label: "10.1.0.1 of core-1",
        reason: "not in the address tables, 2 rows, read to the end",
      }),
    );
  });

  test("stays if the tables were cut off or much shorter, and if only other devices saw it", async () => {
    await scan.devices(having("10.0.0.2", "10.1.0.1"));
    await scan.addresses({ ip_address: "10.0.0.77", mac_address: mac(1), answered: ["Icmp"] });
    expect(addressesOf(await host())).toEqual(["10.0.0.2", "10.0.0.77", "10.1.0.1"]);
    const broken = { tables: { ...device().tables, addresses: { state: "partial", problem: "no response" } as const } };
    await scan.devices(chassis([1, 2], { ...broken, broken: ["addresses"] }));
    expect(addressesOf(await host())).toEqual(["10.0.0.2", "10.0.0.77", "10.1.0.1"]);
    await scan.devices(having("10.0.0.2"));
    expect(addressesOf(await host())).toEqual(["10.0.0.2", "10.0.0.77"]);
  });

  test.each<[string, string[], Partial<Device>]>([
    ["the device has just started", ["10.1.0.1"], { up_time_ms: 60_000 }],
    ["most are missing", Array.from({ length: 12 }, (_, n) => `10.1.${n}.1`), {}],
  ])("stays while %s, and ends with the next read", async (_when, others, fields) => {
    await scan.devices(having("10.0.0.2", ...others));
    const without = chassis([1, 2], { addresses: [address("10.0.0.2")], ...fields });
    await scan.devices(without);
    expect(addressesOf(await host())).toHaveLength(1 + others.length);
    await scan.devices(having("10.0.0.2"));
    expect(addressesOf(await host())).toEqual(["10.0.0.2"]);
    await expectSettled(having("10.0.0.2"));
  });

  test("stays if the device responds there behind NAT", async () => {
    const natted = chassis([1, 2], {}, "203.0.113.5");
    await scan.devices(natted);
    await scan.devices(having("10.0.0.2"));
    await scan.devices(natted);
    expect(addressesOf(await host())).toEqual(["10.0.0.2", "203.0.113.5"]);
  });

  test.each([
    ["behind NAT", "203.0.113.5"],
    ["by a management port that its address tables leave out", "10.9.9.2"],
    ["by an IPv6 address that its tables leave out", "2001:db8::2"],
  ])("stays if the device responds there %s, however often it is read elsewhere in between", async (_how, unlisted) => {
    await scan.devices(chassis([1, 2], {}, unlisted));
    const { id } = (await host()).ip_addresses.find(({ ip_address }: JsonRecord) => ip_address === unlisted);
    for (let times = 0; times < 3; times += 1) {
      for (let day = 0; day < 3; day += 1) await scan.devices(having("10.0.0.2"));
      await scan.devices(chassis([1, 2], {}, unlisted));
    }
    expect(addressesOf(await host())).toEqual(["10.0.0.2", unlisted].sort());
    expect((await host()).ip_addresses.map((each: JsonRecord) => each.id)).toContain(id);
    await expectSettled(having("10.0.0.2"));
  });
});

describe("a device that is renumbered", () => {
  const at = (polled: string, given: number[], fields: Partial<Device> = {}) =>
    chassis(given, { addresses: [address(polled)], ...fields }, polled);
  const present = async () => [addressesOf(await host()), await indexes()];

  test("loses its old address and a network card removed meanwhile, with the second read without them", async () => {
    await scan.devices(at("10.0.0.2", [1, 2, 3]));
    await scan.devices(at("10.0.0.3", [1, 2]));
    expect(await present()).toEqual([
      ["10.0.0.2", "10.0.0.3"],
      [1, 2, 3],
    ]);
    const { result } = await scan.devices(at("10.0.0.3", [1, 2]));
    expect(await present()).toEqual([["10.0.0.3"], [1, 2]]);
    expect(result.findings).toContainEqual(
      expect.objectContaining({
        type: "Closed",
        label: "10.0.0.2 of core-1",
        reason: "not in the address tables, 1 row, read to the end",
      }),
    );
    await expectSettled(at("10.0.0.3", [1, 2]));
  });

  test("has no stations on a network card removed meanwhile, unless its address tables were truncated", async () => {
    const learning = ethernet(3, { forwarding: [{ mac_address: mac(9, 9), vlan_number: null }] });
    await scan.devices(at("10.0.0.2", [], { interfaces: [...cards(1, 2), learning] }));
    const partial = { state: "partial", problem: "no response" } as const;
    await scan.devices(at("10.0.0.3", [1, 2], { tables: { ...device().tables, addresses: partial } }));
    expect((await entry(3)).fdb_macs).toEqual([mac(9, 9)]);
    await scan.devices(at("10.0.0.3", [1, 2]));
    expect(await entry(3)).not.toHaveProperty("fdb_macs");
    expect(await indexes()).toEqual([1, 2, 3]);
  });

  test("loses all addresses that it had there, and a second time as the first", async () => {
    const both = { addresses: [address("10.0.0.2"), address("10.1.0.2", 2)] };
    await scan.devices(at("10.0.0.2", [1, 2], both));
    for (const polled of ["10.0.0.3", "10.0.0.4"]) {
      for (let times = 0; times < 2; times += 1) await scan.devices(at(polled, [1, 2]));
      expect(await present()).toEqual([[polled], [1, 2]]);
    }
  });

  test.each<[string, Partial<Device>]>([
    ["it started less than ten minutes ago", { up_time_ms: 60_000 }],
    [
      "its address tables were cut off",
      { tables: { ...device().tables, addresses: { state: "partial", problem: "no response" } } },
    ],
  ])("keeps them while %s", async (_when, fields) => {
    await scan.devices(at("10.0.0.2", [1, 2, 3]));
    for (let times = 0; times < 3; times += 1) await scan.devices(at("10.0.0.3", [1, 2], fields));
    expect(await present()).toEqual([
      ["10.0.0.2", "10.0.0.3"],
      [1, 2, 3],
    ]);
    for (let times = 0; times < 2; times += 1) await scan.devices(at("10.0.0.3", [1, 2]));
    expect(await present()).toEqual([["10.0.0.3"], [1, 2]]);
  });

  test("loses them although its old address became stale while it was silent", async () => {
    const { networkId } = appliance.first;
    expect((await owner.put(`networks/${networkId}`, { name: "HQ", stale_after_hours: 1 })).status).toBe(200);
    await scan.devices(at("10.0.0.2", [1, 2, 3]));
    appliance.clock.advance(2 * 3_600_000);
    await scan.stale([{ entity: "ip_address", id: (await host()).ip_addresses[0].id }]);
    expect((await host()).ip_addresses[0].stale_since).toBeString();
    for (let times = 0; times < 2; times += 1) await scan.devices(at("10.0.0.3", [1, 2]));
    expect(await present()).toEqual([["10.0.0.3"], [1, 2]]);
  });

  test("keeps an address at which a sweep still finds it, or that a user named", async () => {
    await scan.devices(at("10.0.0.2", [1]));
    for (let times = 0; times < 3; times += 1) {
      await scan.devices(at("10.0.0.3", [1]));
      await scan.addresses({ ip_address: "10.0.0.2", mac_address: null, answered: ["Icmp"] });
    }
    expect(await present()).toEqual([["10.0.0.2", "10.0.0.3"], [1]]);
    const [named] = (await host()).ip_addresses;
    expect((await owner.put(`ip-addresses/${named.id}`, { ...named, name: "old core" })).status).toBe(200);
    tick();
    for (let times = 0; times < 2; times += 1) await scan.devices(at("10.0.0.3", [1]));
    const [stale] = (await host()).ip_addresses;
    expect(stale).toMatchObject({ id: named.id, stale_since: expect.any(String) });
    await expectSettled(at("10.0.0.3", [1]));
  });

  test("keeps data that it reports at only one of two addresses that are read alternately", async () => {
    const own = { addresses: [address("10.0.0.2"), address("10.0.0.3")] };
    for (let times = 0; times < 3; times += 1) {
      await scan.devices(at("10.0.0.2", [1, 2], own));
      await scan.devices(at("10.0.0.3", [1, 3], own));
    }
    expect(await present()).toEqual([
      ["10.0.0.2", "10.0.0.3"],
      [1, 2, 3],
    ]);
    await expectSettled(at("10.0.0.2", [1, 2], own));
  });
});

describe("a VLAN that scans found", () => {
  const vlan = (number: number) => ({ number, name: `v-${number}` });
  const sw = (given: number[], of: number[] = given, fields: Partial<Device> = {}) =>
    chassis([], { interfaces: [ethernet(1, { vlans: of })], vlans: given.map(vlan), ...fields });
  const other = (given: number[], fields: Partial<Device> = {}) =>
    deviceAt("10.0.0.3", {
      sys_name: "acc-1",
      serial_number: "SER200",
      interfaces: [ethernet(1, { mac_address: mac(2, 1) })],
      addresses: [address("10.0.0.3")],
      vlans: given.map(vlan),
      ...UP,
      ...fields,
    });
  const fullScan = (...sightings: DeviceSighting[]) =>
    scan.runAll([
      ["discovery.devices", { sightings: sightings.map((each) => ({ ...each, digest: digestOf(each) })) }],
      ["discovery.vlans", {}],
    ]);
  const vlans = async () => (await get("vlans?order_by=number")).map(({ number }: JsonRecord) => number);

  test("ends in the scan in which the last device loses it, and with its last interface", async () => {
    await fullScan(sw([10, 20, 30]), other([20]));
    const { result } = await fullScan(sw([10], [10, 30]), other([20]));
    expect(await vlans()).toEqual([10, 20, 30]);
    expect(result.findings).toEqual([]);
    const ended = await fullScan(sw([10]), other([]));
    expect(await vlans()).toEqual([10]);
    expect(ended.result.findings).toContainEqual(
      expect.objectContaining({
        type: "Closed",
        entity: "vlan",
        label: "20 v-20",
        reason: "no device reports it, and nothing uses it",
      }),
    );
    expect((await fullScan(sw([10]), other([]))).sequence).toBeNull();
  });

  test("returns with a new id and its lineage", async () => {
    const found = async () => (await get("vlans?order_by=number"))[1];
    await fullScan(sw([10, 20]));
    const { id } = await found();
    await fullScan(sw([10]));
    expect(await vlans()).toEqual([10]);
    await fullScan(sw([10, 20]));
    expect(await found()).toMatchObject({ number: 20, lineage_id: id });
    expect((await found()).id).not.toBe(id);
  });

  test("stays while a device's tables are cut off, or until a responding device has been read", async () => {
    const cutOff = { tables: { ...device().tables, vlans: { state: "partial", problem: "no response" } as const } };
    await fullScan(sw([10, 20]), other([20], cutOff));
    await fullScan(sw([10]), other([], { ...cutOff, broken: ["vlans"] }));
    expect(await vlans()).toEqual([10, 20]);
    await fullScan(sw([10]), other([]));
    expect(await vlans()).toEqual([10]);
  });

  test("ends although another device's tables are never read to the end, unless these had it", async () => {
    const cutOff = { tables: { ...device().tables, vlans: { state: "partial", problem: "no answer" } as const } };
    const slow = (given: number[]) => other(given, { ...cutOff, broken: ["vlans"] });
    await fullScan(sw([10, 20, 30]), slow([20]));
    await fullScan(sw([10]), slow([]));
    expect(await vlans()).toEqual([10, 20]);
    expect((await fullScan(sw([10]), slow([]))).sequence).toBeNull();
  });

  test("stays while a subnet refers to it, and permanently if a user edited it", async () => {
    await fullScan(sw([10, 20, 30]));
    const [ten, twenty] = (await get("vlans?order_by=number")) as [JsonRecord, JsonRecord];
    const [subnet] = (await get("subnets")) as [JsonRecord];
    expect((await owner.put(`subnets/${subnet.id}`, { ...subnet, vlan_id: ten.id })).status).toBe(200);
    expect((await owner.put(`vlans/${twenty.id}`, { ...twenty, name: "Printers" })).status).toBe(200);
    tick();
    await fullScan(sw([], []));
    expect(await vlans()).toEqual([10, 20]);
  });

  test("never ends if a user entered it", async () => {
    await owner.post("vlans", { network_id: appliance.first.networkId, number: 99 });
    await fullScan(sw([10]));
    await fullScan(sw([10]));
    expect(await vlans()).toEqual([10, 99]);
  });
});
