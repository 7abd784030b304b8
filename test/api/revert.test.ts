// POST /api/v1/transactions/{sequence}/revert: undoes a whole transaction, or nothing if later changes conflict.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Answer, Client } from "../support/appliance/client.ts";
import { invalid, made, refusal, tcp, type Wire } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { content, revert, tally } from "../support/appliance/past.ts";
import { refused } from "../support/contract/shapes.ts";

// After any test, derived data matches the ledger, and the ledger verifies.
const appliance = applianceForEach({}, () => expect(findingsOf()).toEqual([]));
const { anonymous, first, owner } = appliance;
const { findingsOf, inTransaction, keyBody, live, newApiKey, newCredential, newHost } = appliance;
const { newIfEntry, newNetwork, newScene, newSubnet, newTag, newUser, newVlan } = appliance;
const { tick, transactionCount, versionsOf, writtenIn, newStranger } = appliance;

/** Sequence of the last transaction. */
const last = () => transactionCount();
const conflictsOf = (answer: Answer): string[][] =>
  (answer.body.params.conflicts as Wire[]).map((conflict) => [
    conflict.entity_type,
    conflict.code,
    conflict.field ?? "",
  ]);

describe("reverting a creation", () => {
  test("deletes a host with everything created with it", async () => {
    const tag = await newTag();
    await newSubnet({ cidr: "10.9.0.0/16" });
    const host = await newHost({
      tags: [tag.id],
      ip_addresses: [{ ip_address: "10.9.0.1" }],
      ports: [tcp(22)],
      interfaces: [{ if_index: 1, if_descr: "1", fdb_macs: ["00:00:5e:00:53:01"] }],
    });
    const sequence = last();
    tick();
    const plan = await made(revert(owner, sequence));
    expect(plan).toMatchObject({ transaction: sequence, applied: true, sequence: sequence + 1, conflicts: [] });
    expect(tally(plan)).toEqual({
      "Delete host": 1,
      "Delete ip_address": 1,
      "Delete if_entry": 1,
      "Delete fdb_entry": 1,
      "Delete port": 1,
    });
    expect((await owner.get(`hosts/${host.id}`)).status).toBe(404);
    expect(writtenIn()).toEqual({
      "Deleted host": 1,
      "Deleted ip_address": 1,
      "Deleted if_entry": 1,
      "Deleted fdb_entry": 1,
      "Deleted port": 1,
    });
  });

  test("is refused if the record was changed since", async () => {
    const host = await newHost();
    const sequence = last();
    await made(owner.put(`hosts/${host.id}`, hostBody(host, { name: "other", hidden: true })));
    const before = last();
    const refused = await revert(owner, sequence);
    expect(refused).toMatchObject(refusal(409, "entity_stale", { entity: "host", id: host.id }));
    expect(conflictsOf(refused)).toEqual([
      ["host", "changed_later", "name"],
      ["host", "changed_later", "hidden"],
    ]);
    expect(last()).toBe(before);
    // Once changed back, the revert loses nothing.
    await made(owner.put(`hosts/${host.id}`, hostBody(host)));
    await made(revert(owner, sequence));
  });

  test("is refused if other records depend on it", async () => {
    const tag = await newTag();
    const tagging = last();
    const host = await newHost({ tags: [tag.id] });
    const creation = last();
    await newIfEntry(host.id);
    await newIfEntry(host.id);
    expect(await revert(owner, tagging)).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", error: expect.stringContaining("is now in use by 1 host") },
    });
    expect(await revert(owner, creation)).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", error: expect.stringContaining("is now in use by 2 interface entries") },
    });
  });

  test("has no effect if the record is already deleted", async () => {
    const tag = await newTag();
    const sequence = last();
    await made(owner.delete(`tags/${tag.id}`));
    const before = last();
    expect(await made(revert(owner, sequence))).toMatchObject({
      applied: false,
      sequence: null,
      actions: [{ action: "Skip", reason: "it is already gone" }],
    });
    expect(last()).toBe(before);
  });
});

