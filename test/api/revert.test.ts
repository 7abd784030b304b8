// POST /api/v1/transactions/{sequence}/revert: undoes a whole transaction, or nothing if later changes conflict.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, refusal, tcp } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { content, revert, tally } from "../support/appliance/past.ts";
import { expectRefusal } from "../support/contract/shapes.ts";

// After any test, derived data matches the ledger, and the ledger verifies.
const appliance = applianceForEach({}, () => expect(findingsOf()).toEqual([]));
const { anonymous, first, owner } = appliance;
const { findingsOf, inTransaction, keyBody, live, newApiKey, newCredential, newHost } = appliance;
const { newIfEntry, newNetwork, newScene, newSubnet, newTag, newUser, newVlan } = appliance;
const { tick, transactionCount, versionsOf, writtenIn, newStranger } = appliance;

/** Sequence of the last transaction. */
const lastSequence = () => transactionCount();
const conflictsOf = (response: ApiResponse): string[][] =>
  (response.body.params.conflicts as JsonRecord[]).map((conflict) => [
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
    const sequence = lastSequence();
    tick();
    const plan = await expectOk(revert(owner, sequence));
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
    const sequence = lastSequence();
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: "other", hidden: true })));
    const before = lastSequence();
    const rejection = await revert(owner, sequence);
    expect(rejection).toMatchObject(refusal(409, "entity_stale", { entity: "host", id: host.id }));
    expect(conflictsOf(rejection)).toEqual([
      ["host", "changed_later", "name"],
      ["host", "changed_later", "hidden"],
    ]);
    expect(lastSequence()).toBe(before);
    // Once changed back, the revert loses nothing.
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host)));
    await expectOk(revert(owner, sequence));
  });

  test("is refused if other records depend on it", async () => {
    const tag = await newTag();
    const tagCreation = lastSequence();
    const host = await newHost({ tags: [tag.id] });
    const creation = lastSequence();
    await newIfEntry(host.id);
    await newIfEntry(host.id);
    expect(await revert(owner, tagCreation)).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", error: expect.stringContaining("is now in use by 1 host") },
    });
    expect(await revert(owner, creation)).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", error: expect.stringContaining("is now in use by 2 interface entries") },
    });
  });

  test("does nothing if the record is already deleted", async () => {
    const tag = await newTag();
    const sequence = lastSequence();
    await expectOk(owner.delete(`tags/${tag.id}`));
    const before = lastSequence();
    expect(await expectOk(revert(owner, sequence))).toMatchObject({
      applied: false,
      sequence: null,
      actions: [{ action: "Skip", reason: "it is already gone" }],
    });
    expect(lastSequence()).toBe(before);
  });
});

describe("reverting a change", () => {
  test("works field by field: other changes since are kept", async () => {
    const host = await newHost({ name: "a", hostname: "a.example", description: "a" });
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b", hostname: "b.example" })));
    const sequence = lastSequence();
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b", description: "c", hidden: true })));
    const plan = await expectOk(revert(owner, sequence));
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
    const put = (name: string, color: string) => expectOk(owner.put(`tags/${tag.id}`, { name, color }));
    await put("b", "Green");
    const sequence = lastSequence();
    await put("c", "Red");
    const before = lastSequence();
    const rejection = await revert(owner, sequence);
    expect(conflictsOf(rejection)).toEqual([["tag", "changed_later", "name"]]);
    expect(rejection.body.error).toBe(
      `The transaction ${sequence} cannot be reverted: name was changed again since. Nothing was written.`,
    );
    expect(lastSequence()).toBe(before);
    await put("b", "Red");
    expect((await expectOk(revert(owner, sequence))).actions).toMatchObject([{ fields: ["name"] }]);
    expect(await live("tags", tag.id)).toMatchObject({ name: "a", color: "Red" });
  });

  test("is refused if the record was deleted since", async () => {
    const vlan = await newVlan();
    await expectOk(owner.put(`vlans/${vlan.id}`, { number: vlan.number, name: "other" }));
    const sequence = lastSequence();
    await expectOk(owner.delete(`vlans/${vlan.id}`));
    const rejection = await revert(owner, sequence);
    expect(conflictsOf(rejection)).toEqual([["vlan", "changed_later", ""]]);
  });

  test("restores a field to no value", async () => {
    const host = await newHost();
    const entry = await newIfEntry(host.id);
    const { if_index, if_descr } = entry;
    await expectOk(
      owner.put(`if-entries/${entry.id}`, { if_index, if_descr, if_alias: "alias", fdb_macs: ["00:00:5e:00:53:01"] }),
    );
    const sequence = lastSequence();
    tick();
    const plan = await expectOk(revert(owner, sequence));
    expect(plan.actions).toContainEqual(
      expect.objectContaining({ entity_type: "if_entry", action: "Update", fields: ["fdb_macs", "if_alias"] }),
    );
    expect(content(await live("if-entries", entry.id))).toEqual(content(entry));
  });

  test("is refused if a reference no longer exists, or its unique value is taken", async () => {
    const [vlan, otherVlan] = [await newVlan(), await newVlan()];
    const subnet = await newSubnet({ cidr: "10.9.0.0/24", vlan_id: vlan.id });
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: "10.8.0.0/24", vlan_id: otherVlan.id }));
    const sequence = lastSequence();
    await expectOk(owner.delete(`vlans/${vlan.id}`));
    await newSubnet({ cidr: "10.9.0.0/24" });
    const rejection = await revert(owner, sequence);
    expect(conflictsOf(rejection)).toEqual([
      ["subnet", "reference_gone", "vlan_id"],
      ["subnet", "identity_taken", "cidr"],
    ]);
    expect(rejection.body).toMatchObject({
      code: "entity_stale",
      error: expect.stringContaining("1 more reason is listed in params.conflicts"),
    });
  });
});

