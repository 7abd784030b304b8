// API keys (handbook: security, "API keys"): the exact contract, ownership, network access and expiry.

import { beforeEach, describe, expect, test } from "bun:test";
import { isWellFormedApiKey } from "../../src/access/api-key.ts";
import type { Role } from "../../src/access/role.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, type NewUser, refusal } from "../support/appliance/factories.ts";
import { networkReference, tagReference, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, owner, newApiKey, newNetwork, newOrganization, newTag, newUser } = appliance;
const { tick, watchWrites, versionsOf } = appliance;
/** The first network and a second one. */
let north: string;
let south: string;

beforeEach(async () => {
  north = first.networkId;
  south = (await newNetwork()).id;
  tick();
});

const keys = "/api/v1/auth/keys";
const bodyFor = (userId: string, fields: JsonRecord = {}): JsonRecord => ({
  name: "Monitoring",
  organization_id: first.organizationId,
  user_id: userId,
  tags: [],
  ...fields,
});
const body = (fields: JsonRecord = {}): JsonRecord => bodyFor(first.userId, fields);
const create = (fields: JsonRecord = {}): Promise<JsonRecord> => expectOk(owner.post(keys, body(fields)));
const update = (id: string, fields: JsonRecord): Promise<JsonRecord> =>
  expectOk(owner.put(`${keys}/${id}`, body(fields)));
const bearer = (key: string): Client => anonymous.with({ authorization: `Bearer ${key}` });
const read = (id: string): Promise<JsonRecord> => expectOk(owner.get(`${keys}/${id}`));
const member = (networkIds: string[] = [north, south]): Promise<NewUser> => newUser({ role: "Member", networkIds });
const issuePaths = (response: { body: JsonRecord }): string[] =>
  response.body.params.issues.map((issue: JsonRecord) => issue.path);

describeRecords(
  {
    path: keys,
    entity: "api_key",
    writeRole: "Member",
    scope: "in the organization",
    isSessionOnly: true,
    body: (networkId, position, scope) => ({
      name: `Monitoring ${position}`,
      organization_id: scope.organizationId,
      user_id: scope.userId,
      tags: [],
      expires_at: "2027-01-01T00:00:00.000Z",
      is_enabled: true,
      permissions: "Viewer",
      all_networks: false,
      network_ids: [networkId],
      allowed_sources: [`10.${position}.0.0/16`, "2001:db8::/32"],
    }),
    createdIn: (data) => data.api_key,
    change: { field: "is_enabled", to: (body) => body.is_enabled !== true },
    unique: null,
    hasLineage: false,
    invalid: {
      body: {
        id: 7,
        name: "",
        organization_id: null,
        user_id: "me",
        tags: "none",
        expires_at: "tomorrow",
        is_enabled: "yes",
        permissions: "Root",
        all_networks: 0,
        network_ids: null,
        allowed_sources: ["10.0.0.1"],
        scope: "all",
      },
      paths: [
        ..."/id /name /organization_id /user_id /tags /expires_at /is_enabled".split(" "),
        ..."/permissions /all_networks /network_ids /allowed_sources/0 /scope".split(" "),
      ],
    },
    references: [tagReference(), networkReference("network_ids", (body, id) => ({ ...body, network_ids: [id, id] }))],
  },
  appliance,
);

