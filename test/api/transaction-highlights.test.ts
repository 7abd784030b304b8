// include=highlights of /api/v1/transactions: changes in a transaction by name and with values, the others counted.

import { beforeEach, describe, expect, test } from "bun:test";
import { HIGHLIGHTS_MAX, VALUE_ITEMS_MAX, VALUE_TEXT_MAX } from "../../src/history/highlight-rows.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, owner } = appliance;
const { inTransaction, newHost, newIfEntry, newNetwork, newSubnet, newTag } = appliance;
const { newUser, newVlan, prune, tick, transactionCount } = appliance;

const STATION = "00:00:5e:00:53:01";

/** Highlights of the newest transaction; the list and the single transaction must agree. */
async function highlights(caller: Client = owner): Promise<{ changes: JsonRecord[]; rest: JsonRecord[] }> {
  const [listed = {}] = (await expectOk(
    caller.get("transactions?limit=1&include=highlights"),
  )) as unknown as JsonRecord[];
  const single = await expectOk(caller.get(`transactions/${listed.sequence}?include=highlights`));
  expect(single).toEqual(listed);
  // The overall changes are the same in both.
  const { changes } = await expectOk(caller.get(`transactions/${listed.sequence}`));
  expect(listed.changes).toEqual(changes);
  for (const [type] of Object.entries(changes as JsonRecord)) {
    const [narrowed] = (await expectOk(
      caller.get(`transactions?limit=1&include=highlights&types=${type}`),
    )) as unknown as JsonRecord[];
    if (narrowed?.sequence === listed.sequence) expect(narrowed?.changes).toEqual(changes);
  }
  return single.highlights;
}

const reference = ({ id, name }: JsonRecord) => ({ id, name });
const portReference = (entry: JsonRecord, host: JsonRecord) => ({
  id: entry.id,
  name: entry.if_descr,
  host: reference(host),
});

