// Users: permissions to create and change them, and effects of disabling.

import { describe, expect, test } from "bun:test";
import { writtenSql } from "../../src/db/packing.ts";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { networkReference } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";
import { expectRefusal } from "../support/contract/shapes.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, handle, owner, signedIn } = appliance;
const { givePassword, newApiKey, newNetwork, newOrganization, newSubnet, newUser, tick, transactionCount } = appliance;
const { watchWrites, versionsOf, writtenIn, newMember, newViewer } = appliance;

const body = {
  email: "Noc@example.net",
  name: "Network operations",
  role: "Member",
  password: "a phrase of their own",
};
const users = "/api/v1/users";
const signIn = (email: string, password: string) => anonymous.post("/api/auth/login", { email, password });
const read = async (id: string, caller: Client = owner): Promise<JsonRecord> => expectOk(caller.get(`${users}/${id}`));

describeRecords(
  {
    path: users,
    entity: "user",
    writeRole: "Admin",
    scope: "in the organization",
    // The address is unique on the appliance.
    body: (networkId, position, scope) => ({
      email: `User-${position}@${scope.organizationId}.example`,
      name: `User ${position}`,
      role: "Member",
      network_ids: [networkId],
      is_enabled: true,
      password: "a phrase of their own",
    }),
    inResponse: ({ password: _password, ...rest }) => rest,
    hasSecrets: true,
    change: { field: "is_enabled", to: (body) => body.is_enabled !== true },
    unique: "email",
    invalid: {
      body: {
        id: "me",
        email: "nobody",
        name: "a\nb",
        role: "Boss",
        network_ids: ["x"],
        is_enabled: 1,
        password: "short",
        nick: "x",
      },
      paths: ["/id", "/email", "/name", "/role", "/network_ids/0", "/is_enabled", "/password", "/nick"],
    },
    references: [networkReference("network_ids", (body, id) => ({ ...body, network_ids: [id, id] }))],
  },
  appliance,
);

describe("creating a user", () => {
  test("returns the user, who can sign in, without the password", async () => {
    const response = await owner.post(users, { ...body, network_ids: [first.networkId, first.networkId] });
    expect(response.status).toBe(200);
    expect(response.data).toEqual({
      id: expect.any(String),
      organization_id: first.organizationId,
      email: body.email,
      name: body.name,
      role: "Member",
      network_ids: [first.networkId],
      is_enabled: true,
      last_login: null,
      created_at: clock.text(),
      updated_at: clock.text(),
      valid_from: clock.text(),
      valid_to: null,
      lineage_id: null,
    });
    expect((await signIn("noc@EXAMPLE.net", body.password)).data).toMatchObject({
      id: response.data.id,
      last_login: clock.text(),
    });
    const stored =
      JSON.stringify(appliance.reader.db.query(`SELECT ${writtenSql("v", "members")} FROM history_versions v`).all()) +
      appliance.logLines.join("\n");
    expect(stored).not.toMatch(/argon2|a phrase of their own/);
  });

  test("uses the e-mail address as default name", async () => {
    const { name: _none, ...rest } = body;
    expect(await expectOk(owner.post(users, rest))).toMatchObject({ name: body.email });
  });

  test("is refused for an e-mail address in use anywhere on the appliance, in any case", async () => {
    const otherOrganization = await newOrganization("Second");
    const admin = await newUser({ role: "Admin", organizationId: otherOrganization.organizationId });
    const expectNothingWritten = watchWrites();
    const response = await admin.client.post(users, { ...body, email: "OWNER@first.example" });
    expect(response).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "user", field: "email", value: "OWNER@first.example" }),
    );
    expectNothingWritten();
  });

  test.each([
    ["Owner", 200, 200, 200],
    ["Admin", 403, 200, 200],
    ["Member", 403, 403, 403],
    ["Viewer", 403, 403, 403],
  ] as const)("by %s is limited to their own role", async (role, owner, admin, viewer) => {
    const { client } = await newUser({ role });
    const statuses = await Promise.all(
      ["Owner", "Admin", "Viewer"].map(
        async (role) => (await client.post(users, { ...body, email: `${role}@example.net`, role })).status,
      ),
    );
    expect(statuses).toEqual([owner, admin, viewer]);
  });

  test("is refused to an Admin above their role, and names the required one", async () => {
    const { client } = await newUser({ role: "Admin" });
    const response = await client.post(users, { ...body, role: "Owner" });
    expect(response.body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Owner", actual: "Admin" },
    });
  });

  test("requires an API key with access to every network: a limited one could grant itself the rest", async () => {
    const unlimitedKey = newApiKey({ permissions: "Admin" });
    expect((await unlimitedKey.client.post(users, body)).status).toBe(200);
    const limitedKey = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    await expectRefusal(
      limitedKey.client.post(users, { ...body, email: "other@example.net" }),
      403,
      "entity_access_denied",
    );
    expect(
      (await limitedKey.client.put(`${users}/${first.userId}`, { email: "x@example.net", role: "Viewer" })).body.code,
    ).toBe("entity_access_denied");
  });
});