describe("creating a key", () => {
  test("returns the record and, only once, the key", async () => {
    const tag = (await newTag()).id;
    const response = await owner.post(keys, body({ tags: [tag, tag] }));
    expect(response.status).toBe(200);
    expect(Object.keys(response.data).sort()).toEqual(["api_key", "key"]);
    const { api_key: record, key } = response.data;
    expect(isWellFormedApiKey(key)).toBe(true);
    const now = record.created_at;
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      name: "Monitoring",
      organization_id: first.organizationId,
      user_id: first.userId,
      tags: [tag],
      expires_at: null,
      is_enabled: true,
      permissions: "Viewer",
      all_networks: true,
      allowed_sources: null,
      network_ids: [north, south],
      key: `${key.slice(0, 8)}…`,
      last_used: null,
      created_at: now,
      updated_at: now,
      valid_from: now,
      valid_to: null,
      lineage_id: null,
    });
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await read(record.id)).toEqual(record);
    expect((await bearer(key).get("/api/auth/me")).data).toMatchObject({
      api_key_id: record.id,
      effective_role: "Viewer",
    });
  });

  test("stores the key nowhere: not in the database, the history or the log", async () => {
    const { key } = await create();
    const { rows } = appliance.reader.db
      .query<{ rows: string }, []>(
        `SELECT group_concat(members) AS rows FROM (SELECT ${writtenSql("v", "members")} AS members FROM history_versions v
          UNION ALL SELECT members FROM api_keys)`,
      )
      .get() as { rows: string };
    expect(rows + appliance.logLines.join("\n")).not.toContain(key.slice(0, 12));
    expect((await owner.get(keys)).text).not.toContain(key.slice(0, 12));
  });

  test("creates an expired key if the date is in the past", async () => {
    const { key } = await create({ expires_at: clock.text() });
    const response = await anonymous.with({ authorization: `Bearer ${key}` }).get("tags");
    expect(response).toMatchObject(refusal(401, "auth_key_expired"));
  });

  test("refuses a network out of reach of the caller or the user", async () => {
    const otherOrganization = await newOrganization("Second");
    const { id, client } = await member([north]);
    const expectNothingWritten = watchWrites();
    for (const [caller, given, ids] of [
      [owner, body({ network_ids: [north, otherOrganization.networkId] }), [otherOrganization.networkId]],
      [client, bodyFor(id, { network_ids: [north, south] }), [south]],
      [owner, bodyFor(id, { network_ids: [north, south] }), [south]],
    ] as const)
      expect(await caller.post(keys, given)).toMatchObject(
        refusal(400, "entity_reference_invalid", { entity: "network", field: "network_ids", ids }),
      );
    expectNothingWritten();
  });

  test("refuses another organization, and a user whom the caller may not choose", async () => {
    const otherOrganization = await newOrganization("Second");
    const [admin, one, two] = [await newUser({ role: "Admin" }), await member(), await member()];
    const expectNothingWritten = watchWrites();
    for (const organization_id of [otherOrganization.organizationId, UNKNOWN_ID])
      expect(await owner.post(keys, body({ organization_id }))).toMatchObject(
        refusal(403, "entity_access_denied", { field: "organization_id" }),
      );
    for (const [client, userId] of [
      [one.client, two.id],
      [one.client, UNKNOWN_ID],
      [admin.client, first.userId],
      [admin.client, otherOrganization.userId],
      [owner, otherOrganization.userId],
    ] as const)
      expect(await client.post(keys, bodyFor(userId))).toMatchObject(
        refusal(403, "entity_access_denied", { field: "user_id", value: userId }),
      );
    expectNothingWritten();
    for (const [client, userId] of [
      [one.client, one.id],
      [admin.client, one.id],
      [admin.client, admin.id],
      [owner, admin.id],
    ] as const) {
      expect((await client.post(keys, bodyFor(userId))).status).toBe(200);
    }
  });

  test("grants no role above the caller's; a role above its user's is capped", async () => {
    const { id, client } = await member();
    const refused = await client.post(keys, bodyFor(id, { permissions: "Admin" }));
    expect(refused).toMatchObject(refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" }));
    const { api_key, key } = await expectOk(owner.post(keys, bodyFor(id, { permissions: "Owner" })));
    expect(api_key.permissions).toBe("Owner");
    expect((await bearer(key).get("/api/auth/me")).data.effective_role).toBe("Member");
  });
});

