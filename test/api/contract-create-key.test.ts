// Contract of POST /api/v1/auth/keys (handbook: security, "API keys"): the response, the body, and use of the key.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { Client } from "../support/appliance/client.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import {
  apiKeyShape,
  expectRefusal,
  expectSuccess,
  issuePaths,
  object,
  problems,
  text,
} from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const PATH = "/api/v1/auth/keys";
const REQUIRED = ["name", "organization_id", "tags", "user_id"];

const appliance = applianceForAll();
const { first, handle, owner, keyBody, newHost, newNetwork, newTag, newMember } = appliance;

async function create(fields: JsonRecord = {}): Promise<{ api_key: JsonRecord; key: string }> {
  const data = await expectSuccess(owner.post(PATH, { ...keyBody(), ...fields }));
  expect(problems(data, object({ api_key: apiKeyShape, key: text }))).toEqual([]);
  return data;
}

/** Client authenticated by the key. */
function clientFor(key: string): Client {
  return new Client(handle, { authorization: `Bearer ${key}` });
}

describe("the response", () => {
  test("is the record of table 2.10 with the key, and nothing else", async () => {
    const tag = await newTag();
    const fields = {
      name: "n",
      tags: [tag.id],
      expires_at: "2030-01-02T03:04:05.6789+02:00",
      is_enabled: false,
      network_ids: [first.networkId],
      allowed_sources: ["10.0.0.0/8", "2001:db8::/32"],
      permissions: "Admin",
    };
    const { api_key } = await create(fields);
    expect(api_key).toMatchObject({
      ...fields,
      expires_at: "2030-01-02T01:04:05.678Z",
      all_networks: false,
      organization_id: first.organizationId,
      user_id: first.userId,
      last_used: null,
      valid_to: null,
      lineage_id: null,
    });
    expect(api_key.created_at).toBe(api_key.updated_at);
  });

  test("has a key made of nlk_ and 43 base62 characters, which the mask identifies but does not reveal", async () => {
    const { api_key, key } = await create();
    expect(key).toMatch(/^nlk_[0-9A-Za-z]{43}$/);
    expect(api_key.key).toEndWith("…");
    const shown = api_key.key.slice(0, -1);
    expect(shown).toMatch(/^nlk_[0-9A-Za-z]{4}$/);
    expect(key).toStartWith(shown);
    const another = await create();
    expect(another.key).not.toBe(key);
    expect((await clientFor(api_key.key.replace("…", "")).get("tags")).status).toBe(401);
    expect((await clientFor(encodeURIComponent(api_key.key)).get("tags")).status).toBe(401);
  });

  test("is the only place with the key: no other response, log line or store file contains it", async () => {
    const { api_key, key } = await create();
    await expectSuccess(clientFor(key).get("tags"));
    for (const path of [`${PATH}/${api_key.id}`, PATH, `${PATH}?limit=0`, `${PATH}?at=${api_key.valid_from}`])
      expect((await owner.get(path)).text).not.toContain(key);
    expect(appliance.logLines.join("\n")).not.toContain(key);
    for (const suffix of ["", "-wal"]) {
      const file = appliance.databasePath + suffix;
      if (existsSync(file)) expect(readFileSync(file).includes(key)).toBe(false);
    }
  });
});

describe("the body", () => {
  test("requires name, organization_id, tags and user_id, and reports all missing ones at once by name", async () => {
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

  test("accepts an empty list of networks, and removes duplicates", async () => {
    expect((await create({ network_ids: [] })).api_key).toMatchObject({ network_ids: [], all_networks: false });
    expect(
      (await create({ network_ids: [first.networkId, first.networkId.toUpperCase()] })).api_key.network_ids,
    ).toEqual([first.networkId]);
  });
});

describe("the key in use", () => {
  test("authenticates, but not with one character changed", async () => {
    const { key } = await create();
    await expectSuccess(clientFor(key).get("tags"));
    for (const wrong of [
      `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`,
      key.slice(0, -1),
      `${key}a`,
      key.toLowerCase(),
      key.replace("nlk_", ""),
    ]) {
      const response = await clientFor(wrong).get("tags");
      expect(response.status).toBe(401);
      expect(response.body.code).toBeOneOf(["auth_not_authenticated", "auth_invalid_credentials"]);
      expect(response.headers.get("www-authenticate")).toStartWith("Bearer");
    }
  });

  test("can access only those of its listed networks that its user can access", async () => {
    const second = await newNetwork();
    const hosts = [await newHost(), await newHost({ network_id: second.id })].map((host) => host.id);
    const visibleHosts = async (key: string) =>
      (await expectSuccess(clientFor(key).get(`hosts?ids=${hosts.join(",")}`))).map((host: JsonRecord) =>
        hosts.indexOf(host.id),
      );
    expect(await visibleHosts((await create()).key)).toEqual([0, 1]);
    expect(await visibleHosts((await create({ network_ids: [second.id] })).key)).toEqual([1]);
    expect(await visibleHosts((await create({ network_ids: [] })).key)).toEqual([]);
    const member = await newMember();
    const memberKey = await create({ user_id: member.id });
    expect(memberKey.api_key.network_ids).toEqual([first.networkId]);
    expect(await visibleHosts(memberKey.key)).toEqual([0]);
    const limited = clientFor((await create({ network_ids: [second.id] })).key);
    await expectRefusal(limited.get(`hosts/${hosts[0]}`), 404, "entity_not_found");
  });
});
