// POST /api/v1/transactions/{sequence}/revert: all that a transaction did is undone, or nothing where later changes stand in the way.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import type { Answer } from "../support/client.ts";
import {
  inTransaction,
  made,
  newApiKey,
  newCredential,
  newHost,
  newNetwork,
  newSubnet,
  newTag,
  newUser,
  newVlan,
  transactionCount,
  versionsOf,
  writtenIn,
  type Wire,
} from "../support/factories.ts";
import { hostBody, keyBody, live, newIfEntry } from "../support/inventory.ts";
import { content, findingsOf, newScene, revert, tally } from "../support/past.ts";

let appliance: TestAppliance;

beforeEach(async () => {
  appliance = await newAppliance();
});

// Whatever a test did: what is derived is what the ledger says, and the ledger is in order.
afterEach(async () => {
  try {
    expect(findingsOf(appliance)).toEqual([]);
  } finally {
    await appliance.close();
  }
});

/** The sequence of the last transaction. */
const last = () => transactionCount(appliance);
const tick = () => appliance.clock.advance(1_000);
const conflictsOf = (answer: Answer): string[][] =>
  (answer.body.params.conflicts as Wire[]).map((conflict) => [
    conflict["entity_type"],
    conflict["code"],
    conflict["field"] ?? "",
  ]);

describe("a transaction that created", () => {
  test("is undone by an end: a host with all that was made with it", async () => {
    const tag = await newTag(appliance);
    await newSubnet(appliance, { cidr: "10.9.0.0/16" });
    const host = await newHost(appliance, {
      tags: [tag["id"]],
      ip_addresses: [{ ip_address: "10.9.0.1" }],
      ports: [{ number: 22, protocol: "Tcp" }],
      interfaces: [{ if_index: 1, if_descr: "1", fdb_macs: ["00:00:5e:00:53:01"] }],
    });
    const sequence = last();
    tick();
    const plan = await made(revert(appliance.owner, sequence));
    expect(plan).toMatchObject({ transaction: sequence, applied: true, sequence: sequence + 1, conflicts: [] });
    expect(tally(plan)).toEqual({
      "Delete host": 1,
      "Delete ip_address": 1,
      "Delete if_entry": 1,
      "Delete fdb_entry": 1,
      "Delete port": 1,
    });
    expect((await appliance.owner.get(`/api/v1/hosts/${host["id"]}`)).status).toBe(404);
    expect(writtenIn(appliance)).toEqual({
      "Deleted host": 1,
      "Deleted ip_address": 1,
      "Deleted if_entry": 1,
      "Deleted fdb_entry": 1,
      "Deleted port": 1,
    });
  });

  test("is not undone where the record was changed since", async () => {
    const host = await newHost(appliance);
    const sequence = last();
    await made(appliance.owner.put(`/api/v1/hosts/${host["id"]}`, hostBody(host, { name: "other", hidden: true })));
    const before = last();
    const refused = await revert(appliance.owner, sequence);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "entity_stale", params: { entity: "host", id: host["id"] } },
    });
    expect(conflictsOf(refused)).toEqual([
      ["host", "changed_later", "name"],
      ["host", "changed_later", "hidden"],
    ]);
    expect(last()).toBe(before);
    // Changed back, nothing is lost by its end.
    await made(appliance.owner.put(`/api/v1/hosts/${host["id"]}`, hostBody(host)));
    await made(revert(appliance.owner, sequence));
  });

  test("is not undone where others have come to depend on it", async () => {
    const tag = await newTag(appliance);
    const tagging = last();
    const host = await newHost(appliance, { tags: [tag["id"]] });
    const creation = last();
    await newIfEntry(appliance, host["id"]);
    await newIfEntry(appliance, host["id"]);
    expect(await revert(appliance.owner, tagging)).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", error: expect.stringContaining("is in use by 1 host by now") },
    });
    expect(await revert(appliance.owner, creation)).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", error: expect.stringContaining("is in use by 2 interface entries by now") },
    });
  });

  test("has nothing to undo where the record is gone already", async () => {
    const tag = await newTag(appliance);
    const sequence = last();
    await made(appliance.owner.delete(`/api/v1/tags/${tag["id"]}`));
    const before = last();
    expect(await made(revert(appliance.owner, sequence))).toMatchObject({
      applied: false,
      sequence: null,
      actions: [{ action: "Skip", reason: "it is gone already" }],
    });
    expect(last()).toBe(before);
  });
});

