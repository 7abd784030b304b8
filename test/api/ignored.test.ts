// Records that scans must not create again: ignored with or after their deletion, listed, removed, and ended by a
// restore.

import { describe, expect, test } from "bun:test";
import type { Author } from "../../src/db/writing/ledger.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ignoredIdentity, ignoredKind } from "../../src/resources/ignored/ignored.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { serviceKind } from "../../src/resources/services/service.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { revert, tally } from "../support/appliance/past.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { machineWith } from "../support/reconcile/machine.ts";
import {
  addressFields,
  hostFields,
  ifEntryFields,
  portFields,
  serviceFields,
  subnetFields,
} from "../support/store/store.ts";

const PATH = "discovery/ignored";
const SCAN = "01936f2e-0d5c-7d3a-9a3d-000000000001";
const DISCOVERED = { type: "Discovery" } as const;

// After any test, derived data matches the ledger, and the ledger verifies.
const appliance = applianceForEach({}, () => expect(findingsOf()).toEqual([]));
const { clock, first, owner } = appliance;
const { findingsOf, inTransaction, live, newApiKey, newHost, newIfEntry, newIgnored, newNetwork } = appliance;
const { newUser, tick, transactionCount, watchWrites, versionsOf, writtenIn } = appliance;
const { newMember } = appliance;

const ignored = async (query = ""): Promise<JsonRecord[]> =>
  (await expectOk(owner.get(`${PATH}?limit=1000&${query}`))) as JsonRecord[];
/** Deletes a record that scans must not create again. */
const remove = (path: string) => expectOk(owner.delete(`${path}${path.includes("?") ? "&" : "?"}ignore=true`));
/** @param record its path or, for POST, its kind and id */
const ignoreById = (entity: string, id: string | undefined, query = "") =>
  owner.post(`${PATH}${query}`, { entity, record_id: id });
const scan = (): Author => ({
  type: "Discovery",
  id: SCAN,
  name: "full scan",
  organizationId: first.organizationId,
  requestId: null,
});

interface Fixture {
  readonly networkId: string;
  readonly subnet: string;
  readonly vlan: string;
  readonly host: string;
  readonly addresses: readonly [string, string];
  readonly entries: readonly [string, string];
  readonly port: string;
  readonly service: string;
}

/** Records of a scan: a host with every child, in a subnet and with a VLAN that it found. */
function discovered(networkId = first.networkId): Fixture {
  const { organizationId } = first;
  const found = { first_discovery_id: SCAN };
  const seen = { observed: { last_discovery_id: SCAN, last_seen_at: "2026-11-21T09:00:00.000Z" } };
  return inTransaction((tx) => {
    const vlan = tx.create(vlanKind, organizationId, {
      network_id: networkId,
      number: 120,
      name: "Voice",
      description: null,
      source: DISCOVERED,
    });
    const subnet = tx.create(
      subnetKind,
      organizationId,
      subnetFields(networkId, "10.2.3.0/24", { source: { type: "Inferred" } }),
    );
    const host = tx.create(
      hostKind,
      organizationId,
      hostFields(networkId, "core-1", {
        source: DISCOVERED,
        sys_name: "Core-1",
        serial_number: "FOC1234",
        chassis_id: "00:1b:21:00:00:01",
      }),
      { observed: { last_seen_at: "2026-11-21T09:00:00.000Z" } },
    );
    const address = (ip: string, mac: string | null) =>
      tx.create(ipAddressKind, organizationId, addressFields(host, subnet.id, ip, { ...found, mac_address: mac }), seen)
        .id;
    const entry = (index: number, mac: string) =>
      tx.create(
        ifEntryKind,
        organizationId,
        ifEntryFields(host, index, { ...found, mac_address: mac, if_name: `Gi0/${index}` }),
        seen,
      ).id;
    return {
      networkId,
      vlan: vlan.id,
      subnet: subnet.id,
      host: host.id,
      addresses: [address("10.2.3.4", "00:1b:21:00:00:04"), address("10.2.3.5", null)],
      entries: [entry(1, "00:1b:21:00:00:02"), entry(2, "00:00:5e:00:01:07")],
      port: tx.create(portKind, organizationId, portFields(host, 22, found), seen).id,
      service: tx.create(
        serviceKind,
        organizationId,
        serviceFields(host, "OpenSSH", { ...found, source: DISCOVERED }),
        seen,
      ).id,
    };
  }, scan());
}

