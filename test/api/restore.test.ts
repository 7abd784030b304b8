// POST /api/v1/…/{id}/restore: a record, with what it owns, is again what it was; all or none, in one transaction that can be undone.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { openWritable } from "../../src/db/connection.ts";
import { prune } from "../../src/history/prune.ts";
import { KINDS } from "../../src/resources/kinds.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
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
import { newWorld, PLURALS } from "../support/operations.ts";
import { content, findingsOf, instant, newScene, restore, revert, tally, type Scene } from "../support/past.ts";

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

const then = (plural: string, id: string, at: string) => made(appliance.owner.get(`/api/v1/${plural}/${id}?at=${at}`));
const actionOn = (plan: Wire, id: string): Wire =>
  (plan["actions"] as Wire[]).find((action) => action["id"] === id) as Wire;

describe("a host that was deleted", () => {
  let scene: Scene;
  let at: string;
  let id: string;

  beforeEach(async () => {
    scene = await newScene(appliance);
    id = scene.host["id"];
    at = instant(appliance);
    await made(appliance.owner.delete(`/api/v1/hosts/${id}`));
    appliance.clock.advance(1_000);
  });

  test("is back with everything that it had, under the same ids, in one transaction", async () => {
    const before = transactionCount(appliance);
    const plan = await made(restore(appliance.owner, "hosts", id, at));
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
    expect(content(await live(appliance, "hosts", id))).toEqual(content(await then("hosts", id, at)));
    for (const entry of scene.host["interfaces"])
      expect(content(await live(appliance, "if-entries", entry.id))).toEqual(
        content(await then("if-entries", entry.id, at)),
      );
    expect(content(await live(appliance, "credentials", scene.credential["id"]))).toEqual(
      content(await then("credentials", scene.credential["id"], at)),
    );
    expect(writtenIn(appliance)).toEqual({
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
    expect(versionsOf(appliance, id).map((version) => version.operation)).toEqual(["Created", "Deleted", "Created"]);
  });

  test("keeps its creation and its lineage, has versions from now on, and was not there in between", async () => {
    appliance.clock.advance(1_000);
    const gone = instant(appliance);
    await made(restore(appliance.owner, "hosts", id, at));
    const now = appliance.clock.text();
    appliance.clock.advance(1_000);
    expect(await live(appliance, "hosts", id)).toMatchObject({
      created_at: scene.host["created_at"],
      lineage_id: null,
      updated_at: now,
      valid_from: now,
      valid_to: null,
    });
    expect((await appliance.owner.get(`/api/v1/hosts/${id}?at=${gone}`)).status).toBe(404);
    expect((await appliance.owner.get(`/api/v1/hosts/${id}?at=${now}`)).status).toBe(200);
    const entry = await live(appliance, "if-entries", scene.host["interfaces"][0].id);
    expect(entry["last_seen_at"]).toBe(scene.host["interfaces"][0].last_seen_at);
  });

  test("is planned as it is then restored, and asking writes nothing", async () => {
    const before = transactionCount(appliance);
    const dry = await made(restore(appliance.owner, "hosts", id, at, { dry_run: true }));
    expect(dry).toMatchObject({ applied: false, sequence: null, conflicts: [] });
    expect(transactionCount(appliance)).toBe(before);
    expect((await appliance.owner.get(`/api/v1/hosts/${id}`)).status).toBe(404);
    const done = await made(restore(appliance.owner, "hosts", id, at));
    expect(done).toEqual({ ...dry, applied: true, sequence: before + 1 });
  });

  test("is gone again when the restore is reverted, and back when that is", async () => {
    const { sequence } = await made(restore(appliance.owner, "hosts", id, at));
    appliance.clock.advance(1_000);
    const undone = await made(revert(appliance.owner, sequence));
    expect(tally(undone)).toMatchObject({
      "Delete host": 1,
      "Delete ip_address": 2,
      "Delete credential_assignment": 1,
      "Update credential": 1,
    });
    expect((await appliance.owner.get(`/api/v1/hosts/${id}`)).status).toBe(404);
    appliance.clock.advance(1_000);
    await made(revert(appliance.owner, undone["sequence"]));
    expect(content(await live(appliance, "hosts", id))).toEqual(content(await then("hosts", id, at)));
  });

  test("is not restored twice: the second time there is nothing to do", async () => {
    const first = await made(restore(appliance.owner, "hosts", id, at));
    const again = await made(restore(appliance.owner, "hosts", id, at));
    expect(again).toMatchObject({ applied: false, sequence: null });
    expect(new Set(again["actions"].map((action: Wire) => action["action"]))).toEqual(new Set(["Skip"]));
    expect(transactionCount(appliance)).toBe(first["sequence"]);
  });

  test("is restored once for one Idempotency-Key", async () => {
    const headers = { "idempotency-key": "again" };
    const first = await restore(appliance.owner, "hosts", id, at, {}, headers);
    const replayed = await restore(appliance.owner, "hosts", id, at, {}, headers);
    expect(replayed.headers.get("idempotency-replayed")).toBe("true");
    expect(replayed.data).toEqual(first.data);
    expect(await restore(appliance.owner, "hosts", id, at, { dry_run: true }, headers)).toMatchObject({
      status: 422,
      body: { code: "idempotency_key_reused" },
    });
  });

  test("has no version that If-Match could name", async () => {
    for (const tag of ["*", '"1"'])
      expect(await restore(appliance.owner, "hosts", id, at, {}, { "if-match": tag })).toMatchObject({
        status: 412,
        body: { code: "precondition_failed" },
      });
  });

  test("comes back without a tag that is gone, and says so", async () => {
    await made(appliance.owner.delete(`/api/v1/tags/${scene.tag["id"]}`));
    const plan = await made(restore(appliance.owner, "hosts", id, at));
    expect(actionOn(plan, id)["reason"]).toBe(`the tag ${scene.tag["id"]} in tags is gone and left out`);
    expect((await live(appliance, "hosts", id))["tags"]).toEqual([]);
  });

  test("comes back with the tag of today where the tag was made again", async () => {
    await made(appliance.owner.delete(`/api/v1/tags/${scene.tag["id"]}`));
    const again = await newTag(appliance, { name: scene.tag["name"] });
    const plan = await made(restore(appliance.owner, "hosts", id, at));
    expect(actionOn(plan, id)["reason"]).toBe(`in tags, the tag ${scene.tag["id"]} is ${again["id"]} today`);
    expect(await live(appliance, "hosts", id)).toMatchObject({
      tags: [again["id"]],
      services: [{ tags: [again["id"]] }],
    });
  });

  test("does not come back into a subnet and with VLANs that are gone: all of it is told, and nothing is written", async () => {
    await made(appliance.owner.delete(`/api/v1/subnets/${scene.subnet["id"]}`));
    await made(appliance.owner.delete(`/api/v1/vlans/${scene.vlan["id"]}`));
    const before = transactionCount(appliance);
    const dry = await made(restore(appliance.owner, "hosts", id, at, { dry_run: true }));
    const told = dry["conflicts"].map((conflict: Wire) => [
      conflict["entity_type"],
      conflict["field"],
      conflict["code"],
    ]);
    expect(told).toEqual([
      ["ip_address", "subnet_id", "reference_gone"],
      ["ip_address", "subnet_id", "reference_gone"],
      ["if_entry", "native_vlan_id", "reference_gone"],
      ["if_entry", "vlan_ids", "reference_gone"],
    ]);
    const refused = await restore(appliance.owner, "hosts", id, at);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "entity_stale", params: { entity: "ip_address", field: "subnet_id", conflicts: dry["conflicts"] } },
    });
    expect(transactionCount(appliance)).toBe(before);
    // In their own turn all of them come back.
    for (const [plural, record] of [
      ["vlans", scene.vlan],
      ["subnets", scene.subnet],
      ["hosts", scene.host],
    ] as const)
      await made(restore(appliance.owner, plural, record["id"], at));
    expect(content(await live(appliance, "hosts", id))).toEqual(content(await then("hosts", id, at)));
  });

  test("comes back into the subnet and with the VLAN that were made again since", async () => {
    await made(appliance.owner.delete(`/api/v1/subnets/${scene.subnet["id"]}`));
    await made(appliance.owner.delete(`/api/v1/vlans/${scene.vlan["id"]}`));
    const vlan = await newVlan(appliance, { number: scene.vlan["number"] });
    const subnet = await newSubnet(appliance, { cidr: scene.subnet["cidr"] });
    await made(restore(appliance.owner, "hosts", id, at));
    const host = await live(appliance, "hosts", id);
    expect(host["ip_addresses"].map((address: Wire) => address["subnet_id"])).toEqual([subnet["id"], subnet["id"]]);
    expect(await live(appliance, "if-entries", host["interfaces"][0].id)).toMatchObject({
      native_vlan_id: vlan["id"],
      vlan_ids: [vlan["id"]],
    });
  });

  test("does not come back into a subnet that has another prefix by now", async () => {
    await made(appliance.owner.put(`/api/v1/subnets/${scene.subnet["id"]}`, { cidr: "10.10.0.0/16" }));
    expect(await restore(appliance.owner, "hosts", id, at)).toMatchObject({
      status: 409,
      body: { code: "entity_stale", params: { entity: "ip_address", field: "subnet_id" } },
    });
  });

  test("comes back without the assignment of a credential that is gone", async () => {
    await made(appliance.owner.delete(`/api/v1/credentials/${scene.credential["id"]}`));
    const plan = await made(restore(appliance.owner, "hosts", id, at));
    const skipped = plan["actions"].find((action: Wire) => action["entity_type"] === "credential_assignment");
    expect(skipped).toMatchObject({
      action: "Skip",
      reason: `the credential ${scene.credential["id"]} in credential_id is gone`,
    });
    expect((await live(appliance, "hosts", id))["credential_assignments"]).toEqual([]);
  });

  test("comes back without its assignments for a Member, who may not assign credentials", async () => {
    const { client } = await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] });
    const plan = await made(restore(client, "hosts", id, at));
    expect(tally(plan)).toMatchObject({ "Create host": 1, "Skip credential_assignment": 1 });
    const { credential_assignments, ...rest } = content(await live(appliance, "hosts", id));
    expect(credential_assignments).toEqual([]);
    expect(rest).toEqual(
      Object.fromEntries(
        Object.entries(content(await then("hosts", id, at))).filter(([field]) => field !== "credential_assignments"),
      ),
    );
  });

  test("stays gone while its network is, which an Owner brings back first", async () => {
    const network = await newNetwork(appliance);
    const host = await newHost(appliance, { network_id: network["id"] });
    const instantThen = instant(appliance);
    await made(appliance.owner.delete(`/api/v1/networks/${network["id"]}?cascade=true`));
    expect(await restore(appliance.owner, "hosts", host["id"], instantThen)).toMatchObject({
      status: 409,
      body: { code: "entity_stale", params: { field: "network_id" } },
    });
    const { client } = await newUser(appliance, { role: "Admin" });
    for (const dry_run of [true, false]) {
      expect(await restore(client, "networks", network["id"], instantThen, { dry_run })).toMatchObject({
        status: 403,
        body: { code: "auth_permission_denied", params: { required: "Owner", actual: "Admin" } },
      });
    }
    await made(restore(appliance.owner, "networks", network["id"], instantThen));
    await made(restore(appliance.owner, "hosts", host["id"], instantThen));
    expect(content(await live(appliance, "hosts", host["id"]))).toEqual(content(host));
  });
});

