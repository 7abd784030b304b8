// Interface entries: each field, references, learned MAC addresses, and list filters now and in the past.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { hostReference, reference, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const PATH = "/api/v1/if-entries";

const appliance = applianceForEach();
const { clock, first, owner, instant, newHost, newIfEntry, newNetwork, newSubnet, newUser, newVlan } = appliance;
const { watchWrites, versionsOf, writtenIn, newMember, newViewer } = appliance;
let networkId: string;
beforeEach(async () => {
  networkId = first.networkId;
});

const get = (id: string, at = "") => expectOk(owner.get(`${PATH}/${id}${at === "" ? "" : `?at=${at}`}`));
/** Update body of an entry, with changes. */
const put = (entry: JsonRecord, changes: JsonRecord = {}, caller = owner) =>
  caller.put(`${PATH}/${entry.id}`, { if_index: entry.if_index, if_descr: entry.if_descr, ...changes });
const host = (fields: JsonRecord = {}) => newHost(fields);

describeRecords(
  {
    path: PATH,
    entity: "if_entry",
    writeRole: "Member",
    scope: "in a network",
    container: {
      field: "host_id",
      entity: "host",
      create: async (caller, networkId) => {
        await expectOk(caller.post("subnets", { network_id: networkId, cidr: `10.${(hosts += 1)}.0.0/16` }));
        return (
          await expectOk(
            caller.post("hosts", {
              network_id: networkId,
              name: "switch",
              ip_addresses: [{ ip_address: `10.${hosts}.0.1` }],
            }),
          )
        ).id;
      },
    },
    body: (hostId, position) => ({
      host_id: hostId,
      if_index: 100 + position,
      if_descr: `GigabitEthernet1/0/${position}`,
      if_name: `Gi1/0/${position}`,
      if_alias: "uplink",
      if_type: 6,
      speed_bps: 1_000_000_000,
      admin_status: "Down",
      oper_status: "LowerLayerDown",
      mac_address: "00:1b:21:aa:bb:cc",
      fdb_macs: ["00:1b:21:00:00:01", "00:1b:21:00:00:02"],
      lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:01" },
      lldp_port_id: { subtype: "InterfaceName", value: "Gi0/48" },
      lldp_sys_name: "core-1",
      lldp_sys_desc: "a switch\nof some kind",
      lldp_port_desc: "to the access switch",
      lldp_mgmt_addr: "10.0.0.1",
      lldp_capabilities: ["Bridge", "Router"],
      cdp_device_id: "core-1.example.net",
      cdp_port_id: "GigabitEthernet0/48",
      cdp_platform: "cisco WS-C3750",
      cdp_address: "10.0.0.1",
      cdp_capabilities: ["Router", "Switch", "Igmp"],
    }),
    omitted: [
      ..."valid_to lineage_id first_discovery_id last_discovery_id".split(" "),
      ..."ip_address_id native_vlan_id vlan_ids neighbor lag_id parent_id".split(" "),
    ],
    change: { field: "oper_status", to: (body) => (body.oper_status === "Dormant" ? "LowerLayerDown" : "Dormant") },
    unique: "if_index",
    writes: {
      created: { "Created fdb_entry": 2, "Updated host": 1 },
      updated: { "Updated host": 1 },
      deleted: { "Deleted fdb_entry": 2, "Updated host": 1 },
    },
    invalid: {
      body: {
        id: "x",
        host_id: 5,
        if_index: 0,
        if_descr: null,
        if_name: 5,
        if_type: "6",
        speed_bps: -1,
        admin_status: "up",
        oper_status: "Gone",
        mac_address: "00:1b",
        ip_address_id: 1,
        native_vlan_id: "120",
        vlan_ids: [UNKNOWN_ID, "x"],
        lag_id: 100,
        parent_id: "Po1",
        fdb_macs: ["00:00:00:00:00:0g"],
        lldp_chassis_id: { subtype: "InterfaceMac", value: 5, extra: 1 },
        lldp_port_id: "Gi0/48",
        cdp_address: [],
        neighbor: { type: "Port", id: "x" },
        mtu: 1500,
      },
      paths: [
        ..."/id /if_index /if_descr /if_name /if_type /speed_bps /admin_status /oper_status".split(" "),
        ..."/mac_address /ip_address_id /native_vlan_id /vlan_ids/1 /fdb_macs/0 /lag_id /parent_id".split(" "),
        ..."/lldp_chassis_id/subtype /lldp_chassis_id/value /lldp_chassis_id/extra".split(" "),
        ..."/lldp_port_id /cdp_address /neighbor/type /neighbor/id /mtu".split(" "),
      ],
    },
    references: [
      hostReference(),
      reference("ip_address_id", "ip_address", async (caller, _networkId, hostId) => {
        return (await expectOk(caller.get(`hosts/${hostId}`))).ip_addresses[0].id;
      }),
      reference("native_vlan_id", "vlan", newReferenceVlan),
      reference("vlan_ids", "vlan", newReferenceVlan, (body, id) => ({ ...body, vlan_ids: [id, id] })),
      hostReference("neighbor", (body, id) => ({ ...body, neighbor: { type: "Host", id } })),
      {
        field: "neighbor",
        entity: "if_entry",
        withReference: (body, id) => ({ ...body, neighbor: { type: "IfEntry", id } }),
        create: async (caller, _networkId, hostId) =>
          (await expectOk(caller.post(PATH, { host_id: hostId, if_index: 9_000, if_descr: "Reference" }))).id,
      },
    ],
  },
  appliance,
);

