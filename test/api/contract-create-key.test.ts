// Contract of POST /api/v1/auth/keys (handbook: security, "API keys"): the answer, the key itself, defaults, owner and
// permissions.

import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { Client } from "../support/appliance/client.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { apiKeyShape, issuePaths, object, problems, refused, succeeded, text } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const PATH = "/api/v1/auth/keys";
const REQUIRED = ["name", "organization_id", "tags", "user_id"];

const appliance = applianceForAll();
const { anonymous, clock, first, handle, owner, signedIn } = appliance;
const { keyBody, newApiKey, newHost, newNetwork, newOrganization } = appliance;
const { newTag, newUser, writingWatched, newMember, newViewer } = appliance;
let other: { organizationId: string; networkId: string; userId: string };

beforeAll(async () => {
  other = await newOrganization("Other");
});

async function create(fields: Wire = {}, by = owner): Promise<{ api_key: Wire; key: string }> {
  const data = await succeeded(by.post(PATH, { ...keyBody(), ...fields }));
  expect(problems(data, object({ api_key: apiKeyShape, key: text }))).toEqual([]);
  return data;
}

/** Client authenticated by the key. */
function holder(key: string): Client {
  return new Client(handle, { authorization: `Bearer ${key}` });
}

async function refusedWhole(fields: Wire, status: number, code: string, by = owner) {
  const expectNothingWritten = writingWatched();
  const answer = await refused(by.post(PATH, { ...keyBody(), ...fields }), status, code);
  expectNothingWritten();
  return answer;
}

describe("the answer", () => {
  test("is the record of table 2.10 with the key, nothing else", async () => {
    const tag = await newTag();
    const fields = {
      name: "n",
      tags: [tag.id],
      expires_at: "2030-01-02T03:04:05.6+02:00",
      is_enabled: false,
      network_ids: [first.networkId],
      allowed_sources: ["10.0.0.0/8", "2001:db8::/32"],
      permissions: "Admin",
    };
    const { api_key } = await create(fields);
    expect(api_key).toMatchObject({
      ...fields,
      expires_at: "2030-01-02T01:04:05.600Z",
      all_networks: false,
      organization_id: first.organizationId,
      user_id: first.userId,
      last_used: null,
      valid_to: null,
      lineage_id: null,
    });
    expect(api_key.created_at).toBe(api_key.updated_at);
  });

  test("defaults to enabled, Viewer, never expiring, all networks of the user", async () => {
    const { api_key } = await create();
    expect(api_key).toMatchObject({
      is_enabled: true,
      permissions: "Viewer",
      expires_at: null,
      all_networks: true,
      allowed_sources: null,
      network_ids: [first.networkId],
      last_used: null,
    });
  });

  test("has a key of nlk_ and 43 base62 characters, which the mask identifies but does not reveal", async () => {
    const { api_key, key } = await create();
    expect(key).toMatch(/^nlk_[0-9A-Za-z]{43}$/);
    expect(api_key.key).toEndWith("…");
    const shown = api_key.key.slice(0, -1);
    expect(shown).toMatch(/^nlk_[0-9A-Za-z]{4}$/);
    expect(key).toStartWith(shown);
    const another = await create();
    expect(another.key).not.toBe(key);
    expect((await holder(api_key.key.replace("…", "")).get("tags")).status).toBe(401);
    expect((await holder(encodeURIComponent(api_key.key)).get("tags")).status).toBe(401);
  });

  test("contains the key this once: no other answer, log line or store file has it", async () => {
    const { api_key, key } = await create();
    await succeeded(holder(key).get("tags"));
    for (const path of [`${PATH}/${api_key.id}`, PATH, `${PATH}?limit=0`, `${PATH}?at=${api_key.valid_from}`])
      expect((await owner.get(path)).text).not.toContain(key);
    expect(appliance.logLines.join("\n")).not.toContain(key);
    for (const suffix of ["", "-wal"]) {
      const file = appliance.databasePath + suffix;
      if (existsSync(file)) expect(readFileSync(file).includes(key)).toBe(false);
    }
  });

  test("equals a later GET", async () => {
    const { api_key } = await create();
    expect(await succeeded(owner.get(`${PATH}/${api_key.id}`))).toEqual(api_key);
  });
});

