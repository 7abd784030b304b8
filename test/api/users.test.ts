// Users: rights to create and change them, and effects of disabling.

import { describe, expect, test } from "bun:test";
import { writtenSql } from "../../src/db/packing.ts";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, refusal, type Wire } from "../support/appliance/factories.ts";
import { describeRecords } from "../support/contract/record-battery.ts";
import { networkReference } from "../support/contract/record-subject.ts";
import { refused } from "../support/contract/shapes.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, handle, owner, signedIn } = appliance;
const { givePassword, newApiKey, newNetwork, newOrganization, newSubnet, newUser, tick, transactionCount } = appliance;
const { writingWatched, versionsOf, writtenIn, newMember, newViewer } = appliance;

const body = {
  email: "Noc@example.net",
  name: "Network operations",
  role: "Member",
  password: "a phrase of their own",
};
const users = "/api/v1/users";
const signIn = (email: string, password: string) => anonymous.post("/api/auth/login", { email, password });
const read = async (id: string, by: Client = owner): Promise<Wire> => made(by.get(`${users}/${id}`));

describeRecords(
  {
    path: users,
    entity: "user",
    writeRole: "Admin",
    place: "in the organization",
    // The address is unique on the appliance.
    body: (networkId, position, place) => ({
      email: `User-${position}@${place.organizationId}.example`,
      name: `User ${position}`,
      role: "Member",
      network_ids: [networkId],
      is_enabled: true,
      password: "a phrase of their own",
    }),
    shown: ({ password: _password, ...rest }) => rest,
    holdsSecrets: true,
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
    const answer = await owner.post(users, { ...body, network_ids: [first.networkId, first.networkId] });
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({
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
      id: answer.data.id,
      last_login: clock.text(),
    });
    const everything =
      JSON.stringify(appliance.reader.db.query(`SELECT ${writtenSql("v", "members")} FROM history_versions v`).all()) +
      appliance.logLines.join("\n");
    expect(everything).not.toMatch(/argon2|a phrase of their own/);
  });

  test("uses the e-mail address as default name, and accepts an id", async () => {
    const id = "0b7f3d1e-62c8-4f0a-9d6f-2f1f6f7a0001";
    const { name: _none, ...rest } = body;
    expect(await made(owner.post(users, { ...rest, id }))).toMatchObject({ id, name: body.email });
    const again = await owner.post(users, { ...body, id, email: "other@example.net" });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ code: "entity_already_exists", params: { field: "id" } });
  });

  test("is refused for an e-mail address in use anywhere on the appliance, in any case", async () => {
    const other = await newOrganization("Second");
    const admin = await newUser({ role: "Admin", organizationId: other.organizationId });
    const expectNothingWritten = writingWatched();
    const answer = await admin.client.post(users, { ...body, email: "OWNER@first.example" });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: "entity_already_exists",
      params: { entity: "user", field: "email", value: "OWNER@first.example" },
    });
    expectNothingWritten();
  });

  test("reports all errors at once, and echoes no password", async () => {
    const answer = await owner.post(users, {
      email: "nobody",
      role: "Boss",
      password: "short",
      is_enabled: "yes",
      nick: 1,
      network_ids: ["x"],
    });
    expect(answer.status).toBe(400);
    expect(answer.body.params.issues.map((issue: { path: string }) => issue.path).sort()).toEqual(
      "/email /is_enabled /network_ids/0 /nick /password /role".split(" "),
    );
    expect(answer.text).not.toContain("short");
  });

  test("is refused with an unknown or another organization's network", async () => {
    const other = await newOrganization("Second");
    const unknown = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0009";
    const answer = await owner.post(users, { ...body, network_ids: [other.networkId, first.networkId, unknown] });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: "entity_reference_invalid",
      params: { entity: "network", field: "network_ids", ids: [other.networkId, unknown] },
    });
  });

  test("is refused in another organization", async () => {
    const other = await newOrganization("Second");
    await refused(owner.post(users, { ...body, organization_id: other.organizationId }), 403, "entity_access_denied");
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
        async (each) => (await client.post(users, { ...body, email: `${each}@example.net`, role: each })).status,
      ),
    );
    expect(statuses).toEqual([owner, admin, viewer]);
  });

  test("by an Admin above their role names the required one", async () => {
    const { client } = await newUser({ role: "Admin" });
    const answer = await client.post(users, { ...body, role: "Owner" });
    expect(answer.body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Owner", actual: "Admin" },
    });
  });

  test("requires an API key that reaches every network: a limited one could grant itself the rest", async () => {
    const free = newApiKey({ permissions: "Admin" });
    expect((await free.client.post(users, body)).status).toBe(200);
    const kept = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    await refused(kept.client.post(users, { ...body, email: "other@example.net" }), 403, "entity_access_denied");
    expect(
      (await kept.client.put(`${users}/${first.userId}`, { email: "x@example.net", role: "Viewer" })).body.code,
    ).toBe("entity_access_denied");
  });
});