describe("a host that was changed", () => {
  let scene: Scene;
  let id: string;
  let at: string;

  beforeEach(async () => {
    scene = await newScene(appliance);
    id = scene.host["id"];
    at = instant(appliance);
  });

  /** Everything about the host is another way. */
  async function changeAll(): Promise<void> {
    const { owner } = appliance;
    const [address] = scene.host["ip_addresses"];
    const [entry, second] = scene.host["interfaces"];
    await made(
      owner.put(
        `/api/v1/hosts/${id}`,
        hostBody(scene.host, {
          name: "other",
          hostname: null,
          hidden: true,
          tags: [],
          ip_addresses: [{ id: address.id, ip_address: "10.9.7.7", name: "moved" }, { ip_address: "10.9.0.3" }],
          ports: [{ number: 80, protocol: "Tcp" }],
          services: [{ name: "web", service_definition: "nginx" }],
          credential_assignments: [{ credential_id: scene.credential["id"] }],
        }),
      ),
    );
    await made(
      owner.put(`/api/v1/if-entries/${entry.id}`, {
        if_index: 7,
        if_descr: "changed",
        if_alias: null,
        fdb_macs: ["00:00:5e:00:53:09"],
        native_vlan_id: null,
      }),
    );
    await made(owner.delete(`/api/v1/if-entries/${second.id}`));
    await newIfEntry(appliance, id, { if_index: 3, fdb_macs: ["00:00:5e:00:53:07"] });
    appliance.clock.advance(1_000);
  }

  test("is what it was in all its parts: what it got since goes, what went is back", async () => {
    await changeAll();
    const plan = await made(restore(appliance.owner, "hosts", id, at));
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
    expect(actionOn(plan, id)["fields"]).toEqual([
      "credential_assignments",
      "hidden",
      "hostname",
      "interfaces",
      "ip_addresses",
      "name",
      "ports",
      "services",
      "tags",
    ]);
    expect(actionOn(plan, scene.host["interfaces"][0].id)["fields"]).toContain("fdb_macs");
    expect(versionsOf(appliance, id).at(-1)?.changed).toEqual(actionOn(plan, id)["fields"]);
    expect(content(await live(appliance, "hosts", id))).toEqual(content(await then("hosts", id, at)));
    for (const entry of scene.host["interfaces"])
      expect(content(await live(appliance, "if-entries", entry.id))).toEqual(
        content(await then("if-entries", entry.id, at)),
      );
  });

  test("is as it was changed when the restore is reverted", async () => {
    await changeAll();
    const changed = await live(appliance, "hosts", id);
    const { sequence } = await made(restore(appliance.owner, "hosts", id, at));
    appliance.clock.advance(1_000);
    await made(revert(appliance.owner, sequence));
    expect(content(await live(appliance, "hosts", id))).toEqual(content(changed));
  });

  test("is planned as it is then restored, and asking writes nothing", async () => {
    await changeAll();
    const before = transactionCount(appliance);
    const dry = await made(restore(appliance.owner, "hosts", id, at, { dry_run: true }));
    expect(transactionCount(appliance)).toBe(before);
    expect(await made(restore(appliance.owner, "hosts", id, at))).toEqual({
      ...dry,
      applied: true,
      sequence: before + 1,
    });
  });

  test("writes only what differs", async () => {
    await made(appliance.owner.put(`/api/v1/hosts/${id}`, hostBody(scene.host, { name: "other" })));
    const plan = await made(restore(appliance.owner, "hosts", id, at));
    expect(actionOn(plan, id)).toMatchObject({ action: "Update", fields: ["name"] });
    expect(tally(plan)).toMatchObject({ "Update host": 1, "Skip ip_address": 2, "Skip fdb_entry": 2 });
    expect(writtenIn(appliance)).toEqual({ "Updated host": 1 });
  });

  test("updates a part that was made again since, in place of bringing the first one back", async () => {
    const [address] = scene.host["ip_addresses"];
    const [port] = scene.host["ports"];
    await made(appliance.owner.delete(`/api/v1/ip-addresses/${address.id}`));
    await made(appliance.owner.delete(`/api/v1/ports/${port.id}`));
    const again = await made(
      appliance.owner.post("/api/v1/ip-addresses", { host_id: id, ip_address: address.ip_address, name: "again" }),
    );
    const portAgain = await made(
      appliance.owner.post("/api/v1/ports", { host_id: id, number: port.number, protocol: port.protocol }),
    );
    appliance.clock.advance(1_000);
    const plan = await made(restore(appliance.owner, "hosts", id, at));
    expect(actionOn(plan, again["id"])).toMatchObject({
      action: "Update",
      fields: ["name", "position"],
      reason: `it was made again since: then it had the id ${address.id}`,
    });
    const host = await live(appliance, "hosts", id);
    expect(host["ip_addresses"].map((each: Wire) => [each["id"], each["name"], each["lineage_id"]])).toContainEqual([
      again["id"],
      "first",
      address.id,
    ]);
    expect(host["services"][0].bindings).toContainEqual(
      expect.objectContaining({ port_id: portAgain["id"], ip_address_id: again["id"] }),
    );
    expect(host["interfaces"][0]).toMatchObject({ ip_address_id: again["id"] });
    expect(host["credential_assignments"]).toEqual([
      { credential_id: scene.credential["id"], ip_address_ids: [again["id"]] },
    ]);
  });

  test("takes the references of other records off what goes", async () => {
    const entry = await newIfEntry(appliance, id, { if_index: 9 });
    const far = scene.far["interfaces"][0];
    await made(
      appliance.owner.put(`/api/v1/if-entries/${far.id}`, {
        if_index: 1,
        if_descr: "far 1",
        neighbor: { type: "IfEntry", id: entry["id"] },
      }),
    );
    const plan = await made(restore(appliance.owner, "hosts", id, at));
    expect(actionOn(plan, far.id)).toMatchObject({
      action: "Update",
      fields: ["neighbor"],
      reason: `it refers to the interface entry ${entry["if_descr"]}, which goes`,
    });
    expect(await live(appliance, "if-entries", far.id)).not.toHaveProperty("neighbor");
  });

  test("honours If-Match on what is live", async () => {
    await made(appliance.owner.put(`/api/v1/hosts/${id}`, hostBody(scene.host, { name: "other" })));
    expect(await restore(appliance.owner, "hosts", id, at, {}, { "if-match": '"1"' })).toMatchObject({
      status: 412,
      body: { code: "precondition_failed" },
    });
    const tag = (await appliance.owner.get(`/api/v1/hosts/${id}`)).headers.get("etag") as string;
    expect((await restore(appliance.owner, "hosts", id, at, {}, { "if-match": tag })).status).toBe(200);
  });

  test("leaves what is observed as it is today", async () => {
    const address = scene.host["ip_addresses"][0];
    const seen = (await live(appliance, "ip-addresses", address.id))["last_seen_at"];
    await made(
      appliance.owner.put(`/api/v1/ip-addresses/${address.id}`, { ip_address: address.ip_address, name: "other" }),
    );
    await made(restore(appliance.owner, "hosts", id, at));
    expect(await live(appliance, "ip-addresses", address.id)).toMatchObject({ name: "first", last_seen_at: seen });
  });

  test("keeps its assignments as they are for a Member, and an address that a credential is sent to where it is", async () => {
    const { client } = await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] });
    const [address] = scene.host["ip_addresses"];
    await made(appliance.owner.put(`/api/v1/hosts/${id}`, hostBody(scene.host, { credential_assignments: [] })));
    const plan = await made(restore(client, "hosts", id, at));
    expect(plan).toMatchObject({ sequence: null });
    const skipped = plan["actions"].filter((action: Wire) => action["reason"] !== undefined);
    expect(skipped).toEqual([
      expect.objectContaining({
        entity_type: "credential_assignment",
        action: "Skip",
        reason: "credentials are assigned from the role Admin upwards: it stays as it is",
      }),
    ]);
    expect((await live(appliance, "hosts", id))["credential_assignments"]).toEqual([]);

    await made(appliance.owner.put(`/api/v1/ip-addresses/${address.id}`, { ip_address: "10.9.5.5" }));
    await made(
      appliance.owner.put(
        `/api/v1/hosts/${id}`,
        hostBody(scene.host, {
          credential_assignments: [{ credential_id: scene.credential["id"], ip_address_ids: [address.id] }],
        }),
      ),
    );
    const before = transactionCount(appliance);
    for (const [plural, record] of [
      ["hosts", id],
      ["ip-addresses", address.id],
    ] as const) {
      expect(await restore(client, plural, record, at)).toMatchObject({
        status: 403,
        body: {
          code: "auth_permission_denied",
          params: { required: "Admin", actual: "Member", conflicts: [{ code: "role_too_low", field: "ip_address" }] },
        },
      });
    }
    expect(transactionCount(appliance)).toBe(before);
    await made(restore(appliance.owner, "hosts", id, at));
    expect(content(await live(appliance, "hosts", id))).toEqual(content(await then("hosts", id, at)));
  });
});