test("the documentation covers the networks of a user without network_ids", async () => {
  const document = (await (await handle(new Request("http://localhost/api/openapi.json"))).json()) as JsonRecord;
  const body = document.paths["/api/v1/users"].post.requestBody.content["application/json"].schema;
  const properties = body.properties ?? document.components.schemas[body.$ref.split("/").at(-1)].properties;
  for (const { network_ids } of [properties, document.components.schemas.User.properties])
    expect(network_ids.description).toBe(
      "The networks that a Member or Viewer reaches; empty: none. An Owner or Admin reaches every network, regardless of this list.",
    );
});

describe("reading users", () => {
  test("shows a limited caller only shared networks in others' lists, at any timestamp", async () => {
    const second = (await newNetwork()).id;
    const { networkId } = first;
    const both = await newUser({ role: "Member", networkIds: [second, networkId] });
    const at = (await read(both.id)).valid_from;
    tick();
    const viewer = await newViewer();
    expect((await read(both.id)).network_ids).toEqual([second, networkId]);
    const limited = await viewer.client.get(`${users}/${both.id}`);
    expect(limited.data.network_ids).toEqual([networkId]);
    expect(limited.headers.get("etag")).toMatch(/^"\d+-[0-9a-f]{8}\.s\d+\.[0-9a-z]+"$/);
    expect((await expectOk(viewer.client.get(`${users}/${both.id}?at=${at}`))).network_ids).toEqual([networkId]);
    const listed = (await viewer.client.get(`${users}?ids=${both.id}&at=${at}`)).data;
    expect(listed.map((user: JsonRecord) => user.network_ids)).toEqual([[networkId]]);
  });
});