describe("deleting a record with ignore=true", () => {
  test("makes it ignored in the same transaction: a host with all its identifiers, and nothing for its parts", async () => {
    const fixture = discovered();
    tick();
    const closed = await remove(`hosts/${fixture.host}`);
    expect(writtenIn()).toEqual({
      "Deleted host": 1,
      "Deleted ip_address": 2,
      "Deleted if_entry": 2,
      "Deleted port": 1,
      "Deleted service": 1,
      "Created ignored": 1,
    });
    const [record, ...others] = await ignored();
    expect(others).toEqual([]);
    expect(record).toEqual({
      id: expect.any(String),
      network_id: fixture.networkId,
      entity: "host",
      record_id: fixture.host,
      host_id: null,
      identity: fixture.host,
      label: "core-1",
      // Not an address of a virtual router, which moves with its master.
      signs: [
        ..."serial:FOC1234 chassis:00:1b:21:00:00:01 name:core-1".split(" "),
        ..."mac:00:1b:21:00:00:02 mac:00:1b:21:00:00:04 ip:10.2.3.4 ip:10.2.3.5".split(" "),
      ],
      created_at: closed.valid_to,
      updated_at: closed.valid_to,
      valid_from: closed.valid_to,
      valid_to: null,
      lineage_id: null,
    });
    expect((await owner.get(`${PATH}/${record?.id}`)).data).toEqual(record);
    const history = (await owner.get(`${PATH}/${record?.id}/history`)).data;
    expect(history).toMatchObject([
      { operation: "Created", transaction: { actor: { type: "User", id: first.userId } } },
    ]);
  });

  test("makes each part ignored individually, with its host, matched by identity", async () => {
    const fixture = discovered();
    const expected: Array<[string, string, string, string, string]> = [
      [
        `ip-addresses/${fixture.addresses[0]}`,
        "ip_address",
        fixture.addresses[0],
        `${fixture.host}/10.2.3.4`,
        "10.2.3.4",
      ],
      [`if-entries/${fixture.entries[1]}`, "if_entry", fixture.entries[1], `${fixture.host}/2`, "Gi0/2"],
      [`ports/${fixture.port}`, "port", fixture.port, `${fixture.host}/22/Tcp`, "22/Tcp"],
      [
        `services/${fixture.service}`,
        "service",
        fixture.service,
        JSON.stringify([fixture.host, "ssh", "OpenSSH"]),
        "OpenSSH",
      ],
    ];
    for (const [path, entity, id, identity, label] of expected) {
      await remove(path);
      expect(writtenIn()).toMatchObject({ [`Deleted ${entity}`]: 1, "Created ignored": 1 });
      const [record] = await ignored(`entity=${entity}`);
      expect(record).toMatchObject({
        entity,
        record_id: id,
        host_id: fixture.host,
        network_id: fixture.networkId,
        identity,
        label,
        signs: entity === "if_entry" ? ["if_name:Gi0/2", "if_descr:eth2"] : [],
      });
      expect(
        inTransaction((tx) => tx.findByIdentity(ignoredKind, ignoredIdentity(entity as "port", identity))?.id),
      ).toBe(record?.id);
    }
    expect(inTransaction((tx) => tx.findByIdentity(ignoredKind, `if_entry/${fixture.host}/2`)?.record_id)).toBe(
      fixture.entries[1],
    );
    expect((await live("hosts", fixture.host)).name).toBe("core-1");
  });

  test("makes subnets and VLANs ignored, but not addresses deleted with a subnet", async () => {
    const fixture = discovered();
    await remove(`subnets/${fixture.subnet}?cascade=true`);
    expect(writtenIn()).toMatchObject({ "Deleted subnet": 1, "Deleted ip_address": 2, "Created ignored": 1 });
    await remove(`vlans/${fixture.vlan}`);
    expect(await ignored("order_by=label")).toMatchObject([
      {
        entity: "subnet",
        record_id: fixture.subnet,
        host_id: null,
        identity: `${fixture.networkId}/10.2.3.0/24`,
        label: "10.2.3.0/24",
        signs: [],
      },
      {
        entity: "vlan",
        record_id: fixture.vlan,
        host_id: null,
        identity: `${fixture.networkId}/120`,
        label: "120 Voice",
        signs: [],
      },
    ]);
  });

  test("makes every record of a bulk deletion ignored", async () => {
    const fixture = discovered();
    await newHost();
    const hosts = (await owner.get("hosts")).data.map((host: JsonRecord) => host.id);
    await expectOk(owner.post("if-entries/bulk-delete?ignore=true", fixture.entries));
    expect(writtenIn()).toEqual({ "Updated host": 1, "Deleted if_entry": 2, "Created ignored": 2 });
    await expectOk(owner.post("hosts/bulk-delete?ignore=true", hosts));
    // The host's ignored children are removed with it.
    expect(writtenIn()).toMatchObject({ "Deleted host": 2, "Deleted ignored": 2, "Created ignored": 2 });
    expect((await ignored()).map(({ entity, record_id }) => [entity, record_id])).toEqual(
      hosts.map((id: string) => ["host", id]),
    );
  });

  test("has the same effect by API key", async () => {
    const fixture = discovered();
    await expectOk(newApiKey().client.delete(`hosts/${fixture.host}?ignore=true`));
    expect(writtenIn()).toMatchObject({ "Created ignored": 1 });
  });

  test("ignores a manually entered host that no scan has seen yet", async () => {
    const host = await newHost({ name: "typed", serial_number: "S1" });
    await remove(`hosts/${host.id}`);
    expect(await ignored()).toMatchObject([{ record_id: host.id, label: "typed", signs: ["serial:S1"] }]);
  });

  test("is refused for kinds that scans do not create", async () => {
    const tag = await expectOk(owner.post("tags", { name: "a", color: "Red" }));
    expect(await owner.delete(`tags/${tag.id}?ignore=true`)).toMatchObject(refusal(400, "validation_failed"));
    expect(await owner.post("tags/bulk-delete?ignore=true", [tag.id])).toMatchObject(refusal(400, "validation_failed"));
  });

  test("is refused like the deletion itself, and then ignores nothing", async () => {
    const fixture = discovered();
    expect(await owner.delete(`subnets/${fixture.subnet}?ignore=true`)).toMatchObject(refusal(409, "entity_in_use"));
    expect(await owner.delete(`hosts/${fixture.host}?ignore=true`, { "if-match": '"1"' })).toMatchObject({
      status: 412,
    });
    expect(await ignored()).toEqual([]);
  });

  test("keeps one entry for a record deleted, re-entered, discovered and deleted again", async () => {
    const fixture = discovered();
    await remove(`if-entries/${fixture.entries[0]}`);
    const [first] = await ignored();
    const recreated = await newIfEntry(fixture.host, { if_index: 1, if_name: "uplink" });
    // Manual creation still works, and removes no entry.
    expect(await ignored()).toEqual([first as JsonRecord]);
    inTransaction((tx) => tx.update(ifEntryKind, recreated.id, { first_discovery_id: SCAN }), scan());
    tick();
    await remove(`if-entries/${recreated.id}`);
    expect(writtenIn()).toEqual({ "Updated host": 1, "Deleted if_entry": 1, "Updated ignored": 1 });
    expect(await ignored()).toMatchObject([{ id: first?.id, record_id: recreated.id, label: "uplink" }]);
  });
});