test("the documentation covers the reach of a user without network_ids", async () => {
  const document = (await (await handle(new Request("http://localhost/api/openapi.json"))).json()) as Wire;
  const body = document.paths["/api/v1/users"].post.requestBody.content["application/json"].schema;
  const written = body.properties ?? document.components.schemas[body.$ref.split("/").at(-1)].properties;
  for (const { network_ids } of [written, document.components.schemas.User.properties])
    expect(network_ids.description).toBe(
      "The networks that a Member or Viewer reaches; empty: none. An Owner or Admin reaches every network, whatever is listed here.",
    );
});

describe("reading users", () => {
  test("returns those of the caller's organization, with an ETag, and no others", async () => {
    const other = await newOrganization("Second");
    const viewer = await newUser({ role: "Viewer" });
    const list = await viewer.client.get(users);
    expect(list.data.map((user: Wire) => user.id)).toEqual([first.userId, viewer.id]);
    expect(list.body.meta.pagination).toEqual({ total_count: 2, limit: 50, offset: 0, has_more: false });
    expect((await viewer.client.get(`${users}?ids=${viewer.id},${other.userId}`)).data).toHaveLength(1);
    expect((await viewer.client.get(`${users}?limit=1&offset=1`)).data.map((user: Wire) => user.id)).toEqual([
      viewer.id,
    ]);
    expect((await viewer.client.get(`${users}?limit=0`)).data).toHaveLength(2);
    const one = await viewer.client.get(`${users}/${viewer.id}`);
    expect(one.headers.get("etag")).toMatch(/^"\d+-[0-9a-f]{8}\.s\d+\.[0-9a-z]+"$/);
    expect(
      (await viewer.client.get(`${users}/${viewer.id}`, { "if-none-match": one.headers.get("etag") as string })).status,
    ).toBe(304);
    const foreign = await viewer.client.get(`${users}/${other.userId}`);
    expect(foreign.status).toBe(404);
    expect(foreign.body).toMatchObject({ code: "entity_not_found", params: { entity: "user", id: other.userId } });
  });

  test("shows a limited caller only shared networks in others' lists, at any instant", async () => {
    const second = (await newNetwork()).id;
    const { networkId } = first;
    const both = await newUser({ role: "Member", networkIds: [second, networkId] });
    const at = (await read(both.id)).valid_from;
    tick();
    const viewer = await newViewer();
    expect((await read(both.id)).network_ids).toEqual([second, networkId]);
    expect((await read(both.id, viewer.client)).network_ids).toEqual([networkId]);
    expect((await made(viewer.client.get(`${users}/${both.id}?at=${at}`))).network_ids).toEqual([networkId]);
    const listed = (await viewer.client.get(`${users}?ids=${both.id}&at=${at}`)).data;
    expect(listed.map((user: Wire) => user.network_ids)).toEqual([[networkId]]);
  });

  test("requires credentials", async () => {
    expect((await anonymous.get(users)).status).toBe(401);
    expect((await anonymous.post(users, "{")).status).toBe(401);
  });
});