/** For describeRecords: number of hosts, each with a distinct prefix. */
let hosts = 0;

async function newReferenceVlan(caller: Client, networkId: string): Promise<string> {
  return (await expectOk(caller.post("vlans", { network_id: networkId, number: 77 }))).id;
}

describe("an interface entry", () => {
  test("has status up, state unknown and type other(1), and nothing else, if only the required fields are given", async () => {
    const { id: host_id } = await host();
    clock.advance(1_000);
    const entry = await expectOk(owner.post(PATH, { host_id, if_index: 1, if_descr: "lo" }));
    const at = clock.text();
    expect(entry).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      host_id,
      network_id: networkId,
      if_index: 1,
      if_descr: "lo",
      if_type: 1,
      admin_status: "Up",
      oper_status: "Unknown",
      last_seen_at: at,
      created_at: at,
      updated_at: at,
      valid_from: at,
    });
    expect(Object.values(entry)).not.toContain(undefined);
    expect((await expectOk(owner.get(`hosts/${host_id}`))).interfaces).toMatchObject([
      { id: entry.id, if_name: null, speed_bps: null, neighbor: null, valid_to: null },
    ]);
  });

  test("may name its network only if that is its host's", async () => {
    const { id: host_id } = await host();
    const otherNetwork = await newNetwork();
    expect(await newIfEntry(host_id, { network_id: networkId.toUpperCase() })).toMatchObject({ network_id: networkId });
    const expectNothingWritten = watchWrites();
    for (const id of [otherNetwork.id, UNKNOWN_ID]) {
      expect(await owner.post(PATH, { host_id, network_id: id, if_index: 9, if_descr: "x" })).toMatchObject(
        invalid({ path: "/network_id", value: id }),
      );
    }
    expectNothingWritten();
  });

  test("is unique by host and if_index, and may take over a freed if_index", async () => {
    const [device, otherHost] = [await host(), await host()];
    const [first, second] = [
      await newIfEntry(device.id, { if_index: 7 }),
      await newIfEntry(device.id, { if_index: 8 }),
    ];
    expect(await newIfEntry(otherHost.id, { if_index: 7 })).toMatchObject({ if_index: 7 });
    const expectNothingWritten = watchWrites();
    expect(await put(second, { if_index: 7 })).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "if_entry", field: "if_index", value: 7 }),
    );
    expectNothingWritten();
    const moved = await expectOk(put(first, { if_index: 9 }));
    expect(moved).toMatchObject({ id: first.id, if_index: 9 });
    expect(versionsOf(first.id).at(-1)).toMatchObject({ changed: ["if_index"] });
    expect(await expectOk(put(second, { if_index: 7 }))).toMatchObject({ id: second.id, if_index: 7 });
    // The same interface under another number, not a new incarnation.
    expect(moved).not.toHaveProperty("lineage_id");
  });

  test.each([[0], [-1], [2_147_483_648], [1.5], ["1"], [null], [true]])(
    "rejects if_index and if_type %p",
    async (value) => {
      const { id: host_id } = await host();
      const entry = await newIfEntry(host_id);
      const responses = [
        await owner.post(PATH, { host_id, if_index: value, if_descr: "x", if_type: value }),
        await put(entry, { if_index: value, if_type: value }),
      ];
      for (const response of responses)
        expect(response).toMatchObject(invalid({ path: "/if_index", value }, { path: "/if_type", value }));
    },
  );

  test.each([
    ["if_index", 2_147_483_647],
    ["if_type", 2_147_483_647],
    ["speed_bps", 0],
    ["speed_bps", Number.MAX_SAFE_INTEGER],
    ["if_descr", ""],
    ["if_name", ""],
    ["if_alias", "😀".repeat(4_000)],
  ])("accepts the %s %p", async (field, value) => {
    expect(await newIfEntry((await host()).id, { [field]: value })).toMatchObject({ [field]: value });
  });

  test.each([
    ["speed_bps", Number.MAX_SAFE_INTEGER + 1],
    ["speed_bps", 0.5],
    ["if_alias", "a".repeat(4_001)],
    ["vlan_ids", Array.from({ length: 4_095 }, () => UNKNOWN_ID)],
    ["fdb_macs", Array.from({ length: 50_001 }, () => "00:00:00:00:00:01")],
  ])("rejects a %s out of range", async (field, value) => {
    const { id: host_id } = await host();
    expect(await owner.post(PATH, { host_id, if_index: 1, if_descr: "x", [field]: value })).toMatchObject(
      invalid({ path: `/${field}` }),
    );
  });

  test("accepts every known status", async () => {
    const entry = await newIfEntry((await host()).id);
    for (const admin_status of ["Down", "Testing", "Up"])
      expect(await expectOk(put(entry, { admin_status }))).toMatchObject({ admin_status });
    for (const oper_status of ["Up", "Down", "Testing", "Dormant", "NotPresent", "LowerLayerDown", "Unknown"])
      expect(await expectOk(put(entry, { oper_status }))).toMatchObject({ oper_status });
  });
});

