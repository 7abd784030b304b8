// POST /api/v1/…/{id}/restore: atomically restores a record and its children to an earlier state, in one transaction
// that can be undone.

import { beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord, refusal, tcp } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { content, restore, revert, type Scene, tally } from "../support/appliance/past.ts";
import { newRecordFixture, PLURALS } from "../support/contract/operations.ts";
import { expectRefusal } from "../support/contract/shapes.ts";

// After any test, derived data matches the ledger, and the ledger verifies.
const appliance = applianceForEach({}, () => expect(findingsOf()).toEqual([]));
const { anonymous, clock, first, owner, signedIn } = appliance;
const { findingsOf, instant, inTransaction, keyBody, live, newApiKey, newCredential, newHost, newIfEntry } = appliance;
const { newMember, newNetwork, newOrganization, newScene, newStranger, newSubnet, newTag, newUser } = appliance;
const { newViewer, newVlan, prune, tick, transactionCount, versionsOf, watchWrites, writtenIn } = appliance;

const readAt = (plural: string, id: string, at: string) => expectOk(owner.get(`${plural}/${id}?at=${at}`));
const expectStateAt = async (id: string, at: string) =>
  expect(content(await live("hosts", id))).toEqual(content(await readAt("hosts", id, at)));
const actionOn = (plan: JsonRecord, id: string): JsonRecord =>
  (plan.actions as JsonRecord[]).find((action) => action.id === id) as JsonRecord;

describe("a deleted host", () => {
  let scene: Scene;
  let at: string;
  let id: string;

  beforeEach(async () => {
    scene = await newScene();
    id = scene.host.id;
    at = instant();
    await expectOk(owner.delete(`hosts/${id}`));
    tick();
  });

  test("is restored with all its parts, under the same ids, in one transaction", async () => {
    const before = transactionCount();
    const plan = await expectOk(restore(owner, "hosts", id, at));
    expect(plan).toMatchObject({ at, applied: true, sequence: before + 1, conflicts: [] });
    expect(tally(plan)).toEqual({
      "Create host": 1,
      "Create ip_address": 2,
      "Create if_entry": 2,
      "Create fdb_entry": 2,
      "Create port": 2,
      "Create service": 1,
      "Create binding": 2,
      "Create credential_assignment": 1,
    });
    expect(actionOn(plan, id)).toEqual({ entity_type: "host", id, name: "switch", action: "Create", fields: [] });
    await expectStateAt(id, at);
    for (const entry of scene.host.interfaces)
      expect(content(await live("if-entries", entry.id))).toEqual(content(await readAt("if-entries", entry.id, at)));
    expect(content(await live("credentials", scene.credential.id))).toEqual(
      content(await readAt("credentials", scene.credential.id, at)),
    );
    expect(writtenIn()).toEqual({
      "Created host": 1,
      "Created ip_address": 2,
      "Created if_entry": 2,
      "Created fdb_entry": 2,
      "Created port": 2,
      "Created service": 1,
      "Created binding": 2,
      "Created credential_assignment": 1,
      "Updated credential": 1,
    });
    expect(versionsOf(id).map((version) => version.operation)).toEqual(["Created", "Deleted", "Created"]);
  });

  test("keeps its creation and lineage, has versions from now on, and is absent in between", async () => {
    tick();
    const afterDeletion = instant();
    await expectOk(restore(owner, "hosts", id, at));
    const restoredAt = clock.text();
    tick();
    expect(await live("hosts", id)).toMatchObject({
      created_at: scene.host.created_at,
      lineage_id: null,
      updated_at: restoredAt,
      valid_from: restoredAt,
      valid_to: null,
    });
    expect((await owner.get(`hosts/${id}?at=${afterDeletion}`)).status).toBe(404);
    expect((await owner.get(`hosts/${id}?at=${restoredAt}`)).status).toBe(200);
    const entry = await live("if-entries", scene.host.interfaces[0].id);
    expect(entry.last_seen_at).toBe(scene.host.interfaces[0].last_seen_at);
  });

  test("is restored exactly as planned, and planning writes nothing", async () => {
    const before = transactionCount();
    const dry = await expectOk(restore(owner, "hosts", id, at, { dry_run: true }));
    expect(dry).toMatchObject({ applied: false, sequence: null, conflicts: [] });
    expect(transactionCount()).toBe(before);
    expect((await owner.get(`hosts/${id}`)).status).toBe(404);
    const done = await expectOk(restore(owner, "hosts", id, at));
    expect(done).toEqual({ ...dry, applied: true, sequence: before + 1 });
  });

  test("is deleted again when the restore is reverted, and restored when that is reverted", async () => {
    const { sequence } = await expectOk(restore(owner, "hosts", id, at));
    tick();
    const undone = await expectOk(revert(owner, sequence));
    expect(tally(undone)).toMatchObject({
      "Delete host": 1,
      "Delete ip_address": 2,
      "Delete credential_assignment": 1,
      "Update credential": 1,
    });
    expect((await owner.get(`hosts/${id}`)).status).toBe(404);
    tick();
    await expectOk(revert(owner, undone.sequence));
    await expectStateAt(id, at);
  });

  test("is not restored twice: the second time there is nothing to do", async () => {
    const first = await expectOk(restore(owner, "hosts", id, at));
    const again = await expectOk(restore(owner, "hosts", id, at));
    expect(again).toMatchObject({ applied: false, sequence: null });
    expect(new Set(again.actions.map((action: JsonRecord) => action.action))).toEqual(new Set(["Skip"]));
    expect(transactionCount()).toBe(first.sequence);
  });

  test("is restored once per Idempotency-Key", async () => {
    const headers = { "idempotency-key": "again" };
    const first = await restore(owner, "hosts", id, at, {}, headers);
    const replayed = await restore(owner, "hosts", id, at, {}, headers);
    expect(replayed.headers.get("idempotency-replayed")).toBe("true");
    expect(replayed.data).toEqual(first.data);
    await expectRefusal(restore(owner, "hosts", id, at, { dry_run: true }, headers), 422, "idempotency_key_reused");
  });

  test("has no version that If-Match could name", async () => {
    for (const tag of ["*", '"1"'])
      await expectRefusal(restore(owner, "hosts", id, at, {}, { "if-match": tag }), 412, "precondition_failed");
  });

  test("is restored without a deleted tag, with a notice", async () => {
    await expectOk(owner.delete(`tags/${scene.tag.id}`));
    const plan = await expectOk(restore(owner, "hosts", id, at));
    expect(actionOn(plan, id).reason).toBe(`the tag ${scene.tag.id} in tags no longer exists, so it is omitted`);
    expect((await live("hosts", id)).tags).toEqual([]);
  });

  test("is restored with a re-created tag", async () => {
    await expectOk(owner.delete(`tags/${scene.tag.id}`));
    const again = await newTag({ name: scene.tag.name });
    const plan = await expectOk(restore(owner, "hosts", id, at));
    expect(actionOn(plan, id).reason).toBe(`in tags, the tag ${scene.tag.id} is now ${again.id}`);
    expect(await live("hosts", id)).toMatchObject({ tags: [again.id], services: [{ tags: [again.id] }] });
  });

  test("is not restored without its subnet and VLANs: all are reported, and nothing is written", async () => {
    await expectOk(owner.delete(`subnets/${scene.subnet.id}`));
    await expectOk(owner.delete(`vlans/${scene.vlan.id}`));
    const expectNothingWritten = watchWrites();
    const dry = await expectOk(restore(owner, "hosts", id, at, { dry_run: true }));
    const reported = dry.conflicts.map((conflict: JsonRecord) => [conflict.entity_type, conflict.field, conflict.code]);
    expect(reported).toEqual([
      ["ip_address", "subnet_id", "reference_gone"],
      ["ip_address", "subnet_id", "reference_gone"],
      ["if_entry", "native_vlan_id", "reference_gone"],
      ["if_entry", "vlan_ids", "reference_gone"],
    ]);
    const rejection = await restore(owner, "hosts", id, at);
    expect(rejection).toMatchObject(
      refusal(409, "entity_stale", { entity: "ip_address", field: "subnet_id", conflicts: dry.conflicts }),
    );
    expectNothingWritten();
    // Each can be restored in turn.
    for (const [plural, record] of [
      ["vlans", scene.vlan],
      ["subnets", scene.subnet],
      ["hosts", scene.host],
    ] as const)
      await expectOk(restore(owner, plural, record.id, at));
    await expectStateAt(id, at);
  });

  test("is restored into a re-created subnet and VLAN", async () => {
    await expectOk(owner.delete(`subnets/${scene.subnet.id}`));
    await expectOk(owner.delete(`vlans/${scene.vlan.id}`));
    const vlan = await newVlan({ number: scene.vlan.number });
    const subnet = await newSubnet({ cidr: scene.subnet.cidr });
    await expectOk(restore(owner, "hosts", id, at));
    const host = await live("hosts", id);
    expect(host.ip_addresses.map((address: JsonRecord) => address.subnet_id)).toEqual([subnet.id, subnet.id]);
    expect(await live("if-entries", host.interfaces[0].id)).toMatchObject({
      native_vlan_id: vlan.id,
      vlan_ids: [vlan.id],
    });
  });

  test("is not restored into a subnet whose prefix has changed", async () => {
    await expectOk(owner.put(`subnets/${scene.subnet.id}`, { cidr: "10.10.0.0/16" }));
    await expectRefusal(restore(owner, "hosts", id, at), 409, "entity_stale", {
      entity: "ip_address",
      field: "subnet_id",
    });
  });

  test("is restored without the assignment of a deleted credential", async () => {
    await expectOk(owner.delete(`credentials/${scene.credential.id}`));
    const plan = await expectOk(restore(owner, "hosts", id, at));
    const skipped = plan.actions.find((action: JsonRecord) => action.entity_type === "credential_assignment");
    expect(skipped).toMatchObject({
      action: "Skip",
      reason: `the credential ${scene.credential.id} in credential_id no longer exists`,
    });
    expect((await live("hosts", id)).credential_assignments).toEqual([]);
  });

  test("is restored without assignments by a Member, who may not assign credentials", async () => {
    const { client } = await newMember();
    const plan = await expectOk(restore(client, "hosts", id, at));
    expect(tally(plan)).toMatchObject({ "Create host": 1, "Skip credential_assignment": 1 });
    const { credential_assignments, ...rest } = content(await live("hosts", id));
    expect(credential_assignments).toEqual([]);
    expect(rest).toEqual(
      Object.fromEntries(
        Object.entries(content(await readAt("hosts", id, at))).filter(([field]) => field !== "credential_assignments"),
      ),
    );
  });

  test("stays deleted until an Owner restores its deleted network", async () => {
    const network = await newNetwork();
    const host = await newHost({ network_id: network.id });
    const beforeDeletion = instant();
    await expectOk(owner.delete(`networks/${network.id}?cascade=true`));
    await expectRefusal(restore(owner, "hosts", host.id, beforeDeletion), 409, "entity_stale", { field: "network_id" });
    const { client } = await newUser({ role: "Admin" });
    for (const dry_run of [true, false]) {
      expect(await restore(client, "networks", network.id, beforeDeletion, { dry_run })).toMatchObject(
        refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }),
      );
    }
    await expectOk(restore(owner, "networks", network.id, beforeDeletion));
    await expectOk(restore(owner, "hosts", host.id, beforeDeletion));
    expect(content(await live("hosts", host.id))).toEqual(content(host));
  });
});