describe("key management", () => {
  test("shows Members their own keys, and Admins and Owners all keys of their organization only", async () => {
    const otherOrganization = await newOrganization("Second");
    const foreign = newApiKey({ organizationId: otherOrganization.organizationId, userId: otherOrganization.userId });
    const [admin, one, two] = [await newUser({ role: "Admin" }), await member(), await member()];
    const [ofOwner, ofOne, ofTwo] = [newApiKey(), newApiKey({ userId: one.id }), newApiKey({ userId: two.id })];
    const listed = async (client: Client, query = "") => {
      const { data, body: envelope } = await client.get(`${keys}${query}`);
      if (!query.includes("limit")) expect(envelope.meta.pagination.total_count).toBe(data.length);
      return data.map((key: JsonRecord) => key.id);
    };
    expect(await listed(one.client)).toEqual([ofOne.id]);
    expect(await listed(one.client, "?limit=0")).toEqual([ofOne.id]);
    expect(await listed(one.client, `?ids=${ofOne.id},${ofTwo.id},${foreign.id}`)).toEqual([ofOne.id]);
    expect(await listed(admin.client)).toEqual([ofOwner.id, ofOne.id, ofTwo.id]);
    expect(await listed(owner, "?limit=1&offset=2")).toEqual([ofTwo.id]);
    for (const [client, id] of [
      [one.client, ofTwo.id],
      [one.client, ofOwner.id],
      [owner, foreign.id],
    ] as const) {
      const expectNothingWritten = watchWrites();
      const hidden = [
        await client.get(`${keys}/${id}`),
        await client.put(`${keys}/${id}`, bodyFor(one.id)),
        await client.post(`${keys}/${id}/rotate`, undefined),
        await client.delete(`${keys}/${id}`),
      ];
      expect(hidden.map((response) => [response.status, response.body.code])).toEqual(
        Array(4).fill([404, "entity_not_found"]),
      );
      expectNothingWritten();
    }
  });

  test("lets an Admin change keys up to their own role and only view an Owner's", async () => {
    const admin = await newUser({ role: "Admin" });
    const { id } = newApiKey();
    expect((await admin.client.get(`${keys}/${id}`)).status).toBe(200);
    for (const response of [
      await admin.client.put(`${keys}/${id}`, bodyFor(admin.id)),
      await admin.client.post(`${keys}/${id}/rotate`, undefined),
      await admin.client.delete(`${keys}/${id}`),
    ]) {
      expect(response).toMatchObject(refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }));
    }
    expect(versionsOf(id)).toHaveLength(1);
  });

  test("shows a key's history to its current user after a transfer, even once deleted", async () => {
    const [before, now] = [await newUser({ role: "Member" }), await newUser({ role: "Member" })];
    const body = { name: "k", organization_id: first.organizationId, tags: [], permissions: "Viewer" };
    const { id } = (await owner.post("auth/keys", { ...body, user_id: before.id })).data.api_key;
    expect((await before.client.get(`auth/keys/${id}/history`)).status).toBe(200);
    tick();
    await owner.put(`auth/keys/${id}`, { ...body, user_id: now.id });
    const historyStatuses = async () => {
      const responses = await Promise.all([before, now].map((user) => user.client.get(`auth/keys/${id}/history`)));
      return responses.map((response) => response.status);
    };
    expect(await historyStatuses()).toEqual([404, 200]);
    tick();
    await owner.delete(`auth/keys/${id}`);
    expect(await historyStatuses()).toEqual([404, 200]);
  });
});