describe("an optional field", () => {
  const MAC = "00:1b:21:aa:bb:cc";
  const plain: Array<[string, unknown]> = [
    ["if_name", "Gi0/1"],
    ["if_alias", "uplink"],
    ["speed_bps", 10_000_000_000],
    ["mac_address", MAC],
    ["fdb_macs", [MAC]],
    ["lldp_chassis_id", { subtype: "NetworkAddress", value: "10.0.0.1" }],
    ["lldp_port_id", { subtype: "AgentCircuitId", value: "7" }],
    ["lldp_sys_name", "core"],
    ["lldp_sys_desc", "core switch"],
    ["lldp_port_desc", "port 1"],
    ["lldp_mgmt_addr", "10.0.0.1"],
    ["cdp_device_id", "core"],
    ["cdp_port_id", "Gi0/48"],
    ["cdp_platform", "C3750"],
    ["cdp_address", "10.0.0.1"],
    ["lldp_capabilities", ["Bridge", "Telephone"]],
    ["cdp_capabilities", ["Host", "Phone"]],
  ];

  /** Sets, omits and clears a field of a bare entry by updates, and checks each step in the list as well. */
  async function expectSetPreservedCleared(
    entry: JsonRecord,
    field: string,
    value: unknown,
    cleared: readonly unknown[] = [null],
  ): Promise<void> {
    const listed = async () => (await owner.get(`${PATH}?ids=${entry.id}`)).data[0];
    expect(entry).not.toHaveProperty(field);
    for (const clear of cleared) {
      clock.advance(1_000);
      const set = await expectOk(put(entry, { [field]: value }));
      expect(set).toEqual({ ...entry, [field]: value, updated_at: set.updated_at, valid_from: set.updated_at });
      expect(await listed()).toEqual(set);
      const expectNothingWritten = watchWrites();
      expect(await expectOk(put(entry))).toEqual(set);
      expectNothingWritten();
      clock.advance(1_000);
      const bare = await expectOk(put(entry, { [field]: clear }));
      expect(bare).toEqual({ ...entry, updated_at: bare.updated_at, valid_from: bare.updated_at });
      expect(Object.keys(bare)).not.toContain(field);
      expect(Object.keys(await listed())).not.toContain(field);
      expect(versionsOf(entry.id).slice(-2)).toMatchObject([{ changed: [field] }, { changed: [field] }]);
      const expectNothingMore = watchWrites();
      expect(await expectOk(put(entry, { [field]: clear }))).toEqual(bare);
      expectNothingMore();
      expect(await get(entry.id, set.updated_at)).toEqual({ ...set, valid_to: bare.updated_at });
    }
  }

  test.each(plain)("%s is set, preserved when omitted, and absent once cleared by null", async (field, value) => {
    await expectSetPreservedCleared(
      await newIfEntry((await host()).id),
      field,
      value,
      field === "fdb_macs" ? [null, []] : [null],
    );
  });

  test.each(plain.map(([field]) => [field]))("%s is absent when initially null", async (field) => {
    expect(Object.keys(await newIfEntry((await host()).id, { [field]: null }))).not.toContain(field);
  });

  test("ip_address_id, native_vlan_id, vlan_ids and neighbor are set, preserved and cleared like the others", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const own = await host({ ip_addresses: [{ ip_address: "10.2.3.4" }] });
    const [far, vlan, second] = [await host(), await newVlan(), await newVlan()];
    const farPort = await newIfEntry(far.id);
    await expectSetPreservedCleared(await newIfEntry(own.id), "ip_address_id", own.ip_addresses[0].id);
    await expectSetPreservedCleared(await newIfEntry(own.id), "native_vlan_id", vlan.id);
    await expectSetPreservedCleared(await newIfEntry(own.id), "vlan_ids", [second.id, vlan.id], [null, []]);
    await expectSetPreservedCleared(await newIfEntry(own.id), "neighbor", { type: "Host", id: far.id });
    await expectSetPreservedCleared(await newIfEntry(own.id), "neighbor", { type: "IfEntry", id: farPort.id });
  });

  test.each(["lag_id", "parent_id"])("%s is an interface of the same host, and ends with it", async (field) => {
    const [own, other] = [await host(), await host()];
    const [carrier, foreign] = [await newIfEntry(own.id), await newIfEntry(other.id)];
    const part = await newIfEntry(own.id);
    await expectSetPreservedCleared(part, field, carrier.id);
    expect(await put(part, { [field]: foreign.id })).toMatchObject({
      body: { code: "entity_reference_invalid", params: { entity: "if_entry", field } },
    });
    await expectOk(put(part, { [field]: carrier.id }));
    await expectOk(owner.delete(`if-entries/${carrier.id}`));
    expect((await owner.get(`if-entries/${part.id}`)).data).not.toHaveProperty(field);
  });

  test("lag_id and parent_id may refer to interfaces of the same body, in any order, and end with their host", async () => {
    const [unit, member, aggregate] = [1, 2, 3].map(() => Bun.randomUUIDv7()) as [string, string, string];
    const created = await newHost({
      interfaces: [
        { id: unit, if_index: 1, if_descr: "ae0.0", parent_id: aggregate },
        { id: member, if_index: 2, if_descr: "ge-0/0/0", lag_id: aggregate },
        { id: aggregate, if_index: 3, if_descr: "ae0" },
      ],
    });
    expect(created.interfaces).toMatchObject([{ parent_id: aggregate, lag_id: null }, { lag_id: aggregate }, {}]);
    await expectOk(owner.delete(`hosts/${created.id}`));
    expect((await owner.get(`if-entries?ids=${member}`)).data).toEqual([]);
  });

  test.each(["if_type", "admin_status", "oper_status"])(
    "%s is preserved when omitted, and never null",
    async (field) => {
      const value = { if_type: 6, admin_status: "Testing", oper_status: "Dormant" }[field];
      const entry = await newIfEntry((await host()).id, { [field]: value });
      expect(await expectOk(put(entry))).toEqual(entry);
      expect(await put(entry, { [field]: null })).toMatchObject(invalid({ path: `/${field}`, value: null }));
    },
  );

  test.each(["00-1B-21-AA-BB-CC", "001b.21aa.bbcc", "00:1B:21:AA:BB:CC"])(
    "mac_address and fdb_macs are equal in any notation: %s",
    async (text) => {
      const entry = await newIfEntry((await host()).id, { mac_address: text, fdb_macs: [text, MAC] });
      expect(entry).toMatchObject({ mac_address: MAC, fdb_macs: [MAC] });
      const expectNothingWritten = watchWrites();
      expect(await expectOk(put(entry, { mac_address: MAC, fdb_macs: [MAC] }))).toEqual(entry);
      expectNothingWritten();
    },
  );
});