describe("a transaction that changed", () => {
  test("is undone field by field: what was changed since besides stays", async () => {
    const host = await newHost(appliance, { name: "a", hostname: "a.example", description: "a" });
    await made(
      appliance.owner.put(`/api/v1/hosts/${host["id"]}`, hostBody(host, { name: "b", hostname: "b.example" })),
    );
    const sequence = last();
    await made(
      appliance.owner.put(`/api/v1/hosts/${host["id"]}`, hostBody(host, { name: "b", description: "c", hidden: true })),
    );
    const plan = await made(revert(appliance.owner, sequence));
    expect(plan["actions"]).toEqual([
      { entity_type: "host", id: host["id"], name: "a", action: "Update", fields: ["hostname", "name"] },
    ]);
    expect(await live(appliance, "hosts", host["id"])).toMatchObject({
      name: "a",
      hostname: "a.example",
      description: "c",
      hidden: true,
    });
    expect(versionsOf(appliance, host["id"]).at(-1)?.changed).toEqual(["hostname", "name"]);
  });

  test("is not undone where a field was changed again; a field that is back already is no reason", async () => {
    const tag = await newTag(appliance, { name: "a", color: "Red" });
    const put = (name: string, color: string) =>
      made(appliance.owner.put(`/api/v1/tags/${tag["id"]}`, { name, color }));
    await put("b", "Green");
    const sequence = last();
    await put("c", "Red");
    const before = last();
    const refused = await revert(appliance.owner, sequence);
    expect(conflictsOf(refused)).toEqual([["tag", "changed_later", "name"]]);
    expect(refused.body.error).toBe(
      `The transaction ${sequence} can't be reverted: name was changed again since. Nothing was written.`,
    );
    expect(last()).toBe(before);
    await put("b", "Red");
    expect((await made(revert(appliance.owner, sequence)))["actions"]).toMatchObject([{ fields: ["name"] }]);
    expect(await live(appliance, "tags", tag["id"])).toMatchObject({ name: "a", color: "Red" });
  });

  test("is not undone where the record was deleted since", async () => {
    const vlan = await newVlan(appliance);
    await made(appliance.owner.put(`/api/v1/vlans/${vlan["id"]}`, { number: vlan["number"], name: "other" }));
    const sequence = last();
    await made(appliance.owner.delete(`/api/v1/vlans/${vlan["id"]}`));
    const refused = await revert(appliance.owner, sequence);
    expect(conflictsOf(refused)).toEqual([["vlan", "changed_later", ""]]);
  });

  test("is undone in a field that had no value", async () => {
    const host = await newHost(appliance);
    const entry = await newIfEntry(appliance, host["id"]);
    const { if_index, if_descr } = entry;
    await made(
      appliance.owner.put(`/api/v1/if-entries/${entry["id"]}`, {
        if_index,
        if_descr,
        if_alias: "alias",
        fdb_macs: ["00:00:5e:00:53:01"],
      }),
    );
    const sequence = last();
    tick();
    const plan = await made(revert(appliance.owner, sequence));
    expect(plan["actions"]).toContainEqual(
      expect.objectContaining({ entity_type: "if_entry", action: "Update", fields: ["fdb_macs", "if_alias"] }),
    );
    expect(content(await live(appliance, "if-entries", entry["id"]))).toEqual(content(entry));
  });

  test("is not undone where what it named is gone, or what made it unique is another's", async () => {
    const [vlan, other] = [await newVlan(appliance), await newVlan(appliance)];
    const subnet = await newSubnet(appliance, { cidr: "10.9.0.0/24", vlan_id: vlan["id"] });
    await made(appliance.owner.put(`/api/v1/subnets/${subnet["id"]}`, { cidr: "10.8.0.0/24", vlan_id: other["id"] }));
    const sequence = last();
    await made(appliance.owner.delete(`/api/v1/vlans/${vlan["id"]}`));
    await newSubnet(appliance, { cidr: "10.9.0.0/24" });
    const refused = await revert(appliance.owner, sequence);
    expect(conflictsOf(refused)).toEqual([
      ["subnet", "reference_gone", "vlan_id"],
      ["subnet", "identity_taken", "cidr"],
    ]);
    expect(refused.body).toMatchObject({
      code: "entity_stale",
      error: expect.stringContaining("1 more reason is listed in params.conflicts"),
    });
  });
});