describe("the parts of a host", () => {
  test("are restored by themselves, with what is theirs", async () => {
    const scene = await newScene(appliance);
    const { owner } = appliance;
    const [service] = scene.host["services"];
    const [entry] = scene.host["interfaces"];
    const [address] = scene.host["ip_addresses"];
    const [port] = scene.host["ports"];
    const at = instant(appliance);
    for (const path of [
      `services/${service.id}`,
      `if-entries/${entry.id}`,
      `ip-addresses/${address.id}`,
      `ports/${port.id}`,
    ])
      await made(owner.delete(`/api/v1/${path}`));
    appliance.clock.advance(1_000);
    // The service's bindings name the port and an address: these first.
    expect(await restore(owner, "services", service.id, at)).toMatchObject({
      status: 409,
      body: { code: "entity_stale" },
    });
    for (const [plural, record, made_] of [
      ["ip-addresses", address.id, { "Create ip_address": 1 }],
      ["ports", port.id, { "Create port": 1 }],
      ["if-entries", entry.id, { "Create if_entry": 1, "Create fdb_entry": 2 }],
      ["services", service.id, { "Create service": 1, "Create binding": 2 }],
    ] as const) {
      expect(tally(await made(restore(owner, plural, record, at)))).toEqual(made_);
      expect(content(await live(appliance, plural, record))).toEqual(content(await then(plural, record, at)));
    }
    // The other interface lost its neighbor with the entry; the assignment went with its last address. Neither is a part of what was restored.
    await made(restore(owner, "hosts", scene.host["id"], at));
    expect(content(await live(appliance, "hosts", scene.host["id"]))).toEqual(
      content(await then("hosts", scene.host["id"], at)),
    );
  });

  test("are not restored beside another that stands for the same", async () => {
    const scene = await newScene(appliance);
    const [entry] = scene.host["interfaces"];
    const at = instant(appliance);
    await made(appliance.owner.delete(`/api/v1/if-entries/${entry.id}`));
    await newIfEntry(appliance, scene.host["id"], { if_index: entry.if_index });
    const refused = await restore(appliance.owner, "if-entries", entry.id, at);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: "entity_already_exists",
        params: { entity: "if_entry", id: entry.id, field: "if_index", conflicts: [{ code: "identity_taken" }] },
      },
    });
  });

  test("are not restored where two of them would be one by now", async () => {
    const host = await newHost(appliance, {
      ports: [
        { number: 80, protocol: "Tcp" },
        { number: 81, protocol: "Tcp" },
      ],
      services: [{ name: "web", service_definition: "nginx" }],
    });
    const [first, second] = host["ports"];
    const service = host["services"][0].id;
    const bindings: Wire[] = [];
    for (const port of [first, second])
      bindings.push(
        await made(appliance.owner.post("/api/v1/bindings", { service_id: service, type: "Port", port_id: port.id })),
      );
    const at = instant(appliance);
    for (const binding of bindings) await made(appliance.owner.delete(`/api/v1/bindings/${binding["id"]}`));
    await made(appliance.owner.delete(`/api/v1/ports/${first.id}`));
    await made(appliance.owner.put(`/api/v1/ports/${second.id}`, { number: 80, protocol: "Tcp" }));
    const before = transactionCount(appliance);
    expect(await restore(appliance.owner, "services", service, at)).toMatchObject({
      status: 409,
      body: { code: "entity_already_exists", params: { entity: "binding", conflicts: [{ code: "identity_taken" }] } },
    });
    expect(transactionCount(appliance)).toBe(before);
  });

  test("are not restored to a host that has no room for them", async () => {
    const { organizationId, networkId } = appliance.first;
    const host = await newHost(appliance, { ports: [{ number: 1, protocol: "Tcp" }] });
    const at = instant(appliance);
    const gone = host["ports"][0].id;
    await made(appliance.owner.delete(`/api/v1/ports/${gone}`));
    inTransaction(appliance, (tx) => {
      for (let number = 2; number < 2 + 10_000; number += 1)
        tx.create(portKind, organizationId, {
          host_id: host["id"],
          network_id: networkId,
          number,
          protocol: "Tcp",
          type: "Custom",
          first_discovery_id: null,
        });
    });
    expect(await restore(appliance.owner, "ports", gone, at)).toMatchObject({
      status: 409,
      body: {
        code: "entity_stale",
        params: { entity: "port", field: "host_id", conflicts: [{ code: "limit_reached" }] },
      },
    });
  });

  test("are not restored to a host that is gone", async () => {
    const scene = await newScene(appliance);
    const at = instant(appliance);
    await made(appliance.owner.delete(`/api/v1/hosts/${scene.host["id"]}`));
    const port = scene.host["ports"][0];
    expect(await restore(appliance.owner, "ports", port.id, at)).toMatchObject({
      status: 409,
      body: {
        code: "entity_stale",
        params: { entity: "port", field: "host_id", conflicts: [{ code: "reference_gone", name: "22/Tcp" }] },
      },
    });
  });
});

