// include=highlights of /api/v1/transactions: changes of a transaction by name and with values, the rest counted.

import { beforeEach, describe, expect, test } from "bun:test";
import { HIGHLIGHTS_MAX, VALUE_ITEMS_MAX, VALUE_TEXT_MAX } from "../../src/history/highlight-rows.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, type Wire } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, owner } = appliance;
const { inTransaction, newHost, newIfEntry, newNetwork, newSubnet, newTag } = appliance;
const { newUser, newVlan, pruned, tick, transactionCount } = appliance;

const STATION = "00:00:5e:00:53:01";

/** Of the newest transaction; the list and the single transaction must agree. */
async function highlights(caller: Client = owner): Promise<{ changes: Wire[]; rest: Wire[] }> {
  const [listed = {}] = (await made(caller.get("transactions?limit=1&include=highlights"))) as unknown as Wire[];
  const alone = await made(caller.get(`transactions/${listed.sequence}?include=highlights`));
  expect(alone).toEqual(listed);
  // The overall changes are the same in both.
  const { changes } = await made(caller.get(`transactions/${listed.sequence}`));
  expect(listed.changes).toEqual(changes);
  for (const [type] of Object.entries(changes as Wire)) {
    const [narrowed] = (await made(
      caller.get(`transactions?limit=1&include=highlights&types=${type}`),
    )) as unknown as Wire[];
    if (narrowed?.sequence === listed.sequence) expect(narrowed?.changes).toEqual(changes);
  }
  return alone.highlights;
}

const named = ({ id, name }: Wire) => ({ id, name });
const portNamed = (entry: Wire, host: Wire) => ({ id: entry.id, name: entry.if_descr, host: named(host) });

