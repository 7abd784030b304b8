// API keys (handbook: security, "API keys"): the contract to the letter, ownership, reach and expiry.

import { beforeEach, describe, expect, test } from "bun:test";
import { isWellFormedApiKey } from "../../src/access/api-key.ts";
import type { Role } from "../../src/access/role.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, type NewUser, refusal, type Wire } from "../support/appliance/factories.ts";
import { describeRecords } from "../support/contract/record-battery.ts";
import { networkReference, tagReference } from "../support/contract/record-subject.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, owner, signedIn } = appliance;
const { newApiKey, newNetwork, newOrganization, newTag, newUser } = appliance;
const { tick, transactionCount, writingWatched, versionsOf } = appliance;
/** The first network and a second one. */
let north: string;
let south: string;

beforeEach(async () => {
  north = first.networkId;
  south = (await newNetwork()).id;
  tick();
});

const keys = "/api/v1/auth/keys";
const bodyFor = (userId: string, fields: Wire = {}): Wire => ({
  name: "Monitoring",
  organization_id: first.organizationId,
  user_id: userId,
  tags: [],
  ...fields,
});
const body = (fields: Wire = {}): Wire => bodyFor(first.userId, fields);
const create = (fields: Wire = {}): Promise<Wire> => made(owner.post(keys, body(fields)));
const update = (id: string, fields: Wire): Promise<Wire> => made(owner.put(`${keys}/${id}`, body(fields)));
const bearer = (key: string): Client => anonymous.with({ authorization: `Bearer ${key}` });
const read = (id: string, by: Client = owner): Promise<Wire> => made(by.get(`${keys}/${id}`));
const member = (networkIds: string[] = [north, south]): Promise<NewUser> => newUser({ role: "Member", networkIds });
const issuePaths = (answer: { body: Wire }): string[] => answer.body.params.issues.map((issue: Wire) => issue.path);

