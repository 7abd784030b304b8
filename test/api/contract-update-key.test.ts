// Contract of PUT /api/v1/auth/keys/{id} (handbook: security, "API keys"): the answer, kept and cleared fields,
// ownership.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { Client } from "../support/appliance/client.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { apiKeyShape, issuePaths, problems, refused, succeeded } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const PATH = "/api/v1/auth/keys";
const REQUIRED = ["name", "organization_id", "tags", "user_id"];

const appliance = applianceForAll();
const { anonymous, clock, first, handle, owner, signedIn } = appliance;
const { keyBody, newApiKey, newNetwork, newOrganization, newTag, newUser } = appliance;
const { transactionCount, writingWatched, versionsOf, newMember } = appliance;
let other: { organizationId: string; networkId: string; userId: string };

beforeAll(async () => {
  other = await newOrganization("Other");
});

/** A key created by the Owner, and its client. */
async function newKey(fields: Wire = {}, by = owner): Promise<{ record: Wire; client: Client }> {
  const data = await succeeded(by.post(PATH, { ...keyBody(), ...fields }));
  return { record: data.api_key, client: new Client(handle, { authorization: `Bearer ${data.key}` }) };
}

function put(record: Wire, changes: Wire = {}, by = owner) {
  const body = Object.fromEntries(REQUIRED.map((field) => [field, record[field]]));
  return by.put(`${PATH}/${record.id}`, { ...body, ...changes });
}

async function update(record: Wire, changes: Wire = {}): Promise<Wire> {
  const after = await succeeded(put(record, changes));
  expect(problems(after, apiKeyShape)).toEqual([]);
  return after;
}

async function refusedWhole(record: Wire, changes: Wire, status: number, code: string, by = owner) {
  const [before, stored] = [transactionCount(), await succeeded(owner.get(`${PATH}/${record.id}`))];
  const answer = await refused(put(record, { name: "never", ...changes }, by), status, code);
  expect(transactionCount()).toBe(before);
  expect(await succeeded(owner.get(`${PATH}/${record.id}`))).toEqual(stored);
  return answer;
}

describe("the answer", () => {
  test("is the record of table 2.10 itself, with the mask and never the key", async () => {
    const tag = await newTag();
    const { record } = await newKey();
    const fields = {
      name: "renamed",
      tags: [tag.id],
      expires_at: "2031-01-01T00:00:00.000Z",
      is_enabled: false,
      network_ids: [first.networkId],
      allowed_sources: ["10.0.0.0/8"],
      permissions: "Member",
    };
    const after = await update(record, fields);
    expect(after).toMatchObject({
      ...fields,
      all_networks: false,
      id: record.id,
      key: record.key,
      created_at: record.created_at,
    });
    expect(after.updated_at > record.updated_at).toBe(true);
    expect(await succeeded(owner.get(`${PATH}/${record.id}`))).toEqual(after);
  });
});

describe("the body", () => {
  test("requires the fields of a create, each by name", async () => {
    const { record } = await newKey();
    for (const field of REQUIRED) {
      const { [field]: _, ...rest } = keyBody();
      expect(await issuePaths(owner.put(`${PATH}/${record.id}`, rest))).toEqual([`/${field}`]);
    }
    expect(await issuePaths(owner.put(`${PATH}/${record.id}`, {}))).toEqual(REQUIRED.map((field) => `/${field}`));
  });

  test("preserves every omitted optional field", async () => {
    const { record } = await newKey({
      expires_at: "2031-01-01T00:00:00Z",
      is_enabled: false,
      network_ids: [],
      allowed_sources: ["10.0.0.0/8"],
      permissions: "Admin",
    });
    const expectNothingWritten = writingWatched();
    expect(await update(record)).toEqual(record);
    expectNothingWritten();
  });

  test("clears expires_at and allowed_sources by null, and nothing else", async () => {
    const { record } = await newKey({ expires_at: "2031-01-01T00:00:00Z", allowed_sources: ["10.0.0.0/8"] });
    expect((await update(record, { expires_at: null })).expires_at).toBeNull();
    expect((await update(record, { allowed_sources: null })).allowed_sources).toBeNull();
    for (const field of [...REQUIRED, "is_enabled", "network_ids", "permissions"])
      expect(await issuePaths(put(record, { [field]: null }))).toEqual([`/${field}`]);
  });

  test("may be the answer of a GET: nothing changes, and a key that follows its user still does", async () => {
    for (const fields of [{}, { network_ids: [first.networkId], expires_at: "2031-01-01T00:00:00Z" }]) {
      const { record } = await newKey(fields);
      const expectNothingWritten = writingWatched();
      expect(await succeeded(put(record, record))).toEqual(record);
      expectNothingWritten();
      const edited = await succeeded(put(record, { ...record, name: "edited" }));
      expect(edited).toMatchObject({
        name: "edited",
        all_networks: record.all_networks,
        network_ids: record.network_ids,
      });
    }
  });

  test("pins the key to networks, or lets it follow its user again", async () => {
    const { record } = await newKey();
    const pinned = await update(record, { network_ids: [first.networkId] });
    const later = await newNetwork();
    expect(pinned.all_networks).toBe(false);
    expect((await update(record, { name: "still pinned" })).network_ids).toEqual([first.networkId]);
    const following = await update(record, { all_networks: true });
    expect(following.all_networks).toBe(true);
    expect(following.network_ids).toContain(later.id);
  });

  test("cannot write the key or other read-only fields, but may send them back", async () => {
    const { record, client } = await newKey();
    const after = await update(record, {
      key: "nlk_0000…",
      last_used: "2001-01-01T00:00:00Z",
      created_at: "2001-01-01T00:00:00Z",
    });
    expect(after).toEqual(record);
    await succeeded(client.get("tags"));
    await refusedWhole(record, { id: UNKNOWN }, 400, "validation_id_mismatch");
    expect(await issuePaths(put(record, { enabled: false }))).toEqual(["/enabled"]);
  });

  test("accepts existing tags and networks, its own organization and a permitted user", async () => {
    const { record } = await newKey();
    for (const changes of [{ tags: [UNKNOWN] }, { network_ids: [other.networkId] }, { network_ids: [UNKNOWN] }])
      await refusedWhole(record, changes, 400, "entity_reference_invalid");
    await refusedWhole(record, { organization_id: other.organizationId }, 403, "entity_access_denied");
    await refusedWhole(record, { user_id: other.userId }, 403, "entity_access_denied");
  });
});