describe("records whose thing is another's by now", () => {
  test("are not restored: a network, a subnet, a VLAN, a tag", async () => {
    const { owner } = appliance;
    const records = [
      [
        "networks",
        "name",
        await newNetwork(appliance),
        (record: Wire) => newNetwork(appliance, { name: record["name"] }),
      ],
      ["subnets", "cidr", await newSubnet(appliance), (record: Wire) => newSubnet(appliance, { cidr: record["cidr"] })],
      ["vlans", "number", await newVlan(appliance), (record: Wire) => newVlan(appliance, { number: record["number"] })],
      ["tags", "name", await newTag(appliance), (record: Wire) => newTag(appliance, { name: record["name"] })],
    ] as const;
    const at = instant(appliance);
    for (const [plural, field, record, again] of records) {
      await made(owner.delete(`/api/v1/${plural}/${record["id"]}`));
      await again(record);
      const before = transactionCount(appliance);
      expect(await restore(owner, plural, record["id"], at)).toMatchObject({
        status: 409,
        body: {
          code: "entity_already_exists",
          params: { id: record["id"], field, conflicts: [{ code: "identity_taken" }] },
        },
      });
      expect((await made(restore(owner, plural, record["id"], at, { dry_run: true })))["conflicts"]).toHaveLength(1);
      expect(transactionCount(appliance)).toBe(before);
    }
  });

  test("are not restored when they were renamed and another took the name", async () => {
    const tag = await newTag(appliance, { name: "core" });
    const at = instant(appliance);
    await made(appliance.owner.put(`/api/v1/tags/${tag["id"]}`, { name: "edge", color: "Red" }));
    const other = await newTag(appliance, { name: "core" });
    expect(await restore(appliance.owner, "tags", tag["id"], at)).toMatchObject({
      status: 409,
      body: { code: "entity_already_exists" },
    });
    await made(appliance.owner.delete(`/api/v1/tags/${other["id"]}`));
    expect(actionOn(await made(restore(appliance.owner, "tags", tag["id"], at)), tag["id"])).toMatchObject({
      action: "Update",
      fields: ["color", "name"],
    });
    expect(content(await live(appliance, "tags", tag["id"]))).toEqual(content(tag));
  });

  test("are not restored into a prefix that addresses have left", async () => {
    const subnet = await newSubnet(appliance, { cidr: "10.9.0.0/24" });
    const at = instant(appliance);
    await made(appliance.owner.put(`/api/v1/subnets/${subnet["id"]}`, { cidr: "10.9.0.0/16" }));
    await newHost(appliance, { ip_addresses: [{ ip_address: "10.9.1.1" }] });
    expect(await restore(appliance.owner, "subnets", subnet["id"], at)).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", params: { field: "cidr" } },
    });
  });
});