describe("a changed host", () => {
  let scene: Scene;
  let id: string;
  let at: string;

  beforeEach(async () => {
    scene = await newScene();
    id = scene.host.id;
    at = instant();
  });

  /** Changes every part of the host. */
  async function changeAll(): Promise<void> {
    const [address] = scene.host.ip_addresses;
    const [entry, second] = scene.host.interfaces;
    await expectOk(
      owner.put(
        `hosts/${id}`,
        hostBody(scene.host, {
          name: "other",
          hostname: null,
          hidden: true,
          tags: [],
          ip_addresses: [{ id: address.id, ip_address: "10.9.7.7", name: "moved" }, { ip_address: "10.9.0.3" }],
          ports: [tcp(80)],
          services: [{ name: "web", service_definition: "nginx" }],
          credential_assignments: [{ credential_id: scene.credential.id }],
        }),
      ),
    );
    await expectOk(
      owner.put(`if-entries/${entry.id}`, {
        if_index: 7,
        if_descr: "changed",
        if_alias: null,
        fdb_macs: ["00:00:5e:00:53:09"],
        native_vlan_id: null,
      }),
    );
    await expectOk(owner.delete(`if-entries/${second.id}`));
    await newIfEntry(id, { if_index: 3, fdb_macs: ["00:00:5e:00:53:07"] });
    tick();
  }

  test("is restored in all its parts: later ones are deleted, earlier ones restored", async () => {
    await changeAll();
    const plan = await expectOk(restore(owner, "hosts", id, at));
    expect(tally(plan)).toEqual({
      "Update host": 1,
      "Update ip_address": 1,
      "Create ip_address": 1,
      "Delete ip_address": 1,
      "Update if_entry": 1,
      "Create if_entry": 1,
      "Delete if_entry": 1,
      "Create fdb_entry": 2,
      "Delete fdb_entry": 2,
      "Create port": 2,
      "Delete port": 1,
      "Create service": 1,
      "Delete service": 1,
      "Create binding": 2,
      "Update credential_assignment": 1,
    });
    expect(actionOn(plan, id).fields).toEqual(
      "credential_assignments hidden hostname interfaces ip_addresses name ports services tags".split(" "),
    );
    expect(actionOn(plan, scene.host.interfaces[0].id).fields).toContain("fdb_macs");
    expect(versionsOf(id).at(-1)?.changed).toEqual(actionOn(plan, id).fields);
    await expectStateAt(id, at);
    for (const entry of scene.host.interfaces)
      expect(content(await live("if-entries", entry.id))).toEqual(content(await readAt("if-entries", entry.id, at)));
  });

  test("regains its changes when the restore is reverted", async () => {
    await changeAll();
    const changed = await live("hosts", id);
    const { sequence } = await expectOk(restore(owner, "hosts", id, at));
    tick();
    await expectOk(revert(owner, sequence));
    expect(content(await live("hosts", id))).toEqual(content(changed));
  });

  test("is restored exactly as planned, and planning writes nothing", async () => {
    await changeAll();
    const before = transactionCount();
    const dry = await expectOk(restore(owner, "hosts", id, at, { dry_run: true }));
    expect(transactionCount()).toBe(before);
    expect(await expectOk(restore(owner, "hosts", id, at))).toEqual({ ...dry, applied: true, sequence: before + 1 });
  });

  test("writes only the differences", async () => {
    await expectOk(owner.put(`hosts/${id}`, hostBody(scene.host, { name: "other" })));
    const plan = await expectOk(restore(owner, "hosts", id, at));
    expect(actionOn(plan, id)).toMatchObject({ action: "Update", fields: ["name"] });
    expect(tally(plan)).toMatchObject({ "Update host": 1, "Skip ip_address": 2, "Skip fdb_entry": 2 });
    expect(writtenIn()).toEqual({ "Updated host": 1 });
  });

  test("is planned with the current and future value of each field, and the host of each part", async () => {
    const [entry] = scene.host.interfaces;
    const [tag] = scene.host.tags as readonly string[];
    await expectOk(owner.put(`hosts/${id}`, hostBody(scene.host, { name: "other", hostname: null, tags: [] })));
    const { host_id, if_index, if_descr } = entry;
    await expectOk(owner.put(`if-entries/${entry.id}`, { host_id, if_index, if_descr, if_alias: "spare" }));
    const plan = await expectOk(restore(owner, "hosts", id, at, { dry_run: true }));
    expect(actionOn(plan, id).changes).toEqual([
      { field: "hostname", from: null, to: "switch.example" },
      { field: "name", from: "other", to: "switch" },
      { field: "tags", from: [], to: [tag] },
    ]);
    expect(actionOn(plan, entry.id)).toMatchObject({
      action: "Update",
      host_id: id,
      fields: ["if_alias"],
      changes: [{ field: "if_alias", from: "spare", to: "uplink" }],
    });
    expect(actionOn(plan, id)).not.toHaveProperty("host_id");
    // Unchanged fields are not listed.
    expect((plan.actions as JsonRecord[]).filter(({ changes }) => changes !== undefined)).toHaveLength(2);
  });

  test("updates a re-created part instead of restoring the first one", async () => {
    const [address] = scene.host.ip_addresses;
    const [port] = scene.host.ports;
    await expectOk(owner.delete(`ip-addresses/${address.id}`));
    await expectOk(owner.delete(`ports/${port.id}`));
    const again = await expectOk(
      owner.post("ip-addresses", { host_id: id, ip_address: address.ip_address, name: "again" }),
    );
    const portAgain = await expectOk(
      owner.post("ports", { host_id: id, number: port.number, protocol: port.protocol }),
    );
    tick();
    const plan = await expectOk(restore(owner, "hosts", id, at));
    expect(actionOn(plan, again.id)).toMatchObject({
      action: "Update",
      fields: ["name", "position"],
      reason: `it was created again since: its id was ${address.id}`,
    });
    const host = await live("hosts", id);
    expect(host.ip_addresses.map((item: JsonRecord) => [item.id, item.name, item.lineage_id])).toContainEqual([
      again.id,
      "first",
      address.id,
    ]);
    expect(host.services[0].bindings).toContainEqual(
      expect.objectContaining({ port_id: portAgain.id, ip_address_id: again.id }),
    );
    expect(host.interfaces[0]).toMatchObject({ ip_address_id: again.id });
    expect(host.credential_assignments).toEqual([{ credential_id: scene.credential.id, ip_address_ids: [again.id] }]);
  });

  test("clears other records' references to deleted parts", async () => {
    const entry = await newIfEntry(id, { if_index: 9 });
    const far = scene.far.interfaces[0];
    await expectOk(
      owner.put(`if-entries/${far.id}`, {
        if_index: 1,
        if_descr: "far 1",
        neighbor: { type: "IfEntry", id: entry.id },
      }),
    );
    const plan = await expectOk(restore(owner, "hosts", id, at));
    expect(actionOn(plan, far.id)).toMatchObject({
      action: "Update",
      fields: ["neighbor"],
      reason: `it refers to the interface entry ${entry.if_descr}, which is deleted`,
    });
    expect(await live("if-entries", far.id)).not.toHaveProperty("neighbor");
  });

  test("honors If-Match on the live version", async () => {
    await expectOk(owner.put(`hosts/${id}`, hostBody(scene.host, { name: "other" })));
    await expectRefusal(restore(owner, "hosts", id, at, {}, { "if-match": '"1"' }), 412, "precondition_failed");
    const tag = (await owner.get(`hosts/${id}`)).headers.get("etag") as string;
    expect((await restore(owner, "hosts", id, at, {}, { "if-match": tag })).status).toBe(200);
  });

  test("follows the quoted plan exactly, or fails if a part, a reference or its own fields changed since", async () => {
    await expectOk(owner.put(`hosts/${id}`, hostBody(scene.host, { name: "other" })));
    const [address] = scene.host.ip_addresses;
    const interveningChanges: ReadonlyArray<readonly [name: string, change: () => Promise<unknown>]> = [
      ["a field to be restored", () => expectOk(owner.put(`hosts/${id}`, hostBody(scene.host, { name: "another" })))],
      [
        "a part",
        () => expectOk(owner.put(`ip-addresses/${address.id}`, { ip_address: address.ip_address, name: "other" })),
      ],
      ["a new part", () => newIfEntry(id, { if_index: 9 })],
      ["a referenced tag", () => expectOk(owner.delete(`tags/${scene.tag.id}`))],
      ["its deletion", () => expectOk(owner.delete(`hosts/${id}`))],
    ];
    for (const [what, change] of interveningChanges) {
      const { plan } = await expectOk(restore(owner, "hosts", id, at, { dry_run: true }));
      await change();
      tick();
      const expectNothingWritten = watchWrites();
      for (const dry_run of [true, false])
        expect([what, await restore(owner, "hosts", id, at, { plan, dry_run })]).toMatchObject([
          what,
          refusal(409, "entity_stale", { expected: plan }),
        ]);
      expectNothingWritten();
    }
    // Unrelated changes do not interfere, nor does the time of the request.
    const { plan } = await expectOk(restore(owner, "hosts", id, at, { dry_run: true }));
    await newHost({ name: "elsewhere" });
    tick();
    expect(await expectOk(restore(owner, "hosts", id, at, { plan }))).toMatchObject({ applied: true, plan });
    expect(await live("hosts", id)).toMatchObject({ name: "switch" });
    await expectRefusal(restore(owner, "hosts", id, at, { plan: "5" }), 400, "validation_failed");
  });

  test("keeps current observations", async () => {
    const address = scene.host.ip_addresses[0];
    const lastSeenAt = (await live("ip-addresses", address.id)).last_seen_at;
    await expectOk(owner.put(`ip-addresses/${address.id}`, { ip_address: address.ip_address, name: "other" }));
    await expectOk(restore(owner, "hosts", id, at));
    expect(await live("ip-addresses", address.id)).toMatchObject({ name: "first", last_seen_at: lastSeenAt });
  });

  test("keeps its assignments when restored by a Member, and an address a credential is sent to", async () => {
    const { client } = await newMember();
    const [address] = scene.host.ip_addresses;
    await expectOk(owner.put(`hosts/${id}`, hostBody(scene.host, { credential_assignments: [] })));
    const plan = await expectOk(restore(client, "hosts", id, at));
    expect(plan).toMatchObject({ sequence: null });
    const skipped = plan.actions.filter((action: JsonRecord) => action.reason !== undefined);
    expect(skipped).toEqual([
      expect.objectContaining({
        entity_type: "credential_assignment",
        action: "Skip",
        reason: "assigning credentials requires the role Admin: it stays unchanged",
      }),
    ]);
    expect((await live("hosts", id)).credential_assignments).toEqual([]);

    await expectOk(owner.put(`ip-addresses/${address.id}`, { ip_address: "10.9.5.5" }));
    await expectOk(
      owner.put(
        `hosts/${id}`,
        hostBody(scene.host, {
          credential_assignments: [{ credential_id: scene.credential.id, ip_address_ids: [address.id] }],
        }),
      ),
    );
    const expectNothingWritten = watchWrites();
    for (const [plural, record] of [
      ["hosts", id],
      ["ip-addresses", address.id],
    ] as const) {
      expect(await restore(client, plural, record, at)).toMatchObject(
        refusal(403, "auth_permission_denied", {
          required: "Admin",
          actual: "Member",
          conflicts: [{ code: "role_too_low", field: "ip_address" }],
        }),
      );
    }
    expectNothingWritten();
    await expectOk(restore(owner, "hosts", id, at));
    await expectStateAt(id, at);
  });
});