describe("the body", () => {
  test("requires name, organization_id, tags and user_id, each reported by name and all at once", async () => {
    for (const field of REQUIRED) {
      const { [field]: _, ...rest } = keyBody();
      expect(await issuePaths(owner.post(PATH, rest))).toEqual([`/${field}`]);
    }
    expect(await issuePaths(owner.post(PATH, {}))).toEqual(REQUIRED.map((field) => `/${field}`));
  });

  test("accepts null for expires_at only", async () => {
    expect((await create({ expires_at: null })).api_key.expires_at).toBeNull();
    for (const field of [...REQUIRED, "is_enabled", "network_ids", "permissions"])
      expect(await issuePaths(owner.post(PATH, { ...keyBody(), [field]: null }))).toEqual([`/${field}`]);
  });

  test("is not coerced, and every invalid value is reported", async () => {
    const wrong: Array<[string, unknown]> = [
      ["name", ""],
      ["name", 5],
      ["name", "n".repeat(256)],
      ["tags", "x"],
      ["user_id", "x"],
      ["organization_id", 5],
      ["expires_at", "tomorrow"],
      ["expires_at", "2030-01-01"],
      ["expires_at", 1_900_000_000],
      ["is_enabled", "true"],
      ["is_enabled", 1],
      ["network_ids", UNKNOWN],
      ["permissions", "viewer"],
      ["permissions", "Root"],
      ["permissions", 5],
      ["all_networks", "yes"],
      ["allowed_sources", []],
    ];
    for (const [field, value] of wrong)
      expect([field, value, await issuePaths(owner.post(PATH, { ...keyBody(), [field]: value }))]).toEqual([
        field,
        value,
        [`/${field}`],
      ]);
    expect(await issuePaths(owner.post(PATH, { ...keyBody(), permission: "Owner", network_ids: ["x"] }))).toEqual([
      "/network_ids/0",
      "/permission",
    ]);
  });

  test("accepts tags of the organization, and removes duplicates", async () => {
    const tag = await newTag();
    expect((await create({ tags: [tag.id, tag.id] })).api_key.tags).toEqual([tag.id]);
    const foreign = await newTag({}, await signedIn(other.userId));
    for (const id of [UNKNOWN, foreign.id]) await refusedWhole({ tags: [id] }, 400, "entity_reference_invalid");
  });

  test("accepts networks in reach", async () => {
    for (const id of [UNKNOWN, other.networkId]) {
      const { body } = await refusedWhole({ network_ids: [id] }, 400, "entity_reference_invalid");
      expect(body.params.ids).toEqual([id]);
    }
    expect((await create({ network_ids: [] })).api_key).toMatchObject({ network_ids: [], all_networks: false });
    expect(
      (await create({ network_ids: [first.networkId, first.networkId.toUpperCase()] })).api_key.network_ids,
    ).toEqual([first.networkId]);
  });

  test("may contain its own id, once", async () => {
    const id = "11111111-2222-1333-8444-555555555555";
    expect((await create({ id })).api_key.id).toBe(id);
    await refusedWhole({ id }, 409, "entity_already_exists");
  });
});

describe("the user of the key", () => {
  test("may be the caller, in the caller's organization", async () => {
    for (const organization_id of [other.organizationId, UNKNOWN])
      await refusedWhole({ organization_id }, 403, "entity_access_denied");
    await refusedWhole({ user_id: other.userId }, 403, "entity_access_denied");
    const member = await newMember();
    expect((await create({ user_id: member.id }, member.client)).api_key.user_id).toBe(member.id);
    await refusedWhole({}, 403, "entity_access_denied", member.client);
  });

  test("may be another user for Owner and Admin, if that role is not above their own", async () => {
    const member = await newMember();
    const admin = await newUser({ role: "Admin" });
    expect((await create({ user_id: member.id })).api_key.user_id).toBe(member.id);
    expect((await create({ user_id: admin.id })).api_key.user_id).toBe(admin.id);
    expect((await create({ user_id: member.id }, admin.client)).api_key.user_id).toBe(member.id);
    await refusedWhole({}, 403, "entity_access_denied", admin.client);
  });

  test("cannot be a Viewer acting for themselves", async () => {
    const viewer = await newViewer();
    await refusedWhole({ user_id: viewer.id }, 403, "auth_permission_denied", viewer.client);
  });
});

describe("session only", () => {
  test("an API key is 403, whatever its rights and whatever the body", async () => {
    const { client } = newApiKey({ permissions: "Owner" });
    for (const body of [keyBody(), {}, "{"]) await refused(client.post(PATH, body), 403, "auth_session_required");
  });

  test("an anonymous caller is 401, whatever the body", async () => {
    for (const body of [keyBody(), {}, "{"]) await refused(anonymous.post(PATH, body), 401, "auth_not_authenticated");
  });

  test("a session used from a foreign page is 403", async () => {
    const expectNothingWritten = writingWatched();
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ] as Array<Record<string, string>>) {
      await refused(owner.post(PATH, keyBody(), headers), 403, "auth_origin_rejected");
    }
    expectNothingWritten();
    await succeeded(
      owner.post(PATH, keyBody(), { host: "localhost", origin: "http://localhost", "sec-fetch-site": "same-origin" }),
    );
  });
});