describe("POST of a kind and an id", () => {
  test("deletes a present record and ignores it, in one transaction", async () => {
    const fixture = discovered();
    const entry = await expectOk(ignoreById("host", fixture.host));
    expect(writtenIn()).toMatchObject({ "Deleted host": 1, "Created ignored": 1 });
    expect(entry).toMatchObject({ entity: "host", record_id: fixture.host, label: "core-1" });
    expect(await ignored()).toEqual([entry]);
  });

  test("deletes dependents only with cascade=true", async () => {
    const fixture = discovered();
    expect(await ignoreById("subnet", fixture.subnet)).toMatchObject(refusal(409, "entity_in_use"));
    await expectOk(ignoreById("subnet", fixture.subnet, "?cascade=true"));
    expect(writtenIn()).toMatchObject({ "Deleted subnet": 1, "Deleted ip_address": 2, "Created ignored": 1 });
  });

  test("ignores a deleted record with the identifiers of its last state, as if it had been ignored with its deletion", async () => {
    const [deleted, compared] = [discovered(), discovered((await newNetwork()).id)];
    await expectOk(owner.delete(`hosts/${deleted.host}`));
    tick();
    const entry = await expectOk(ignoreById("host", deleted.host));
    expect(writtenIn()).toEqual({ "Created ignored": 1 });
    await remove(`hosts/${compared.host}`);
    const [expected] = await ignored(`network_id=${compared.networkId}`);
    expect([entry.label, entry.signs, entry.identity]).toEqual([expected?.label, expected?.signs, deleted.host]);
    expect(entry.signs).toHaveLength(7);
  });

  test("ignores every kind of deleted record that scans create", async () => {
    const fixture = discovered();
    for (const [path, entity, id] of [
      ["if-entries", "if_entry", fixture.entries[0]],
      ["ip-addresses", "ip_address", fixture.addresses[0]],
      ["ports", "port", fixture.port],
      ["services", "service", fixture.service],
      ["vlans", "vlan", fixture.vlan],
    ] as const) {
      await expectOk(owner.delete(`${path}/${id}`));
      expect(await expectOk(ignoreById(entity, id))).toMatchObject({ entity, record_id: id });
      // A repetition changes nothing but the time.
      expect((await ignored(`entity=${entity}`)).map((entry) => entry.record_id)).toEqual([id]);
      await expectOk(ignoreById(entity, id));
      expect(await ignored(`entity=${entity}`)).toHaveLength(1);
    }
  });

  test("is refused if the record exists again, was of another kind, or has lost its host or network", async () => {
    const fixture = discovered();
    await expectOk(owner.delete(`if-entries/${fixture.entries[0]}`));
    const again = await newIfEntry(fixture.host, { if_index: 1 });
    expect(await ignoreById("if_entry", fixture.entries[0])).toMatchObject(
      refusal(409, "entity_already_exists", { value: again.id }),
    );
    const unknown = { entity: "port", field: "record_id" };
    expect(await ignoreById("port", fixture.entries[0])).toMatchObject(
      refusal(400, "entity_reference_invalid", unknown),
    );
    await expectOk(owner.delete(`ports/${fixture.port}`));
    await expectOk(owner.delete(`hosts/${fixture.host}`));
    expect(await ignoreById("port", fixture.port)).toMatchObject(refusal(400, "entity_reference_invalid", unknown));
    await expectOk(owner.delete(`networks/${fixture.networkId}?cascade=true`));
    expect(await ignoreById("host", fixture.host)).toMatchObject(refusal(400, "entity_reference_invalid"));
    expect(await owner.post(PATH, { entity: "tag", record_id: fixture.host })).toMatchObject(
      invalid({ path: "/entity", value: "tag" }),
    );
  });

  test("reveals and ignores nothing out of reach, present or deleted", async () => {
    const otherNetwork = await newNetwork();
    const [present, deleted] = [discovered(otherNetwork.id), discovered((await newNetwork()).id)];
    await expectOk(owner.delete(`hosts/${deleted.host}`));
    const { client } = await newMember();
    const viewer = (await newUser({ role: "Viewer", networkIds: [otherNetwork.id] })).client;
    const expectNothingWritten = watchWrites();
    for (const id of [present.host, deleted.host, "01936f2e-0d5c-7d3a-9a39-0000000000ff"])
      expect(await client.post(PATH, { entity: "host", record_id: id })).toMatchObject(
        refusal(400, "entity_reference_invalid", { ids: [id] }),
      );
    expect(await viewer.post(PATH, { entity: "host", record_id: present.host })).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Member" }),
    );
    expectNothingWritten();
  });
});