describe("the parts of a host", () => {
  test("are restored individually, with their own parts", async () => {
    const scene = await newScene();
    const [service] = scene.host.services;
    const [entry] = scene.host.interfaces;
    const [address] = scene.host.ip_addresses;
    const [port] = scene.host.ports;
    const at = instant();
    for (const path of [
      `services/${service.id}`,
      `if-entries/${entry.id}`,
      `ip-addresses/${address.id}`,
      `ports/${port.id}`,
    ])
      await expectOk(owner.delete(path));
    tick();
    // The service's bindings refer to the port and an address: these first.
    await expectRefusal(restore(owner, "services", service.id, at), 409, "entity_stale");
    for (const [plural, record, expectedWrites] of [
      ["ip-addresses", address.id, { "Create ip_address": 1 }],
      ["ports", port.id, { "Create port": 1 }],
      ["if-entries", entry.id, { "Create if_entry": 1, "Create fdb_entry": 2 }],
      ["services", service.id, { "Create service": 1, "Create binding": 2 }],
    ] as const) {
      expect(tally(await expectOk(restore(owner, plural, record, at)))).toEqual(expectedWrites);
      expect(content(await live(plural, record))).toEqual(content(await readAt(plural, record, at)));
    }
    // The other interface lost its neighbor with the entry; the assignment ended with its last address. Neither is part
    // of the restored record.
    await expectOk(restore(owner, "hosts", scene.host.id, at));
    expect(content(await live("hosts", scene.host.id))).toEqual(content(await readAt("hosts", scene.host.id, at)));
  });

  test("are not restored next to a record with the same identity", async () => {
    const scene = await newScene();
    const [entry] = scene.host.interfaces;
    const at = instant();
    await expectOk(owner.delete(`if-entries/${entry.id}`));
    await newIfEntry(scene.host.id, { if_index: entry.if_index });
    const rejection = await restore(owner, "if-entries", entry.id, at);
    expect(rejection).toMatchObject(
      refusal(409, "entity_already_exists", {
        entity: "if_entry",
        id: entry.id,
        field: "if_index",
        conflicts: [{ code: "identity_taken" }],
      }),
    );
  });

  test("are not restored if two would then be identical", async () => {
    const host = await newHost({ ports: [tcp(80), tcp(81)], services: [{ name: "web", service_definition: "nginx" }] });
    const [first, second] = host.ports;
    const service = host.services[0].id;
    const bindings: JsonRecord[] = [];
    for (const port of [first, second])
      bindings.push(await expectOk(owner.post("bindings", { service_id: service, type: "Port", port_id: port.id })));
    const at = instant();
    for (const binding of bindings) await expectOk(owner.delete(`bindings/${binding.id}`));
    await expectOk(owner.delete(`ports/${first.id}`));
    await expectOk(owner.put(`ports/${second.id}`, tcp(80)));
    const expectNothingWritten = watchWrites();
    expect(await restore(owner, "services", service, at)).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "binding", conflicts: [{ code: "identity_taken" }] }),
    );
    expectNothingWritten();
  });

  test("are not restored to a host at its limit", async () => {
    const { organizationId, networkId } = first;
    const host = await newHost({ ports: [tcp(1)] });
    const at = instant();
    const deleted = host.ports[0].id;
    await expectOk(owner.delete(`ports/${deleted}`));
    inTransaction((tx) => {
      for (let number = 2; number < 2 + 10_000; number += 1)
        tx.create(portKind, organizationId, {
          host_id: host.id,
          network_id: networkId,
          number,
          protocol: "Tcp",
          type: "Custom",
          first_discovery_id: null,
        });
    });
    expect(await restore(owner, "ports", deleted, at)).toMatchObject(
      refusal(409, "entity_stale", { entity: "port", field: "host_id", conflicts: [{ code: "limit_reached" }] }),
    );
  });

  test("are not restored to a deleted host", async () => {
    const scene = await newScene();
    const at = instant();
    await expectOk(owner.delete(`hosts/${scene.host.id}`));
    const port = scene.host.ports[0];
    expect(await restore(owner, "ports", port.id, at)).toMatchObject(
      refusal(409, "entity_stale", {
        entity: "port",
        field: "host_id",
        conflicts: [{ code: "reference_gone", name: "22/Tcp" }],
      }),
    );
  });
});