describe("a reference of an interface entry", () => {
  test("accepts an address of its own host only: another host's is unknown", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const [own, otherHost] = [
      await host({ ip_addresses: [{ ip_address: "10.2.3.4" }] }),
      await host({ ip_addresses: [{ ip_address: "10.2.3.5" }] }),
    ];
    const entry = await newIfEntry(own.id);
    const expectNothingWritten = watchWrites();
    for (const id of [otherHost.ip_addresses[0].id, UNKNOWN_ID, own.id]) {
      const refused = refusal(400, "entity_reference_invalid", {
        entity: "ip_address",
        field: "ip_address_id",
        ids: [id],
      });
      expect(await put(entry, { ip_address_id: id })).toMatchObject(refused);
      expect(await owner.post(PATH, { host_id: own.id, if_index: 9, if_descr: "x", ip_address_id: id })).toMatchObject(
        refused,
      );
    }
    expectNothingWritten();
  });

  test("accepts records of its own network only, whether or not another network is in reach", async () => {
    const otherNetwork = await newNetwork();
    const [own, elsewhere] = [await host(), await host({ network_id: otherNetwork.id })];
    const vlan = await newVlan({ network_id: otherNetwork.id });
    const port = await newIfEntry(elsewhere.id);
    const entry = await newIfEntry(own.id);
    const { client: member } = await newMember();
    const wrong: Array<[string, unknown, string, string]> = [
      ["native_vlan_id", vlan.id, "vlan", vlan.id],
      ["vlan_ids", [vlan.id], "vlan", vlan.id],
      ["neighbor", { type: "Host", id: elsewhere.id }, "host", elsewhere.id],
      ["neighbor", { type: "IfEntry", id: port.id }, "if_entry", port.id],
      // Of the right network but the wrong kind.
      ["neighbor", { type: "IfEntry", id: own.id }, "if_entry", own.id],
      ["neighbor", { type: "Host", id: entry.id }, "host", entry.id],
    ];
    const expectNothingWritten = watchWrites();
    for (const caller of [owner, member]) {
      for (const [field, value, entity, id] of wrong) {
        const refused = refusal(400, "entity_reference_invalid", { entity, field, ids: [id] });
        expect(await put(entry, { [field]: value }, caller)).toMatchObject(refused);
        expect(await caller.post(PATH, { host_id: own.id, if_index: 9, if_descr: "x", [field]: value })).toMatchObject(
          refused,
        );
      }
    }
    expectNothingWritten();
  });

  test("is reported with all other issues, with their common code", async () => {
    const { id: host_id } = await host();
    const entry = await newIfEntry(host_id);
    const expectNothingWritten = watchWrites();
    const wrong = {
      ip_address_id: UNKNOWN_ID,
      native_vlan_id: UNKNOWN_ID,
      vlan_ids: [UNKNOWN_ID],
      neighbor: { type: "Host", id: UNKNOWN_ID },
    };
    for (const response of [
      await put(entry, wrong),
      await owner.post(PATH, { host_id, if_index: 9, if_descr: "x", ...wrong }),
    ]) {
      expect(response).toMatchObject(
        refusal(400, "entity_reference_invalid", { entity: "ip_address", field: "ip_address_id", ids: [UNKNOWN_ID] }),
      );
      expect(response.body.params.issues.map((issue: JsonRecord) => [issue.path, issue.value, issue.code])).toEqual(
        ["/ip_address_id", "/native_vlan_id", "/vlan_ids/0", "/neighbor/id"].map((path) => [
          path,
          UNKNOWN_ID,
          "entity_reference_invalid",
        ]),
      );
    }
    const taken = await owner.post(PATH, {
      id: host_id,
      host_id,
      if_index: 9,
      if_descr: "x",
      native_vlan_id: UNKNOWN_ID,
    });
    expect(taken).toMatchObject(
      invalid(
        { path: "/native_vlan_id", code: "entity_reference_invalid" },
        { path: "/id", value: host_id, code: "entity_already_exists" },
      ),
    );
    expectNothingWritten();
  });

  test("reports all invalid VLANs, each once, and no valid one", async () => {
    const [entry, vlan] = [await newIfEntry((await host()).id), await newVlan()];
    const missing = [UNKNOWN_ID, UNKNOWN_ID.replace("dead", "beef")];
    expect(await put(entry, { vlan_ids: [missing[0], vlan.id, missing[1], missing[0]] })).toMatchObject({
      status: 400,
      body: { params: { entity: "vlan", field: "vlan_ids", ids: missing } },
    });
    expect((await expectOk(put(entry, { vlan_ids: [vlan.id, vlan.id.toUpperCase()] }))).vlan_ids).toEqual([vlan.id]);
  });

  test("is cleared by a VLAN's cascade, in one version with its host's, and remains in the past", async () => {
    const [vlan, otherVlan] = [await newVlan(), await newVlan()];
    const device = await host();
    const both = await newIfEntry(device.id, { native_vlan_id: vlan.id, vlan_ids: [otherVlan.id, vlan.id] });
    const only = await newIfEntry(device.id, { vlan_ids: [vlan.id] });
    await newIfEntry(device.id, { native_vlan_id: otherVlan.id });
    const expectNothingWritten = watchWrites();
    expect(await owner.delete(`vlans/${vlan.id}`)).toMatchObject(
      refusal(409, "entity_in_use", { dependants: { if_entries: 2 } }),
    );
    expectNothingWritten();
    clock.advance(1_000);
    await expectOk(owner.delete(`vlans/${vlan.id}?cascade=true`));
    expect(writtenIn()).toEqual({ "Deleted vlan": 1, "Updated if_entry": 2, "Updated host": 1 });
    const [remaining, bare] = [await get(both.id), await get(only.id)];
    expect(remaining.vlan_ids).toEqual([otherVlan.id]);
    expect(remaining).not.toHaveProperty("native_vlan_id");
    expect(bare).not.toHaveProperty("vlan_ids");
    expect(versionsOf(both.id).at(-1)).toMatchObject({ changed: ["native_vlan_id", "vlan_ids"] });
    expect(await get(both.id, both.valid_from)).toEqual({ ...both, valid_to: remaining.valid_from });
  });

  test("is cleared when its address is deleted, and remains in the past", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const own = await host({ ip_addresses: [{ ip_address: "10.2.3.4" }] });
    const entry = await newIfEntry(own.id, { ip_address_id: own.ip_addresses[0].id });
    clock.advance(1_000);
    await expectOk(owner.put(`hosts/${own.id}`, { ...own, ip_addresses: [] }));
    expect(writtenIn()).toEqual({ "Deleted ip_address": 1, "Updated if_entry": 1, "Updated host": 1 });
    const current = await get(entry.id);
    expect(current).not.toHaveProperty("ip_address_id");
    expect(await get(entry.id, entry.valid_from)).toEqual({ ...entry, valid_to: current.valid_from });
  });
});