describe("a credential", () => {
  const file = (path: string) => ({ type: "SnmpV2c", community: { mode: "FilePath", path } });
  const inline = (value: string) => ({ type: "SnmpV2c", community: { mode: "Inline", value } });
  const bodyOf = (credential: Wire, changes: Wire) => {
    const { name, organization_id, credential_type, assigned_network_ids, host_assignments, tags } = credential;
    return { name, organization_id, credential_type, assigned_network_ids, host_assignments, tags, ...changes };
  };

  test("whose secrets are in files comes back with its assignments", async () => {
    const host = await newHost(appliance);
    const credential = await newCredential(appliance, {
      credential_type: file("a"),
      assigned_network_ids: [appliance.first.networkId],
      host_assignments: [{ host_id: host["id"] }],
    });
    const at = instant(appliance);
    await made(appliance.owner.delete(`/api/v1/credentials/${credential["id"]}?cascade=true`));
    appliance.clock.advance(1_000);
    const plan = await made(restore(appliance.owner, "credentials", credential["id"], at));
    expect(tally(plan)).toEqual({ "Create credential": 1, "Create credential_assignment": 2 });
    expect(content(await live(appliance, "credentials", credential["id"]))).toEqual(content(credential));
    expect((await live(appliance, "hosts", host["id"]))["credential_assignments"]).toEqual([
      { credential_id: credential["id"] },
    ]);
    expect((await live(appliance, "networks", appliance.first.networkId))["credential_ids"]).toEqual([
      credential["id"],
    ]);
  });

  test("whose secret was stored does not come back: it is in no history", async () => {
    const credential = await newCredential(appliance, { credential_type: inline("first secret") });
    const at = instant(appliance);
    await made(appliance.owner.delete(`/api/v1/credentials/${credential["id"]}`));
    const refused = await restore(appliance.owner, "credentials", credential["id"], at);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "entity_stale", params: { conflicts: [{ code: "secret_gone", field: "credential_type" }] } },
    });
  });

  test("keeps the stored secret of today, and says so", async () => {
    const credential = await newCredential(appliance, {
      credential_type: inline("first secret"),
      assigned_network_ids: [appliance.first.networkId],
    });
    const at = instant(appliance);
    const changed = await made(
      appliance.owner.put(
        `/api/v1/credentials/${credential["id"]}`,
        bodyOf(credential, { name: "renamed", credential_type: inline("second secret"), assigned_network_ids: [] }),
      ),
    );
    const plan = await made(restore(appliance.owner, "credentials", credential["id"], at));
    expect(actionOn(plan, credential["id"])).toMatchObject({
      action: "Update",
      fields: ["assigned_network_ids", "name"],
      reason: "the community stays that of today: inline secrets are in no history",
    });
    expect(await live(appliance, "credentials", credential["id"])).toMatchObject({
      name: credential["name"],
      assigned_network_ids: [appliance.first.networkId],
      secrets_updated_at: changed["secrets_updated_at"],
    });
    expect(sealed()).toBe(1);
  });

  test("that is kept in a file again forgets the stored secret; and it can't be stored again by a restore", async () => {
    const credential = await newCredential(appliance, { credential_type: file("a") });
    const first = instant(appliance);
    await made(
      appliance.owner.put(
        `/api/v1/credentials/${credential["id"]}`,
        bodyOf(credential, { credential_type: inline("stored") }),
      ),
    );
    const second = instant(appliance);
    expect(sealed()).toBe(1);
    const plan = await made(restore(appliance.owner, "credentials", credential["id"], first));
    expect(actionOn(plan, credential["id"])["reason"]).toBe(
      "the community of today goes for ever: inline secrets are in no history",
    );
    expect(sealed()).toBe(0);
    expect(await live(appliance, "credentials", credential["id"])).toMatchObject({
      credential_type: file("a"),
      secrets_updated_at: appliance.clock.text(),
    });
    expect(await restore(appliance.owner, "credentials", credential["id"], second)).toMatchObject({
      status: 409,
      body: { params: { conflicts: [{ code: "secret_gone" }] } },
    });
    expect(await revert(appliance.owner, plan["sequence"])).toMatchObject({
      status: 409,
      body: { params: { conflicts: [{ code: "secret_gone" }] } },
    });
  });

  test("comes back without assignments to hosts that are gone", async () => {
    const [kept, gone] = [await newHost(appliance), await newHost(appliance)];
    const credential = await newCredential(appliance, {
      credential_type: file("a"),
      host_assignments: [{ host_id: kept["id"] }, { host_id: gone["id"] }],
    });
    const at = instant(appliance);
    await made(
      appliance.owner.put(`/api/v1/credentials/${credential["id"]}`, bodyOf(credential, { host_assignments: [] })),
    );
    await made(appliance.owner.delete(`/api/v1/hosts/${gone["id"]}`));
    const plan = await made(restore(appliance.owner, "credentials", credential["id"], at));
    expect(tally(plan)).toEqual({
      "Update credential": 1,
      "Create credential_assignment": 1,
      "Skip credential_assignment": 1,
    });
    expect((await live(appliance, "credentials", credential["id"]))["host_assignments"]).toEqual([
      { host_id: kept["id"] },
    ]);
  });

  test("is not brought back by a key that does not reach all that it is used for, which learns nothing of it", async () => {
    const hidden = await newNetwork(appliance);
    const { networkId } = appliance.first;
    const credential = await newCredential(appliance, {
      credential_type: file("a"),
      assigned_network_ids: [networkId, hidden["id"]],
    });
    const at = instant(appliance);
    const path = `/api/v1/credentials/${credential["id"]}`;
    const { client } = newApiKey(appliance, { networkIds: [networkId] });
    for (const assigned of [[], [hidden["id"]], [hidden["id"], networkId]]) {
      await made(
        appliance.owner.put(
          path,
          bodyOf(credential, { name: `for ${assigned.length}`, assigned_network_ids: assigned }),
        ),
      );
      for (const dry_run of [true, false]) {
        const answer = await restore(client, "credentials", credential["id"], at, { dry_run });
        expect(answer).toMatchObject({ status: 403, body: { code: "entity_access_denied" } });
        expect(answer.text).not.toContain(hidden["id"]);
      }
    }
    await made(
      appliance.owner.put(path, bodyOf(credential, { name: "here alone", assigned_network_ids: [networkId] })),
    );
    const plan = await made(restore(client, "credentials", credential["id"], at));
    expect(tally(plan)).toEqual({ "Update credential": 1, "Skip credential_assignment": 1 });
    expect(await live(appliance, "credentials", credential["id"])).toMatchObject({
      name: credential["name"],
      assigned_network_ids: [networkId],
    });
  });

  function sealed(): number {
    return appliance.reader.db.query<{ count: number }, []>("SELECT count(*) AS count FROM credential_secrets").get()
      ?.count as number;
  }
});