describe("records with a reused identity", () => {
  test("are not restored: a network, a subnet, a VLAN, a tag", async () => {
    const records = [
      ["networks", "name", await newNetwork(), (record: JsonRecord) => newNetwork({ name: record.name })],
      ["subnets", "cidr", await newSubnet(), (record: JsonRecord) => newSubnet({ cidr: record.cidr })],
      ["vlans", "number", await newVlan(), (record: JsonRecord) => newVlan({ number: record.number })],
      ["tags", "name", await newTag(), (record: JsonRecord) => newTag({ name: record.name })],
    ] as const;
    const at = instant();
    for (const [plural, field, record, again] of records) {
      await expectOk(owner.delete(`${plural}/${record.id}`));
      await again(record);
      const expectNothingWritten = watchWrites();
      expect(await restore(owner, plural, record.id, at)).toMatchObject(
        refusal(409, "entity_already_exists", { id: record.id, field, conflicts: [{ code: "identity_taken" }] }),
      );
      expect((await expectOk(restore(owner, plural, record.id, at, { dry_run: true }))).conflicts).toHaveLength(1);
      expectNothingWritten();
    }
  });

  test("are not restored if renamed, and their name is taken", async () => {
    const tag = await newTag({ name: "core" });
    const at = instant();
    await expectOk(owner.put(`tags/${tag.id}`, { name: "edge", color: "Red" }));
    const otherTag = await newTag({ name: "core" });
    await expectRefusal(restore(owner, "tags", tag.id, at), 409, "entity_already_exists");
    await expectOk(owner.delete(`tags/${otherTag.id}`));
    expect(actionOn(await expectOk(restore(owner, "tags", tag.id, at)), tag.id)).toMatchObject({
      action: "Update",
      fields: ["color", "name"],
    });
    expect(content(await live("tags", tag.id))).toEqual(content(tag));
  });

  test("are not restored into a prefix that no longer contains their addresses", async () => {
    const subnet = await newSubnet({ cidr: "10.9.0.0/24" });
    const at = instant();
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: "10.9.0.0/16" }));
    await newHost({ ip_addresses: [{ ip_address: "10.9.1.1" }] });
    await expectRefusal(restore(owner, "subnets", subnet.id, at), 409, "entity_in_use", { field: "cidr" });
  });
});