describe("no ignored entry is made", () => {
  test("by a deletion that does not ask for it, of one record or of many", async () => {
    const fixture = discovered();
    await expectOk(owner.delete(`if-entries/${fixture.entries[0]}`));
    await expectOk(owner.post("if-entries/bulk-delete", [fixture.entries[1]]));
    await expectOk(owner.delete(`subnets/${fixture.subnet}?cascade=true`));
    await expectOk(owner.delete(`vlans/${fixture.vlan}`));
    await expectOk(owner.delete(`hosts/${fixture.host}?ignore=false`));
    expect(await ignored()).toEqual([]);
  });

  test("by an update or a bulk update of a host that omits items", async () => {
    const fixture = discovered();
    const host = await live("hosts", fixture.host);
    tick();
    await expectOk(
      owner.put(
        `hosts/${fixture.host}`,
        hostBody(host, {
          ip_addresses: [{ ip_address: "10.2.3.5" }, { ip_address: "10.2.3.99" }],
          ports: [],
          services: [],
        }),
      ),
    );
    expect(writtenIn()).toEqual({
      "Updated host": 1,
      "Deleted ip_address": 1,
      "Created ip_address": 1,
      "Deleted port": 1,
      "Deleted service": 1,
    });
    await expectOk(
      owner.post("hosts/bulk", [{ id: fixture.host, name: "core-1", interfaces: [{ if_index: 1, if_descr: "eth1" }] }]),
    );
    expect(writtenIn()).toEqual({ "Updated host": 1, "Deleted if_entry": 1 });
    expect(await ignored()).toEqual([]);
  });

  test("when discovery or the appliance deletes it", async () => {
    const fixture = discovered();
    inTransaction((tx) => removeRecord(tx, ifEntryKind, fixture.entries[0], true), scan());
    inTransaction((tx) => removeRecord(tx, hostKind, fixture.host, true));
    expect(await ignored()).toEqual([]);
  });

  test("when a whole network is deleted, which also deletes its ignored entries", async () => {
    const network = await newNetwork();
    const fixture = discovered(network.id);
    await remove(`if-entries/${fixture.entries[0]}`);
    await remove(`vlans/${fixture.vlan}`);
    // Ignored records do not prevent deletions.
    expect(await owner.delete(`networks/${network.id}`)).toMatchObject({
      status: 409,
      body: { params: { dependants: { subnets: 1, hosts: 1 } } },
    });
    await expectOk(owner.delete(`networks/${network.id}?cascade=true`));
    const written = writtenIn();
    expect(written).toMatchObject({
      "Deleted network": 1,
      "Deleted host": 1,
      "Deleted subnet": 1,
      "Deleted ignored": 2,
    });
    expect(written).not.toHaveProperty(["Created ignored"]);
    expect(await ignored()).toEqual([]);
  });

  test("when self discovery started by a user removes a missing part", async () => {
    const machine = machineWith({ hostname: "noc-1", interfaces: [], addresses: [] });
    await appliance.renew({ machine });
    const body = { network_id: first.networkId };
    await expectOk(owner.post("discovery/self", body));
    machine.ports.length = 0;
    tick();
    await expectOk(owner.post("discovery/self", body));
    expect(writtenIn()).toMatchObject({ "Deleted port": 1 });
    expect(await ignored()).toEqual([]);
  });
});