describe("changing a user", () => {
  test("replaces sent fields, preserves omitted optional ones, and every change is visible at past instants", async () => {
    const user = await made(owner.post(users, { ...body, network_ids: [first.networkId] }));
    tick();
    const changed = await made(owner.put(`${users}/${user.id}`, { email: body.email, role: "Viewer" }));
    expect(changed).toEqual({ ...user, role: "Viewer", updated_at: clock.text(), valid_from: clock.text() });
    expect(versionsOf(user.id).map((version) => version.changed)).toEqual([null, ["role"]]);
    expect(await made(owner.get(`${users}/${user.id}?at=${user.updated_at}`))).toEqual({
      ...user,
      valid_to: clock.text(),
    });
  });

  test("without effect makes no version: an answer may be sent back", async () => {
    const user = await read((await newMember()).id);
    const expectNothingWritten = writingWatched();
    expect(await made(owner.put(`${users}/${user.id}`, user))).toEqual(user);
    expectNothingWritten();
  });

  test("is neither from nor to a role above the caller's own", async () => {
    const admin = await newUser({ role: "Admin" });
    const member = await newUser({ role: "Member" });
    const owner = await read(first.userId);
    const demoting = await admin.client.put(`${users}/${owner.id}`, { ...owner, role: "Viewer" });
    expect(demoting.status).toBe(403);
    expect(demoting.body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Owner", actual: "Admin" },
    });
    for (const id of [admin.id, member.id]) {
      const promoting = await admin.client.put(`${users}/${id}`, { ...(await read(id)), role: "Owner" });
      expect(promoting.body).toMatchObject({ code: "auth_permission_denied", params: { required: "Owner" } });
    }
    expect(
      (await admin.client.put(`${users}/${member.id}`, { ...(await read(member.id)), role: "Admin" })).status,
    ).toBe(200);
    expect((await member.client.put(`${users}/${member.id}`, await read(member.id))).status).toBe(200);
  });

  test("takes effect on the user's rights at once", async () => {
    const second = (await newNetwork()).id;
    const member = await newUser({ role: "Admin" });
    expect((await member.client.get("networks")).data).toHaveLength(2);
    await made(
      owner.put(`${users}/${member.id}`, { ...(await read(member.id)), role: "Member", network_ids: [second] }),
    );
    expect((await member.client.get("networks")).data.map((network: Wire) => network.id)).toEqual([second]);
    expect((await member.client.post("networks", { name: "Third" })).body.code).toBe("auth_permission_denied");
  });

  test("never leaves the organization without an Owner who can sign in", async () => {
    const owner = await read(first.userId);
    for (const change of [{ role: "Admin" }, { is_enabled: false }]) {
      const answer = await appliance.owner.put(`${users}/${owner.id}`, { ...owner, ...change });
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ code: "entity_in_use", params: { entity: "user", id: owner.id } });
      expect(answer.body.error).toContain("only Owner");
    }
    const second = await newUser({ role: "Owner" });
    await made(appliance.owner.put(`${users}/${second.id}`, { ...(await read(second.id)), is_enabled: false }));
    expect((await appliance.owner.put(`${users}/${owner.id}`, { ...owner, role: "Admin" })).status).toBe(409);
    await made(appliance.owner.put(`${users}/${second.id}`, { ...(await read(second.id)), is_enabled: true }));
    expect((await appliance.owner.put(`${users}/${owner.id}`, { ...owner, role: "Admin" })).status).toBe(200);
  });

  test("refuses another record's id, another organization's and a stale version", async () => {
    const other = await newOrganization("Second");
    const member = await newUser({ role: "Member" });
    const user = await read(member.id);
    const path = `${users}/${member.id}`;
    expect((await owner.put(path, { ...user, id: first.userId })).body.code).toBe("validation_id_mismatch");
    expect((await owner.put(path, { ...user, organization_id: other.organizationId })).body.code).toBe(
      "entity_access_denied",
    );
    expect((await owner.put(path, user, { "if-match": '"1"' })).status).toBe(412);
    const foreign = await owner.put(`${users}/${other.userId}`, { email: "x@example.net", role: "Viewer" });
    expect(foreign.status).toBe(404);
    expect(versionsOf(other.userId)).toHaveLength(1);
  });
});

