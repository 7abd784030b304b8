// History of records, transactions, and the head of the ledger.

import { describe, expect, test } from "bun:test";
import { RESOURCES } from "../../src/records/resources.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid, type JsonRecord, refusal, tcp } from "../support/appliance/factories.ts";
import { newRecordFixture, type RecordFixture } from "../support/contract/operations.ts";

const appliance = applianceForEach();
const { clock, first, newApiKey, newHost, newNetwork, newStranger, newSubnet, newTag, newUser, owner, tick } =
  appliance;

describe("the history of a record", () => {
  test("has every version, newest first, with operation, actor, transaction and request", async () => {
    const tag = (await owner.post("tags", { name: "a", color: "Green" }, { "x-request-id": "r1" })).data;
    tick();
    const { id: keyId, client } = newApiKey();
    const renamed = (await client.put(`tags/${tag.id}`, { name: "b", color: "Blue" }, { "x-request-id": "r2" })).data;
    tick();
    await owner.delete(`tags/${tag.id}`, { "x-request-id": "r3" });
    const { data, body } = await owner.get(`tags/${tag.id}/history`);
    expect(data.map((item: JsonRecord) => [item.operation, item.changed_fields, item.transaction.request_id])).toEqual([
      ["Deleted", [], "r3"],
      ["Updated", ["color", "name"], "r2"],
      ["Created", [], "r1"],
    ]);
    const [deletion, change, creation] = data as JsonRecord[];
    expect(creation?.record).toEqual({ ...tag, valid_to: renamed.valid_from });
    expect(change?.record).toEqual({ ...renamed, valid_to: deletion?.transaction.at });
    expect(deletion?.record).toEqual(change?.record);
    expect(change?.transaction).toMatchObject({ at: renamed.valid_from, actor: { type: "ApiKey", id: keyId } });
    expect(creation?.transaction.actor).toMatchObject({ type: "User", id: first.userId });
    expect(body.meta.pagination).toEqual({ total_count: 3, limit: 50, offset: 0, has_more: false });
  });

  test("names the actor even after deletion", async () => {
    const user = await newUser({ role: "Admin" });
    const { name } = (await owner.get(`users/${user.id}`)).data;
    const tag = (await user.client.post("tags", { name: "a", color: "Green" })).data;
    await owner.delete(`users/${user.id}`);
    const { data } = await owner.get(`tags/${tag.id}/history`);
    expect(data[0].transaction.actor).toEqual({ type: "User", id: user.id, name });
  });

  test("is paged, streamed and read as of a timestamp like any list", async () => {
    const tag = await newTag({ name: "n0" });
    for (let index = 1; index <= 5; index += 1) {
      tick();
      await owner.put(`tags/${tag.id}`, { name: `n${index}`, color: "Green" });
    }
    const path = `tags/${tag.id}/history`;
    const names = (response: { data: JsonRecord[] }) => response.data.map((version) => version.record.name);
    const all = await owner.get(`${path}?limit=0`);
    expect(names(all)).toEqual(["n5", "n4", "n3", "n2", "n1", "n0"]);
    expect(all.body.meta.pagination).toEqual({ total_count: 6, limit: 0, offset: 0, has_more: false });
    const page = await owner.get(`${path}?limit=2&offset=1`);
    expect(names(page)).toEqual(["n4", "n3"]);
    expect(page.body.meta.pagination).toEqual({ total_count: 6, limit: 2, offset: 1, has_more: true });
    expect(names(await owner.get(`${path}?offset=6`))).toEqual([]);
    const at = all.data[2].transaction.at;
    const past = await owner.get(`${path}?at=${at}`);
    expect(names(past)).toEqual(["n3", "n2", "n1", "n0"]);
    expect(past.body.meta).toMatchObject({ at, pagination: { total_count: 4 } });
    expect((await owner.get(`${path}?at=2001-01-01T00:00:00Z`)).body).toMatchObject({
      data: [],
      meta: { pagination: { total_count: 0 } },
    });
  });

  test("has hosts with their children at that time, or without them", async () => {
    const host = await newHost({ name: "h", ports: [tcp(22)] });
    tick();
    await owner.put(`hosts/${host.id}`, { id: host.id, name: "h", hidden: false, tags: [], ports: [tcp(80)] });
    const { data } = await owner.get(`hosts/${host.id}/history`);
    expect(
      data.map((item: JsonRecord) => [item.changed_fields, item.record.ports.map((port: JsonRecord) => port.number)]),
    ).toEqual([
      [["ports"], [80]],
      [[], [22]],
    ]);
    for (const version of data)
      expect((await owner.get(`hosts/${host.id}?at=${version.transaction.at}`)).data).toEqual(version.record);
    const withoutChildren = (await owner.get(`hosts/${host.id}/history?include_children=false`)).data[0].record;
    for (const field of ["interfaces", "ip_addresses", "ports", "services"])
      expect(withoutChildren).not.toHaveProperty(field);
  });

  test("is 404 if the record is out of reach, and under another kind's path", async () => {
    const otherNetwork = await newNetwork({ name: "Other" });
    const subnet = await newSubnet({ cidr: "10.0.0.0/8" });
    const member = await newUser({ role: "Member", networkIds: [otherNetwork.id] });
    const { client: foreign } = await newStranger();
    for (const [caller, path] of [
      [member.client, `subnets/${subnet.id}`],
      [foreign, `subnets/${subnet.id}`],
      [owner, `vlans/${subnet.id}`],
      [owner, "subnets/01936f2e-0d5c-7d3a-9a39-00000000dead"],
    ] as const) {
      expect(await caller.get(`${path}/history`)).toMatchObject(refusal(404, "entity_not_found"));
    }
    await owner.delete(`subnets/${subnet.id}`);
    expect(await member.client.get(`subnets/${subnet.id}/history`)).toMatchObject({ status: 404 });
    expect((await owner.get(`subnets/${subnet.id}/history`)).data).toHaveLength(2);
  });

  test("is visible for an API key to its user and to Admins, by session", async () => {
    const member = await newUser({ role: "Member", networkIds: [] });
    const ownKey = newApiKey({ userId: member.id, permissions: "Viewer" });
    const otherKey = newApiKey();
    expect((await member.client.get(`auth/keys/${ownKey.id}/history`)).data).toHaveLength(1);
    expect(await member.client.get(`auth/keys/${otherKey.id}/history`)).toMatchObject({ status: 404 });
    expect(await otherKey.client.get(`auth/keys/${otherKey.id}/history`)).toMatchObject(
      refusal(403, "auth_session_required"),
    );
    await member.client.delete(`auth/keys/${ownKey.id}`);
    expect((await member.client.get(`auth/keys/${ownKey.id}/history`)).data).toHaveLength(2);
    expect((await owner.get(`auth/keys/${ownKey.id}/history`)).data).toHaveLength(2);
  });

  test("exists for every resource, and starts with the GET's response", async () => {
    const fixture: RecordFixture = await newRecordFixture(appliance);
    tick();
    for (const { path } of RESOURCES) {
      const record = fixture.records[path] as JsonRecord;
      const { status, data } = await owner.get(`${path}/${record.id}/history`);
      expect([path, status]).toEqual([path, 200]);
      expect([path, data[0].record]).toEqual([
        path,
        (await owner.get(`${path}/${record.id}?at=${data[0].transaction.at}`)).data,
      ]);
    }
  });
});