describe("the interface entries of a host", () => {
  test("are at most 10,000, even when added one by one", async () => {
    const { id: host_id } = await host({
      interfaces: Array.from({ length: 10_000 }, (_, n) => ({ if_index: n + 1, if_descr: "" })),
    });
    const expectNothingWritten = watchWrites();
    const post = () => owner.post(PATH, { host_id, if_index: 20_000, if_descr: "one more" });
    expect(await post()).toMatchObject(invalid({ path: "/host_id", value: host_id }));
    expectNothingWritten();
    await expectOk(owner.delete(`${PATH}/${(await owner.get(`${PATH}?host_id=${host_id}&limit=1`)).data[0].id}`));
    expect(await expectOk(post())).toMatchObject({ if_index: 20_000 });
  });
});

describe("a neighbor", () => {
  test.each<[string, (far: JsonRecord, port: JsonRecord) => string]>([
    ["the neighbor interface", (_far, port) => `${PATH}/${port.id}`],
    ["the neighbor interface's host", (far) => `/api/v1/hosts/${far.id}`],
  ])("is cleared when %s is deleted, on one end and on both, and remains in the past", async (_case, path) => {
    const [near, far] = [await host(), await host()];
    const port = await newIfEntry(far.id);
    const entry = await newIfEntry(near.id, { neighbor: { type: "IfEntry", id: port.id } });
    const second = await newIfEntry(near.id, { neighbor: { type: "IfEntry", id: port.id } });
    const otherEntry = await newIfEntry(near.id, { neighbor: { type: "Host", id: near.id } });
    await expectOk(put(port, { neighbor: { type: "IfEntry", id: entry.id } }));
    const at = instant();
    expect((await owner.delete(path(far, port))).status).toBe(200);
    const { "Updated host": hostVersions, ...rest } = writtenIn();
    expect(rest).toMatchObject({ "Updated if_entry": 2, "Deleted if_entry": 1 });
    expect(hostVersions).toBe(path(far, port).startsWith(PATH) ? 2 : 1);
    for (const referrer of [entry, second]) {
      const current = await get(referrer.id);
      expect(current).not.toHaveProperty("neighbor");
      expect(versionsOf(referrer.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["neighbor"] });
      expect(await get(referrer.id, at)).toEqual({ ...referrer, valid_to: current.valid_from });
    }
    expect(await get(otherEntry.id)).toEqual(otherEntry);
    const past = await owner.get(`${PATH}?at=${at}&host_id=${far.id}`);
    expect(past.data).toMatchObject([{ id: port.id, neighbor: { type: "IfEntry", id: entry.id } }]);
  });

  test("is cleared if it is a deleted host", async () => {
    const [near, far] = [await host(), await host()];
    const entry = await newIfEntry(near.id, { neighbor: { type: "Host", id: far.id } });
    await expectOk(owner.delete(`hosts/${far.id}`));
    expect(writtenIn()).toEqual({ "Deleted host": 1, "Updated if_entry": 1, "Updated host": 1 });
    expect(await get(entry.id)).not.toHaveProperty("neighbor");
  });

  test("can be deleted with the interface that names it, in one transaction with one version per host", async () => {
    const [near, far] = [await host(), await host()];
    const port = await newIfEntry(far.id);
    const entry = await newIfEntry(near.id, {
      neighbor: { type: "IfEntry", id: port.id },
      fdb_macs: ["00:00:5e:00:53:01"],
    });
    await expectOk(put(port, { neighbor: { type: "IfEntry", id: entry.id } }));
    const second = await newIfEntry(near.id, { neighbor: { type: "IfEntry", id: port.id } });
    const closed = await expectOk(owner.post(`${PATH}/bulk-delete`, [entry.id, port.id]));
    expect(writtenIn()).toEqual({
      "Deleted if_entry": 2,
      "Deleted fdb_entry": 1,
      "Updated if_entry": 1,
      "Updated host": 2,
    });
    expect(closed).toMatchObject([
      { id: port.id, neighbor: { id: entry.id } },
      { id: entry.id, neighbor: { id: port.id }, fdb_macs: ["00:00:5e:00:53:01"] },
    ]);
    expect(await get(second.id)).not.toHaveProperty("neighbor");
  });

  test("may be the interface itself (a loop) or its own host, and blocks neither's deletion", async () => {
    const device = await host();
    const loop = await newIfEntry(device.id);
    expect(await expectOk(put(loop, { neighbor: { type: "IfEntry", id: loop.id } }))).toMatchObject({
      neighbor: { type: "IfEntry", id: loop.id },
    });
    await expectOk(owner.delete(`${PATH}/${loop.id}`));
    expect(writtenIn()).toEqual({ "Deleted if_entry": 1, "Updated host": 1 });
    await newIfEntry(device.id, { neighbor: { type: "Host", id: device.id } });
    await expectOk(owner.delete(`hosts/${device.id}`));
    expect(writtenIn()).toEqual({ "Deleted host": 1, "Deleted if_entry": 1 });
  });

  test("can move to another far end, and the first can then be deleted", async () => {
    const [near, far, next] = [await host(), await host(), await host()];
    const entry = await newIfEntry(near.id, { neighbor: { type: "Host", id: far.id } });
    await expectOk(put(entry, { neighbor: { type: "Host", id: next.id } }));
    await expectOk(owner.delete(`hosts/${far.id}`));
    expect(writtenIn()).toEqual({ "Deleted host": 1 });
    expect(await get(entry.id)).toMatchObject({ neighbor: { type: "Host", id: next.id } });
  });
});