describe("deleting a user", () => {
  const remove = (id: string, by: Client = owner) => by.delete(`${users}/${id}`);
  const removeAll = (ids: readonly string[], by: Client = owner) => by.post(`${users}/bulk-delete`, ids);

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
      await refused(client.get("/api/auth/me"), 401, "auth_not_authenticated");
      await refused(client.put(`${users}/${member.id}`, "{"), 401, "auth_not_authenticated");
    }
    await refused(signIn(email, PASSWORD), 401, "auth_invalid_credentials");
    for (const table of ["sessions", "user_passwords"])
      expect(
        appliance.reader.db.query(`SELECT count(*) AS n FROM ${table} WHERE user_n NOT IN (SELECT n FROM users)`).get(),
      ).toEqual({ n: 0 });
    expect(appliance.reader.db.query("SELECT count(*) AS n FROM api_key_hashes").get()).toEqual({ n: 0 });
    expect((await owner.get(`auth/keys/${key.id}`)).status).toBe(404);

    const again = await made(owner.post(users, { ...body, email }));
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
    const then = await Promise.all(
      [users, "/api/v1/auth/keys"].map((path) => owner.get(`${path}?at=${at}&ids=${member.id},${key.id}`)),
    );
    const closed = await made(remove(member.id));
    for (const [position, path] of [`${users}/${member.id}`, `/api/v1/auth/keys/${key.id}`].entries()) {
      const past = await made(owner.get(`${path}?at=${at}`));
      expect(past).toEqual({ ...then[position]?.data[0], valid_to: closed.valid_to });
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
    const expectNothingWritten = writingWatched();
    for (const answer of [await remove(owner.id, admin.client), await removeAll([member.id, owner.id], admin.client)]) {
      expect(answer).toMatchObject(refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }));
    }
    await refused(remove(owner.id, member.client), 403, "auth_permission_denied", { required: "Admin" });
    expectNothingWritten();
    expect((await removeAll([peer.id, member.id], admin.client)).data.map((user: Wire) => user.id)).toEqual([
      peer.id,
      member.id,
    ]);
    expect((await remove(owner.id)).status).toBe(200);
  });

  test("never leaves the organization without an Owner who can sign in, singly or in bulk", async () => {
    const { userId } = first;
    const disabled = await newUser({ role: "Owner" });
    await made(owner.put(`${users}/${disabled.id}`, { ...(await read(disabled.id)), is_enabled: false }));
    const expectNothingWritten = writingWatched();
    for (const answer of [
      await remove(userId),
      await removeAll([disabled.id, userId]),
      await removeAll([userId, disabled.id]),
    ]) {
      expect(answer).toMatchObject(
        refusal(409, "entity_in_use", { entity: "user", id: userId, dependants: { organizations: 1 } }),
      );
      expect(answer.body.error).toContain("only Owner");
    }
    expectNothingWritten();
    const second = await newUser({ role: "Owner" });
    await refused(removeAll([userId, second.id]), 409, "entity_in_use", { id: second.id });
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

  test("requires an API key that reaches every network", async () => {
    const member = await newUser({ role: "Member" });
    const { client } = newApiKey({ permissions: "Admin", networkIds: [first.networkId] });
    for (const answer of [await remove(member.id, client), await removeAll([member.id], client)])
      expect(answer).toMatchObject(refusal(403, "entity_access_denied"));
    expect((await read(member.id)).id).toBe(member.id);
  });

  test("reveals nothing to another organization: the same e-mail address there is a new user", async () => {
    const member = await newUser({ role: "Member" });
    const { email } = await read(member.id);
    await made(remove(member.id));
    const other = await newOrganization("Second");
    const admin = await newUser({ role: "Admin", organizationId: other.organizationId });
    const there = await made(admin.client.post(users, { ...body, email }));
    expect(there.lineage_id).toBeNull();
    await refused(owner.post(users, { ...body, email }), 409, "entity_already_exists", { field: "email" });
    await made(admin.client.delete(`${users}/${there.id}`));
    expect(await made(owner.post(users, { ...body, email }))).toMatchObject({ lineage_id: member.id });
  });

  test("accepts cascade, which has no effect: the only Owner stays", async () => {
    const [one, other] = [await newUser({ role: "Member" }), await newUser({ role: "Member" })];
    await made(owner.delete(`${users}/${one.id}?cascade=true`));
    await made(owner.post(`${users}/bulk-delete?cascade=true`, [other.id]));
    await refused(owner.delete(`${users}/${first.userId}?cascade=true`), 409, "entity_in_use");
    await refused(owner.post(`${users}/bulk-delete?cascade=true`, [first.userId]), 409, "entity_in_use");
  });
});