describeRecords(
  {
    path: keys,
    entity: "api_key",
    writeRole: "Member",
    place: "in the organization",
    isSessionOnly: true,
    body: (networkId, position, place) => ({
      name: `Monitoring ${position}`,
      organization_id: place.organizationId,
      user_id: place.userId,
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
  test("returns the record and, this once, the key", async () => {
    const tag = (await newTag()).id;
    const answer = await owner.post(keys, body({ tags: [tag, tag] }));
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.data).sort()).toEqual(["api_key", "key"]);
    const { api_key: record, key } = answer.data;
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
    expect(answer.headers.get("cache-control")).toBe("no-store");
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

  test("takes every optional field, and timestamps with any offset", async () => {
    const { api_key: record } = await create({
      expires_at: "2027-01-01T01:00:00.1234+01:00",
      is_enabled: false,
      permissions: "Admin",
      network_ids: [south, south],
      id: "0B7F3D1E-62C8-4F0A-9D6F-2F1F6F7A0001",
    });
    expect(record).toMatchObject({
      id: "0b7f3d1e-62c8-4f0a-9d6f-2f1f6f7a0001",
      expires_at: "2027-01-01T00:00:00.123Z",
      is_enabled: false,
      permissions: "Admin",
      all_networks: false,
      network_ids: [south],
    });
    expect(await create({ expires_at: null })).toMatchObject({ api_key: { expires_at: null } });
    expect((await owner.post(keys, body({ id: record.id }))).body).toMatchObject({
      code: "entity_already_exists",
      params: { field: "id" },
    });
  });

  test("reports all missing and invalid fields at once", async () => {
    expect(issuePaths(await owner.post(keys, {}))).toEqual(["/name", "/organization_id", "/user_id", "/tags"]);
    const answer = await owner.post(
      keys,
      body({
        name: "",
        tags: null,
        expires_at: "tomorrow",
        is_enabled: 1,
        network_ids: null,
        permissions: "viewer",
        network_id: north,
      }),
    );
    expect(answer.status).toBe(400);
    expect(issuePaths(answer).sort()).toEqual(
      "/expires_at /is_enabled /name /network_id /network_ids /permissions /tags".split(" "),
    );
  });

  test("with a past date makes a key that is already expired", async () => {
    const { key } = await create({ expires_at: clock.text() });
    const answer = await anonymous.with({ authorization: `Bearer ${key}` }).get("tags");
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe("auth_key_expired");
  });

  test("refuses a tag or network unknown to the caller", async () => {
    const other = await newOrganization("Second");
    const unknown = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0009";
    const before = transactionCount();
    expect((await owner.post(keys, body({ tags: [unknown] }))).body).toMatchObject({
      code: "entity_reference_invalid",
      params: { entity: "tag", field: "tags", ids: [unknown] },
    });
    expect((await owner.post(keys, body({ network_ids: [north, other.networkId] }))).body).toMatchObject({
      code: "entity_reference_invalid",
      params: { entity: "network", field: "network_ids", ids: [other.networkId] },
    });
    const { id, client } = await member([north]);
    expect((await client.post(keys, bodyFor(id, { network_ids: [north, south] }))).body).toMatchObject({
      code: "entity_reference_invalid",
      params: { ids: [south] },
    });
    expect((await owner.post(keys, bodyFor(id, { network_ids: [north, south] }))).body).toMatchObject({
      code: "entity_reference_invalid",
      params: { ids: [south] },
    });
    expect(transactionCount()).toBe(before + 1);
  });

  test("refuses another organization, and a user the caller may not name", async () => {
    const other = await newOrganization("Second");
    const [admin, one, two] = [await newUser({ role: "Admin" }), await member(), await member()];
    const foreign = await owner.post(keys, body({ organization_id: other.organizationId }));
    expect(foreign.status).toBe(403);
    expect(foreign.body).toMatchObject({ code: "entity_access_denied", params: { field: "organization_id" } });
    const refused: [Client, string][] = [
      [one.client, two.id],
      [one.client, "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0009"],
      [admin.client, first.userId],
      [admin.client, other.userId],
      [owner, other.userId],
    ];
    for (const [client, userId] of refused) {
      const answer = await client.post(keys, bodyFor(userId));
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ code: "entity_access_denied", params: { field: "user_id", value: userId } });
    }
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
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Admin", actual: "Member" },
    });
    const { api_key, key } = await made(owner.post(keys, bodyFor(id, { permissions: "Owner" })));
    expect(api_key.permissions).toBe("Owner");
    expect((await bearer(key).get("/api/auth/me")).data.effective_role).toBe("Member");
  });
});