describe("the MAC addresses behind an interface", () => {
  const mac = (number: number) =>
    `02:00:00:00:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 255).toString(16).padStart(2, "0")}`;
  const macs = (from: number, to: number) => Array.from({ length: to - from }, (_, position) => mac(from + position));

  test("are listed in order, each once, and an update writes only additions and removals", async () => {
    const device = await host();
    const entry = await newIfEntry(device.id, { fdb_macs: [...macs(0, 1_000).reverse(), mac(7)] });
    expect(entry.fdb_macs).toEqual(macs(0, 1_000));
    expect(writtenIn()).toEqual({ "Created if_entry": 1, "Created fdb_entry": 1_000, "Updated host": 1 });
    const expectNothingWritten = watchWrites();
    for (const same of [macs(0, 1_000).reverse(), [...macs(0, 1_000), mac(3)]])
      expect(await expectOk(put(entry, { fdb_macs: same }))).toEqual(entry);
    expectNothingWritten();
    clock.advance(1_000);
    const changed = await expectOk(put(entry, { fdb_macs: macs(2, 1_001) }));
    expect(changed.fdb_macs).toEqual(macs(2, 1_001));
    expect(writtenIn()).toEqual({
      "Created fdb_entry": 1,
      "Deleted fdb_entry": 2,
      "Updated if_entry": 1,
      "Updated host": 1,
    });
    expect(versionsOf(entry.id).at(-1)).toMatchObject({ changed: ["fdb_macs"] });
    expect(versionsOf(device.id).at(-1)).toMatchObject({ changed: ["interfaces"] });
  });

  test("are as of the requested timestamp, for one entry, in a page, in a stream and in the response to a DELETE", async () => {
    const device = await host();
    const [entry, bare] = [await newIfEntry(device.id, { fdb_macs: macs(0, 3) }), await newIfEntry(device.id)];
    const states: Array<[string, string[] | undefined]> = [[entry.valid_from, macs(0, 3)]];
    for (const next of [macs(2, 5), [], macs(0, 1), null, macs(0, 3)]) {
      clock.advance(1_000);
      const written = await expectOk(put(entry, { fdb_macs: next }));
      states.push([written.valid_from, next === null || next.length === 0 ? undefined : next]);
      expect(written.fdb_macs).toEqual(states.at(-1)?.[1]);
    }
    const rebuilt = await owner.get(`${PATH}?host_id=${device.id}`);
    expect(rebuilt.data.map((entry: JsonRecord) => entry.fdb_macs)).toEqual([macs(0, 3), undefined]);
    clock.advance(1_000);
    const closed = await expectOk(owner.delete(`${PATH}/${entry.id}`));
    expect(closed.fdb_macs).toEqual(macs(0, 3));
    expect(writtenIn()).toEqual({ "Deleted if_entry": 1, "Deleted fdb_entry": 3, "Updated host": 1 });
    clock.advance(1_000);
    for (const [at, expected] of states) {
      for (const query of [
        `at=${at}`,
        `at=${at}&limit=0`,
        `at=${at}&limit=1`,
        `at=${at}&ids=${entry.id}`,
        `at=${at}&host_id=${device.id}`,
      ]) {
        const [item] = (await owner.get(`${PATH}?${query}`)).data;
        expect([query, item.id, item.fdb_macs]).toEqual([query, entry.id, expected]);
        expect(Object.hasOwn(item, "fdb_macs")).toBe(expected !== undefined);
      }
      expect((await get(entry.id, at)).fdb_macs).toEqual(expected);
    }
    expect((await owner.get(PATH)).data).toEqual([bare]);
  });

  test("may be behind several interfaces at once, each with its own entry", async () => {
    const device = await host();
    const entries = [
      await newIfEntry(device.id, { fdb_macs: [mac(1), mac(2)] }),
      await newIfEntry(device.id, { fdb_macs: [mac(2)] }),
    ];
    expect((await owner.get(PATH)).data).toEqual(entries);
    await expectOk(put(entries[0] as JsonRecord, { fdb_macs: [] }));
    expect((await get((entries[1] as JsonRecord).id)).fdb_macs).toEqual([mac(2)]);
  });

  test("are at most 50,000, and that many are accepted", async () => {
    const entry = await newIfEntry((await host()).id);
    expect((await expectOk(put(entry, { fdb_macs: macs(0, 50_000) }))).fdb_macs).toEqual(macs(0, 50_000));
    expect(await put(entry, { fdb_macs: macs(0, 50_001) })).toMatchObject(invalid({ path: "/fdb_macs" }));
  });
});