describe("disabling a user", () => {
  test("ends the sessions permanently and suspends the API keys, which enabling resumes", async () => {
    const member = await newUser({ role: "Member" });
    await givePassword(member.id);
    const client = await signedIn(member.id);
    const key = newApiKey({ userId: member.id });
    const user = await read(member.id);
    expect(await made(owner.put(`${users}/${member.id}`, { ...user, is_enabled: false }))).toMatchObject({
      is_enabled: false,
    });
    expect((await client.get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect((await key.client.get("/api/auth/me")).body.code).toBe("auth_key_disabled");
    expect((await signIn(user.email, PASSWORD)).body.code).toBe("auth_invalid_credentials");
    await made(owner.put(`${users}/${member.id}`, { ...user, is_enabled: true }));
    expect((await client.get("/api/auth/me")).status).toBe(401);
    expect((await key.client.get("/api/auth/me")).status).toBe(200);
    expect((await signIn(user.email, PASSWORD)).status).toBe(200);
  });
});

test("an easily guessed password is refused, for a new user and an existing one", async () => {
  const member = await newUser({ role: "Member" });
  const user = await read(member.id);
  for (const [password, email] of [
    [" ".repeat(10), "new@example.net"],
    ["1111111111", "new@example.net"],
    ["Night.Shift", "night.shift@example.net"],
    ["new@example.net", "new@example.net"],
  ] as const)
    for (const answer of [
      await owner.post(users, { ...body, email, password }),
      await owner.put(`${users}/${member.id}`, { ...user, email, password }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([400, "validation_failed"]);
      expect(answer.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/password"]);
      expect(answer.text).not.toContain(password);
    }
  expect(versionsOf(member.id)).toHaveLength(1);
});

describe("resetting a user's password", () => {
  test("ends the user's sessions and makes a version naming it", async () => {
    const member = await newUser({ role: "Member" });
    const user = await read(member.id);
    const answer = await owner.put(`${users}/${member.id}`, { ...user, password: "another phrase" });
    expect(answer.status).toBe(200);
    expect(answer.data).not.toHaveProperty("password");
    expect((await member.client.get("/api/auth/me")).status).toBe(401);
    expect((await signIn(user.email, "another phrase")).status).toBe(200);
    expect(versionsOf(member.id).map((version) => version.changed)).toEqual([null, ["password"]]);
  });

  test("is for other users: one's own requires the present password", async () => {
    const owner = await read(first.userId);
    for (const client of [appliance.owner, newApiKey().client]) {
      const answer = await client.put(`${users}/${owner.id}`, { ...owner, password: "another phrase" });
      expect(answer.status).toBe(400);
      expect(answer.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/password"]);
      expect(answer.body.error).toContain("/api/auth/password");
    }
    expect((await signIn(owner.email, PASSWORD)).status).toBe(200);
  });
});