describe("updating a key", () => {
  test("returns the record with all its fields, including key and last_used", async () => {
    const { api_key: key } = await create();
    const tag = await newTag();
    tick();
    const changes = {
      name: "Renamed",
      tags: [tag.id],
      is_enabled: false,
      permissions: "Member",
      expires_at: "2027-01-01T00:00:00.000Z",
      allowed_sources: ["10.0.0.0/8"],
      network_ids: [north],
    };
    const updated = await update(key.id, changes);
    const now = clock.text();
    expect(updated).toEqual({ ...key, ...changes, all_networks: false, updated_at: now, valid_from: now });
    expect(versionsOf(key.id).at(-1)?.changed).toEqual(
      "all_networks allowed_sources expires_at is_enabled name network_ids permissions tags".split(" "),
    );
    expect(await read(key.id)).toEqual(updated);
    expect(await expectOk(owner.get(`${keys}/${key.id}?at=${key.created_at}`))).toEqual({ ...key, valid_to: now });
  });

  test("lets an Admin transfer a key up to their own role", async () => {
    const admin = await newUser({ role: "Admin" });
    const { id, client } = await member([north]);
    const { api_key: key, key: plaintext } = await expectOk(
      admin.client.post(keys, bodyFor(admin.id, { permissions: "Admin" })),
    );
    expect((await admin.client.put(`${keys}/${key.id}`, { ...key, user_id: first.userId })).body.code).toBe(
      "entity_access_denied",
    );
    const { network_ids: _all, ...rest } = key;
    expect(await expectOk(admin.client.put(`${keys}/${key.id}`, { ...rest, user_id: id }))).toMatchObject({
      user_id: id,
      network_ids: [north],
    });
    expect((await bearer(plaintext).get("/api/auth/me")).data).toMatchObject({
      id,
      effective_role: "Member",
      reachable_network_ids: [north],
    });
    expect((await client.get(keys)).data).toHaveLength(1);
  });

  test("grants no role above the caller's, but accepts an existing one unchanged", async () => {
    const { id, client } = await member();
    const { api_key: key } = await expectOk(owner.post(keys, bodyFor(id, { permissions: "Owner" })));
    expect((await client.put(`${keys}/${key.id}`, { ...key, permissions: "Admin" })).body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Admin" },
    });
    for (const [caller, user_id] of [
      [client, first.userId],
      [owner, (await newOrganization("Second")).userId],
    ] as const)
      expect(await caller.put(`${keys}/${key.id}`, { ...key, user_id })).toMatchObject(
        refusal(403, "entity_access_denied", { field: "user_id" }),
      );
    expect((await client.put(`${keys}/${key.id}`, { ...key, name: "Renamed" })).status).toBe(200);
  });
});