describe("the highlights of a transaction", () => {
  let host: Wire;

  beforeEach(async () => {
    await newSubnet({ cidr: "10.0.0.0/8" });
    host = await newHost({ name: "access-4" });
    tick();
  });

  test("are returned on request only", async () => {
    const [listed] = (await made(owner.get("transactions?limit=1"))) as unknown as Wire[];
    expect(listed).not.toHaveProperty("highlights");
    expect(await owner.get("transactions?include=changes")).toMatchObject({ status: 400 });
    expect(await owner.get("transactions?filter=highlights:*")).toMatchObject({ status: 400 });
  });

  test("name a new host, and count its new parts", async () => {
    const fresh = await newHost({
      name: "web-1",
      ip_addresses: [{ ip_address: "10.0.0.1" }],
      ports: [{ number: 22, protocol: "Tcp" }],
    });
    expect(await highlights()).toEqual({
      changes: [{ type: "Created", entity_type: "host", id: fresh.id, name: "web-1", host: null, fields: [] }],
      rest: [
        { entity_type: "ip_address", operation: "Created", field: null, count: 1 },
        { entity_type: "port", operation: "Created", field: null, count: 1 },
      ],
    });
    await made(owner.delete(`hosts/${fresh.id}`));
    const { changes, rest } = await highlights();
    expect(changes).toEqual([
      { type: "Deleted", entity_type: "host", id: fresh.id, name: "web-1", host: null, fields: [] },
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
        host: named(host),
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
    await made(owner.put(`if-entries/${id}`, { id, host_id, if_index, if_descr, native_vlan_id: voice.id }));
    expect((await highlights()).changes[0]?.fields).toEqual([
      { field: "native_vlan_id", from: { id: staff.id, name: "20 Staff" }, to: { id: voice.id, name: "40 Voice" } },
    ]);
    const tag = await newTag({ name: "critical" });
    await made(owner.post("tags/assign/bulk-add", { entity_type: "host", entity_ids: [host.id], tag_id: tag.id }));
    expect((await highlights()).changes[0]?.fields).toEqual([
      { field: "tags", from: [], to: [{ id: tag.id, name: "critical" }] },
    ]);
  });

  test("name a field with too many values to show", async () => {
    const numbers = Array.from({ length: VALUE_ITEMS_MAX + 1 }, (_, each) => 100 + each);
    const vlans: Wire[] = [];
    for (const number of numbers) vlans.push(await newVlan({ number, name: `v${number}` }));
    const entry = await newIfEntry(host.id);
    tick();
    inTransaction((tx) => tx.update(ifEntryKind, entry.id, { vlan_ids: vlans.map((vlan) => vlan.id) }));
    expect((await highlights()).changes[0]?.fields).toEqual([{ field: "vlan_ids" }]);
  });

  test("report a station moved between edge ports, with its host, but not an uplink's entries", async () => {
    const laptop = await newHost({ name: "laptop", ip_addresses: [{ ip_address: "10.0.0.9", mac_address: STATION }] });
    const other = await newHost({ name: "access-5" });
    const uplinkMacs = Array.from({ length: 9 }, (_, each) => `00:00:5e:00:53:1${each}`);
    const from = await newIfEntry(host.id, { fdb_macs: [STATION] });
    const to = await newIfEntry(other.id, { fdb_macs: [] });
    const uplink = await newIfEntry(other.id, { fdb_macs: [STATION, ...uplinkMacs] });
    const downlink = await newIfEntry(host.id, { fdb_macs: uplinkMacs });
    tick();
    const item = ({ if_index, if_descr }: Wire, fdb_macs: readonly string[]) => ({ if_index, if_descr, fdb_macs });
    const written = ({ id, name, network_id }: Wire, interfaces: object[]) => ({ id, name, network_id, interfaces });
    await made(
      owner.post("hosts/bulk", [
        written(host, [item(from, []), item(downlink, [STATION, ...uplinkMacs])]),
        written(other, [item(to, [STATION]), item(uplink, uplinkMacs)]),
      ]),
    );
    expect(await highlights()).toEqual({
      changes: [
        {
          type: "StationMoved",
          mac_address: STATION,
          station: named(laptop),
          from: portNamed(from, host),
          to: portNamed(to, other),
        },
      ],
      rest: [{ entity_type: "if_entry", operation: "Updated", field: "fdb_macs", count: 4 }],
    });
    const ofStation = await made(owner.get(`transactions?limit=1&include=highlights&host_id=${other.id}`));
    expect(ofStation[0].highlights.changes).toHaveLength(1);
    const ofUplink = await made(owner.get(`transactions?limit=1&include=highlights&id=${uplink.id}`));
    expect(ofUplink[0].highlights.changes).toEqual([]);
  });

  test("report an address moved between hosts as one event", async () => {
    const [old, fresh] = [
      await newHost({ name: "old", ip_addresses: [{ ip_address: "10.0.0.7" }] }),
      await newHost({ name: "fresh" }),
    ];
    tick();
    const address = { ip_address: "10.0.0.7" };
    await made(
      owner.post("hosts/bulk", [
        { id: old.id, name: "old", network_id: first.networkId, ip_addresses: [] },
        { id: fresh.id, name: "fresh", network_id: first.networkId, ip_addresses: [address] },
      ]),
    );
    const { changes, rest } = await highlights();
    expect(changes).toEqual([
      { type: "AddressMoved", id: expect.any(String), ...address, from: named(old), to: named(fresh) },
    ]);
    expect(changes[0]?.id).toBe((await made(owner.get(`hosts/${fresh.id}`))).ip_addresses[0].id);
    expect(rest).toEqual([]);
  });

  test("are the most significant of many, in order, and counts of the others by their most significant field", async () => {
    const entries: Wire[] = [];
    for (let each = 0; each < HIGHLIGHTS_MAX + 3; each += 1) entries.push(await newIfEntry(host.id));
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
    const there = await newNetwork({ name: "there" });
    const { client } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
    const beyond = await newHost({ name: "beyond", network_id: there.id });
    tick();
    inTransaction((tx) => {
      tx.update(hostKind, host.id, { sys_name: "here" });
      tx.update(hostKind, beyond.id, { sys_name: "there" });
    });
    expect((await highlights()).changes.map(({ name }) => name)).toEqual(["access-4", "beyond"]);
    const told = await highlights(client);
    expect(told.changes.map(({ name }) => name)).toEqual(["access-4"]);
    expect(told.rest).toEqual([]);
  });

  test("are limited to the list's filters", async () => {
    const entry = await newIfEntry(host.id, { oper_status: "Up" });
    const other = await newHost({ name: "web-1" });
    tick();
    inTransaction((tx) => {
      tx.update(hostKind, host.id, { sys_name: "a" });
      tx.update(hostKind, other.id, { sys_name: "b" });
      tx.update(ifEntryKind, entry.id, { oper_status: "Down" });
    });
    const told = async (query: string) => {
      const [listed = {}] = (await made(
        owner.get(`transactions?limit=1&include=highlights&${query}`),
      )) as unknown as Wire[];
      return [listed.highlights.changes.map(({ id }: Wire) => id), listed.changes];
    };
    const whole = { host: { Updated: 2 }, if_entry: { Updated: 1 } };
    expect(await told("")).toEqual([[entry.id, host.id, other.id], whole]);
    expect(await told(`host_id=${host.id}`)).toEqual([[entry.id, host.id], whole]);
    expect(await told(`id=${other.id}`)).toEqual([[other.id], whole]);
    expect(await told("types=if_entry")).toEqual([[entry.id], whole]);
  });

  test("omit former values dropped by thinning", async () => {
    for (const sys_name of ["a", "b", "c"]) {
      tick();
      inTransaction((tx) => tx.update(hostKind, host.id, { sys_name }));
    }
    const kept = transactionCount();
    tick();
    pruned(appliance.clock.now(), "none");
    const alone = await made(owner.get(`transactions/${kept}?include=highlights`));
    expect(alone.highlights.changes[0]?.fields).toEqual([{ field: "sys_name", to: "c" }]);
  });
});