describe("a transaction that deleted", () => {
  test("is undone with all that it took along and off: a tag is back on what carried it", async () => {
    const tag = await newTag(appliance);
    const others = [await newHost(appliance, { tags: [tag["id"]] }), await newHost(appliance, { tags: [tag["id"]] })];
    await made(appliance.owner.delete(`/api/v1/tags/${tag["id"]}`));
    tick();
    const plan = await made(revert(appliance.owner, last()));
    expect(tally(plan)).toEqual({ "Create tag": 1, "Update host": 2 });
    for (const host of others) expect(content(await live(appliance, "hosts", host["id"]))).toEqual(content(host));
  });

  test("is undone whole: a host with everything, and what others had of it", async () => {
    const scene = await newScene(appliance);
    const [entry] = scene.host["interfaces"];
    await made(
      appliance.owner.put(`/api/v1/if-entries/${scene.far["interfaces"][0].id}`, {
        if_index: 1,
        if_descr: "far 1",
        neighbor: { type: "IfEntry", id: entry.id },
      }),
    );
    const far = await live(appliance, "hosts", scene.far["id"]);
    tick();
    await made(appliance.owner.delete(`/api/v1/hosts/${scene.host["id"]}`));
    tick();
    await made(revert(appliance.owner, last()));
    expect(content(await live(appliance, "hosts", scene.host["id"]))).toEqual(content(scene.host));
    expect(content(await live(appliance, "hosts", scene.far["id"]))).toEqual(content(far));
    expect(content(await live(appliance, "credentials", scene.credential["id"]))["host_assignments"]).toHaveLength(1);
  });

  test("of a network takes the role Owner, brings back all that lived in it, and gives nobody access again", async () => {
    const network = await newNetwork(appliance);
    const scene = await newHost(appliance, { network_id: network["id"], interfaces: [{ if_index: 1, if_descr: "1" }] });
    const user = await newUser(appliance, { role: "Member", networkIds: [network["id"]] });
    const key = newApiKey(appliance, { networkIds: [network["id"]] });
    await made(appliance.owner.delete(`/api/v1/networks/${network["id"]}?cascade=true`));
    const sequence = last();
    tick();
    const admin = await newUser(appliance, { role: "Admin" });
    for (const dry_run of [true, false])
      expect(await revert(admin.client, sequence, { dry_run })).toMatchObject({
        status: 403,
        body: { code: "auth_permission_denied", params: { required: "Owner" } },
      });
    const asKey = await made(revert(newApiKey(appliance).client, sequence, { dry_run: true }));
    expect(tally(asKey)).not.toHaveProperty("Skip api_key");
    const plan = await made(revert(appliance.owner, sequence));
    expect(tally(plan)).toEqual({
      "Create network": 1,
      "Create host": 1,
      "Create if_entry": 1,
      "Skip user": 1,
      "Skip api_key": 1,
    });
    expect(content(await live(appliance, "hosts", scene["id"]))).toEqual(content(scene));
    expect((await live(appliance, "users", user.id))["network_ids"]).toEqual([]);
    expect((await live(appliance, "auth/keys", key.id))["network_ids"]).toEqual([]);
  });

  test("is not undone where the thing was made again since, or what it named is gone", async () => {
    const subnet = await newSubnet(appliance, { cidr: "10.9.0.0/24" });
    const host = await newHost(appliance, { ip_addresses: [{ ip_address: "10.9.0.1" }] });
    await made(appliance.owner.delete(`/api/v1/ip-addresses/${host["ip_addresses"][0].id}`));
    const addressEnd = last();
    await made(appliance.owner.delete(`/api/v1/subnets/${subnet["id"]}`));
    const subnetEnd = last();
    expect(conflictsOf(await revert(appliance.owner, addressEnd))).toEqual([
      ["ip_address", "reference_gone", "subnet_id"],
    ]);
    await newSubnet(appliance, { cidr: "10.9.0.0/24" });
    expect(await revert(appliance.owner, subnetEnd)).toMatchObject({
      status: 409,
      body: { code: "entity_already_exists", params: { field: "cidr" } },
    });
    await made(appliance.owner.post("/api/v1/ip-addresses", { host_id: host["id"], ip_address: "10.9.0.1" }));
    expect(await revert(appliance.owner, addressEnd)).toMatchObject({
      status: 409,
      body: { code: "entity_already_exists", params: { field: "ip_address" } },
    });
  });

  test("is not undone where an association has lost its other side", async () => {
    const scene = await newScene(appliance);
    await made(appliance.owner.delete(`/api/v1/hosts/${scene.host["id"]}`));
    const sequence = last();
    await made(appliance.owner.delete(`/api/v1/credentials/${scene.credential["id"]}`));
    expect(conflictsOf(await revert(appliance.owner, sequence))).toEqual([
      ["credential_assignment", "reference_gone", "credential_id"],
    ]);
  });

  test("has nothing to undo where the record is back already", async () => {
    const tag = await newTag(appliance);
    await made(appliance.owner.delete(`/api/v1/tags/${tag["id"]}`));
    const sequence = last();
    tick();
    await made(revert(appliance.owner, sequence));
    expect(await made(revert(appliance.owner, sequence))).toMatchObject({
      sequence: null,
      actions: [{ action: "Skip", reason: "it is back already" }],
    });
  });
});