describe("the filters of the list", () => {
  /** A past value with start and end. */
  interface Lifetime {
    readonly id: string;
    readonly host: string;
    readonly network: string;
    readonly createdAt: string;
    deletedAt: string | null;
  }

  test("combine at every timestamp, for every caller, within their reach", async () => {
    const second = await newNetwork();
    const networkIds = [networkId, networkId, second.id, second.id];
    const hosts: JsonRecord[] = [];
    for (const network of networkIds) hosts.push(await host({ network_id: network }));
    const lifetimes: Lifetime[] = [];
    const instants: string[] = [];
    const tick = () => {
      instants.push(instant());
    };
    const add = async (index: number) => {
      const entry = await newIfEntry(hosts[index]?.id);
      lifetimes.push({
        id: entry.id,
        host: entry.host_id,
        network: entry.network_id,
        createdAt: entry.created_at,
        deletedAt: null,
      });
    };
    const remove = async (path: string, isDeleted: (entry: Lifetime) => boolean) => {
      const closed = await expectOk(owner.delete(path));
      for (const entry of lifetimes)
        if (entry.deletedAt === null && isDeleted(entry)) entry.deletedAt = closed.valid_to;
    };
    tick();
    for (const index of [0, 1, 2, 3, 0, 2]) await add(index);
    tick();
    await remove(`${PATH}/${lifetimes[0]?.id}`, (entry) => entry === lifetimes[0]);
    await add(0);
    tick();
    await remove(`hosts/${hosts[2]?.id}`, (entry) => entry.host === hosts[2]?.id);
    await remove(`${PATH}/${lifetimes[3]?.id}`, (entry) => entry === lifetimes[3]);
    await add(3);
    tick();

    const callers: Array<[string, Client, (entry: Lifetime) => boolean]> = [
      ["owner", owner, () => true],
      ["first", (await newViewer()).client, (entry) => entry.network === networkId],
      [
        "second",
        (await newUser({ role: "Member", networkIds: [second.id] })).client,
        (entry) => entry.network === second.id,
      ],
      ["nowhere", (await newUser({ role: "Member" })).client, () => false],
    ];
    const allIds = lifetimes.map((entry) => entry.id);
    const idLists: Array<readonly string[] | undefined> = [
      undefined,
      [],
      allIds,
      [...allIds.filter((_, position) => position % 3 === 0), UNKNOWN_ID],
    ];
    for (const at of [
      undefined,
      ...instants,
      ...lifetimes.map((entry) => entry.createdAt),
      ...lifetimes.flatMap((entry) => entry.deletedAt ?? []),
    ]) {
      const existing = lifetimes.filter((entry) =>
        at === undefined
          ? entry.deletedAt === null
          : entry.createdAt <= at && (entry.deletedAt === null || at < entry.deletedAt),
      );
      for (const [name, client, isInReach] of callers) {
        for (const hostId of [undefined, hosts[0]?.id, hosts[2]?.id, UNKNOWN_ID] as const) {
          for (const network of [undefined, networkId, second.id] as const) {
            for (const ids of idLists) {
              const filters = [
                hostId && `host_id=${hostId}`,
                network && `network_id=${network}`,
                ids && `ids=${ids.join(",")}`,
                at && `at=${at}`,
              ].filter((part) => part !== undefined);
              const expected = existing
                .filter(
                  (entry) =>
                    isInReach(entry) &&
                    (hostId === undefined || entry.host === hostId) &&
                    (network === undefined || entry.network === network) &&
                    (ids === undefined || ids.includes(entry.id)),
                )
                .map((entry) => entry.id);
              const response = await client.get(`${PATH}?${filters.join("&")}`);
              expect([
                name,
                filters,
                response.data.map((entry: JsonRecord) => entry.id),
                response.body.meta.pagination.total_count,
              ]).toEqual([name, filters, expected, expected.length]);
              if (ids !== undefined && ids !== allIds) continue;
              const streamed = await client.get(`${PATH}?${[...filters, "limit=0", "offset=1"].join("&")}`);
              expect([name, filters, streamed.data, streamed.body.meta.pagination.total_count]).toEqual([
                name,
                filters,
                response.data.slice(1),
                expected.length,
              ]);
            }
          }
        }
      }
    }
  });
});