describe("reverting a deletion", () => {
  test("restores everything removed with it: a tag is back on its records", async () => {
    const tag = await newTag();
    const others = [await newHost({ tags: [tag.id] }), await newHost({ tags: [tag.id] })];
    await expectOk(owner.delete(`tags/${tag.id}`));
    tick();
    const plan = await expectOk(revert(owner, lastSequence()));
    expect(tally(plan)).toEqual({ "Create tag": 1, "Update host": 2 });
    for (const host of others) expect(content(await live("hosts", host.id))).toEqual(content(host));
  });

  test("restores a complete host, with other records' references to it", async () => {
    const scene = await newScene();
    const [entry] = scene.host.interfaces;
    await expectOk(
      owner.put(`if-entries/${scene.far.interfaces[0].id}`, {
        if_index: 1,
        if_descr: "far 1",
        neighbor: { type: "IfEntry", id: entry.id },
      }),
    );
    const far = await live("hosts", scene.far.id);
    tick();
    await expectOk(owner.delete(`hosts/${scene.host.id}`));
    tick();
    await expectOk(revert(owner, lastSequence()));
    expect(content(await live("hosts", scene.host.id))).toEqual(content(scene.host));
    expect(content(await live("hosts", scene.far.id))).toEqual(content(far));
    expect(content(await live("credentials", scene.credential.id)).host_assignments).toHaveLength(1);
  });

  test("requires an Owner for a network, restores its contents, and grants no access again", async () => {
    const network = await newNetwork();
    const scene = await newHost({ network_id: network.id, interfaces: [{ if_index: 1, if_descr: "1" }] });
    const user = await newUser({ role: "Member", networkIds: [network.id] });
    const key = newApiKey({ networkIds: [network.id] });
    await expectOk(owner.delete(`networks/${network.id}?cascade=true`));
    const sequence = lastSequence();
    tick();
    const admin = await newUser({ role: "Admin" });
    for (const dry_run of [true, false])
      await expectRefusal(revert(admin.client, sequence, { dry_run }), 403, "auth_permission_denied", {
        required: "Owner",
      });
    const keyPlan = await expectOk(revert(newApiKey().client, sequence, { dry_run: true }));
    expect(tally(keyPlan)).not.toHaveProperty("Skip api_key");
    const plan = await expectOk(revert(owner, sequence));
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

  test("is refused if it was re-created since, or a reference no longer exists", async () => {
    const subnet = await newSubnet({ cidr: "10.9.0.0/24" });
    const host = await newHost({ ip_addresses: [{ ip_address: "10.9.0.1" }] });
    await expectOk(owner.delete(`ip-addresses/${host.ip_addresses[0].id}`));
    const addressEnd = lastSequence();
    await expectOk(owner.delete(`subnets/${subnet.id}`));
    const subnetEnd = lastSequence();
    expect(conflictsOf(await revert(owner, addressEnd))).toEqual([["ip_address", "reference_gone", "subnet_id"]]);
    await newSubnet({ cidr: "10.9.0.0/24" });
    await expectRefusal(revert(owner, subnetEnd), 409, "entity_already_exists", { field: "cidr" });
    await expectOk(owner.post("ip-addresses", { host_id: host.id, ip_address: "10.9.0.1" }));
    await expectRefusal(revert(owner, addressEnd), 409, "entity_already_exists", { field: "ip_address" });
  });

  test("is refused if an association has lost its other side", async () => {
    const scene = await newScene();
    await expectOk(owner.delete(`hosts/${scene.host.id}`));
    const sequence = lastSequence();
    await expectOk(owner.delete(`credentials/${scene.credential.id}`));
    expect(conflictsOf(await revert(owner, sequence))).toEqual([
      ["credential_assignment", "reference_gone", "credential_id"],
    ]);
  });

  test("does nothing if the record is already back", async () => {
    const tag = await newTag();
    await expectOk(owner.delete(`tags/${tag.id}`));
    const sequence = lastSequence();
    tick();
    await expectOk(revert(owner, sequence));
    expect(await expectOk(revert(owner, sequence))).toMatchObject({
      sequence: null,
      actions: [{ action: "Skip", reason: "it is already back" }],
    });
  });
});

describe("a bulk write", () => {
  test("is reverted completely, as is its revert", async () => {
    await newSubnet({ cidr: "10.9.0.0/16" });
    const old = await newHost({ name: "old", ip_addresses: [{ ip_address: "10.9.9.9" }] });
    tick();
    const items = [1, 2, 3].map((number) => ({
      network_id: first.networkId,
      name: `new ${number}`,
      ip_addresses: [{ ip_address: `10.9.0.${number}` }],
      interfaces: [{ if_index: 1, if_descr: "1" }],
    }));
    await expectOk(
      owner.post("hosts/bulk", [...items, { id: old.id, name: "changed", ip_addresses: [{ ip_address: "10.9.8.8" }] }]),
    );
    const sequence = lastSequence();
    const after = content({ hosts: (await owner.get("hosts")).data });
    tick();
    const undone = await expectOk(revert(owner, sequence));
    expect(tally(undone)).toEqual({
      "Delete host": 3,
      "Delete ip_address": 4,
      "Delete if_entry": 3,
      "Update host": 1,
      "Create ip_address": 1,
    });
    expect(content({ hosts: (await owner.get("hosts")).data })).toEqual(content({ hosts: [old] }));
    tick();
    await expectOk(revert(owner, undone.sequence));
    expect(content({ hosts: (await owner.get("hosts")).data })).toEqual(after);
  });
});

describe("a revert plan", () => {
  test("has a hash: the transaction is reverted exactly as planned, or not at all", async () => {
    const host = await newHost({ name: "a", description: "a" });
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b" })));
    const sequence = lastSequence();
    const { plan } = await expectOk(revert(owner, sequence, { dry_run: true }));
    // The revert is still possible, but the host differs from the one that was read.
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: "b", description: "c" })));
    const before = lastSequence();
    await expectRefusal(revert(owner, sequence, { plan }), 409, "entity_stale", { expected: plan });
    expect(lastSequence()).toBe(before);
    const again = await expectOk(revert(owner, sequence, { dry_run: true }));
    expect(again.plan).not.toBe(plan);
    expect(await expectOk(revert(owner, sequence, { plan: again.plan }))).toMatchObject({
      applied: true,
      plan: again.plan,
    });
    expect(await live("hosts", host.id)).toMatchObject({ name: "a", description: "c" });
  });

  test("lists effects and obstacles, and writes nothing", async () => {
    const host = await newHost();
    const creation = lastSequence();
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: "other" })));
    const change = lastSequence();
    const blocked = await expectOk(revert(owner, creation, { dry_run: true }));
    expect(blocked).toMatchObject({
      transaction: creation,
      applied: false,
      sequence: null,
      actions: [{ action: "Delete" }],
      conflicts: [{ code: "changed_later", field: "name", message: "name was changed since" }],
    });
    const possible = await expectOk(revert(owner, change, { dry_run: true }));
    expect(lastSequence()).toBe(change);
    expect(await expectOk(revert(owner, change))).toEqual({ ...possible, applied: true, sequence: change + 1 });
  });

  test("is computed once per Idempotency-Key, like the revert itself", async () => {
    await newTag();
    const sequence = lastSequence();
    const headers = { "idempotency-key": "k" };
    const first = await revert(owner, sequence, {}, headers);
    const again = await revert(owner, sequence, {}, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.data).toEqual(first.data);
    expect(lastSequence()).toBe(sequence + 1);
  });
});