describe("transactions", () => {
  test("are listed newest first with their changes, and individually", async () => {
    const host = (
      await owner.post(
        "hosts",
        { name: "h", network_id: first.networkId, ports: [tcp(22), tcp(80)] },
        { "x-request-id": "r1" },
      )
    ).data;
    const { data, body } = await owner.get("transactions?limit=1");
    expect(data).toEqual([
      {
        sequence: body.meta.pagination.total_count,
        at: host.created_at,
        actor: { type: "User", id: first.userId, name: expect.any(String) },
        request_id: "r1",
        reason: null,
        command: "host.create",
        changes: { host: { Created: 1 }, port: { Created: 2 } },
      },
    ]);
    expect((await owner.get(`transactions/${data[0].sequence}`)).data).toEqual(data[0]);
    const all = await owner.get("transactions?limit=0");
    expect(all.data.map((transaction: JsonRecord) => transaction.sequence)).toEqual([2, 1]);
    const before = await owner.get(`transactions?at=${clock.text().replace(/\d{3}Z$/, "000Z")}&offset=1`);
    expect(before.status).toBe(200);
  });

  test("are invisible if they belong to another organization or are outside the caller's networks", async () => {
    const otherNetwork = await newNetwork({ name: "Other" });
    const member = await newUser({ role: "Viewer", networkIds: [otherNetwork.id] });
    const hidden = (await owner.post("subnets", { network_id: first.networkId, cidr: "10.0.0.0/8" })).data;
    const sequence = (await owner.get("transactions?limit=1")).data[0].sequence;
    const { client: foreign } = await newStranger();
    for (const caller of [member.client, foreign]) {
      expect(await caller.get(`transactions/${sequence}`)).toMatchObject(
        refusal(404, "entity_not_found", { entity: "transaction", id: String(sequence) }),
      );
      const list = await caller.get("transactions?limit=0");
      expect(list.data.map((transaction: JsonRecord) => transaction.sequence)).not.toContain(sequence);
      expect(list.body.meta.pagination.total_count).toBe(list.data.length);
    }
    expect((await foreign.get("transactions")).data).toHaveLength(1);
    expect(hidden.cidr).toBe("10.0.0.0/8");
  });

  test.each([["0"], ["x"], ["1.5"], ["99999999999"]])("reject the number %s", async (sequence) => {
    expect(await owner.get(`transactions/${sequence}`)).toMatchObject(invalid({ path: "/sequence" }));
  });
});

describe("the head of the ledger", () => {
  test("is its last transaction, with the cumulative hash", async () => {
    const before = (await owner.get("ledger")).data;
    await newTag({ name: "a" });
    const after = (await owner.get("ledger")).data;
    expect(after.sequence).toBe(before.sequence + 1);
    expect(after.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(after.hash).not.toBe(before.hash);
    expect((await owner.get("ledger")).data).toEqual(after);
  });
});