describe("a bulk write", () => {
  test("is undone whole, and so is its undoing", async () => {
    await newSubnet(appliance, { cidr: "10.9.0.0/16" });
    const old = await newHost(appliance, { name: "old", ip_addresses: [{ ip_address: "10.9.9.9" }] });
    tick();
    const items = [1, 2, 3].map((number) => ({
      network_id: appliance.first.networkId,
      name: `new ${number}`,
      ip_addresses: [{ ip_address: `10.9.0.${number}` }],
      interfaces: [{ if_index: 1, if_descr: "1" }],
    }));
    await made(
      appliance.owner.post("/api/v1/hosts/bulk", [
        ...items,
        { id: old["id"], name: "changed", ip_addresses: [{ ip_address: "10.9.8.8" }] },
      ]),
    );
    const sequence = last();
    const after = content({ hosts: (await appliance.owner.get("/api/v1/hosts")).data });
    tick();
    const undone = await made(revert(appliance.owner, sequence));
    expect(tally(undone)).toEqual({
      "Delete host": 3,
      "Delete ip_address": 4,
      "Delete if_entry": 3,
      "Update host": 1,
      "Create ip_address": 1,
    });
    expect(content({ hosts: (await appliance.owner.get("/api/v1/hosts")).data })).toEqual(content({ hosts: [old] }));
    tick();
    await made(revert(appliance.owner, undone["sequence"]));
    expect(content({ hosts: (await appliance.owner.get("/api/v1/hosts")).data })).toEqual(after);
  });
});

describe("asking for the plan", () => {
  test("tells what would be done, and what stands in the way, and writes nothing", async () => {
    const host = await newHost(appliance);
    const creation = last();
    await made(appliance.owner.put(`/api/v1/hosts/${host["id"]}`, hostBody(host, { name: "other" })));
    const change = last();
    const blocked = await made(revert(appliance.owner, creation, { dry_run: true }));
    expect(blocked).toMatchObject({
      transaction: creation,
      applied: false,
      sequence: null,
      actions: [{ action: "Delete" }],
      conflicts: [{ code: "changed_later", field: "name", message: "name was changed since" }],
    });
    const free = await made(revert(appliance.owner, change, { dry_run: true }));
    expect(last()).toBe(change);
    expect(await made(revert(appliance.owner, change))).toEqual({ ...free, applied: true, sequence: change + 1 });
  });

  test("is answered once for one Idempotency-Key, like the revert itself", async () => {
    await newTag(appliance);
    const sequence = last();
    const headers = { "idempotency-key": "k" };
    const first = await revert(appliance.owner, sequence, {}, headers);
    const again = await revert(appliance.owner, sequence, {}, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.data).toEqual(first.data);
    expect(last()).toBe(sequence + 1);
  });
});

describe("access", () => {
  test("is not reverted: users, API keys and the organization stand in the way", async () => {
    const user = await newUser(appliance, { role: "Member" });
    const creation = last();
    await made(appliance.owner.put(`/api/v1/users/${user.id}`, { email: "a@example.org", role: "Viewer" }));
    const change = last();
    await made(appliance.owner.delete(`/api/v1/users/${user.id}`));
    const end = last();
    await made(appliance.owner.put("/api/v1/organizations", { name: "Other" }));
    const naming = last();
    for (const sequence of [creation, change, end, naming]) {
      const before = last();
      const refused = await revert(appliance.owner, sequence);
      expect(refused).toMatchObject({
        status: 409,
        body: { code: "entity_stale", params: { conflicts: [{ code: "access_stays" }] } },
      });
      expect(last()).toBe(before);
    }
  });

  test("by API keys is not reverted either, and what was done to them shows to people who sign in", async () => {
    const key = (await made(appliance.owner.post("/api/v1/auth/keys", keyBody(appliance))))["api_key"];
    expect(conflictsOf(await revert(appliance.owner, last()))).toEqual([["api_key", "access_stays", ""]]);
    const refused = await revert(newApiKey(appliance).client, last() - 1);
    expect(refused).toMatchObject({ status: 403, body: { code: "auth_session_required" } });
    expect(refused.text).not.toContain(key.id);
  });

  test("by secrets is not reverted; a credential's name is", async () => {
    const credential = await newCredential(appliance);
    const { organization_id, assigned_network_ids, host_assignments, tags } = credential;
    const put = (name: string, value: string) =>
      made(
        appliance.owner.put(`/api/v1/credentials/${credential["id"]}`, {
          name,
          organization_id,
          assigned_network_ids,
          host_assignments,
          tags,
          credential_type: { type: "SnmpV2c", community: { mode: "Inline", value } },
        }),
      );
    await put("renamed", "********");
    const naming = last();
    await put("renamed", "another secret");
    const change = last();
    expect(conflictsOf(await revert(appliance.owner, change))).toEqual([
      ["credential", "secret_gone", "credential_type"],
    ]);
    await made(revert(appliance.owner, naming));
    expect((await live(appliance, "credentials", credential["id"]))["name"]).toBe(credential["name"]);
    await made(appliance.owner.delete(`/api/v1/credentials/${credential["id"]}`));
    expect(conflictsOf(await revert(appliance.owner, last()))).toEqual([
      ["credential", "secret_gone", "credential_type"],
    ]);
  });
});

