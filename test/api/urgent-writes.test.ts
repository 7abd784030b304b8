// Priority for writes that reduce permissions, decided by their effect rather than by the request.

import { beforeEach, describe, expect, test } from "bun:test";
import type { WriteQueue } from "../../src/db/writing/write-queue.ts";
import { outcomeOf, type WriteReply, type Writer } from "../../src/db/writing/writer.ts";
import { COMMANDS, mayReducePermissions } from "../../src/registry/commands.ts";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, type NewUser, newApiKey } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, givePassword, newNetwork, newTag, newUser, signedIn } = appliance;
let network: string;
let far: string;
let admin: NewUser;
/** Commands that were tried ahead of the queue, and whether they ran. */
let attempts: Array<[string, "urgent" | "ordinary"]>;

beforeEach(async () => {
  network = first.networkId;
  far = (await newNetwork()).id;
  admin = await newUser({ role: "Admin" });
  await givePassword(admin.id);
  admin = { ...admin, client: await signedIn(admin.id) };
  attempts = [];
  const { writer } = appliance.writes as unknown as { writer: Writer };
  const run = appliance.writes.run.bind(appliance.writes);
  (appliance.writes as { run: WriteQueue["run"] }).run = async (command, input, actor, terms) => {
    if (!mayReducePermissions(command)) return run(command, input, actor, terms);
    const before = appliance.reader.head().sequence;
    const reply = writer.execute([
      structuredClone({
        command,
        input,
        actor,
        isUrgent: true as const,
        ...(terms?.repeatable === undefined ? {} : { repeatable: terms.repeatable }),
      }),
    ])[0] as WriteReply;
    const isUrgent = reply.ok || reply.isNotUrgent !== true;
    attempts.push([command, isUrgent ? "urgent" : "ordinary"]);
    if (isUrgent) return outcomeOf(reply);
    expect(appliance.reader.head().sequence).toBe(before);
    return run(command, input, actor, terms);
  };
});

/** PUT of a record as read, with changes. */
async function put(caller: Client, plural: string, id: string, changes: JsonRecord): Promise<ApiResponse> {
  const path = `${plural}/${id}`;
  const { network_ids, all_networks, ...rest } = await expectOk(caller.get(path));
  return caller.put(path, { ...rest, ...(plural === "users" ? { network_ids } : {}), ...changes });
}

describe("a user's permissions", () => {
  const member = () => newUser({ role: "Member", networkIds: [network, far] });

  test.each<[string, () => JsonRecord]>([
    ["disabling", () => ({ is_enabled: false })],
    ["a lower role", () => ({ role: "Viewer" })],
    ["fewer networks", () => ({ network_ids: [network] })],
    ["a new password, which ends the sessions", () => ({ password: "quite another phrase" })],
    [
      "all of it at once",
      () => ({ is_enabled: false, role: "Viewer", network_ids: [], password: "quite another phrase" }),
    ],
    ["nothing at all", () => ({})],
  ])("%s is executed ahead of the queue", async (_case, changes) => {
    const { id } = await member();
    const response = await put(admin.client, "users", id, changes());
    expect([response.status, attempts]).toEqual([200, [["user.update", "urgent"]]]);
  });

  test.each<[string, JsonRecord]>([
    ["a new name", { name: "another" }],
    ["a new e-mail address", { email: "another@first.example" }],
    ["a new name together with disabling", { name: "another", is_enabled: false }],
    ["a higher role", { role: "Admin" }],
    ["a higher role with fewer networks", { role: "Admin", network_ids: [] }],
    ["a higher role with disabling", { role: "Admin", is_enabled: false }],
  ])("%s waits in the queue, without partial effect", async (_case, changes) => {
    const { id, client } = await member();
    const response = await put(admin.client, "users", id, changes);
    expect([response.status, attempts]).toEqual([200, [["user.update", "ordinary"]]]);
    expect((await client.get("/api/auth/me")).status).toBe(changes.is_enabled === false ? 401 : 200);
  });

  test("more networks, enabling and another network wait in the queue", async () => {
    const { id } = await newUser({ role: "Member", networkIds: [network] });
    await put(admin.client, "users", id, { network_ids: [network, far] });
    await put(admin.client, "users", id, { is_enabled: false });
    await put(admin.client, "users", id, { is_enabled: true });
    await put(admin.client, "users", id, { network_ids: [network] });
    await put(admin.client, "users", id, { network_ids: [far] });
    expect(attempts.map(([, priority]) => priority)).toEqual(["ordinary", "urgent", "ordinary", "urgent", "ordinary"]);
  });

  test("an Admin who becomes a Member of some networks loses access", async () => {
    const { id } = await newUser({ role: "Admin" });
    await put(admin.client, "users", id, { role: "Member", network_ids: [network] });
    expect(attempts).toEqual([["user.update", "urgent"]]);
  });

  test("deleting one with keys, or in bulk, is executed ahead of the queue", async () => {
    const [one, two] = [await member(), await member()];
    newApiKey(appliance, { userId: one.id, permissions: "Viewer" });
    await expectOk(admin.client.delete(`users/${one.id}`));
    await expectOk(admin.client.post("users/bulk-delete", [two.id]));
    expect(attempts).toEqual([
      ["user.delete", "urgent"],
      ["user.bulk_delete", "urgent"],
    ]);
  });

  test("signing out, and changing one's own password, are executed ahead of the queue", async () => {
    await expectOk(
      admin.client.put("/api/auth/password", { current_password: PASSWORD, new_password: "quite another phrase" }),
    );
    await expectOk(admin.client.post("/api/auth/logout", {}));
    expect(attempts).toEqual([
      ["user.set_password", "urgent"],
      ["session.close", "urgent"],
    ]);
    expect((await admin.client.get("/api/auth/me")).status).toBe(401);
  });

  test("a write without permission is rejected immediately", async () => {
    const response = await admin.client.delete(`users/${first.userId}`);
    expect([response.status, response.body.code, attempts]).toEqual([
      403,
      "auth_permission_denied",
      [["user.delete", "urgent"]],
    ]);
  });
});