describe("a credential", () => {
  const file = (path: string) => ({ type: "SnmpV2c", community: { mode: "FilePath", path } });
  const inline = (value: string) => ({ type: "SnmpV2c", community: { mode: "Inline", value } });
  const bodyOf = (credential: JsonRecord, changes: JsonRecord) => {
    const { name, organization_id, credential_type, assigned_network_ids, host_assignments, tags } = credential;
    return { name, organization_id, credential_type, assigned_network_ids, host_assignments, tags, ...changes };
  };

  test("is restored with its assignments if its secrets are in files", async () => {
    const host = await newHost();
    const credential = await newCredential({
      credential_type: file("a"),
      assigned_network_ids: [first.networkId],
      host_assignments: [{ host_id: host.id }],
    });
    const at = instant();
    await expectOk(owner.delete(`credentials/${credential.id}?cascade=true`));
    tick();
    const plan = await expectOk(restore(owner, "credentials", credential.id, at));
    expect(tally(plan)).toEqual({ "Create credential": 1, "Create credential_assignment": 2 });
    expect(content(await live("credentials", credential.id))).toEqual(content(credential));
    expect((await live("hosts", host.id)).credential_assignments).toEqual([{ credential_id: credential.id }]);
    expect((await live("networks", first.networkId)).credential_ids).toEqual([credential.id]);
  });

  test("is not restored with a stored secret: history has no secrets", async () => {
    const credential = await newCredential({ credential_type: inline("first secret") });
    const at = instant();
    await expectOk(owner.delete(`credentials/${credential.id}`));
    const rejection = await restore(owner, "credentials", credential.id, at);
    expect(rejection).toMatchObject(
      refusal(409, "entity_stale", { conflicts: [{ code: "secret_gone", field: "credential_type" }] }),
    );
  });

  test("keeps the current stored secret, with a notice", async () => {
    const credential = await newCredential({
      credential_type: inline("first secret"),
      assigned_network_ids: [first.networkId],
    });
    const at = instant();
    const changed = await expectOk(
      owner.put(
        `credentials/${credential.id}`,
        bodyOf(credential, { name: "renamed", credential_type: inline("second secret"), assigned_network_ids: [] }),
      ),
    );
    const plan = await expectOk(restore(owner, "credentials", credential.id, at));
    expect(actionOn(plan, credential.id)).toMatchObject({
      action: "Update",
      fields: ["assigned_network_ids", "name"],
      reason: "the community stays the current one: inline secrets are not in the history",
    });
    expect(await live("credentials", credential.id)).toMatchObject({
      name: credential.name,
      assigned_network_ids: [first.networkId],
      secrets_updated_at: changed.secrets_updated_at,
    });
    expect(countSecrets()).toBe(1);
  });

  test("is not restored over a secret set after its plan, and the plan reveals no secret", async () => {
    const credential = await newCredential({ credential_type: file("a") });
    const at = instant();
    const put = (value: string) =>
      expectOk(owner.put(`credentials/${credential.id}`, bodyOf(credential, { credential_type: inline(value) })));
    await put("first secret");
    const { plan, actions } = await expectOk(restore(owner, "credentials", credential.id, at, { dry_run: true }));
    expect(JSON.stringify(actions)).not.toContain("first secret");
    tick();
    expect(await expectOk(restore(owner, "credentials", credential.id, at, { dry_run: true }))).toMatchObject({ plan });
    await put("second secret");
    await expectRefusal(restore(owner, "credentials", credential.id, at, { plan }), 409, "entity_stale", {
      expected: plan,
    });
    expect(countSecrets()).toBe(1);
  });

  test("drops the stored secret when moved back to a file, and a restore cannot bring it back", async () => {
    const credential = await newCredential({ credential_type: file("a") });
    const first = instant();
    await expectOk(
      owner.put(`credentials/${credential.id}`, bodyOf(credential, { credential_type: inline("stored") })),
    );
    const second = instant();
    expect(countSecrets()).toBe(1);
    const plan = await expectOk(restore(owner, "credentials", credential.id, first));
    expect(actionOn(plan, credential.id).reason).toBe(
      "the current community is lost permanently: inline secrets are not in the history",
    );
    expect(countSecrets()).toBe(0);
    expect(await live("credentials", credential.id)).toMatchObject({
      credential_type: file("a"),
      secrets_updated_at: clock.text(),
    });
    expect(await restore(owner, "credentials", credential.id, second)).toMatchObject({
      status: 409,
      body: { params: { conflicts: [{ code: "secret_gone" }] } },
    });
    expect(await revert(owner, plan.sequence)).toMatchObject({
      status: 409,
      body: { params: { conflicts: [{ code: "secret_gone" }] } },
    });
  });

  test("is restored without assignments to deleted hosts", async () => {
    const [retained, deleted] = [await newHost(), await newHost()];
    const credential = await newCredential({
      credential_type: file("a"),
      host_assignments: [{ host_id: retained.id }, { host_id: deleted.id }],
    });
    const at = instant();
    await expectOk(owner.put(`credentials/${credential.id}`, bodyOf(credential, { host_assignments: [] })));
    await expectOk(owner.delete(`hosts/${deleted.id}`));
    const plan = await expectOk(restore(owner, "credentials", credential.id, at));
    expect(tally(plan)).toEqual({
      "Update credential": 1,
      "Create credential_assignment": 1,
      "Skip credential_assignment": 1,
    });
    expect((await live("credentials", credential.id)).host_assignments).toEqual([{ host_id: retained.id }]);
  });

  test("is not restored by a key without access to all its uses, and the refusal reveals nothing", async () => {
    const hidden = await newNetwork();
    const { networkId } = first;
    const credential = await newCredential({
      credential_type: file("a"),
      assigned_network_ids: [networkId, hidden.id],
    });
    const at = instant();
    const path = `credentials/${credential.id}`;
    const { client } = newApiKey({ networkIds: [networkId] });
    for (const assigned of [[], [hidden.id], [hidden.id, networkId]]) {
      await expectOk(
        owner.put(path, bodyOf(credential, { name: `for ${assigned.length}`, assigned_network_ids: assigned })),
      );
      for (const dry_run of [true, false]) {
        const response = await restore(client, "credentials", credential.id, at, { dry_run });
        expect(response).toMatchObject(refusal(403, "entity_access_denied"));
        expect(response.text).not.toContain(hidden.id);
      }
    }
    await expectOk(owner.put(path, bodyOf(credential, { name: "here alone", assigned_network_ids: [networkId] })));
    const plan = await expectOk(restore(client, "credentials", credential.id, at));
    expect(tally(plan)).toEqual({ "Update credential": 1, "Skip credential_assignment": 1 });
    expect(await live("credentials", credential.id)).toMatchObject({
      name: credential.name,
      assigned_network_ids: [networkId],
    });
  });

  function countSecrets(): number {
    return appliance.reader.db.query<{ count: number }, []>("SELECT count(*) AS count FROM credential_secrets").get()
      ?.count as number;
  }
});