describe("changing a user", () => {
  test("is neither from nor to a role above the caller's own", async () => {
    const admin = await newUser({ role: "Admin" });
    const member = await newUser({ role: "Member" });
    const owner = await read(first.userId);
    const demotion = await admin.client.put(`${users}/${owner.id}`, { ...owner, role: "Viewer" });
    expect(demotion).toMatchObject(refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }));
    for (const id of [admin.id, member.id]) {
      const promotion = await admin.client.put(`${users}/${id}`, { ...(await read(id)), role: "Owner" });
      expect(promotion.body).toMatchObject({ code: "auth_permission_denied", params: { required: "Owner" } });
    }
    expect(
      (await admin.client.put(`${users}/${member.id}`, { ...(await read(member.id)), role: "Admin" })).status,
    ).toBe(200);
    expect((await member.client.put(`${users}/${member.id}`, await read(member.id))).status).toBe(200);
  });

  test("takes effect on the user's permissions immediately", async () => {
    const second = (await newNetwork()).id;
    const member = await newUser({ role: "Admin" });
    expect((await member.client.get("networks")).data).toHaveLength(2);
    await expectOk(
      owner.put(`${users}/${member.id}`, { ...(await read(member.id)), role: "Member", network_ids: [second] }),
    );
    expect((await member.client.get("networks")).data.map((network: JsonRecord) => network.id)).toEqual([second]);
    expect((await member.client.post("networks", { name: "Third" })).body.code).toBe("auth_permission_denied");
  });

  test("never leaves the organization without an Owner who can sign in", async () => {
    const owner = await read(first.userId);
    for (const change of [{ role: "Admin" }, { is_enabled: false }]) {
      const response = await appliance.owner.put(`${users}/${owner.id}`, { ...owner, ...change });
      expect(response).toMatchObject(refusal(409, "entity_in_use", { entity: "user", id: owner.id }));
      expect(response.body.error).toContain("only Owner");
    }
    const second = await newUser({ role: "Owner" });
    await expectOk(appliance.owner.put(`${users}/${second.id}`, { ...(await read(second.id)), is_enabled: false }));
    expect((await appliance.owner.put(`${users}/${owner.id}`, { ...owner, role: "Admin" })).status).toBe(409);
    await expectOk(appliance.owner.put(`${users}/${second.id}`, { ...(await read(second.id)), is_enabled: true }));
    expect((await appliance.owner.put(`${users}/${owner.id}`, { ...owner, role: "Admin" })).status).toBe(200);
  });
});