describe("a user", () => {
  test("gets back what an update could give, within the caller's role", async () => {
    const network = await newNetwork(appliance);
    const user = await newUser(appliance, { role: "Owner", networkIds: [network["id"], appliance.first.networkId] });
    const at = instant(appliance);
    await made(
      appliance.owner.put(`/api/v1/users/${user.id}`, {
        email: "new@example.org",
        role: "Viewer",
        network_ids: [],
        is_enabled: false,
      }),
    );
    await made(appliance.owner.delete(`/api/v1/networks/${network["id"]}`));
    const { client } = await newUser(appliance, { role: "Admin" });
    for (const dry_run of [true, false])
      expect(await restore(client, "users", user.id, at, { dry_run })).toMatchObject({
        status: 403,
        body: { code: "auth_permission_denied", params: { required: "Owner" } },
      });
    const plan = await made(restore(appliance.owner, "users", user.id, at));
    expect(actionOn(plan, user.id)).toMatchObject({
      fields: ["email", "is_enabled", "network_ids", "role"],
      reason: `the network ${network["id"]} in network_ids is gone and left out`,
    });
    expect(await live(appliance, "users", user.id)).toMatchObject({
      role: "Owner",
      is_enabled: true,
      network_ids: [appliance.first.networkId],
    });
  });

  test("is not made the only Owner's end, and loses the sessions when the restore disables", async () => {
    const user = await newUser(appliance, { role: "Member" });
    await made(
      appliance.owner.put(`/api/v1/users/${user.id}`, { email: "a@example.org", role: "Member", is_enabled: false }),
    );
    const at = instant(appliance);
    await made(
      appliance.owner.put(`/api/v1/users/${user.id}`, { email: "a@example.org", role: "Owner", is_enabled: true }),
    );
    const client = await appliance.signedIn(user.id);
    const dry = await made(restore(appliance.owner, "users", user.id, at, { dry_run: true }));
    expect(dry["conflicts"]).toEqual([]);
    expect((await client.get("/api/auth/me")).status).toBe(200);
    await made(
      appliance.owner.put(`/api/v1/users/${appliance.first.userId}`, { email: "owner@first.example", role: "Admin" }),
    );
    expect(await restore(client, "users", user.id, at)).toMatchObject({ status: 409, body: { code: "entity_in_use" } });
    await made(client.put(`/api/v1/users/${appliance.first.userId}`, { email: "owner@first.example", role: "Owner" }));
    await made(restore(appliance.owner, "users", user.id, at));
    expect((await client.get("/api/auth/me")).status).toBe(401);
  });

  test("that was deleted does not come back: the password is in no history", async () => {
    const user = await newUser(appliance, { role: "Member" });
    const at = instant(appliance);
    await made(appliance.owner.delete(`/api/v1/users/${user.id}`));
    expect(await restore(appliance.owner, "users", user.id, at)).toMatchObject({
      status: 409,
      body: { code: "entity_stale", params: { entity: "user", conflicts: [{ code: "secret_gone" }] } },
    });
    expect(await made(restore(appliance.owner, "users", user.id, at, { dry_run: true }))).toMatchObject({
      actions: [{ action: "Skip" }],
      conflicts: [{ code: "secret_gone" }],
    });
  });
});