describe("reverting a change", () => {
  test("works field by field: other changes since are kept", async () => {
    const host = await newHost({ name: "a", hostname: "a.example", description: "a" });
    await made(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b", hostname: "b.example" })));
    const sequence = last();
    await made(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b", description: "c", hidden: true })));
    const plan = await made(revert(owner, sequence));
    expect(plan.actions).toEqual([
      {
        entity_type: "host",
        id: host.id,
        name: "a",
        action: "Update",
        fields: ["hostname", "name"],
        changes: [
          { field: "hostname", from: "b.example", to: "a.example" },
          { field: "name", from: "b", to: "a" },
        ],
      },
    ]);
    expect(await live("hosts", host.id)).toMatchObject({
      name: "a",
      hostname: "a.example",
      description: "c",
      hidden: true,
    });
    expect(versionsOf(host.id).at(-1)?.changed).toEqual(["hostname", "name"]);
  });

  test("is refused if a field was changed again, unless it is already back", async () => {
    const tag = await newTag({ name: "a", color: "Red" });
    const put = (name: string, color: string) => made(owner.put(`tags/${tag.id}`, { name, color }));
    await put("b", "Green");
    const sequence = last();
    await put("c", "Red");
    const before = last();
    const refused = await revert(owner, sequence);
    expect(conflictsOf(refused)).toEqual([["tag", "changed_later", "name"]]);
    expect(refused.body.error).toBe(
      `The transaction ${sequence} cannot be reverted: name was changed again since. Nothing was written.`,
    );
    expect(last()).toBe(before);
    await put("b", "Red");
    expect((await made(revert(owner, sequence))).actions).toMatchObject([{ fields: ["name"] }]);
    expect(await live("tags", tag.id)).toMatchObject({ name: "a", color: "Red" });
  });

  test("is refused if the record was deleted since", async () => {
    const vlan = await newVlan();
    await made(owner.put(`vlans/${vlan.id}`, { number: vlan.number, name: "other" }));
    const sequence = last();
    await made(owner.delete(`vlans/${vlan.id}`));
    const refused = await revert(owner, sequence);
    expect(conflictsOf(refused)).toEqual([["vlan", "changed_later", ""]]);
  });

  test("restores a field to no value", async () => {
    const host = await newHost();
    const entry = await newIfEntry(host.id);
    const { if_index, if_descr } = entry;
    await made(
      owner.put(`if-entries/${entry.id}`, { if_index, if_descr, if_alias: "alias", fdb_macs: ["00:00:5e:00:53:01"] }),
    );
    const sequence = last();
    tick();
    const plan = await made(revert(owner, sequence));
    expect(plan.actions).toContainEqual(
      expect.objectContaining({ entity_type: "if_entry", action: "Update", fields: ["fdb_macs", "if_alias"] }),
    );
    expect(content(await live("if-entries", entry.id))).toEqual(content(entry));
  });

  test("is refused if a reference is gone, or its unique value is taken", async () => {
    const [vlan, other] = [await newVlan(), await newVlan()];
    const subnet = await newSubnet({ cidr: "10.9.0.0/24", vlan_id: vlan.id });
    await made(owner.put(`subnets/${subnet.id}`, { cidr: "10.8.0.0/24", vlan_id: other.id }));
    const sequence = last();
    await made(owner.delete(`vlans/${vlan.id}`));
    await newSubnet({ cidr: "10.9.0.0/24" });
    const refused = await revert(owner, sequence);
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

describe("reverting a deletion", () => {
  test("restores everything removed with it: a tag is back on its records", async () => {
    const tag = await newTag();
    const others = [await newHost({ tags: [tag.id] }), await newHost({ tags: [tag.id] })];
    await made(owner.delete(`tags/${tag.id}`));
    tick();
    const plan = await made(revert(owner, last()));
    expect(tally(plan)).toEqual({ "Create tag": 1, "Update host": 2 });
    for (const host of others) expect(content(await live("hosts", host.id))).toEqual(content(host));
  });

  test("restores a host whole, with other records' references to it", async () => {
    const scene = await newScene();
    const [entry] = scene.host.interfaces;
    await made(
      owner.put(`if-entries/${scene.far.interfaces[0].id}`, {
        if_index: 1,
        if_descr: "far 1",
        neighbor: { type: "IfEntry", id: entry.id },
      }),
    );
    const far = await live("hosts", scene.far.id);
    tick();
    await made(owner.delete(`hosts/${scene.host.id}`));
    tick();
    await made(revert(owner, last()));
    expect(content(await live("hosts", scene.host.id))).toEqual(content(scene.host));
    expect(content(await live("hosts", scene.far.id))).toEqual(content(far));
    expect(content(await live("credentials", scene.credential.id)).host_assignments).toHaveLength(1);
  });

  test("of a network requires an Owner, restores its contents, and grants no access again", async () => {
    const network = await newNetwork();
    const scene = await newHost({ network_id: network.id, interfaces: [{ if_index: 1, if_descr: "1" }] });
    const user = await newUser({ role: "Member", networkIds: [network.id] });
    const key = newApiKey({ networkIds: [network.id] });
    await made(owner.delete(`networks/${network.id}?cascade=true`));
    const sequence = last();
    tick();
    const admin = await newUser({ role: "Admin" });
    for (const dry_run of [true, false])
      await refused(revert(admin.client, sequence, { dry_run }), 403, "auth_permission_denied", { required: "Owner" });
    const asKey = await made(revert(newApiKey().client, sequence, { dry_run: true }));
    expect(tally(asKey)).not.toHaveProperty("Skip api_key");
    const plan = await made(revert(owner, sequence));
    expect(tally(plan)).toEqual({
      "Create network": 1,
      "Create host": 1,
      "Create if_entry": 1,
      "Skip user": 1,
      "Skip api_key": 1,
    });
    expect(content(await live("hosts", scene.id))).toEqual(content(scene));
    expect((await live("users", user.id)).network_ids).toEqual([]);
    expect((await live("auth/keys", key.id)).network_ids).toEqual([]);
  });

  test("is refused if it was re-created since, or a reference is gone", async () => {
    const subnet = await newSubnet({ cidr: "10.9.0.0/24" });
    const host = await newHost({ ip_addresses: [{ ip_address: "10.9.0.1" }] });
    await made(owner.delete(`ip-addresses/${host.ip_addresses[0].id}`));
    const addressEnd = last();
    await made(owner.delete(`subnets/${subnet.id}`));
    const subnetEnd = last();
    expect(conflictsOf(await revert(owner, addressEnd))).toEqual([["ip_address", "reference_gone", "subnet_id"]]);
    await newSubnet({ cidr: "10.9.0.0/24" });
    await refused(revert(owner, subnetEnd), 409, "entity_already_exists", { field: "cidr" });
    await made(owner.post("ip-addresses", { host_id: host.id, ip_address: "10.9.0.1" }));
    await refused(revert(owner, addressEnd), 409, "entity_already_exists", { field: "ip_address" });
  });

  test("is refused if an association has lost its other side", async () => {
    const scene = await newScene();
    await made(owner.delete(`hosts/${scene.host.id}`));
    const sequence = last();
    await made(owner.delete(`credentials/${scene.credential.id}`));
    expect(conflictsOf(await revert(owner, sequence))).toEqual([
      ["credential_assignment", "reference_gone", "credential_id"],
    ]);
  });

  test("has no effect if the record is already back", async () => {
    const tag = await newTag();
    await made(owner.delete(`tags/${tag.id}`));
    const sequence = last();
    tick();
    await made(revert(owner, sequence));
    expect(await made(revert(owner, sequence))).toMatchObject({
      sequence: null,
      actions: [{ action: "Skip", reason: "it is already back" }],
    });
  });
});

describe("a bulk write", () => {
  test("is reverted whole, as is its revert", async () => {
    await newSubnet({ cidr: "10.9.0.0/16" });
    const old = await newHost({ name: "old", ip_addresses: [{ ip_address: "10.9.9.9" }] });
    tick();
    const items = [1, 2, 3].map((number) => ({
      network_id: first.networkId,
      name: `new ${number}`,
      ip_addresses: [{ ip_address: `10.9.0.${number}` }],
      interfaces: [{ if_index: 1, if_descr: "1" }],
    }));
    await made(
      owner.post("hosts/bulk", [...items, { id: old.id, name: "changed", ip_addresses: [{ ip_address: "10.9.8.8" }] }]),
    );
    const sequence = last();
    const after = content({ hosts: (await owner.get("hosts")).data });
    tick();
    const undone = await made(revert(owner, sequence));
    expect(tally(undone)).toEqual({
      "Delete host": 3,
      "Delete ip_address": 4,
      "Delete if_entry": 3,
      "Update host": 1,
      "Create ip_address": 1,
    });
    expect(content({ hosts: (await owner.get("hosts")).data })).toEqual(content({ hosts: [old] }));
    tick();
    await made(revert(owner, undone.sequence));
    expect(content({ hosts: (await owner.get("hosts")).data })).toEqual(after);
  });
});

describe("a revert plan", () => {
  test("has a hash: the transaction is reverted exactly as planned, or not at all", async () => {
    const host = await newHost({ name: "a", description: "a" });
    await made(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b" })));
    const sequence = last();
    const { plan } = await made(revert(owner, sequence, { dry_run: true }));
    // The revert is still possible, but the host differs from the one that was read.
    await made(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b", description: "c" })));
    const before = last();
    await refused(revert(owner, sequence, { plan }), 409, "entity_stale", { expected: plan });
    expect(last()).toBe(before);
    const again = await made(revert(owner, sequence, { dry_run: true }));
    expect(again.plan).not.toBe(plan);
    expect(await made(revert(owner, sequence, { plan: again.plan }))).toMatchObject({
      applied: true,
      plan: again.plan,
    });
    expect(await live("hosts", host.id)).toMatchObject({ name: "a", description: "c" });
  });

  test("lists effects and obstacles, and writes nothing", async () => {
    const host = await newHost();
    const creation = last();
    await made(owner.put(`hosts/${host.id}`, hostBody(host, { name: "other" })));
    const change = last();
    const blocked = await made(revert(owner, creation, { dry_run: true }));
    expect(blocked).toMatchObject({
      transaction: creation,
      applied: false,
      sequence: null,
      actions: [{ action: "Delete" }],
      conflicts: [{ code: "changed_later", field: "name", message: "name was changed since" }],
    });
    const free = await made(revert(owner, change, { dry_run: true }));
    expect(last()).toBe(change);
    expect(await made(revert(owner, change))).toEqual({ ...free, applied: true, sequence: change + 1 });
  });

  test("is computed once per Idempotency-Key, like the revert itself", async () => {
    await newTag();
    const sequence = last();
    const headers = { "idempotency-key": "k" };
    const first = await revert(owner, sequence, {}, headers);
    const again = await revert(owner, sequence, {}, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.data).toEqual(first.data);
    expect(last()).toBe(sequence + 1);
  });
});

describe("access control", () => {
  test("is not reverted: users, API keys and the organization are obstacles", async () => {
    const user = await newUser({ role: "Member" });
    const creation = last();
    await made(owner.put(`users/${user.id}`, { email: "a@example.org", role: "Viewer" }));
    const change = last();
    await made(owner.delete(`users/${user.id}`));
    const end = last();
    await made(owner.put("organizations", { name: "Other" }));
    const naming = last();
    for (const sequence of [creation, change, end, naming]) {
      const before = last();
      const refused = await revert(owner, sequence);
      expect(refused).toMatchObject(refusal(409, "entity_stale", { conflicts: [{ code: "access_stays" }] }));
      expect(last()).toBe(before);
    }
  });

  test("by API keys is not reverted either, and their changes are visible to signed-in users", async () => {
    const key = (await made(owner.post("auth/keys", keyBody()))).api_key;
    expect(conflictsOf(await revert(owner, last()))).toEqual([["api_key", "access_stays", ""]]);
    const refused = await revert(newApiKey().client, last() - 1);
    expect(refused).toMatchObject(refusal(403, "auth_session_required"));
    expect(refused.text).not.toContain(key.id);
  });

  test("by secrets is not reverted; a credential's name is", async () => {
    const credential = await newCredential();
    const { organization_id, assigned_network_ids, host_assignments, tags } = credential;
    const put = (name: string, value: string) =>
      made(
        owner.put(`credentials/${credential.id}`, {
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
    expect(conflictsOf(await revert(owner, change))).toEqual([["credential", "secret_gone", "credential_type"]]);
    await made(revert(owner, naming));
    expect((await live("credentials", credential.id)).name).toBe(credential.name);
    await made(owner.delete(`credentials/${credential.id}`));
    expect(conflictsOf(await revert(owner, last()))).toEqual([["credential", "secret_gone", "credential_type"]]);
  });
});

describe("the right to revert", () => {
  test("is an Admin's and Owner's, for transactions fully within their reach", async () => {
    const tag = await newTag();
    const sequence = last();
    for (const [role, required] of [
      ["Viewer", "Member"],
      ["Member", "Admin"],
    ] as const) {
      const { client } = await newUser({ role, networkIds: [first.networkId] });
      await refused(revert(client, sequence), 403, "auth_permission_denied", { required, actual: role });
    }
    expect(await revert(anonymous, sequence)).toMatchObject({ status: 401 });
    const { client: stranger } = await newStranger();
    const unknown = await revert(stranger, 1_000_000);
    expect(unknown).toMatchObject(refusal(404, "entity_not_found", { entity: "transaction" }));
    expect((await revert(stranger, sequence)).text).toBe(unknown.text.replaceAll("1000000", String(sequence)));
    const admin = await newUser({ role: "Admin" });
    await made(revert(admin.client, sequence));
    expect((await owner.get(`tags/${tag.id}`)).status).toBe(404);
  });

  test("is a Member's for their own transactions: creations, changes and deletions", async () => {
    const { client } = await newUser({ role: "Member", networkIds: [first.networkId] });
    const tag = await newTag();
    const host = await newHost({ ports: [tcp(22)] }, client);
    const made_in = last();
    await made(client.put(`hosts/${host.id}`, hostBody(host, { description: "d", tags: [tag.id] })));
    await made(revert(client, last()));
    expect(await live("hosts", host.id)).toMatchObject({ description: null, tags: [] });
    await made(client.delete(`hosts/${host.id}`));
    const plan = await made(revert(client, last(), { dry_run: true }));
    expect(plan).toMatchObject({ applied: false, conflicts: [] });
    await made(revert(client, last()));
    expect(await live("hosts", host.id)).toMatchObject({ ports: [{ number: 22 }] });
    await made(revert(client, made_in));
    expect((await client.get(`hosts/${host.id}`)).status).toBe(404);
    // And a revert is a transaction of the Member's own.
    await made(revert(client, last()));
    expect((await client.get(`hosts/${host.id}`)).status).toBe(200);
  });

  test("is not a Member's for other users' writes, and for their own keys' only by session", async () => {
    const networkIds = [first.networkId];
    const [member, other] = [
      await newUser({ role: "Member", networkIds }),
      await newUser({ role: "Member", networkIds }),
    ];
    const [key, second] = ["Member", "Member"].map(() => newApiKey({ userId: member.id, permissions: "Member" }));
    await newHost({}, member.client);
    const bySession = last();
    await newHost({}, key?.client);
    const byKey = last();
    const isRefused = refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" });
    for (const dry_run of [true, false]) {
      expect(await revert(other.client, bySession, { dry_run })).toMatchObject(isRefused);
      expect(await revert(other.client, byKey, { dry_run })).toMatchObject(isRefused);
      expect(await revert(key?.client as Client, bySession, { dry_run })).toMatchObject(isRefused);
      expect(await revert(second?.client as Client, byKey, { dry_run })).toMatchObject(isRefused);
    }
    await made(revert(key?.client as Client, byKey));
    await newHost({}, key?.client);
    const again = last();
    // The key is deleted; its user is still known.
    await made(member.client.delete(`auth/keys/${key?.id}`));
    expect(await revert(other.client, again)).toMatchObject(isRefused);
    await made(revert(member.client, again));
    const host = await newHost();
    const { ifEntryKind } = await import("../../src/resources/if-entries/if-entry.ts");
    const entry = await newIfEntry(host.id);
    inTransaction((tx) => tx.update(ifEntryKind, entry.id, { if_alias: "seen" }));
    expect(await revert(member.client, last())).toMatchObject(isRefused);
  });

  test("is lost with the role that wrote it, and never includes writes that require an Admin", async () => {
    const hidden = await newNetwork();
    const was = await newUser({ role: "Admin" });
    const written: Array<[sequence: number, status: number, code: string]> = [];
    const note = (status: number, code: string) => written.push([last(), status, code]);
    const tag = await newTag({}, was.client);
    note(403, "auth_permission_denied");
    const subnet = await newSubnet({ cidr: "10.9.0.0/24" }, was.client);
    const widened = await newSubnet({ cidr: "10.10.0.0/24", accepts_credentials: false }, was.client);
    await made(was.client.put(`subnets/${widened.id}`, { ...widened, accepts_credentials: true }));
    note(403, "auth_permission_denied");
    const gone = await newSubnet({ cidr: "10.11.0.0/24", accepts_credentials: true }, was.client);
    await made(was.client.delete(`subnets/${gone.id}`));
    note(403, "auth_permission_denied");
    const host = await newHost({ ip_addresses: [{ ip_address: "10.9.0.1", subnet_id: subnet.id }] }, was.client);
    const credential = await newCredential({}, was.client);
    await made(
      was.client.put(
        `hosts/${host.id}`,
        hostBody(host, { credential_assignments: [{ credential_id: credential.id }] }),
      ),
    );
    note(403, "auth_permission_denied");
    const bare = await made(was.client.put(`hosts/${host.id}`, { ...hostBody(host), ip_addresses: [] }));
    expect(bare.ip_addresses).toEqual([]);
    await made(revert(was.client, last()));
    // Sends the credential to the address again without writing an assignment.
    expect(writtenIn()).not.toHaveProperty("Updated credential_assignment");
    note(403, "auth_permission_denied");
    const viewer = await newUser({ role: "Viewer" });
    const key = newApiKey({ userId: viewer.id, permissions: "Viewer" });
    await made(
      was.client.put(`auth/keys/${key.id}`, {
        ...keyBody(),
        user_id: viewer.id,
        name: "renamed",
        permissions: "Viewer",
      }),
    );
    note(404, "entity_not_found");
    const doomed = await newHost({ credential_assignments: [{ credential_id: credential.id }] }, was.client);
    await made(was.client.delete(`hosts/${doomed.id}?cascade=true`));
    note(403, "auth_permission_denied");
    await newHost({ network_id: hidden.id }, was.client);
    note(404, "entity_not_found");
    await made(
      owner.put(`users/${was.id}`, {
        ...(await live("users", was.id)),
        role: "Member",
        network_ids: [first.networkId],
      }),
    );
    const before = last();
    for (const [sequence, status, code] of written)
      for (const dry_run of [true, false]) {
        const answer = await revert(was.client, sequence, { dry_run });
        // Requirements of a higher role are in the plan, as for a restore.
        if (answer.status === 200)
          expect([sequence, dry_run, answer.data.conflicts]).toMatchObject([
            sequence,
            true,
            [{ code: "role_too_low" }],
          ]);
        else expect([sequence, answer.status, answer.body.code]).toEqual([sequence, status, code]);
        expect(answer.text).not.toContain(tag.name);
      }
    expect(last()).toBe(before);
  });

  test("is lost by a Member who no longer reaches the written records", async () => {
    const other = await newNetwork();
    const member = await newUser({ role: "Member", networkIds: [first.networkId, other.id] });
    const host = await newHost({ network_id: other.id }, member.client);
    const sequence = last();
    const unknown = await revert(member.client, 1_000_000);
    await made(
      owner.put(`users/${member.id}`, { ...(await live("users", member.id)), network_ids: [first.networkId] }),
    );
    for (const dry_run of [true, false]) {
      const answer = await revert(member.client, sequence, { dry_run });
      expect(answer.text).toBe(unknown.text.replaceAll("1000000", String(sequence)));
    }
    expect((await owner.get(`hosts/${host.id}`)).status).toBe(200);
  });

  test("is not granted to a key that reaches only some of the touched networks", async () => {
    const hidden = await newNetwork();
    const { networkId } = first;
    const { client } = newApiKey({ networkIds: [networkId] });
    const [seen, unseen] = [await newHost(), await newHost({ network_id: hidden.id })];
    await made(
      owner.post(
        "hosts/bulk",
        [seen, unseen].map((host) => ({ id: host.id, name: `${host.name} changed` })),
      ),
    );
    const both = last();
    await made(owner.put(`hosts/${seen.id}`, hostBody(seen, { description: "d" })));
    const own = last();
    for (const dry_run of [true, false]) await refused(revert(client, both, { dry_run }), 404, "entity_not_found");
    await made(revert(client, own));
    expect((await live("hosts", seen.id)).description).toBeNull();
    await made(revert(owner, both));
  });

  test("is refused alike for others' writes, whether or not they extend beyond the reach", async () => {
    const hidden = await newNetwork();
    const { client } = await newUser({ role: "Member", networkIds: [first.networkId] });
    const hostIn = (network_id: string, name: string) => ({ network_id, name });
    await made(owner.post("hosts/bulk", [hostIn(first.networkId, "near-1")]));
    const near = last();
    await made(owner.post("hosts/bulk", [hostIn(first.networkId, "near-2"), hostIn(hidden.id, "far")]));
    const mixed = last();
    const answers = [near, mixed].map(async (sequence) => {
      const { status, text } = await revert(client, sequence, { dry_run: true });
      return { status, text: text.replaceAll(String(sequence), "N") };
    });
    const [ofNear, ofMixed] = await Promise.all(answers);
    expect(ofNear?.status).toBe(403);
    expect(ofMixed).toEqual(ofNear);
  });

  test("includes discovery's transactions", async () => {
    const host = await newHost();
    const entry = await newIfEntry(host.id);
    const { ifEntryKind } = await import("../../src/resources/if-entries/if-entry.ts");
    inTransaction((tx) => tx.update(ifEntryKind, entry.id, { if_alias: "seen" }));
    await made(revert(owner, last()));
    expect(await live("if-entries", entry.id)).not.toHaveProperty("if_alias");
  });

  test("needs a transaction number, and unknown fields are refused", async () => {
    for (const sequence of ["0", "-1", "x", "1.5", "99999999999"]) {
      expect(await owner.post(`transactions/${sequence}/revert`, {})).toMatchObject(invalid({ path: "/sequence" }));
    }
    expect(await owner.post("transactions/1/revert", { dry_run: 1, more: 1 })).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/more" }, { path: "/dry_run" }] } },
    });
  });
});