describe("key management", () => {
  test("requires a session: an API key is refused on every key route, whatever its role", async () => {
    const { id, client } = newApiKey({ permissions: "Owner" });
    const answers = [
      await client.get(keys),
      await client.get(`${keys}/${id}`),
      await client.post(keys, body()),
      await client.put(`${keys}/${id}`, body()),
      await client.post(`${keys}/${id}/rotate`, undefined),
      await client.delete(`${keys}/${id}`),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(403);
      expect(answer.body.code).toBe("auth_session_required");
    }
  });

  test("requires the role Member, though a Viewer sees their own keys", async () => {
    const viewer = await newUser({ role: "Viewer" });
    const { id } = newApiKey({ userId: viewer.id });
    for (const answer of [
      await viewer.client.post(keys, bodyFor(viewer.id)),
      await viewer.client.put(`${keys}/${id}`, bodyFor(viewer.id)),
      await viewer.client.post(`${keys}/${id}/rotate`, undefined),
      await viewer.client.delete(`${keys}/${id}`),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ code: "auth_permission_denied", params: { required: "Member" } });
    }
    expect((await viewer.client.get(keys)).data.map((key: Wire) => key.id)).toEqual([id]);
  });

  test("shows a Member their own keys, Admin and Owner all of the organization, and never another organization's", async () => {
    const other = await newOrganization("Second");
    const foreign = newApiKey({ organizationId: other.organizationId, userId: other.userId });
    const [admin, one, two] = [await newUser({ role: "Admin" }), await member(), await member()];
    const [ofOwner, ofOne, ofTwo] = [newApiKey(), newApiKey({ userId: one.id }), newApiKey({ userId: two.id })];
    const listed = async (client: Client, query = "") => {
      const { data, body: envelope } = await client.get(`${keys}${query}`);
      if (!query.includes("limit")) expect(envelope.meta.pagination.total_count).toBe(data.length);
      return data.map((key: Wire) => key.id);
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
      const hidden = [
        await client.get(`${keys}/${id}`),
        await client.put(`${keys}/${id}`, bodyFor(one.id)),
        await client.post(`${keys}/${id}/rotate`, undefined),
        await client.delete(`${keys}/${id}`),
      ];
      expect(hidden.map((answer) => [answer.status, answer.body.code])).toEqual(
        Array(4).fill([404, "entity_not_found"]),
      );
    }
  });

  test("lets an Admin change keys up to their own role and only view an Owner's", async () => {
    const admin = await newUser({ role: "Admin" });
    const { id } = newApiKey();
    expect((await admin.client.get(`${keys}/${id}`)).status).toBe(200);
    for (const answer of [
      await admin.client.put(`${keys}/${id}`, bodyFor(admin.id)),
      await admin.client.post(`${keys}/${id}/rotate`, undefined),
      await admin.client.delete(`${keys}/${id}`),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({
        code: "auth_permission_denied",
        params: { required: "Owner", actual: "Admin" },
      });
    }
    expect(versionsOf(id)).toHaveLength(1);
  });

  test("requires credentials: without them even a malformed body gets 401", async () => {
    const answer = await anonymous.post(keys, "{");
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("shows a key's history to its present user after a transfer, also once deleted", async () => {
    const [before, now] = [await newUser({ role: "Member" }), await newUser({ role: "Member" })];
    const body = { name: "k", organization_id: first.organizationId, tags: [], permissions: "Viewer" };
    const { id } = (await owner.post("auth/keys", { ...body, user_id: before.id })).data.api_key;
    expect((await before.client.get(`auth/keys/${id}/history`)).status).toBe(200);
    tick();
    await owner.put(`auth/keys/${id}`, { ...body, user_id: now.id });
    const seenBy = async () => {
      const answers = await Promise.all([before, now].map((user) => user.client.get(`auth/keys/${id}/history`)));
      return answers.map((answer) => answer.status);
    };
    expect(await seenBy()).toEqual([404, 200]);
    tick();
    await owner.delete(`auth/keys/${id}`);
    expect(await seenBy()).toEqual([404, 200]);
  });
});

describe("updating a key", () => {
  test("returns the record with all its fields, key and last_used included", async () => {
    const { api_key: key } = await create();
    tick();
    const updated = await update(key.id, {
      name: "Renamed",
      is_enabled: false,
      permissions: "Member",
      expires_at: "2027-01-01T00:00:00Z",
      network_ids: [north],
    });
    const now = clock.text();
    expect(updated).toEqual({
      ...key,
      name: "Renamed",
      is_enabled: false,
      permissions: "Member",
      expires_at: "2027-01-01T00:00:00.000Z",
      all_networks: false,
      network_ids: [north],
      updated_at: now,
      valid_from: now,
    });
    expect(versionsOf(key.id).at(-1)?.changed).toEqual(
      "all_networks expires_at is_enabled name network_ids permissions".split(" "),
    );
    expect(await made(owner.get(`${keys}/${key.id}?at=${key.created_at}`))).toEqual({ ...key, valid_to: now });
  });

  test("preserves omitted optional fields; null clears the expiry", async () => {
    const { api_key: key } = await create({
      is_enabled: false,
      permissions: "Member",
      expires_at: "2027-01-01T00:00:00Z",
      network_ids: [north],
    });
    const renamed = await update(key.id, { name: "Renamed" });
    expect(renamed).toMatchObject({
      name: "Renamed",
      is_enabled: false,
      permissions: "Member",
      expires_at: key.expires_at,
      all_networks: false,
      network_ids: [north],
    });
    expect(await update(key.id, { expires_at: null })).toMatchObject({ expires_at: null });
  });

  test("accepts its own answer without making a version, with and without a network list", async () => {
    const { id, client } = await member();
    for (const fields of [{}, { network_ids: [south] }, { expires_at: "2026-12-01T00:00:00Z" }]) {
      const { api_key: key } = await made(client.post(keys, bodyFor(id, fields)));
      const expectNothingWritten = writingWatched();
      expect(await made(client.put(`${keys}/${key.id}`, key))).toEqual(key);
      expectNothingWritten();
    }
  });

  test("accepts the answer of an expired key", async () => {
    const { api_key: key } = await create({ expires_at: "2026-12-01T00:00:00Z" });
    clock.advance(30 * 86_400_000);
    const renewed = await signedIn(first.userId);
    expect(await made(renewed.put(`${keys}/${key.id}`, { ...key, name: "Renamed" }))).toMatchObject({
      name: "Renamed",
      expires_at: key.expires_at,
    });
  });

  test("refuses the id of another record, another organization, another user and a stale version", async () => {
    const { id, client } = await member();
    const { api_key: key } = await made(client.post(keys, bodyFor(id)));
    const path = `${keys}/${key.id}`;
    expect((await client.put(path, { ...key, id })).body.code).toBe("validation_id_mismatch");
    expect((await client.put(path, { ...key, organization_id: id })).body).toMatchObject({
      code: "entity_access_denied",
      params: { field: "organization_id" },
    });
    expect((await client.put(path, { ...key, user_id: first.userId })).body).toMatchObject({
      code: "entity_access_denied",
      params: { field: "user_id" },
    });
    expect((await client.put(path, key, { "if-match": '"1"' })).status).toBe(412);
    expect((await client.put(path, { ...key, is_enable: true })).body.params.issues).toMatchObject([
      { path: "/is_enable" },
    ]);
  });

  test("lets an Admin transfer a key up to their own role", async () => {
    const admin = await newUser({ role: "Admin" });
    const { id, client } = await member([north]);
    const { api_key: key, key: plaintext } = await made(
      admin.client.post(keys, bodyFor(admin.id, { permissions: "Admin" })),
    );
    expect((await admin.client.put(`${keys}/${key.id}`, { ...key, user_id: first.userId })).body.code).toBe(
      "entity_access_denied",
    );
    const { network_ids: _all, ...rest } = key;
    expect(await made(admin.client.put(`${keys}/${key.id}`, { ...rest, user_id: id }))).toMatchObject({
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
    const { api_key: key } = await made(owner.post(keys, bodyFor(id, { permissions: "Owner" })));
    expect((await client.put(`${keys}/${key.id}`, { ...key, permissions: "Admin" })).body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Admin" },
    });
    expect((await client.put(`${keys}/${key.id}`, { ...key, name: "Renamed" })).status).toBe(200);
  });
});

describe("the networks of a key", () => {
  test("default to all that its user reaches, now and later", async () => {
    const { id } = await member([north]);
    const { api_key: key, key: plaintext } = await made(owner.post(keys, bodyFor(id)));
    expect(key).toMatchObject({ all_networks: true, network_ids: [north] });
    const user = await made(owner.get(`users/${id}`));
    await made(owner.put(`users/${id}`, { ...user, network_ids: [south, north] }));
    expect(await read(key.id)).toMatchObject({ all_networks: true, network_ids: [south, north] });
    expect((await bearer(plaintext).get("networks")).data.map((network: Wire) => network.id)).toEqual([north, south]);
    expect(versionsOf(key.id)).toHaveLength(1);
  });

  test("are exactly the given ones, minus those beyond its user's reach", async () => {
    const { id } = await member();
    const { api_key: key, key: plaintext } = await made(owner.post(keys, bodyFor(id, { network_ids: [north, south] })));
    expect(key).toMatchObject({ all_networks: false, network_ids: [north, south] });
    const user = await made(owner.get(`users/${id}`));
    await made(owner.put(`users/${id}`, { ...user, network_ids: [south] }));
    expect(await read(key.id)).toMatchObject({ network_ids: [south] });
    expect((await bearer(plaintext).get("networks")).data.map((network: Wire) => network.id)).toEqual([south]);
    const third = (await newNetwork()).id;
    await made(owner.put(`users/${id}`, { ...user, role: "Admin" }));
    expect(await read(key.id)).toMatchObject({ network_ids: [north, south] });
    expect((await bearer(plaintext).get("networks")).data.map((network: Wire) => network.id)).not.toContain(third);
  });

  test("given as an empty list are none", async () => {
    const { api_key: key, key: plaintext } = await create({ network_ids: [] });
    expect(key).toMatchObject({ all_networks: false, network_ids: [] });
    expect((await bearer(plaintext).get("networks")).data).toEqual([]);
  });

  test("follow the organization's networks if the user is an Owner", async () => {
    const { api_key: key } = await create();
    const third = (await newNetwork()).id;
    expect((await read(key.id)).network_ids).toEqual([north, south, third]);
    await made(owner.delete(`networks/${third}`));
    expect((await read(key.id)).network_ids).toEqual([north, south]);
  });

  test("are as of the requested instant, and a past answer never changes", async () => {
    const { api_key: follows } = await create();
    const { api_key: listed } = await create({ network_ids: [north, south] });
    const at = listed.created_at;
    const then = await owner.get(`${keys}?at=${at}`);
    tick();
    await made(owner.delete(`networks/${south}`));
    const third = (await newNetwork()).id;
    expect((await owner.get(keys)).data.map((key: Wire) => key.network_ids)).toEqual([[north, third], [north]]);
    const past = (await owner.get(`${keys}?at=${at}`)).data;
    expect(past.map((key: Wire) => key.network_ids)).toEqual([
      [north, south],
      [north, south],
    ]);
    expect(past[0]).toEqual(then.data[0]);
    expect(past[1]).toEqual({ ...then.data[1], valid_to: expect.any(String) });
    expect((await made(owner.get(`${keys}/${follows.id}?at=${at}`))).network_ids).toEqual([north, south]);
    expect((await owner.get(`${keys}?at=${at}&limit=0`)).data).toEqual(past);
  });

  test("at a past instant are filtered by the caller's present reach", async () => {
    const { id, client } = await member();
    const { api_key: key } = await made(client.post(keys, bodyFor(id)));
    tick();
    const user = await made(owner.get(`users/${id}`));
    await made(owner.put(`users/${id}`, { ...user, network_ids: [north] }));
    const path = `${keys}/${key.id}?at=${key.created_at}`;
    expect((await made(client.get(path))).network_ids).toEqual([north]);
    expect((await made(owner.get(path))).network_ids).toEqual([north, south]);
  });

  test("follow the user again with all_networks: true, alone, with the answered list or with an empty one", async () => {
    for (const sent of [{}, { network_ids: [north] }, { network_ids: [] }]) {
      const { api_key: key } = await create({ network_ids: [north] });
      expect(await update(key.id, { all_networks: true, ...sent })).toMatchObject({
        all_networks: true,
        network_ids: [north, south],
      });
    }
  });

  test("are a list if sent without all_networks, even as answered", async () => {
    const { api_key: key } = await create();
    expect(await update(key.id, { network_ids: key.network_ids })).toMatchObject({
      all_networks: false,
      network_ids: [north, south],
    });
  });

  test("cannot be both a list and the user's: an edited list with all_networks is refused", async () => {
    const { api_key: key } = await create();
    for (const network_ids of [[north], []]) {
      const answer = await owner.put(`${keys}/${key.id}`, { ...key, network_ids });
      expect(answer.status).toBe(400);
      expect(issuePaths(answer)).toEqual(["/network_ids"]);
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
    const expectNothingWritten = writingWatched();
    expect(await update(key.id, { network_ids: [north, south, north] })).toEqual(key);
    expectNothingWritten();
  });
});

describe("rotating a key", () => {
  test("answers like a create; the old key is refused at once, and nothing else changes", async () => {
    const { api_key: key, key: old } = await create({ permissions: "Member", network_ids: [north] });
    tick();
    const answer = await owner.post(`${keys}/${key.id}/rotate`, undefined);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { api_key: rotated, key: fresh } = answer.data;
    const now = clock.text();
    expect(rotated).toEqual({ ...key, key: `${fresh.slice(0, 8)}…`, updated_at: now, valid_from: now });
    expect(fresh).not.toBe(old);
    expect((await bearer(old).get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect((await bearer(fresh).get("/api/auth/me")).data).toMatchObject({
      api_key_id: key.id,
      effective_role: "Member",
    });
    expect(versionsOf(key.id).at(-1)?.changed).toEqual(["key"]);
  });
});

describe("deleting a key", () => {
  test("returns its final version, ends it at once and keeps it at past instants", async () => {
    const { api_key: key, key: plaintext } = await create({ network_ids: [north] });
    tick();
    const path = `${keys}/${key.id}`;
    expect(await made(owner.delete(path))).toEqual({ ...key, valid_to: clock.text() });
    expect((await bearer(plaintext).get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect((await owner.get(path)).status).toBe(404);
    expect((await owner.delete(path)).status).toBe(404);
    expect(await made(owner.get(`${path}?at=${key.created_at}`))).toEqual({ ...key, valid_to: clock.text() });
    expect(appliance.reader.db.query("SELECT count(*) AS hashes FROM api_key_hashes").get()).toEqual({ hashes: 0 });
  });

  test("accepts cascade, which has no effect", async () => {
    const [one, other] = [newApiKey(), newApiKey()];
    expect(await made(owner.delete(`${keys}/${one.id}?cascade=true`))).toMatchObject({ id: one.id });
    expect(await owner.post(`${keys}/bulk-delete?cascade=true`, [other.id])).toMatchObject({
      status: 200,
      data: [{ id: other.id }],
    });
  });

  test("in bulk takes one's own, or for Owner and Admin those of users up to their role", async () => {
    const [one, two, admin] = [
      await newUser({ role: "Member" }),
      await newUser({ role: "Member" }),
      await newUser({ role: "Admin" }),
    ];
    const [ofOne, again, ofTwo, ofOwner] = [
      newApiKey({ userId: one.id }),
      newApiKey({ userId: one.id }),
      newApiKey({ userId: two.id }),
      newApiKey(),
    ];
    const removeAll = (by: Client, ...ids: string[]) => by.post(`${keys}/bulk-delete`, ids);
    const expectNothingWritten = writingWatched();
    expect(await removeAll(one.client, ofOne.id, ofTwo.id, ofOwner.id)).toMatchObject(
      refusal(400, "entity_reference_invalid", { entity: "api_key", field: "ids", ids: [ofTwo.id, ofOwner.id] }),
    );
    expect(await removeAll(admin.client, ofOne.id, ofOwner.id)).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }),
    );
    expectNothingWritten();
    expect((await removeAll(one.client, ofOne.id, again.id)).data).toMatchObject([
      { id: ofOne.id, user_id: one.id },
      { id: again.id },
    ]);
    expect((await removeAll(admin.client, ofTwo.id)).status).toBe(200);
    for (const { client } of [ofOne, again, ofTwo])
      expect((await client.get("/api/auth/me")).body.code).toBe("auth_not_authenticated");
    expect(appliance.reader.db.query("SELECT count(*) AS hashes FROM api_key_hashes").get()).toEqual({ hashes: 1 });
  });

  test("is not done by deleting its tag, which is only removed from the key", async () => {
    const tag = (await newTag()).id;
    const { api_key: key } = await create({ tags: [tag] });
    await made(owner.delete(`tags/${tag}`));
    expect((await read(key.id)).tags).toEqual([]);
  });
});

describe("last_used of a key", () => {
  test("is written at most once a minute, and makes no version", async () => {
    const { api_key: key, key: plaintext } = await create();
    const expectNothingWritten = writingWatched();
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
    expect((await made(owner.get(`${keys}/${key.id}?at=${key.created_at}`))).last_used).toBeNull();
  });
});

describe("the effective role of a key", () => {
  test.each([
    ["Owner", "Viewer", "Viewer"],
    ["Owner", "Owner", "Owner"],
    ["Member", "Admin", "Member"],
    ["Viewer", "Member", "Viewer"],
  ] as [Role, Role, Role][])(
    "of a user who is %s, with the permissions %s, is %s",
    async (role, permissions, effective) => {
      const user = await newUser({ role, networkIds: [north] });
      const { client } = newApiKey({ userId: user.id, permissions });
      expect((await client.get("/api/auth/me")).data).toMatchObject({ role, effective_role: effective });
    },
  );
});