describe("access control", () => {
  test("is not reverted: users, API keys and the organization are obstacles", async () => {
    const user = await newUser({ role: "Member" });
    const creation = lastSequence();
    await expectOk(owner.put(`users/${user.id}`, { email: "a@example.org", role: "Viewer" }));
    const change = lastSequence();
    await expectOk(owner.delete(`users/${user.id}`));
    const end = lastSequence();
    await expectOk(owner.put("organizations", { name: "Other" }));
    const renaming = lastSequence();
    for (const sequence of [creation, change, end, renaming]) {
      const before = lastSequence();
      const rejection = await revert(owner, sequence);
      expect(rejection).toMatchObject(refusal(409, "entity_stale", { conflicts: [{ code: "access_stays" }] }));
      expect(lastSequence()).toBe(before);
    }
  });

  test("is not reverted for API keys either, and their changes are visible to signed-in users", async () => {
    const key = (await expectOk(owner.post("auth/keys", keyBody()))).api_key;
    expect(conflictsOf(await revert(owner, lastSequence()))).toEqual([["api_key", "access_stays", ""]]);
    const rejection = await revert(newApiKey().client, lastSequence() - 1);
    expect(rejection).toMatchObject(refusal(403, "auth_session_required"));
    expect(rejection.text).not.toContain(key.id);
  });

  test("is not reverted for secrets, but a credential's name is", async () => {
    const credential = await newCredential();
    const { organization_id, assigned_network_ids, host_assignments, tags } = credential;
    const put = (name: string, value: string) =>
      expectOk(
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
    const renaming = lastSequence();
    await put("renamed", "another secret");
    const change = lastSequence();
    expect(conflictsOf(await revert(owner, change))).toEqual([["credential", "secret_gone", "credential_type"]]);
    await expectOk(revert(owner, renaming));
    expect((await live("credentials", credential.id)).name).toBe(credential.name);
    await expectOk(owner.delete(`credentials/${credential.id}`));
    expect(conflictsOf(await revert(owner, lastSequence()))).toEqual([
      ["credential", "secret_gone", "credential_type"],
    ]);
  });
});

describe("permission to revert", () => {
  test("is granted to Admins and Owners, for transactions fully within their reach", async () => {
    const tag = await newTag();
    const sequence = lastSequence();
    for (const [role, required] of [
      ["Viewer", "Member"],
      ["Member", "Admin"],
    ] as const) {
      const { client } = await newUser({ role, networkIds: [first.networkId] });
      await expectRefusal(revert(client, sequence), 403, "auth_permission_denied", { required, actual: role });
    }
    expect(await revert(anonymous, sequence)).toMatchObject({ status: 401 });
    const { client: stranger } = await newStranger();
    const unknown = await revert(stranger, 1_000_000);
    expect(unknown).toMatchObject(refusal(404, "entity_not_found", { entity: "transaction" }));
    expect((await revert(stranger, sequence)).text).toBe(unknown.text.replaceAll("1000000", String(sequence)));
    const admin = await newUser({ role: "Admin" });
    await expectOk(revert(admin.client, sequence));
    expect((await owner.get(`tags/${tag.id}`)).status).toBe(404);
  });

  test("is granted to Members for their own transactions: creations, changes and deletions", async () => {
    const { client } = await newUser({ role: "Member", networkIds: [first.networkId] });
    const tag = await newTag();
    const host = await newHost({ ports: [tcp(22)] }, client);
    const creation = lastSequence();
    await expectOk(client.put(`hosts/${host.id}`, hostBody(host, { description: "d", tags: [tag.id] })));
    await expectOk(revert(client, lastSequence()));
    expect(await live("hosts", host.id)).toMatchObject({ description: null, tags: [] });
    await expectOk(client.delete(`hosts/${host.id}`));
    const plan = await expectOk(revert(client, lastSequence(), { dry_run: true }));
    expect(plan).toMatchObject({ applied: false, conflicts: [] });
    await expectOk(revert(client, lastSequence()));
    expect(await live("hosts", host.id)).toMatchObject({ ports: [{ number: 22 }] });
    await expectOk(revert(client, creation));
    expect((await client.get(`hosts/${host.id}`)).status).toBe(404);
    // And a revert is a transaction of the Member's own.
    await expectOk(revert(client, lastSequence()));
    expect((await client.get(`hosts/${host.id}`)).status).toBe(200);
  });

  test("is not granted to Members for other users' writes, and for their own keys' writes only by session", async () => {
    const networkIds = [first.networkId];
    const [member, otherUser] = [
      await newUser({ role: "Member", networkIds }),
      await newUser({ role: "Member", networkIds }),
    ];
    const [key, second] = ["Member", "Member"].map(() => newApiKey({ userId: member.id, permissions: "Member" }));
    await newHost({}, member.client);
    const bySession = lastSequence();
    await newHost({}, key?.client);
    const byKey = lastSequence();
    const denied = refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" });
    for (const dry_run of [true, false]) {
      expect(await revert(otherUser.client, bySession, { dry_run })).toMatchObject(denied);
      expect(await revert(otherUser.client, byKey, { dry_run })).toMatchObject(denied);
      expect(await revert(key?.client as Client, bySession, { dry_run })).toMatchObject(denied);
      expect(await revert(second?.client as Client, byKey, { dry_run })).toMatchObject(denied);
    }
    await expectOk(revert(key?.client as Client, byKey));
    await newHost({}, key?.client);
    const again = lastSequence();
    // The key is deleted; its user is still known.
    await expectOk(member.client.delete(`auth/keys/${key?.id}`));
    expect(await revert(otherUser.client, again)).toMatchObject(denied);
    await expectOk(revert(member.client, again));
    const host = await newHost();
    const { ifEntryKind } = await import("../../src/resources/if-entries/if-entry.ts");
    const entry = await newIfEntry(host.id);
    inTransaction((tx) => tx.update(ifEntryKind, entry.id, { if_alias: "seen" }));
    expect(await revert(member.client, lastSequence())).toMatchObject(denied);
  });

  test("is lost with the role that wrote it, and never includes writes that require an Admin", async () => {
    const hidden = await newNetwork();
    const former = await newUser({ role: "Admin" });
    const cases: Array<[sequence: number, status: number, code: string]> = [];
    const addCase = (status: number, code: string) => cases.push([lastSequence(), status, code]);
    const tag = await newTag({}, former.client);
    addCase(403, "auth_permission_denied");
    const subnet = await newSubnet({ cidr: "10.9.0.0/24" }, former.client);
    const widened = await newSubnet({ cidr: "10.10.0.0/24", accepts_credentials: false }, former.client);
    await expectOk(former.client.put(`subnets/${widened.id}`, { ...widened, accepts_credentials: true }));
    addCase(403, "auth_permission_denied");
    const deletedSubnet = await newSubnet({ cidr: "10.11.0.0/24", accepts_credentials: true }, former.client);
    await expectOk(former.client.delete(`subnets/${deletedSubnet.id}`));
    addCase(403, "auth_permission_denied");
    const host = await newHost({ ip_addresses: [{ ip_address: "10.9.0.1", subnet_id: subnet.id }] }, former.client);
    const credential = await newCredential({}, former.client);
    await expectOk(
      former.client.put(
        `hosts/${host.id}`,
        hostBody(host, { credential_assignments: [{ credential_id: credential.id }] }),
      ),
    );
    addCase(403, "auth_permission_denied");
    const cleared = await expectOk(former.client.put(`hosts/${host.id}`, { ...hostBody(host), ip_addresses: [] }));
    expect(cleared.ip_addresses).toEqual([]);
    await expectOk(revert(former.client, lastSequence()));
    // Sends the credential to the address again without writing an assignment.
    expect(writtenIn()).not.toHaveProperty("Updated credential_assignment");
    addCase(403, "auth_permission_denied");
    const viewer = await newUser({ role: "Viewer" });
    const key = newApiKey({ userId: viewer.id, permissions: "Viewer" });
    await expectOk(
      former.client.put(`auth/keys/${key.id}`, {
        ...keyBody(),
        user_id: viewer.id,
        name: "renamed",
        permissions: "Viewer",
      }),
    );
    addCase(404, "entity_not_found");
    const deletedHost = await newHost({ credential_assignments: [{ credential_id: credential.id }] }, former.client);
    await expectOk(former.client.delete(`hosts/${deletedHost.id}?cascade=true`));
    addCase(403, "auth_permission_denied");
    await newHost({ network_id: hidden.id }, former.client);
    addCase(404, "entity_not_found");
    await expectOk(
      owner.put(`users/${former.id}`, {
        ...(await live("users", former.id)),
        role: "Member",
        network_ids: [first.networkId],
      }),
    );
    const before = lastSequence();
    for (const [sequence, status, code] of cases)
      for (const dry_run of [true, false]) {
        const response = await revert(former.client, sequence, { dry_run });
        // Requirements of a higher role are in the plan, as for a restore.
        if (response.status === 200)
          expect([sequence, dry_run, response.data.conflicts]).toMatchObject([
            sequence,
            true,
            [{ code: "role_too_low" }],
          ]);
        else expect([sequence, response.status, response.body.code]).toEqual([sequence, status, code]);
        expect(response.text).not.toContain(tag.name);
      }
    expect(lastSequence()).toBe(before);
  });

  test("is lost by a Member who can no longer access the written records", async () => {
    const otherNetwork = await newNetwork();
    const member = await newUser({ role: "Member", networkIds: [first.networkId, otherNetwork.id] });
    const host = await newHost({ network_id: otherNetwork.id }, member.client);
    const sequence = lastSequence();
    const unknown = await revert(member.client, 1_000_000);
    await expectOk(
      owner.put(`users/${member.id}`, { ...(await live("users", member.id)), network_ids: [first.networkId] }),
    );
    for (const dry_run of [true, false]) {
      const response = await revert(member.client, sequence, { dry_run });
      expect(response.text).toBe(unknown.text.replaceAll("1000000", String(sequence)));
    }
    expect((await owner.get(`hosts/${host.id}`)).status).toBe(200);
  });

  test("is not granted to a key that can access only some of the affected networks", async () => {
    const hidden = await newNetwork();
    const { networkId } = first;
    const { client } = newApiKey({ networkIds: [networkId] });
    const [visible, hiddenHost] = [await newHost(), await newHost({ network_id: hidden.id })];
    await expectOk(
      owner.post(
        "hosts/bulk",
        [visible, hiddenHost].map((host) => ({ id: host.id, name: `${host.name} changed` })),
      ),
    );
    const mixedSequence = lastSequence();
    await expectOk(owner.put(`hosts/${visible.id}`, hostBody(visible, { description: "d" })));
    const ownSequence = lastSequence();
    for (const dry_run of [true, false])
      await expectRefusal(revert(client, mixedSequence, { dry_run }), 404, "entity_not_found");
    await expectOk(revert(client, ownSequence));
    expect((await live("hosts", visible.id)).description).toBeNull();
    await expectOk(revert(owner, mixedSequence));
  });

  test("is refused in the same way for others' writes, whether or not they extend beyond the caller's reach", async () => {
    const hidden = await newNetwork();
    const { client } = await newUser({ role: "Member", networkIds: [first.networkId] });
    const hostIn = (network_id: string, name: string) => ({ network_id, name });
    await expectOk(owner.post("hosts/bulk", [hostIn(first.networkId, "near-1")]));
    const near = lastSequence();
    await expectOk(owner.post("hosts/bulk", [hostIn(first.networkId, "near-2"), hostIn(hidden.id, "far")]));
    const mixed = lastSequence();
    const responses = [near, mixed].map(async (sequence) => {
      const { status, text } = await revert(client, sequence, { dry_run: true });
      return { status, text: text.replaceAll(String(sequence), "N") };
    });
    const [nearResponse, mixedResponse] = await Promise.all(responses);
    expect(nearResponse?.status).toBe(403);
    expect(mixedResponse).toEqual(nearResponse);
  });

  test("includes discovery's transactions", async () => {
    const host = await newHost();
    const entry = await newIfEntry(host.id);
    const { ifEntryKind } = await import("../../src/resources/if-entries/if-entry.ts");
    inTransaction((tx) => tx.update(ifEntryKind, entry.id, { if_alias: "seen" }));
    await expectOk(revert(owner, lastSequence()));
    expect(await live("if-entries", entry.id)).not.toHaveProperty("if_alias");
  });

  test("needs a transaction number, and unknown fields are refused", async () => {
    for (const sequence of ["0", "-1", "x", "1.5", "99999999999"]) {
      expect(await owner.post(`transactions/${sequence}/revert`, {})).toMatchObject(invalid({ path: "/sequence" }));
    }
    expect(await owner.post("transactions/1/revert", { dry_run: 1, more: 1 })).toMatchObject(
      invalid({ path: "/more" }, { path: "/dry_run" }),
    );
  });
});