describe("a user", () => {
  test("is restored in every updatable field, within the caller's role", async () => {
    const network = await newNetwork();
    const user = await newUser({ role: "Owner", networkIds: [network.id, first.networkId] });
    const at = instant();
    await expectOk(
      owner.put(`users/${user.id}`, { email: "new@example.org", role: "Viewer", network_ids: [], is_enabled: false }),
    );
    await expectOk(owner.delete(`networks/${network.id}`));
    const { client } = await newUser({ role: "Admin" });
    for (const dry_run of [true, false])
      expect(await restore(client, "users", user.id, at, { dry_run })).toMatchObject(
        refusal(403, "auth_permission_denied", { required: "Owner" }),
      );
    const plan = await expectOk(restore(owner, "users", user.id, at));
    expect(actionOn(plan, user.id).changes).toContainEqual({ field: "role", from: "Viewer", to: "Owner" });
    expect(actionOn(plan, user.id).changes).toContainEqual({ field: "network_ids", from: [], to: [first.networkId] });
    expect(actionOn(plan, user.id)).toMatchObject({
      fields: ["email", "is_enabled", "network_ids", "role"],
      reason: `the network ${network.id} in network_ids no longer exists, so it is omitted`,
    });
    expect(await live("users", user.id)).toMatchObject({
      role: "Owner",
      is_enabled: true,
      network_ids: [first.networkId],
    });
  });

  test("stays an Owner if the only one, and loses their sessions if the restore disables them", async () => {
    const user = await newUser({ role: "Member" });
    await expectOk(owner.put(`users/${user.id}`, { email: "a@example.org", role: "Member", is_enabled: false }));
    const at = instant();
    await expectOk(owner.put(`users/${user.id}`, { email: "a@example.org", role: "Owner", is_enabled: true }));
    const client = await signedIn(user.id);
    const dry = await expectOk(restore(owner, "users", user.id, at, { dry_run: true }));
    expect(dry.conflicts).toEqual([]);
    expect((await client.get("/api/auth/me")).status).toBe(200);
    await expectOk(owner.put(`users/${first.userId}`, { email: "owner@first.example", role: "Admin" }));
    await expectRefusal(restore(client, "users", user.id, at), 409, "entity_in_use");
    await expectOk(client.put(`users/${first.userId}`, { email: "owner@first.example", role: "Owner" }));
    await expectOk(restore(owner, "users", user.id, at));
    expect((await client.get("/api/auth/me")).status).toBe(401);
  });

  test("is not restored after deletion: history has no passwords", async () => {
    const user = await newUser({ role: "Member" });
    const at = instant();
    await expectOk(owner.delete(`users/${user.id}`));
    expect(await restore(owner, "users", user.id, at)).toMatchObject(
      refusal(409, "entity_stale", { entity: "user", conflicts: [{ code: "secret_gone" }] }),
    );
    expect(await expectOk(restore(owner, "users", user.id, at, { dry_run: true }))).toMatchObject({
      actions: [{ action: "Skip" }],
      conflicts: [{ code: "secret_gone" }],
    });
  });
});