describe("the highlights of a transaction", () => {
  let host: JsonRecord;

  beforeEach(async () => {
    await newSubnet({ cidr: "10.0.0.0/8" });
    host = await newHost({ name: "access-4" });
    tick();
  });

  test("are returned on request only", async () => {
    const [listed] = (await expectOk(owner.get("transactions?limit=1"))) as unknown as JsonRecord[];
    expect(listed).not.toHaveProperty("highlights");
    expect(await owner.get("transactions?include=changes")).toMatchObject({ status: 400 });
    expect(await owner.get("transactions?filter=highlights:*")).toMatchObject({ status: 400 });
  });

  test("name a new host, and count its new parts", async () => {
    const created = await newHost({
      name: "web-1",
      ip_addresses: [{ ip_address: "10.0.0.1" }],
      ports: [{ number: 22, protocol: "Tcp" }],
    });
    expect(await highlights()).toEqual({
      changes: [{ type: "Created", entity_type: "host", id: created.id, name: "web-1", host: null, fields: [] }],
      rest: [
        { entity_type: "ip_address", operation: "Created", field: null, count: 1 },
        { entity_type: "port", operation: "Created", field: null, count: 1 },
      ],
    });
    await expectOk(owner.delete(`hosts/${created.id}`));
    const { changes, rest } = await highlights();
    expect(changes).toEqual([
      { type: "Deleted", entity_type: "host", id: created.id, name: "web-1", host: null, fields: [] },
    ]);
    expect(rest).toEqual([
      { entity_type: "ip_address", operation: "Deleted", field: null, count: 1 },
      { entity_type: "port", operation: "Deleted", field: null, count: 1 },
    ]);
  });

  test("name the host of a port that went down, with old and new state, and omit the host's own version", async () => {
    const entry = await newIfEntry(host.id, { oper_status: "Up" });
    tick();
    inTransaction((tx) => tx.update(ifEntryKind, entry.id, { oper_status: "Down", if_alias: "x".repeat(500) }));
    const { changes, rest } = await highlights();
    expect(changes).toEqual([
      {
        type: "Updated",
        entity_type: "if_entry",
        id: entry.id,
        name: entry.if_descr,
        host: reference(host),
        fields: [
          { field: "oper_status", from: "Up", to: "Down" },
          { field: "if_alias", from: null, to: "x".repeat(VALUE_TEXT_MAX) },
        ],
      },
    ]);
    expect(rest).toEqual([]);
  });

  test("name a field's references, before and after", async () => {
    const [staff, voice] = [await newVlan({ number: 20, name: "Staff" }), await newVlan({ number: 40, name: "Voice" })];
    const entry = await newIfEntry(host.id, { native_vlan_id: staff.id });
    tick();
    const { id, host_id, if_index, if_descr } = entry;
    await expectOk(owner.put(`if-entries/${id}`, { id, host_id, if_index, if_descr, native_vlan_id: voice.id }));
    expect((await highlights()).changes[0]?.fields).toEqual([
      { field: "native_vlan_id", from: { id: staff.id, name: "20 Staff" }, to: { id: voice.id, name: "40 Voice" } },
    ]);
    const tag = await newTag({ name: "critical" });
    await expectOk(owner.post("tags/assign/bulk-add", { entity_type: "host", entity_ids: [host.id], tag_id: tag.id }));
    expect((await highlights()).changes[0]?.fields).toEqual([
      { field: "tags", from: [], to: [{ id: tag.id, name: "critical" }] },
    ]);
  });

  test("name a field with too many values to show", async () => {
    const numbers = Array.from({ length: VALUE_ITEMS_MAX + 1 }, (_, index) => 100 + index);
    const vlans: JsonRecord[] = [];
    for (const number of numbers) vlans.push(await newVlan({ number, name: `v${number}` }));
    const entry = await newIfEntry(host.id);
    tick();
    inTransaction((tx) => tx.update(ifEntryKind, entry.id, { vlan_ids: vlans.map((vlan) => vlan.id) }));
    expect((await highlights()).changes[0]?.fields).toEqual([{ field: "vlan_ids" }]);
  });

  test("report a station moved between edge ports, with its host, but not an uplink's entries", async () => {
    const laptop = await newHost({ name: "laptop", ip_addresses: [{ ip_address: "10.0.0.9", mac_address: STATION }] });
    const other = await newHost({ name: "access-5" });
    const uplinkMacs = Array.from({ length: 9 }, (_, index) => `00:00:5e:00:53:1${index}`);
    const from = await newIfEntry(host.id, { fdb_macs: [STATION] });
    const to = await newIfEntry(other.id, { fdb_macs: [] });
    const uplink = await newIfEntry(other.id, { fdb_macs: [STATION, ...uplinkMacs] });
    const downlink = await newIfEntry(host.id, { fdb_macs: uplinkMacs });
    tick();
    const item = ({ if_index, if_descr }: JsonRecord, fdb_macs: readonly string[]) => ({
      if_index,
      if_descr,
      fdb_macs,
    });
    const hostItem = ({ id, name, network_id }: JsonRecord, interfaces: object[]) => ({
      id,
      name,
      network_id,
      interfaces,
    });
    await expectOk(
      owner.post("hosts/bulk", [
        hostItem(host, [item(from, []), item(downlink, [STATION, ...uplinkMacs])]),
        hostItem(other, [item(to, [STATION]), item(uplink, uplinkMacs)]),
      ]),
    );
    expect(await highlights()).toEqual({
      changes: [
        {
          type: "StationMoved",
          mac_address: STATION,
          station: reference(laptop),
          from: portReference(from, host),
          to: portReference(to, other),
        },
      ],
      rest: [{ entity_type: "if_entry", operation: "Updated", field: "fdb_macs", count: 4 }],
    });
    const hostTransactions = await expectOk(owner.get(`transactions?limit=1&include=highlights&host_id=${other.id}`));
    expect(hostTransactions[0].highlights.changes).toHaveLength(1);
    const uplinkTransactions = await expectOk(owner.get(`transactions?limit=1&include=highlights&id=${uplink.id}`));
    expect(uplinkTransactions[0].highlights.changes).toEqual([]);
  });

  test("report an address moved between hosts as one event", async () => {
    const [old, created] = [
      await newHost({ name: "old", ip_addresses: [{ ip_address: "10.0.0.7" }] }),
      await newHost({ name: "fresh" }),
    ];
    tick();
    const address = { ip_address: "10.0.0.7" };
    await expectOk(
      owner.post("hosts/bulk", [
        { id: old.id, name: "old", network_id: first.networkId, ip_addresses: [] },
        { id: created.id, name: "fresh", network_id: first.networkId, ip_addresses: [address] },
      ]),
    );
    const { changes, rest } = await highlights();
    expect(changes).toEqual([
      { type: "AddressMoved", id: expect.any(String), ...address, from: reference(old), to: reference(created) },
    ]);
    expect(changes[0]?.id).toBe((await expectOk(owner.get(`hosts/${created.id}`))).ip_addresses[0].id);
    expect(rest).toEqual([]);
  });

  test("are the most significant of many, in order, and counts of the others by their most significant field", async () => {
    const entries: JsonRecord[] = [];
    for (let index = 0; index < HIGHLIGHTS_MAX + 3; index += 1) entries.push(await newIfEntry(host.id));
    const uplink = await newIfEntry(host.id, { neighbor: { type: "Host", id: (await newHost({ name: "core" })).id } });
    tick();
    inTransaction((tx) => {
      tx.update(hostKind, host.id, { sys_descr: "another system" });
      for (const { id } of entries) tx.update(ifEntryKind, id, { oper_status: "Down", lldp_sys_desc: "x" });
      tx.update(ifEntryKind, uplink.id, { oper_status: "Down" });
    });
    const { changes, rest } = await highlights();
    expect(changes.map(({ id }) => id)).toEqual(
      [uplink, ...entries].slice(0, HIGHLIGHTS_MAX).map(({ id }) => id as string),
    );
    expect(rest).toEqual([
      { entity_type: "host", operation: "Updated", field: "sys_descr", count: 1 },
      { entity_type: "if_entry", operation: "Updated", field: "oper_status", count: 4 },
    ]);
  });

  test("reveal nothing of networks out of reach, neither by name nor by count", async () => {
    const otherNetwork = await newNetwork({ name: "there" });
    const { client } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
    const hiddenHost = await newHost({ name: "beyond", network_id: otherNetwork.id });
    tick();
    inTransaction((tx) => {
      tx.update(hostKind, host.id, { sys_name: "here" });
      tx.update(hostKind, hiddenHost.id, { sys_name: "there" });
    });
    expect((await highlights()).changes.map(({ name }) => name)).toEqual(["access-4", "beyond"]);
    const visible = await highlights(client);
    expect(visible.changes.map(({ name }) => name)).toEqual(["access-4"]);
    expect(visible.rest).toEqual([]);
  });

  test("are limited to the list's filters", async () => {
    const entry = await newIfEntry(host.id, { oper_status: "Up" });
    const otherHost = await newHost({ name: "web-1" });
    tick();
    inTransaction((tx) => {
      tx.update(hostKind, host.id, { sys_name: "a" });
      tx.update(hostKind, otherHost.id, { sys_name: "b" });
      tx.update(ifEntryKind, entry.id, { oper_status: "Down" });
    });
    const filtered = async (query: string) => {
      const [listed = {}] = (await expectOk(
        owner.get(`transactions?limit=1&include=highlights&${query}`),
      )) as unknown as JsonRecord[];
      return [listed.highlights.changes.map(({ id }: JsonRecord) => id), listed.changes];
    };
    const totals = { host: { Updated: 2 }, if_entry: { Updated: 1 } };
    expect(await filtered("")).toEqual([[entry.id, host.id, otherHost.id], totals]);
    expect(await filtered(`host_id=${host.id}`)).toEqual([[entry.id, host.id], totals]);
    expect(await filtered(`id=${otherHost.id}`)).toEqual([[otherHost.id], totals]);
    expect(await filtered("types=if_entry")).toEqual([[entry.id], totals]);
  });

  test("omit former values dropped by thinning", async () => {
    for (const sys_name of ["a", "b", "c"]) {
      tick();
      inTransaction((tx) => tx.update(hostKind, host.id, { sys_name }));
    }
    const lastSequence = transactionCount();
    tick();
    prune(appliance.clock.now(), "none");
    const single = await expectOk(owner.get(`transactions/${lastSequence}?include=highlights`));
    expect(single.highlights.changes[0]?.fields).toEqual([{ field: "sys_name", to: "c" }]);
  });
});