describe("the networks of a key", () => {
  test("default to all that its user can access, now and later", async () => {
    const { id } = await member([north]);
    const { api_key: key, key: plaintext } = await expectOk(owner.post(keys, bodyFor(id)));
    expect(key).toMatchObject({ all_networks: true, network_ids: [north] });
    const user = await expectOk(owner.get(`users/${id}`));
    await expectOk(owner.put(`users/${id}`, { ...user, network_ids: [south, north] }));
    expect(await read(key.id)).toMatchObject({ all_networks: true, network_ids: [south, north] });
    expect((await bearer(plaintext).get("networks")).data.map((network: JsonRecord) => network.id)).toEqual([
      north,
      south,
    ]);
    expect(versionsOf(key.id)).toHaveLength(1);
  });

  test("are exactly the given ones, minus those beyond its user's reach", async () => {
    const { id } = await member();
    const { api_key: key, key: plaintext } = await expectOk(
      owner.post(keys, bodyFor(id, { network_ids: [north, south] })),
    );
    expect(key).toMatchObject({ all_networks: false, network_ids: [north, south] });
    const user = await expectOk(owner.get(`users/${id}`));
    await expectOk(owner.put(`users/${id}`, { ...user, network_ids: [south] }));
    expect(await read(key.id)).toMatchObject({ network_ids: [south] });
    expect((await bearer(plaintext).get("networks")).data.map((network: JsonRecord) => network.id)).toEqual([south]);
    const third = (await newNetwork()).id;
    await expectOk(owner.put(`users/${id}`, { ...user, role: "Admin" }));
    expect(await read(key.id)).toMatchObject({ network_ids: [north, south] });
    expect((await bearer(plaintext).get("networks")).data.map((network: JsonRecord) => network.id)).not.toContain(
      third,
    );
  });

  test("follow the organization's networks if the user is an Owner", async () => {
    const { api_key: key } = await create();
    const third = (await newNetwork()).id;
    expect((await read(key.id)).network_ids).toEqual([north, south, third]);
    await expectOk(owner.delete(`networks/${third}`));
    expect((await read(key.id)).network_ids).toEqual([north, south]);
  });

  test("are those of the requested timestamp, and a past response never changes", async () => {
    const { api_key: unrestricted } = await create();
    const { api_key: listed } = await create({ network_ids: [north, south] });
    const at = listed.created_at;
    const earlier = await owner.get(`${keys}?at=${at}`);
    tick();
    await expectOk(owner.delete(`networks/${south}`));
    const third = (await newNetwork()).id;
    expect((await owner.get(keys)).data.map((key: JsonRecord) => key.network_ids)).toEqual([[north, third], [north]]);
    const past = (await owner.get(`${keys}?at=${at}`)).data;
    expect(past.map((key: JsonRecord) => key.network_ids)).toEqual([
      [north, south],
      [north, south],
    ]);
    expect(past[0]).toEqual(earlier.data[0]);
    expect(past[1]).toEqual({ ...earlier.data[1], valid_to: expect.any(String) });
    expect((await expectOk(owner.get(`${keys}/${unrestricted.id}?at=${at}`))).network_ids).toEqual([north, south]);
    expect((await owner.get(`${keys}?at=${at}&limit=0`)).data).toEqual(past);
  });

  test("are filtered at a past timestamp by the caller's current access", async () => {
    const { id, client } = await member();
    const { api_key: key } = await expectOk(client.post(keys, bodyFor(id)));
    tick();
    const user = await expectOk(owner.get(`users/${id}`));
    await expectOk(owner.put(`users/${id}`, { ...user, network_ids: [north] }));
    const path = `${keys}/${key.id}?at=${key.created_at}`;
    expect((await expectOk(client.get(path))).network_ids).toEqual([north]);
    expect((await expectOk(owner.get(path))).network_ids).toEqual([north, south]);
  });

  test("follow the user again with all_networks: true, whether sent alone, with the returned list or with an empty one", async () => {
    for (const sent of [{}, { network_ids: [north] }, { network_ids: [] }]) {
      const { api_key: key } = await create({ network_ids: [north] });
      expect(await update(key.id, { all_networks: true, ...sent })).toMatchObject({
        all_networks: true,
        network_ids: [north, south],
      });
    }
  });

  test("are a fixed list if sent without all_networks, even as returned", async () => {
    const { api_key: key } = await create();
    expect(await update(key.id, { network_ids: key.network_ids })).toMatchObject({
      all_networks: false,
      network_ids: [north, south],
    });
  });

  test("cannot be both a list and the user's networks: an edited list with all_networks is refused", async () => {
    const { api_key: key } = await create();
    for (const network_ids of [[north], []]) {
      const response = await owner.put(`${keys}/${key.id}`, { ...key, network_ids });
      expect(response.status).toBe(400);
      expect(issuePaths(response)).toEqual(["/network_ids"]);
    }
    expect(issuePaths(await owner.post(keys, body({ all_networks: true, network_ids: [north] })))).toEqual([
      "/network_ids",
    ]);
    expect((await owner.post(keys, body({ all_networks: true, network_ids: [] }))).status).toBe(200);
  });

  test("are required when all_networks becomes false", async () => {
    const { api_key: key } = await create();
    expect(issuePaths(await owner.put(`${keys}/${key.id}`, body({ all_networks: false })))).toEqual(["/network_ids"]);
    expect(issuePaths(await owner.post(keys, body({ all_networks: false })))).toEqual(["/network_ids"]);
    const { api_key: listed } = await create({ all_networks: false, network_ids: [south] });
    expect(await update(listed.id, { all_networks: false })).toMatchObject({ network_ids: [south] });
  });

  test("are equal in any order", async () => {
    const { api_key: key } = await create({ network_ids: [south, north] });
    const expectNothingWritten = watchWrites();
    expect(await update(key.id, { network_ids: [north, south, north] })).toEqual(key);
    expectNothingWritten();
  });
});