describe("the effect of an update", () => {
  test("applies from the next request on: disabling, expiry, role and networks", async () => {
    const { record, client } = await newKey({ permissions: "Admin" });
    await succeeded(client.post("tags", { name: "made", color: "Red" }));
    await update(record, { permissions: "Viewer" });
    await refused(client.post("tags", { name: "not made", color: "Red" }), 403, "auth_permission_denied");
    await update(record, { network_ids: [] });
    expect(await succeeded(client.get("networks"))).toEqual([]);
    await update(record, { is_enabled: false });
    await refused(client.get("tags"), 401, "auth_key_disabled");
    await update(record, { is_enabled: true });
    await succeeded(client.get("tags"));
  });

  test("with an expiry in the past is immediate expiry", async () => {
    const { record, client } = await newKey();
    await update(record, { expires_at: "2001-01-01T00:00:00Z" });
    await refused(client.get("tags"), 401, "auth_key_expired");
  });

  test("is possible on an expired key too: an edited GET answer is accepted", async () => {
    const { record, client } = await newKey({ expires_at: new Date(clock.now() + 60_000).toISOString() });
    clock.advance(120_000);
    await refused(client.get("tags"), 401, "auth_key_expired");
    expect((await succeeded(put(record, { ...record, name: "renamed" }))).name).toBe("renamed");
    expect((await update(record, { expires_at: null })).expires_at).toBeNull();
    await succeeded(client.get("tags"));
  });

  test("is one version per change", async () => {
    const { record } = await newKey();
    await update(record, { name: "second" });
    expect(versionsOf(record.id).map((version) => version.changed)).toEqual([null, ["name"]]);
  });
});

describe("session only, by permitted users", () => {
  test("an API key is 403, an anonymous caller 401, a foreign page 403", async () => {
    const { record } = await newKey();
    await refusedWhole(record, {}, 403, "auth_session_required", newApiKey({ permissions: "Owner" }).client);
    await refused(put(record, {}, anonymous), 401, "auth_not_authenticated");
    await refused(put(record, {}, owner.with({ origin: "https://evil.example" })), 403, "auth_origin_rejected");
    for (const path of [PATH, `${PATH}/${record.id}`])
      await refused(newApiKey({ permissions: "Owner" }).client.get(path), 403, "auth_session_required");
  });

  test("an unknown, foreign or deleted key is 404 alike", async () => {
    const theirs = await signedIn(other.userId);
    const foreign = await newKey({ organization_id: other.organizationId, user_id: other.userId }, theirs);
    const { record } = await newKey();
    await succeeded(owner.delete(`${PATH}/${record.id}`));
    const answers = [];
    for (const id of [UNKNOWN, foreign.record.id, record.id]) {
      const { body } = await refused(owner.put(`${PATH}/${id}`, keyBody()), 404, "entity_not_found");
      answers.push(JSON.stringify(body).replaceAll(id, "ID"));
    }
    expect(new Set(answers).size).toBe(1);
  });

  test("a Member may not touch another user's key", async () => {
    const { record } = await newKey();
    const member = await newMember();
    const expectNothingWritten = writingWatched();
    for (const answer of [
      await put(record, {}, member.client),
      await put(record, { user_id: member.id }, member.client),
      await member.client.post(`${PATH}/${record.id}/rotate`, {}),
      await member.client.delete(`${PATH}/${record.id}`),
    ]) {
      expect(answer.status).toBeOneOf([403, 404]);
    }
    expectNothingWritten();
    const own = await newKey({ user_id: member.id }, member.client);
    expect((await succeeded(put(own.record, { name: "own" }, member.client))).name).toBe("own");
  });

  test("an Admin may not touch an Owner's key, since rotating it would make them one", async () => {
    const { record } = await newKey({ permissions: "Owner" });
    const admin = await newUser({ role: "Admin" });
    const expectNothingWritten = writingWatched();
    for (const answer of [
      await put(record, {}, admin.client),
      await put(record, { user_id: admin.id }, admin.client),
      await admin.client.post(`${PATH}/${record.id}/rotate`, {}),
      await admin.client.delete(`${PATH}/${record.id}`),
    ]) {
      expect(answer.status).toBeOneOf([403, 404]);
    }
    expectNothingWritten();
  });
});