describe("the key in use", () => {
  test("authenticates, but not with one character changed", async () => {
    const { key } = await create();
    await succeeded(holder(key).get("tags"));
    for (const wrong of [
      `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`,
      key.slice(0, -1),
      `${key}a`,
      key.toLowerCase(),
      key.replace("nlk_", ""),
    ]) {
      const answer = await holder(wrong).get("tags");
      expect(answer.status).toBe(401);
      expect(answer.body.code).toBeOneOf(["auth_not_authenticated", "auth_invalid_credentials"]);
      expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
    }
  });

  test("has the lower of its own role and its user's", async () => {
    const viewer = await newViewer();
    const grand = await create({ user_id: viewer.id, permissions: "Owner" });
    await refused(holder(grand.key).post("tags", { name: "no", color: "Red" }), 403, "auth_permission_denied");
    const small = await create({ permissions: "Viewer" });
    await refused(holder(small.key).post("tags", { name: "no", color: "Red" }), 403, "auth_permission_denied");
    const fitting = await create({ permissions: "Admin" });
    await succeeded(holder(fitting.key).post("tags", { name: "yes", color: "Red" }));
  });

  test("reaches the named networks that its user may reach, and no others", async () => {
    const second = await newNetwork();
    const hosts = [await newHost(), await newHost({ network_id: second.id })].map((host) => host.id);
    const seen = async (key: string) =>
      (await succeeded(holder(key).get(`hosts?ids=${hosts.join(",")}`))).map((host: Wire) => hosts.indexOf(host.id));
    expect(await seen((await create()).key)).toEqual([0, 1]);
    expect(await seen((await create({ network_ids: [second.id] })).key)).toEqual([1]);
    expect(await seen((await create({ network_ids: [] })).key)).toEqual([]);
    const member = await newMember();
    const theirs = await create({ user_id: member.id });
    expect(theirs.api_key.network_ids).toEqual([first.networkId]);
    expect(await seen(theirs.key)).toEqual([0]);
    const one = holder((await create({ network_ids: [second.id] })).key);
    await refused(one.get(`hosts/${hosts[0]}`), 404, "entity_not_found");
  });

  test("follows its user to later networks if it names none", async () => {
    const { api_key, key } = await create({ permissions: "Admin" });
    const later = await newNetwork();
    const shown = await succeeded(owner.get(`${PATH}/${api_key.id}`));
    expect(shown.network_ids).toContain(later.id);
    expect(shown.updated_at).toBe(api_key.updated_at);
    await succeeded(holder(key).get(`networks/${later.id}`));
  });

  test("is refused while disabled, and from its expiry on", async () => {
    await refused(holder((await create({ is_enabled: false })).key).get("tags"), 401, "auth_key_disabled");
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    const { key } = await create({ expires_at });
    await succeeded(holder(key).get("tags"));
    clock.advance(60_000);
    const answer = await refused(holder(key).get("tags"), 401, "auth_key_expired");
    expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
  });

  test("is deleted with its user", async () => {
    const member = await newMember();
    const { key } = await create({ user_id: member.id });
    await succeeded(holder(key).get("tags"));
    const user = await succeeded(owner.get(`users/${member.id}`));
    await succeeded(owner.put(`users/${member.id}`, { ...user, is_enabled: false }));
    expect((await holder(key).get("tags")).status).toBe(401);
    expect((await member.client.get("tags")).status).toBe(401);
  });

  test("is never rescued by a cookie", async () => {
    const answer = await owner.get("tags", { authorization: "Bearer nlk_wrong" });
    expect(answer.status).toBe(401);
  });

  test("records its use at most once a minute, without a version", async () => {
    const { api_key, key } = await create();
    const path = `${PATH}/${api_key.id}`;
    clock.advance(5_000);
    const used = clock.text();
    await succeeded(holder(key).get("tags"));
    const expectNothingWritten = writingWatched();
    const first = await succeeded(owner.get(path));
    expect(first).toEqual({ ...api_key, last_used: used });
    clock.advance(30_000);
    await succeeded(holder(key).get("tags"));
    expect((await succeeded(owner.get(path))).last_used).toBe(used);
    clock.advance(31_000);
    await succeeded(holder(key).get("tags"));
    expect((await succeeded(owner.get(path))).last_used).toBe(clock.text());
    expectNothingWritten();
  });
});