describe("an ignored entry", () => {
  test("is listed by network, host and kind, in order, now and in the past, including as a table", async () => {
    const otherNetwork = await newNetwork();
    const fixture = discovered();
    const elsewhere = discovered(otherNetwork.id);
    for (const path of [
      `if-entries/${fixture.entries[0]}`,
      `if-entries/${fixture.entries[1]}`,
      `ports/${fixture.port}`,
      `vlans/${fixture.vlan}`,
      `ports/${elsewhere.port}`,
    ]) {
      tick();
      await remove(path);
    }
    tick();
    const at = clock.text();
    tick();
    const records = await ignored();
    expect(records.map((entry) => entry.label)).toEqual(["Gi0/1", "Gi0/2", "22/Tcp", "120 Voice", "22/Tcp"]);
    await expectOk(owner.delete(`${PATH}/${records[0]?.id}`));
    const labels = async (query: string) => {
      const found = await ignored(query);
      expect(csvRecords((await owner.get(`${PATH}/export/csv?${query}`)).text).map((row) => row.id)).toEqual(
        found.map((entry) => entry.id),
      );
      return found.map((entry) => entry.label);
    };
    expect(await labels(`network_id=${otherNetwork.id}`)).toEqual(["22/Tcp"]);
    expect(await labels(`host_id=${fixture.host}`)).toEqual(["Gi0/2", "22/Tcp"]);
    expect(await labels(`host_id=${fixture.host}&at=${at}&order_by=label&order_direction=desc`)).toEqual([
      "Gi0/2",
      "Gi0/1",
      "22/Tcp",
    ]);
    expect(await labels("entity=if_entry")).toEqual(["Gi0/2"]);
    expect(await labels(`entity=if_entry&at=${at}`)).toEqual(["Gi0/1", "Gi0/2"]);
    expect(await labels(`entity=port&network_id=${fixture.networkId}`)).toEqual(["22/Tcp"]);
    expect(await labels("group_by=entity&order_by=label")).toEqual(["Gi0/2", "22/Tcp", "22/Tcp", "120 Voice"]);
    expect(await labels(`ids=${records[3]?.id}`)).toEqual(["120 Voice"]);
    expect(await owner.get(`${PATH}?entity=network`)).toMatchObject(invalid({ path: "/entity", value: "network" }));
    const table = csvRecords((await owner.get(`${PATH}/export/csv?host_id=${fixture.host}`)).text);
    expect(table[0]).toMatchObject({ host_name: "core-1", entity: "if_entry", label: "Gi0/2" });
  });

  test("is removed by a Member or above, singly or in bulk, in a transaction that can be read and undone", async () => {
    const fixture = discovered();
    for (const id of fixture.entries) await remove(`if-entries/${id}`);
    await remove(`ports/${fixture.port}`);
    const [first, second, third] = (await ignored()) as [JsonRecord, JsonRecord, JsonRecord];
    const networkIds = [fixture.networkId];
    const viewer = (await newUser({ role: "Viewer", networkIds })).client;
    const member = (await newUser({ role: "Member", networkIds })).client;
    const expectNothingWritten = watchWrites();
    expect(await viewer.delete(`${PATH}/${first.id}`)).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Member" }),
    );
    expect(await viewer.post(`${PATH}/bulk-delete`, [first.id])).toMatchObject({ status: 403 });
    expect(await member.delete(`${PATH}/${first.id}`, { "if-match": '"1"' })).toMatchObject({ status: 412 });
    expectNothingWritten();
    expect((await viewer.get(PATH)).data).toEqual([first, second, third]);
    const etag = (await member.get(`${PATH}/${first.id}`)).headers.get("etag") as string;
    tick();
    expect(await expectOk(member.delete(`${PATH}/${first.id}`, { "if-match": etag }))).toEqual({
      ...first,
      valid_to: clock.text(),
    });
    // Lifting creates nothing: the next scan does.
    expect(writtenIn()).toEqual({ "Deleted ignored": 1 });
    const liftSequence = transactionCount();
    expect(
      (await expectOk(member.post(`${PATH}/bulk-delete`, [third.id, second.id]))).map((entry: JsonRecord) => entry.id),
    ).toEqual([second.id, third.id]);
    expect(await ignored()).toEqual([]);
    expect(tally(await expectOk(revert(owner, liftSequence)))).toEqual({ "Create ignored": 1 });
    expect((await ignored()).map((entry) => entry.id)).toEqual([first.id]);
    tick();
    await expectOk(owner.delete(`${PATH}/${first.id}`));
    expect(tally(await expectOk(member.post(`${PATH}/${first.id}/restore`, { at: first.valid_from })))).toEqual({
      "Create ignored": 1,
    });
  });

  test("cannot be changed through the API", async () => {
    const record = newIgnored();
    expect(await owner.put(`${PATH}/${record.id}`, record)).toMatchObject(refusal(405, "method_not_allowed"));
  });

  test("is invisible to callers who do not reach its network", async () => {
    const otherNetwork = await newNetwork();
    const far = newIgnored({ network_id: otherNetwork.id, label: "far" });
    const near = newIgnored({ label: "near" });
    const { client } = await newMember();
    expect((await client.get(PATH)).data.map((entry: JsonRecord) => entry.id)).toEqual([near.id]);
    for (const response of [
      await client.get(`${PATH}/${far.id}`),
      await client.delete(`${PATH}/${far.id}`),
      await client.get(`${PATH}/${far.id}/history`),
    ])
      expect(response).toMatchObject(refusal(404, "entity_not_found", { entity: "ignored" }));
    expect(await client.post(`${PATH}/bulk-delete`, [near.id, far.id])).toMatchObject(
      refusal(400, "entity_reference_invalid", { entity: "ignored", ids: [far.id] }),
    );
  });

  test("has the previous entry as its lineage when re-created", async () => {
    const fixture = discovered();
    await remove(`ports/${fixture.port}`);
    const [first] = await ignored();
    await expectOk(owner.delete(`${PATH}/${first?.id}`));
    const port = inTransaction(
      (tx) =>
        tx.create(
          portKind,
          appliance.first.organizationId,
          portFields({ id: fixture.host, network_id: fixture.networkId }, 22, { first_discovery_id: SCAN }),
          { observed: { last_discovery_id: SCAN, last_seen_at: "2026-11-21T09:00:00.000Z" } },
        ).id,
      scan(),
    );
    await remove(`ports/${port}`);
    expect(await ignored()).toMatchObject([{ record_id: port, lineage_id: first?.id }]);
  });

  test("appears among changes, in diffs and in plans under its label", async () => {
    const fixture = discovered();
    tick();
    const at = clock.text();
    tick();
    await remove(`hosts/${fixture.host}`);
    expect((await owner.get("changes?types=ignored&limit=10")).data).toMatchObject([
      { entity_type: "ignored", operation: "Created", record: { label: "core-1" } },
    ]);
    expect((await owner.get(`diff?from=${at}&types=ignored`)).data.added).toMatchObject([
      { entity_type: "ignored", name: "core-1" },
    ]);
  });
});