describe("an API key", () => {
  const path = "/api/v1/auth/keys";
  const newKey = (fields: Wire = {}) =>
    made(appliance.owner.post(path, { ...keyBody(appliance), permissions: "Viewer", ...fields })).then(
      (data) => data["api_key"] as Wire,
    );
  const update = (key: Wire, changes: Wire) =>
    made(
      appliance.owner.put(`${path}/${key["id"]}`, {
        name: key["name"],
        organization_id: key["organization_id"],
        user_id: key["user_id"],
        tags: key["tags"],
        ...changes,
      }),
    );

  test("gets back its fields, and keeps the secret of today", async () => {
    const tag = await newTag(appliance);
    const key = await newKey({
      tags: [tag["id"]],
      network_ids: [appliance.first.networkId],
      expires_at: "2031-01-01T00:00:00.000Z",
    });
    const at = instant(appliance);
    await update(key, { name: "other", tags: [], all_networks: true, expires_at: null, is_enabled: false });
    const { api_key: rotated } = await made(appliance.owner.post(`${path}/${key["id"]}/rotate`, {}));
    const plan = await made(restore(appliance.owner, "auth/keys", key["id"], at));
    expect(actionOn(plan, key["id"])["fields"]).toEqual([
      "all_networks",
      "expires_at",
      "is_enabled",
      "name",
      "network_ids",
      "tags",
    ]);
    const { key: _then, last_used: _used, ...rest } = content(key);
    expect(content(await live(appliance, "auth/keys", key["id"]))).toMatchObject({ ...rest, key: rotated.key });
  });

  test("is restored by sign-in only, and by nobody who could not write it", async () => {
    const member = await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] });
    const other = await newUser(appliance, { role: "Member" });
    const { api_key: own } = await made(
      member.client.post(path, { ...keyBody(appliance), user_id: member.id, permissions: "Member" }),
    );
    const at = instant(appliance);
    await made(
      member.client.put(`${path}/${own.id}`, {
        name: own.name,
        organization_id: own.organization_id,
        user_id: own.user_id,
        tags: [],
        permissions: "Viewer",
      }),
    );
    expect(await restore(newApiKey(appliance).client, "auth/keys", own.id, at)).toMatchObject({
      status: 403,
      body: { code: "auth_session_required" },
    });
    expect(await restore(other.client, "auth/keys", own.id, at)).toMatchObject({
      status: 404,
      body: { code: "entity_not_found" },
    });
    await made(
      appliance.owner.put(`/api/v1/users/${member.id}`, {
        email: "m@example.org",
        role: "Member",
        network_ids: [appliance.first.networkId],
      }),
    );
    await made(restore(member.client, "auth/keys", own.id, at));
    expect(await live(appliance, "auth/keys", own.id)).toMatchObject({ permissions: "Member" });

    const strong = await newKey({ permissions: "Owner" });
    const then_ = instant(appliance);
    await update(strong, { permissions: "Viewer" });
    const admin = await newUser(appliance, { role: "Admin" });
    expect(await restore(admin.client, "auth/keys", strong["id"], then_)).toMatchObject({
      status: 403,
      body: { code: "auth_permission_denied", params: { required: "Owner" } },
    });
    expect(await restore(member.client, "auth/keys", strong["id"], then_)).toMatchObject({ status: 404 });
  });

  test("that was deleted does not come back: the key itself is in no history", async () => {
    const key = await newKey();
    const at = instant(appliance);
    await made(appliance.owner.delete(`${path}/${key["id"]}`));
    expect(await restore(appliance.owner, "auth/keys", key["id"], at)).toMatchObject({
      status: 409,
      body: { code: "entity_stale", params: { entity: "api_key", conflicts: [{ code: "secret_gone" }] } },
    });
    const { client } = await newUser(appliance, { role: "Member" });
    expect(await restore(client, "auth/keys", key["id"], at)).toMatchObject({ status: 404 });
  });
});