describe("an API key's permissions", () => {
  const key = (fields: Parameters<typeof newApiKey>[1] = {}) =>
    newApiKey(appliance, { userId: admin.id, permissions: "Member", ...fields }).id;
  const soon = () => new Date(clock.now() + 60_000).toISOString();
  const later = () => new Date(clock.now() + 120_000).toISOString();

  test.each<[string, () => Parameters<typeof newApiKey>[1], () => JsonRecord]>([
    ["disabling", () => ({}), () => ({ is_enabled: false })],
    ["a lower role", () => ({}), () => ({ permissions: "Viewer" })],
    ["an expiry", () => ({}), () => ({ expires_at: soon() })],
    ["an earlier expiry", () => ({ expiresAt: later() }), () => ({ expires_at: soon() })],
    ["some networks instead of all", () => ({}), () => ({ network_ids: [network] })],
    ["fewer networks", () => ({ networkIds: [network, far] }), () => ({ network_ids: [network] })],
    ["some sources instead of all", () => ({}), () => ({ allowed_sources: ["10.0.0.0/8"] })],
    [
      "narrower sources",
      () => ({ allowedSources: ["10.0.0.0/8", "2001:db8::/32"] }),
      () => ({ allowed_sources: ["10.1.0.0/16", "10.2.3.4/32", "2001:db8::/32"] }),
    ],
  ])("%s is executed ahead of the queue", async (_case, fields, changes) => {
    expect((await put(admin.client, "auth/keys", key(fields()), changes())).status).toBe(200);
    expect(attempts).toEqual([["api_key.update", "urgent"]]);
  });

  test.each<[string, () => Parameters<typeof newApiKey>[1], () => Promise<JsonRecord>]>([
    ["a new name", () => ({}), async () => ({ name: "another" })],
    ["tags", () => ({}), async () => ({ tags: [(await newTag()).id] })],
    ["enabling", () => ({ isEnabled: false }), async () => ({ is_enabled: true })],
    ["a higher role", () => ({}), async () => ({ permissions: "Admin" })],
    ["a later expiry", () => ({ expiresAt: soon() }), async () => ({ expires_at: later() })],
    ["no expiry", () => ({ expiresAt: soon() }), async () => ({ expires_at: null })],
    ["another network", () => ({ networkIds: [network] }), async () => ({ network_ids: [far] })],
    ["all networks instead of some", () => ({ networkIds: [network] }), async () => ({ all_networks: true })],
    [
      "all sources instead of some",
      () => ({ allowedSources: ["10.0.0.0/8"] }),
      async () => ({ allowed_sources: null }),
    ],
    ["wider sources", () => ({ allowedSources: ["10.0.0.0/8"] }), async () => ({ allowed_sources: ["10.0.0.0/7"] })],
    [
      "narrower sources with an additional one",
      () => ({ allowedSources: ["10.0.0.0/8"] }),
      async () => ({ allowed_sources: ["10.1.0.0/16", "::/8"] }),
    ],
    [
      "disabling with wider sources",
      () => ({ allowedSources: ["10.0.0.0/8"] }),
      async () => ({ is_enabled: false, allowed_sources: null }),
    ],
    ["another user", () => ({}), async () => ({ user_id: (await newUser({ role: "Member" })).id })],
    [
      "disabling with a later expiry",
      () => ({ expiresAt: soon() }),
      async () => ({ is_enabled: false, expires_at: later() }),
    ],
  ])("%s waits in the queue", async (_case, fields, changes) => {
    expect((await put(admin.client, "auth/keys", key(fields()), await changes())).status).toBe(200);
    expect(attempts).toEqual([["api_key.update", "ordinary"]]);
  });

  test("rotation, deletion, and bulk deletion are executed ahead of the queue", async () => {
    const [one, two, three] = [key(), key(), key()];
    const rotated = await expectOk(admin.client.post(`auth/keys/${one}/rotate`, {}));
    expect((await anonymous.with({ authorization: `Bearer ${rotated.key}` }).get("/api/auth/me")).status).toBe(200);
    await expectOk(admin.client.delete(`auth/keys/${two}`));
    await expectOk(admin.client.post("auth/keys/bulk-delete", [three]));
    expect(attempts).toEqual([
      ["api_key.rotate", "urgent"],
      ["api_key.delete", "urgent"],
      ["api_key.bulk_delete", "urgent"],
    ]);
  });
});

test("creations, restores, reverts and inventory writes always wait in the queue", () => {
  expect(Object.keys(COMMANDS).filter(mayReducePermissions).sort()).toEqual([
    ..."api_key.bulk_delete api_key.delete api_key.rotate api_key.update session.close".split(" "),
    ..."session.close_others user.bulk_delete user.delete user.set_password user.update".split(" "),
  ]);
});