describe("an ignored entry is removed", () => {
  const restore = (path: string, at: string, body: JsonRecord = {}) =>
    expectOk(owner.post(`${path}/restore`, { at, ...body }));

  test("by a restore of a deleted host", async () => {
    const fixture = discovered();
    tick();
    const at = clock.text();
    tick();
    await remove(`hosts/${fixture.host}`);
    const [record] = await ignored();
    tick();
    const plan = await restore(`hosts/${fixture.host}`, at, { dry_run: true });
    expect(plan.actions).toContainEqual({
      entity_type: "ignored",
      id: record?.id,
      name: "core-1",
      action: "Delete",
      fields: [],
      reason: "the ignored record is restored",
    });
    expect(await ignored()).toHaveLength(1);
    await restore(`hosts/${fixture.host}`, at);
    expect(writtenIn()).toEqual({
      "Created host": 1,
      "Created ip_address": 2,
      "Created if_entry": 2,
      "Created port": 1,
      "Created service": 1,
      "Deleted ignored": 1,
    });
    expect(await ignored()).toEqual([]);
  });

  test("by a restore of a part, of a subnet and of a VLAN", async () => {
    const fixture = discovered();
    tick();
    const at = clock.text();
    tick();
    for (const [path, query] of [
      [`if-entries/${fixture.entries[0]}`, ""],
      [`vlans/${fixture.vlan}`, ""],
      [`ports/${fixture.port}`, ""],
    ] as const) {
      await remove(`${path}${query}`);
      expect(await ignored()).toHaveLength(1);
      tick();
      await restore(path, at);
      expect(writtenIn()).toMatchObject({ "Deleted ignored": 1 });
      expect(await ignored()).toEqual([]);
      tick();
    }
  });

  test("by a restore of its host, which regains its ignored entries at that time", async () => {
    const fixture = discovered();
    await remove(`if-entries/${fixture.entries[0]}`);
    tick();
    const at = clock.text();
    tick();
    const [liftedEntry] = await ignored();
    await expectOk(owner.delete(`${PATH}/${liftedEntry?.id}`));
    await remove(`ports/${fixture.port}`);
    const plan = await restore(`hosts/${fixture.host}`, at);
    expect(tally(plan)).toMatchObject({ "Create port": 1, "Create ignored": 1, "Delete ignored": 1 });
    expect(await ignored()).toMatchObject([{ id: liftedEntry?.id, label: "Gi0/1" }]);
    // Also if the host was deleted with its ignored children.
    tick();
    await remove(`hosts/${fixture.host}`);
    expect(await ignored()).toMatchObject([{ entity: "host" }]);
    tick();
    await restore(`hosts/${fixture.host}`, at);
    expect(await ignored()).toMatchObject([{ id: liftedEntry?.id, entity: "if_entry", label: "Gi0/1" }]);
    expect((await live("hosts", fixture.host)).interfaces).toHaveLength(1);
  });

  test("by a revert of the deletion, even if already removed", async () => {
    const fixture = discovered();
    await remove(`hosts/${fixture.host}`);
    const deletion = transactionCount();
    expect(tally(await expectOk(revert(owner, deletion, { dry_run: true })))).toEqual({
      "Create host": 1,
      "Create ip_address": 2,
      "Create if_entry": 2,
      "Create port": 1,
      "Create service": 1,
      "Delete ignored": 1,
    });
    const [record] = await ignored();
    await expectOk(owner.delete(`${PATH}/${record?.id}`));
    const plan = await expectOk(revert(owner, deletion));
    expect(plan.actions.find((action: JsonRecord) => action.entity_type === "ignored")).toMatchObject({
      action: "Skip",
      reason: "it is already gone",
    });
    expect(await ignored()).toEqual([]);
  });

  test("by a revert, including one made by another deletion of the same record", async () => {
    const fixture = discovered();
    tick();
    await remove(`ports/${fixture.port}`);
    const [record] = await ignored();
    // As if deleted by other means: the reverted transaction contains no ignored records.
    const otherFixture = discovered((await newNetwork()).id);
    inTransaction((tx) => removeRecord(tx, portKind, otherFixture.port, true), scan());
    const removal = transactionCount();
    const otherEntry = newIgnored({
      network_id: otherFixture.networkId,
      entity: "port",
      record_id: otherFixture.port,
      host_id: otherFixture.host,
      identity: `${otherFixture.host}/22/Tcp`,
      label: "22/Tcp",
    });
    expect(tally(await expectOk(revert(owner, removal)))).toMatchObject({ "Create port": 1, "Delete ignored": 1 });
    expect((await ignored()).map((entry) => entry.id)).toEqual([record?.id]);
    expect(versionsOf(otherEntry.id).at(-1)).toMatchObject({ operation: "Deleted" });
  });

  test("when the creation of its host is undone, without blocking that", async () => {
    const { organizationId, networkId } = first;
    const host = inTransaction(
      (tx) => tx.create(hostKind, organizationId, hostFields(networkId, "h", { source: DISCOVERED })),
      scan(),
    );
    const creation = transactionCount();
    newIgnored({ entity: "port", host_id: host.id, identity: `${host.id}/22/Tcp`, label: "22/Tcp" });
    expect(tally(await expectOk(revert(owner, creation)))).toEqual({ "Delete host": 1, "Delete ignored": 1 });
    expect(await ignored()).toEqual([]);
  });
});