describe("deleting a user", () => {
  const remove = (id: string, caller: Client = owner) => caller.delete(`${users}/${id}`);
  const removeAll = (ids: readonly string[], caller: Client = owner) => caller.post(`${users}/bulk-delete`, ids);

  test("ends the sessions, the password and the API keys, and frees the e-mail address", async () => {
    const member = await newMember();
    await givePassword(member.id);
    const key = newApiKey({ userId: member.id });
    const { email } = await read(member.id);
    expect((await signIn(email, PASSWORD)).status).toBe(200);
    tick();
    const before = transactionCount();
    const closed = await remove(member.id);
    expect(closed).toMatchObject({
      status: 200,
      data: { id: member.id, email, last_login: expect.any(String), valid_to: clock.text() },
    });
    expect(transactionCount()).toBe(before + 1);
    expect(writtenIn()).toEqual({ "Deleted user": 1, "Deleted api_key": 1 });

    for (const client of [member.client, key.client]) {
      await expectRefusal(client.get("/api/auth/me"), 401, "auth_not_authenticated");
      await expectRefusal(client.put(`${users}/${member.id}`, "{"), 401, "auth_not_authenticated");
    }
    await expectRefusal(signIn(email, PASSWORD), 401, "auth_invalid_credentials");
    for (const table of ["sessions", "user_passwords"])
      expect(
        appliance.reader.db.query(`SELECT count(*) AS n FROM ${table} WHERE user_n NOT IN (SELECT n FROM users)`).get(),
      ).toEqual({ n: 0 });
    expect(appliance.reader.db.query("SELECT count(*) AS n FROM api_key_hashes").get()).toEqual({ n: 0 });
    expect((await owner.get(`auth/keys/${key.id}`)).status).toBe(404);

    const again = await expectOk(owner.post(users, { ...body, email }));
    expect(again).toMatchObject({ email, lineage_id: member.id });
    expect(again.id).not.toBe(member.id);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
  });

  test("keeps history: the user's record and writes, by name", async () => {
    const member = await newMember();
    const key = newApiKey({ userId: member.id, permissions: "Member" });
    const { name } = await read(member.id);
    const bySession = await newSubnet({}, member.client);
    const byKey = await newSubnet({}, key.client);
    tick();
    const at = clock.text();
    tick();
    await newSubnet();
    const before = await Promise.all(
      [users, "/api/v1/auth/keys"].map((path) => owner.get(`${path}?at=${at}&ids=${member.id},${key.id}`)),
    );
    const closed = await expectOk(remove(member.id));
    for (const [position, path] of [`${users}/${member.id}`, `/api/v1/auth/keys/${key.id}`].entries()) {
      const past = await expectOk(owner.get(`${path}?at=${at}`));
      expect(past).toEqual({ ...before[position]?.data[0], valid_to: closed.valid_to });
    }
    const actorOf = (id: string) =>
      appliance.reader.db
        .query("SELECT actor_type, actor_id, actor_name FROM history_transactions WHERE sequence = ?")
        .get(versionsOf(id)[0]?.sequence as number);
    expect(actorOf(bySession.id)).toEqual({ actor_type: "User", actor_id: member.id, actor_name: name });
    expect(actorOf(byKey.id)).toMatchObject({
      actor_type: "ApiKey",
      actor_id: key.id,
      actor_name: expect.stringMatching(/^key /),
    });
  });

  test("is limited to the caller's own role", async () => {
    const admin = await newUser({ role: "Admin" });
    const [peer, member] = [await newUser({ role: "Admin" }), await newUser({ role: "Member" })];
    // Two Owners: neither is the last one.
    const owner = await newUser({ role: "Owner" });
    const expectNothingWritten = watchWrites();
    for (const response of [
      await remove(owner.id, admin.client),
      await removeAll([member.id, owner.id], admin.client),
    ]) {
      expect(response).toMatchObject(refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }));
    }
    await expectRefusal(remove(owner.id, member.client), 403, "auth_permission_denied", { required: "Admin" });
    expectNothingWritten();
    expect((await removeAll([peer.id, member.id], admin.client)).data.map((user: JsonRecord) => user.id)).toEqual([
      peer.id,
      member.id,
    ]);
    expect((await remove(owner.id)).status).toBe(200);
  });

  test("never leaves the organization without an Owner who can sign in, singly or in bulk", async () => {
    const { userId } = first;
    const disabled = await newUser({ role: "Owner" });
    await expectOk(owner.put(`${users}/${disabled.id}`, { ...(await read(disabled.id)), is_enabled: false }));
    const expectNothingWritten = watchWrites();
    for (const response of [
      await remove(userId),
      await removeAll([disabled.id, userId]),
      await removeAll([userId, disabled.id]),
    ]) {
      expect(response).toMatchObject(
        refusal(409, "entity_in_use", { entity: "user", id: userId, dependants: { organizations: 1 } }),
      );
      expect(response.body.error).toContain("only Owner");
    }
    expectNothingWritten();
    const second = await newUser({ role: "Owner" });
    await expectRefusal(removeAll([userId, second.id]), 409, "entity_in_use", { id: second.id });
    expect((await remove(disabled.id)).status).toBe(200);
    expect((await remove(userId, second.client)).status).toBe(200);
    expect((await remove(second.id, second.client)).body.code).toBe("entity_in_use");
  });

  test("may be one's own account, by session or by the key deleted with it", async () => {
    const [admin, second] = [await newUser({ role: "Admin" }), await newUser({ role: "Admin" })];
    expect((await remove(admin.id, admin.client)).data).toMatchObject({ id: admin.id });
    expect((await admin.client.get(users)).status).toBe(401);
    const { client } = newApiKey({ userId: second.id });
    expect((await removeAll([second.id], client)).data).toMatchObject([{ id: second.id }]);
    expect((await client.get(users)).status).toBe(401);
  });

  test("requires an API key with access to every network", async () => {
    const member = await newUser({ role: "Member" });
    const { client } = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    for (const response of [await remove(member.id, client), await removeAll([member.id], client)])
      expect(response).toMatchObject(refusal(403, "entity_access_denied"));
    expect((await read(member.id)).id).toBe(member.id);
  });

  test("reveals nothing to another organization: the same e-mail address there is a new user", async () => {
    const member = await newUser({ role: "Member" });
    const { email } = await read(member.id);
    await expectOk(remove(member.id));
    const otherOrganization = await newOrganization("Second");
    const admin = await newUser({ role: "Admin", organizationId: otherOrganization.organizationId });
    const otherUser = await expectOk(admin.client.post(users, { ...body, email }));
    expect(otherUser.lineage_id).toBeNull();
    await expectRefusal(owner.post(users, { ...body, email }), 409, "entity_already_exists", { field: "email" });
    await expectOk(admin.client.delete(`${users}/${otherUser.id}`));
    expect(await expectOk(owner.post(users, { ...body, email }))).toMatchObject({ lineage_id: member.id });
  });

  test("accepts cascade, to no effect: the only Owner is kept", async () => {
    const [user, otherUser] = [await newUser({ role: "Member" }), await newUser({ role: "Member" })];
    await expectOk(owner.delete(`${users}/${user.id}?cascade=true`));
    await expectOk(owner.post(`${users}/bulk-delete?cascade=true`, [otherUser.id]));
    await expectRefusal(owner.delete(`${users}/${first.userId}?cascade=true`), 409, "entity_in_use");
    await expectRefusal(owner.post(`${users}/bulk-delete?cascade=true`, [first.userId]), 409, "entity_in_use");
  });
});