describe("rotating a key", () => {
  test("responds like a creation, invalidates the old key immediately, and changes nothing else", async () => {
    const { api_key: key, key: old } = await create({ permissions: "Member", network_ids: [north] });
    tick();
    const response = await owner.post(`${keys}/${key.id}/rotate`, undefined);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { api_key: rotated, key: newKey } = response.data;
    const now = clock.text();
    expect(rotated).toEqual({ ...key, key: `${newKey.slice(0, 8)}…`, updated_at: now, valid_from: now });
    expect(newKey).not.toBe(old);
    expect((await bearer(old).get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect((await bearer(newKey).get("/api/auth/me")).data).toMatchObject({
      api_key_id: key.id,
      effective_role: "Member",
    });
    expect(versionsOf(key.id).at(-1)?.changed).toEqual(["key"]);
  });
});

describe("deleting a key", () => {
  test("returns its final version, ends it immediately and keeps it at past timestamps", async () => {
    const { api_key: key, key: plaintext } = await create({ network_ids: [north] });
    tick();
    const path = `${keys}/${key.id}`;
    expect(await expectOk(owner.delete(path))).toEqual({ ...key, valid_to: clock.text() });
    expect((await bearer(plaintext).get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect((await owner.get(path)).status).toBe(404);
    expect((await owner.delete(path)).status).toBe(404);
    expect(await expectOk(owner.get(`${path}?at=${key.created_at}`))).toEqual({ ...key, valid_to: clock.text() });
    expect(appliance.reader.db.query("SELECT count(*) AS hashes FROM api_key_hashes").get()).toEqual({ hashes: 0 });
  });

  test("accepts cascade, to no effect", async () => {
    const [key, otherKey] = [newApiKey(), newApiKey()];
    expect(await expectOk(owner.delete(`${keys}/${key.id}?cascade=true`))).toMatchObject({ id: key.id });
    expect(await owner.post(`${keys}/bulk-delete?cascade=true`, [otherKey.id])).toMatchObject({
      status: 200,
      data: [{ id: otherKey.id }],
    });
  });

  test("is limited in bulk to own keys, or for Owners and Admins to those of users up to their role", async () => {
    const [one, two, admin] = [
      await newUser({ role: "Member" }),
      await newUser({ role: "Member" }),
      await newUser({ role: "Admin" }),
    ];
    const [ofOne, secondOfOne, ofTwo, ofOwner] = [
      newApiKey({ userId: one.id }),
      newApiKey({ userId: one.id }),
      newApiKey({ userId: two.id }),
      newApiKey(),
    ];
    const removeAll = (caller: Client, ...ids: string[]) => caller.post(`${keys}/bulk-delete`, ids);
    const expectNothingWritten = watchWrites();
    expect(await removeAll(one.client, ofOne.id, ofTwo.id, ofOwner.id)).toMatchObject(
      refusal(400, "entity_reference_invalid", { entity: "api_key", field: "ids", ids: [ofTwo.id, ofOwner.id] }),
    );
    expect(await removeAll(admin.client, ofOne.id, ofOwner.id)).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }),
    );
    expectNothingWritten();
    expect((await removeAll(one.client, ofOne.id, secondOfOne.id)).data).toMatchObject([
      { id: ofOne.id, user_id: one.id },
      { id: secondOfOne.id },
    ]);
    expect((await removeAll(admin.client, ofTwo.id)).status).toBe(200);
    for (const { client } of [ofOne, secondOfOne, ofTwo])
      expect((await client.get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect(appliance.reader.db.query("SELECT count(*) AS hashes FROM api_key_hashes").get()).toEqual({ hashes: 1 });
  });
});

describe("last_used of a key", () => {
  test("is written at most once a minute, and creates no version", async () => {
    const { api_key: key, key: plaintext } = await create();
    const expectNothingWritten = watchWrites();
    const used = async () => {
      await bearer(plaintext).get("tags");
      return (await read(key.id)).last_used;
    };
    const first = clock.text();
    expect(await used()).toBe(first);
    clock.advance(59_999);
    expect(await used()).toBe(first);
    clock.advance(1);
    expect(await used()).toBe(clock.text());
    expectNothingWritten();
    expect((await read(key.id)).updated_at).toBe(key.updated_at);
    expect((await expectOk(owner.get(`${keys}/${key.id}?at=${key.created_at}`))).last_used).toBeNull();
  });
});

describe("the effective role of a key", () => {
  test.each([
    ["Owner", "Viewer", "Viewer"],
    ["Owner", "Owner", "Owner"],
    ["Member", "Admin", "Member"],
    ["Viewer", "Member", "Viewer"],
  ] as [Role, Role, Role][])(
    "a user who is %s and a key with permissions %s give %s",
    async (role, permissions, effective) => {
      const user = await newUser({ role, networkIds: [north] });
      const { client } = newApiKey({ userId: user.id, permissions });
      expect((await client.get("/api/auth/me")).data).toMatchObject({ role, effective_role: effective });
    },
  );
});