describe("an API key", () => {
  const path = "auth/keys";
  const newKey = (fields: JsonRecord = {}) =>
    expectOk(owner.post(path, { ...keyBody(), permissions: "Viewer", ...fields })).then(
      (data) => data.api_key as JsonRecord,
    );
  const update = (key: JsonRecord, changes: JsonRecord) =>
    expectOk(
      owner.put(`${path}/${key.id}`, {
        name: key.name,
        organization_id: key.organization_id,
        user_id: key.user_id,
        tags: key.tags,
        ...changes,
      }),
    );

  test("is restored in its fields, and keeps the current secret", async () => {
    const tag = await newTag();
    const key = await newKey({
      tags: [tag.id],
      network_ids: [first.networkId],
      expires_at: "2031-01-01T00:00:00.000Z",
    });
    const at = instant();
    await update(key, { name: "other", tags: [], all_networks: true, expires_at: null, is_enabled: false });
    const { api_key: rotated } = await expectOk(owner.post(`${path}/${key.id}/rotate`, {}));
    const plan = await expectOk(restore(owner, "auth/keys", key.id, at));
    expect(actionOn(plan, key.id).fields).toEqual(
      "all_networks expires_at is_enabled name network_ids tags".split(" "),
    );
    const { key: _then, last_used: _used, ...rest } = content(key);
    expect(content(await live("auth/keys", key.id))).toMatchObject({ ...rest, key: rotated.key });
  });

  test("is restored by session only, and only by callers who may write it", async () => {
    const member = await newMember();
    const otherUser = await newUser({ role: "Member" });
    const { api_key: ownKey } = await expectOk(
      member.client.post(path, { ...keyBody(), user_id: member.id, permissions: "Member" }),
    );
    const at = instant();
    await expectOk(
      member.client.put(`${path}/${ownKey.id}`, {
        name: ownKey.name,
        organization_id: ownKey.organization_id,
        user_id: ownKey.user_id,
        tags: [],
        permissions: "Viewer",
      }),
    );
    await expectRefusal(restore(newApiKey().client, "auth/keys", ownKey.id, at), 403, "auth_session_required");
    await expectRefusal(restore(otherUser.client, "auth/keys", ownKey.id, at), 404, "entity_not_found");
    await expectOk(
      owner.put(`users/${member.id}`, { email: "m@example.org", role: "Member", network_ids: [first.networkId] }),
    );
    const reported = actionOn(await expectOk(restore(member.client, "auth/keys", ownKey.id, at)), ownKey.id);
    expect(reported.changes).toEqual([{ field: "permissions", from: "Viewer", to: "Member" }]);
    expect(await live("auth/keys", ownKey.id)).toMatchObject({ permissions: "Member" });

    // Visible networks depend on the caller: a Member sees that they change, but not which.
    const beforeConfinement = instant();
    await expectOk(
      owner.put(`${path}/${ownKey.id}`, {
        name: "confined",
        organization_id: ownKey.organization_id,
        user_id: ownKey.user_id,
        tags: [],
        network_ids: [first.networkId],
      }),
    );
    const [toMember, toOwner] = await Promise.all(
      [member.client, owner].map(async (caller) =>
        actionOn(
          await expectOk(restore(caller, "auth/keys", ownKey.id, beforeConfinement, { dry_run: true })),
          ownKey.id,
        ),
      ),
    );
    const namesOf = ({ changes }: JsonRecord) => changes.map(({ field }: JsonRecord) => field);
    expect(toMember?.fields).toEqual(["all_networks", "name", "network_ids"]);
    expect(namesOf(toMember as JsonRecord)).toEqual(["all_networks", "name"]);
    expect(namesOf(toOwner as JsonRecord)).toEqual(["all_networks", "name", "network_ids"]);

    const strong = await newKey({ permissions: "Owner" });
    const beforeChange = instant();
    await update(strong, { permissions: "Viewer" });
    const admin = await newUser({ role: "Admin" });
    expect(await restore(admin.client, "auth/keys", strong.id, beforeChange)).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Owner" }),
    );
    expect(await restore(member.client, "auth/keys", strong.id, beforeChange)).toMatchObject({ status: 404 });
  });

  test("keeps its current networks, including one its user has lost", async () => {
    const lost = await newNetwork();
    const networkIds = [first.networkId, lost.id];
    const member = await newUser({ role: "Member", networkIds });
    const key = newApiKey({ userId: member.id, permissions: "Viewer", networkIds, name: "before" });
    const at = instant();
    const { data: user } = await owner.get(`users/${member.id}`);
    await expectOk(owner.put(`users/${member.id}`, { ...user, network_ids: [first.networkId] }));
    const stored = await live("auth/keys", key.id);
    const { network_ids: _left, all_networks: _too, ...rest } = stored;
    await expectOk(owner.put(`${path}/${key.id}`, { ...rest, name: "after" }));
    expect(actionOn(await expectOk(restore(owner, "auth/keys", key.id, at)), key.id).fields).toEqual(["name"]);
    await expectOk(owner.put(`users/${member.id}`, { ...user, network_ids: networkIds }));
    expect(await live("auth/keys", key.id)).toMatchObject({ name: "before", network_ids: networkIds });
  });

  test("is not restored after deletion: history has no secrets", async () => {
    const key = await newKey();
    const at = instant();
    await expectOk(owner.delete(`${path}/${key.id}`));
    expect(await restore(owner, "auth/keys", key.id, at)).toMatchObject(
      refusal(409, "entity_stale", { entity: "api_key", conflicts: [{ code: "secret_gone" }] }),
    );
    const { client } = await newUser({ role: "Member" });
    expect(await restore(client, "auth/keys", key.id, at)).toMatchObject({ status: 404 });
  });
});