describe("every resource", () => {
  test("can be restored to what it is, which writes nothing", async () => {
    const world = await newWorld(appliance);
    const at = instant(appliance);
    const before = transactionCount(appliance);
    for (const plural of PLURALS) {
      const id = world.records[plural]?.["id"];
      const plan = await made(restore(appliance.owner, plural, id, at));
      expect(plan, plural).toMatchObject({ at, applied: false, sequence: null, conflicts: [] });
      expect(plan["actions"][0], plural).toMatchObject({ id, action: "Skip", fields: [] });
    }
    expect(transactionCount(appliance)).toBe(before);
  });

  test("is not found before it was, after its end, where it is unknown, and by another organization: as with GET", async () => {
    const before = instant(appliance);
    const world = await newWorld(appliance);
    const at = instant(appliance);
    const second = await appliance.newOrganization("Second");
    const stranger = await appliance.signedIn(second.userId);
    for (const plural of PLURALS) {
      const id = world.records[plural]?.["id"];
      const unknown = "01936f2e-0d5c-7d3a-9a39-00000000dead";
      expect(await restore(appliance.owner, plural, id, before), plural).toMatchObject({
        status: 404,
        body: { code: "entity_not_found", params: { id } },
      });
      expect((await restore(appliance.owner, plural, id, before)).body.error, plural).toBe(
        (await appliance.owner.get(`/api/v1/${plural}/${id}?at=${before}`)).body.error,
      );
      for (const [by, which] of [
        [appliance.owner, unknown],
        [stranger, id],
        [appliance.owner, appliance.first.organizationId],
      ] as const) {
        expect(await restore(by, plural, which, at), plural).toMatchObject({
          status: 404,
          body: { code: "entity_not_found" },
        });
      }
    }
    const tag = world.records["tags"] as Wire;
    await made(appliance.owner.delete(`/api/v1/tags/${tag["id"]}`));
    appliance.clock.advance(1_000);
    expect((await restore(appliance.owner, "tags", tag["id"], appliance.clock.text())).status).toBe(404);
    expect((await restore(appliance.owner, "tags", tag["id"], "2040-01-01T00:00:00Z")).status).toBe(404);
  });

  test("is restored by whoever may write it and reaches it, and by nobody else", async () => {
    const world = await newWorld(appliance);
    const at = instant(appliance);
    const viewer = await newUser(appliance, { role: "Viewer", networkIds: [appliance.first.networkId] });
    const member = await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] });
    const nowhere = await newUser(appliance, { role: "Member" });
    const forAdmins = ["credentials", "discovery/schedules", "networks", "tags", "users"];
    for (const plural of PLURALS) {
      const id = world.records[plural]?.["id"];
      expect(await restore(appliance.anonymous, plural, id, at), plural).toMatchObject({ status: 401 });
      expect(await restore(viewer.client, plural, id, at), plural).toMatchObject({
        status: 403,
        body: { code: "auth_permission_denied" },
      });
      if (plural === "auth/keys") continue;
      expect((await restore(member.client, plural, id, at)).status, plural).toBe(
        forAdmins.includes(plural) ? 403 : 200,
      );
      expect((await restore(nowhere.client, plural, id, at)).status, plural).toBe(
        forAdmins.includes(plural) ? 403 : 404,
      );
    }
  });

  test("takes an instant, and nothing that it does not know", async () => {
    const tag = await newTag(appliance);
    const path = `/api/v1/tags/${tag["id"]}/restore`;
    for (const [body, paths] of [
      [{}, ["/at"]],
      [{ at: "yesterday" }, ["/at"]],
      [{ at: 5, dry_run: "yes", more: 1 }, ["/at", "/dry_run", "/more"]],
    ] as const) {
      const answer = await appliance.owner.post(path, body);
      expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
      expect(answer.body.params.issues.map((issue: Wire) => issue["path"]).sort()).toEqual([...paths]);
    }
    const at = instant(appliance);
    expect(await made(restore(appliance.owner, "tags", tag["id"], at.replace("Z", "+00:00")))).toMatchObject({ at });
  });

  test("names its command in the ledger, and whose it was", async () => {
    const tag = await newTag(appliance);
    const at = instant(appliance);
    await made(appliance.owner.put(`/api/v1/tags/${tag["id"]}`, { name: "other", color: "Red" }));
    const { sequence } = await made(restore(appliance.owner, "tags", tag["id"], at));
    expect((await made(appliance.owner.get(`/api/v1/transactions/${sequence}`)))["command"]).toBe("tag.restore");
  });
});

describe("an instant that has not passed", () => {
  test("is the present, also while the ledger's clock leads: what a read says, a restore brings back", async () => {
    const tag = await newTag(appliance, { name: "first" });
    const at = instant(appliance);
    await made(appliance.owner.put(`/api/v1/tags/${tag["id"]}`, { name: "second", color: "Red" }));
    appliance.clock.advance(-60_000);
    expect(await then("tags", tag["id"], at)).toMatchObject({ name: "second" });
    expect(await made(restore(appliance.owner, "tags", tag["id"], at))).toMatchObject({
      at,
      applied: false,
      actions: [{ action: "Skip" }],
    });
    expect(await live(appliance, "tags", tag["id"])).toMatchObject({ name: "second" });
  });

  test("that was restored to is answered: nothing is written there any more by a clock that was set back", async () => {
    const tag = await newTag(appliance, { name: "first" });
    appliance.clock.advance(60_000);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    await made(restore(appliance.owner, "tags", tag["id"], at));
    appliance.clock.advance(-30_000);
    const renamed = await made(appliance.owner.put(`/api/v1/tags/${tag["id"]}`, { name: "second", color: "Red" }));
    expect(renamed["valid_from"] > at).toBe(true);
  });
});

describe("where history was thinned", () => {
  test("a record is restored to the state that is kept, which is told; a transaction there is not reverted", async () => {
    const tag = await newTag(appliance, { name: "first" });
    const put = async (name: string) => {
      appliance.clock.advance(60_000);
      await made(appliance.owner.put(`/api/v1/tags/${tag["id"]}`, { name, color: "Red" }));
    };
    await put("second");
    const [kept, keptAt] = [transactionCount(appliance), appliance.clock.text()];
    appliance.clock.advance(86_400_000);
    await put("third");
    const [dropped, at] = [transactionCount(appliance), instant(appliance)];
    await put("fourth");
    appliance.clock.advance(4 * 86_400_000);
    await put("fifth");
    const db = openWritable(appliance.databasePath);
    prune(db, KINDS, { before: appliance.clock.now() - 86_400_000, keep: "daily" }, appliance.clock.now());
    db.$client.close();

    for (const sequence of [kept, dropped]) {
      for (const dry_run of [true, false])
        expect(await revert(appliance.owner, sequence, { dry_run })).toMatchObject({
          status: 409,
          body: { code: "entity_stale", params: { entity: "transaction", id: String(sequence) } },
        });
      const { client } = newApiKey(appliance, { networkIds: [appliance.first.networkId] });
      expect(await revert(client, sequence)).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
      const second = await appliance.newOrganization(`Other ${sequence}`);
      expect(await revert(await appliance.signedIn(second.userId), sequence)).toMatchObject({
        status: 404,
        body: { code: "entity_not_found" },
      });
    }
    const answer = await restore(appliance.owner, "tags", tag["id"], at);
    expect(answer).toMatchObject({ status: 200, body: { meta: { at, resolution: "daily", resolved_at: keptAt } } });
    expect(await live(appliance, "tags", tag["id"])).toMatchObject({ name: "second" });
    expect(content(await live(appliance, "tags", tag["id"]))).toEqual(content(await then("tags", tag["id"], at)));
    await made(revert(appliance.owner, answer.data.sequence));
    expect(await live(appliance, "tags", tag["id"])).toMatchObject({ name: "fifth" });
    expect(await restore(appliance.owner, "tags", tag["id"], formatInstant(1))).toMatchObject({ status: 404 });
  });
});
