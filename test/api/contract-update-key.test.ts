// Contract of PUT /api/v1/auth/keys/{id} (handbook: security, "API keys"): kept and cleared fields, and effects.

import { describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { Client } from "../support/appliance/client.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { apiKeyShape, expectRefusal, expectSuccess, issuePaths, problems } from "../support/contract/shapes.ts";

const PATH = "/api/v1/auth/keys";
const REQUIRED = ["name", "organization_id", "tags", "user_id"];

const appliance = applianceForAll();
const { clock, first, handle, owner, keyBody, watchWrites } = appliance;

/** A key created by the Owner, and its client. */
async function newKey(fields: JsonRecord = {}): Promise<{ record: JsonRecord; client: Client }> {
  const data = await expectSuccess(owner.post(PATH, { ...keyBody(), ...fields }));
  return { record: data.api_key, client: new Client(handle, { authorization: `Bearer ${data.key}` }) };
}

function put(record: JsonRecord, changes: JsonRecord = {}) {
  const body = Object.fromEntries(REQUIRED.map((field) => [field, record[field]]));
  return owner.put(`${PATH}/${record.id}`, { ...body, ...changes });
}

async function update(record: JsonRecord, changes: JsonRecord = {}): Promise<JsonRecord> {
  const after = await expectSuccess(put(record, changes));
  expect(problems(after, apiKeyShape)).toEqual([]);
  return after;
}

describe("the body", () => {
  test("requires the fields of a creation, each by name", async () => {
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
    const expectNothingWritten = watchWrites();
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

  test("may be the response of a GET: nothing changes, and a key that follows its user still does", async () => {
    for (const fields of [{}, { network_ids: [first.networkId], expires_at: "2031-01-01T00:00:00Z" }]) {
      const { record } = await newKey(fields);
      const expectNothingWritten = watchWrites();
      expect(await expectSuccess(put(record, record))).toEqual(record);
      expectNothingWritten();
      const edited = await expectSuccess(put(record, { ...record, name: "edited" }));
      expect(edited).toMatchObject({
        name: "edited",
        all_networks: record.all_networks,
        network_ids: record.network_ids,
      });
    }
  });

  test("cannot change the key or other read-only fields, but may include them", async () => {
    const { record, client } = await newKey();
    const after = await update(record, {
      key: "nlk_0000…",
      last_used: "2001-01-01T00:00:00Z",
      created_at: "2001-01-01T00:00:00Z",
    });
    expect(after).toEqual(record);
    await expectSuccess(client.get("tags"));
    expect(await issuePaths(put(record, { enabled: false }))).toEqual(["/enabled"]);
  });
});

describe("the effect of an update", () => {
  test("applies from the next request on: disabling, expiry, role and networks", async () => {
    const { record, client } = await newKey({ permissions: "Admin" });
    await expectSuccess(client.post("tags", { name: "made", color: "Red" }));
    await update(record, { permissions: "Viewer" });
    await expectRefusal(client.post("tags", { name: "not made", color: "Red" }), 403, "auth_permission_denied");
    await update(record, { network_ids: [] });
    expect(await expectSuccess(client.get("networks"))).toEqual([]);
    await update(record, { is_enabled: false });
    await expectRefusal(client.get("tags"), 401, "auth_key_disabled");
    await update(record, { is_enabled: true });
    await expectSuccess(client.get("tags"));
  });

  test("is immediate expiry for a timestamp in the past", async () => {
    const { record, client } = await newKey();
    await update(record, { expires_at: "2001-01-01T00:00:00Z" });
    await expectRefusal(client.get("tags"), 401, "auth_key_expired");
  });

  test("applies even to an expired key: an edited GET response is accepted", async () => {
    const { record, client } = await newKey({ expires_at: new Date(clock.now() + 60_000).toISOString() });
    clock.advance(120_000);
    await expectRefusal(client.get("tags"), 401, "auth_key_expired");
    const renamed = await expectSuccess(put(record, { ...record, name: "renamed" }));
    expect(renamed).toMatchObject({ name: "renamed", expires_at: record.expires_at });
    expect((await update(record, { expires_at: null })).expires_at).toBeNull();
    await expectSuccess(client.get("tags"));
  });
});