describe("every resource", () => {
  test("can be restored to its current state without a write", async () => {
    const fixture = await newRecordFixture(appliance);
    const at = instant();
    const expectNothingWritten = watchWrites();
    for (const plural of PLURALS) {
      const id = fixture.records[plural]?.id;
      const plan = await expectOk(restore(owner, plural, id, at));
      expect(plan, plural).toMatchObject({ at, applied: false, sequence: null, conflicts: [] });
      expect(plan.actions[0], plural).toMatchObject({ id, action: "Skip", fields: [] });
    }
    expectNothingWritten();
  });

  test("is 404 before its creation, after its deletion, if unknown, and in another organization, like its GET", async () => {
    const before = instant();
    const fixture = await newRecordFixture(appliance);
    const at = instant();
    const { client: stranger } = await newStranger();
    for (const plural of PLURALS) {
      const id = fixture.records[plural]?.id;
      const unknown = "01936f2e-0d5c-7d3a-9a39-00000000dead";
      expect(await restore(owner, plural, id, before), plural).toMatchObject(refusal(404, "entity_not_found", { id }));
      expect((await restore(owner, plural, id, before)).body.error, plural).toBe(
        (await owner.get(`${plural}/${id}?at=${before}`)).body.error,
      );
      for (const [caller, which] of [
        [owner, unknown],
        [stranger, id],
        [owner, first.organizationId],
      ] as const) {
        expect(await restore(caller, plural, which, at), plural).toMatchObject(refusal(404, "entity_not_found"));
      }
    }
    const tag = fixture.records.tags as JsonRecord;
    await expectOk(owner.delete(`tags/${tag.id}`));
    tick();
    expect((await restore(owner, "tags", tag.id, clock.text())).status).toBe(404);
    expect((await restore(owner, "tags", tag.id, "2040-01-01T00:00:00Z")).status).toBe(404);
  });

  test("is restored only by callers who may write it and have it in reach", async () => {
    const fixture = await newRecordFixture(appliance);
    const at = instant();
    const viewer = await newViewer();
    const member = await newMember();
    const nowhere = await newUser({ role: "Member" });
    const forAdmins = ["credentials", "custom-fields", "discovery/schedules", "networks", "tags", "users"];
    for (const plural of PLURALS) {
      const id = fixture.records[plural]?.id;
      expect(await restore(anonymous, plural, id, at), plural).toMatchObject({ status: 401 });
      expect(await restore(viewer.client, plural, id, at), plural).toMatchObject(
        refusal(403, "auth_permission_denied"),
      );
      if (plural === "auth/keys") continue;
      expect((await restore(member.client, plural, id, at)).status, plural).toBe(
        forAdmins.includes(plural) ? 403 : 200,
      );
      expect((await restore(nowhere.client, plural, id, at)).status, plural).toBe(
        forAdmins.includes(plural) ? 403 : 404,
      );
    }
  });

  test("accepts a timestamp, and refuses unknown fields", async () => {
    const tag = await newTag();
    const path = `tags/${tag.id}/restore`;
    for (const [body, paths] of [
      [{}, ["/at"]],
      [{ at: "yesterday" }, ["/at"]],
      [{ at: 5, dry_run: "yes", more: 1 }, ["/at", "/dry_run", "/more"]],
    ] as const) {
      const response = await owner.post(path, body);
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      expect(response.body.params.issues.map((issue: JsonRecord) => issue.path).sort()).toEqual([...paths]);
    }
    const at = instant();
    expect(await expectOk(restore(owner, "tags", tag.id, at.replace("Z", "+00:00")))).toMatchObject({ at });
  });

  test("records the command and its actor in the ledger", async () => {
    const tag = await newTag();
    const at = instant();
    await expectOk(owner.put(`tags/${tag.id}`, { name: "other", color: "Red" }));
    const { sequence } = await expectOk(restore(owner, "tags", tag.id, at));
    expect((await expectOk(owner.get(`transactions/${sequence}`))).command).toBe("tag.restore");
  });
});

describe("a future timestamp", () => {
  test("means now, even while the ledger's clock is ahead: a restore yields what a read shows", async () => {
    const tag = await newTag({ name: "first" });
    const at = instant();
    await expectOk(owner.put(`tags/${tag.id}`, { name: "second", color: "Red" }));
    clock.advance(-60_000);
    expect(await readAt("tags", tag.id, at)).toMatchObject({ name: "second" });
    expect(await expectOk(restore(owner, "tags", tag.id, at))).toMatchObject({
      at,
      applied: false,
      actions: [{ action: "Skip" }],
    });
    expect(await live("tags", tag.id)).toMatchObject({ name: "second" });
  });

  test("is fixed when used for a restore: no later write falls into it, even if the clock is set back", async () => {
    const tag = await newTag({ name: "first" });
    clock.advance(60_000);
    const at = clock.text();
    tick();
    await expectOk(restore(owner, "tags", tag.id, at));
    clock.advance(-30_000);
    const renamed = await expectOk(owner.put(`tags/${tag.id}`, { name: "second", color: "Red" }));
    expect(renamed.valid_from > at).toBe(true);
  });
});

describe("thinned history", () => {
  test("a record is restored to the kept state, with a notice; a transaction there is not reverted", async () => {
    const tag = await newTag({ name: "first" });
    const put = async (name: string) => {
      clock.advance(60_000);
      await expectOk(owner.put(`tags/${tag.id}`, { name, color: "Red" }));
    };
    await put("second");
    const [retained, retainedAt] = [transactionCount(), clock.text()];
    clock.advance(86_400_000);
    await put("third");
    const [dropped, at] = [transactionCount(), instant()];
    await put("fourth");
    clock.advance(4 * 86_400_000);
    await put("fifth");
    prune(clock.now() - 86_400_000, "daily");

    for (const sequence of [retained, dropped]) {
      for (const dry_run of [true, false])
        expect(await revert(owner, sequence, { dry_run })).toMatchObject(
          refusal(409, "entity_stale", { entity: "transaction", id: String(sequence) }),
        );
      const { client } = newApiKey({ networkIds: [first.networkId] });
      await expectRefusal(revert(client, sequence), 404, "entity_not_found");
      const second = await newOrganization(`Other ${sequence}`);
      await expectRefusal(revert(await signedIn(second.userId), sequence), 404, "entity_not_found");
    }
    const response = await restore(owner, "tags", tag.id, at);
    expect(response).toMatchObject({
      status: 200,
      body: { meta: { at, resolution: "daily", resolved_at: retainedAt } },
    });
    expect(await live("tags", tag.id)).toMatchObject({ name: "second" });
    expect(content(await live("tags", tag.id))).toEqual(content(await readAt("tags", tag.id, at)));
    await expectOk(revert(owner, response.data.sequence));
    expect(await live("tags", tag.id)).toMatchObject({ name: "fifth" });
    expect(await restore(owner, "tags", tag.id, formatInstant(1))).toMatchObject({ status: 404 });
  });
});