describe("who may", () => {
  test("is Admin and Owner, for transactions of the own organization that they reach whole", async () => {
    const tag = await newTag(appliance);
    const sequence = last();
    for (const role of ["Viewer", "Member"] as const) {
      const { client } = await newUser(appliance, { role, networkIds: [appliance.first.networkId] });
      expect(await revert(client, sequence)).toMatchObject({
        status: 403,
        body: { code: "auth_permission_denied", params: { required: "Admin", actual: role } },
      });
    }
    expect(await revert(appliance.anonymous, sequence)).toMatchObject({ status: 401 });
    const second = await appliance.newOrganization("Second");
    const stranger = await appliance.signedIn(second.userId);
    const unknown = await revert(stranger, 1_000_000);
    expect(unknown).toMatchObject({
      status: 404,
      body: { code: "entity_not_found", params: { entity: "transaction" } },
    });
    expect((await revert(stranger, sequence)).text).toBe(unknown.text.replaceAll("1000000", String(sequence)));
    const admin = await newUser(appliance, { role: "Admin" });
    await made(revert(admin.client, sequence));
    expect((await appliance.owner.get(`/api/v1/tags/${tag["id"]}`)).status).toBe(404);
  });

  test("is not a key that reaches some of the networks that it touched", async () => {
    const hidden = await newNetwork(appliance);
    const { networkId } = appliance.first;
    const { client } = newApiKey(appliance, { networkIds: [networkId] });
    const [seen, unseen] = [await newHost(appliance), await newHost(appliance, { network_id: hidden["id"] })];
    await made(
      appliance.owner.post(
        "/api/v1/hosts/bulk",
        [seen, unseen].map((host) => ({ id: host["id"], name: `${host["name"]} changed` })),
      ),
    );
    const both = last();
    await made(appliance.owner.put(`/api/v1/hosts/${seen["id"]}`, hostBody(seen, { description: "d" })));
    const own = last();
    for (const dry_run of [true, false])
      expect(await revert(client, both, { dry_run })).toMatchObject({
        status: 404,
        body: { code: "entity_not_found" },
      });
    await made(revert(client, own));
    expect((await live(appliance, "hosts", seen["id"]))["description"]).toBeNull();
    await made(revert(appliance.owner, both));
  });

  test("may undo what discovery did", async () => {
    const host = await newHost(appliance);
    const entry = await newIfEntry(appliance, host["id"]);
    const { ifEntryKind } = await import("../../src/resources/if-entries/if-entry.ts");
    inTransaction(appliance, (tx) => tx.update(ifEntryKind, entry["id"], { if_alias: "seen" }));
    await made(revert(appliance.owner, last()));
    expect(await live(appliance, "if-entries", entry["id"])).not.toHaveProperty("if_alias");
  });

  test("names a transaction by its number, and says nothing that it does not know", async () => {
    for (const sequence of ["0", "-1", "x", "1.5", "99999999999"]) {
      expect(await appliance.owner.post(`/api/v1/transactions/${sequence}/revert`, {})).toMatchObject({
        status: 400,
        body: { code: "validation_failed", params: { issues: [{ path: "/sequence" }] } },
      });
    }
    expect(await appliance.owner.post("/api/v1/transactions/1/revert", { dry_run: 1, more: 1 })).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/more" }, { path: "/dry_run" }] } },
    });
  });
});