describe("disabling a user", () => {
  test("ends the sessions permanently and suspends the API keys until the user is enabled", async () => {
    const member = await newUser({ role: "Member" });
    await givePassword(member.id);
    const client = await signedIn(member.id);
    const key = newApiKey({ userId: member.id });
    const user = await read(member.id);
    expect(await expectOk(owner.put(`${users}/${member.id}`, { ...user, is_enabled: false }))).toMatchObject({
      is_enabled: false,
    });
    expect((await client.get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect((await key.client.get("/api/auth/me")).body.code).toBe("auth_key_disabled");
    expect((await signIn(user.email, PASSWORD)).body.code).toBe("auth_invalid_credentials");
    await expectOk(owner.put(`${users}/${member.id}`, { ...user, is_enabled: true }));
    expect((await client.get("/api/auth/me")).status).toBe(401);
    expect((await key.client.get("/api/auth/me")).status).toBe(200);
    expect((await signIn(user.email, PASSWORD)).status).toBe(200);
  });
});

test("a short or easily guessed password is refused, for a new user and an existing one", async () => {
  const member = await newUser({ role: "Member" });
  const user = await read(member.id);
  for (const [password, email] of [
    ["short", "new@example.net"],
    [" ".repeat(10), "new@example.net"],
    ["1111111111", "new@example.net"],
    ["Night.Shift", "night.shift@example.net"],
    ["new@example.net", "new@example.net"],
  ] as const)
    for (const response of [
      await owner.post(users, { ...body, email, password }),
      await owner.put(`${users}/${member.id}`, { ...user, email, password }),
    ]) {
      expect([response.status, response.body.code]).toEqual([400, "validation_failed"]);
      expect(response.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/password"]);
      expect(response.text).not.toContain(password);
    }
  expect(versionsOf(member.id)).toHaveLength(1);
});

describe("resetting a user's password", () => {
  test("ends the user's sessions and creates a version naming it", async () => {
    const member = await newUser({ role: "Member" });
    const user = await read(member.id);
    const response = await owner.put(`${users}/${member.id}`, { ...user, password: "another phrase" });
    expect(response.status).toBe(200);
    expect(response.data).not.toHaveProperty("password");
    expect((await member.client.get("/api/auth/me")).status).toBe(401);
    expect((await signIn(user.email, "another phrase")).status).toBe(200);
    expect(versionsOf(member.id).map((version) => version.changed)).toEqual([null, ["password"]]);
  });

  test("is for other users: one's own requires the current password", async () => {
    const owner = await read(first.userId);
    for (const client of [appliance.owner, newApiKey().client]) {
      const response = await client.put(`${users}/${owner.id}`, { ...owner, password: "another phrase" });
      expect(response.status).toBe(400);
      expect(response.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/password"]);
      expect(response.body.error).toContain("/api/auth/password");
    }
    expect((await signIn(owner.email, PASSWORD)).status).toBe(200);
  });
});
