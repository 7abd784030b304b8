// Allowed source addresses of API keys (handbook: security, "API keys"): validation on write, and rejection of other
// sources.

import { beforeEach, describe, expect, test } from "bun:test";
import { AuthorPermissions } from "../../src/access/current-permissions.ts";
import { type Cidr, parseCidr } from "../../src/base/ip.ts";
import {
  NEXT_ROUND_WAIT_MS,
  ROUND_ALWAYS_ADMITTED,
  ROUND_ALWAYS_ADMITTED_OF_CALLER,
  ROUND_WAIT_MS,
} from "../../src/http/admission.ts";
import { ALLOWED_SOURCES_MAX } from "../../src/resources/api-keys/api-key.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";

/** Header that sets the peer address in these tests. */
const PEER = "x-test-peer";
const PROXY = "192.0.2.80";
const BLOCKS = ["10.0.30.0/24", "2001:db8:30::/48"];

const appliance = applianceForEach({
  monotonicMs: () => now,
  peerOf: (request) => request.headers.get(PEER) ?? "local",
  trustedProxies: [parseCidr(`${PROXY}/32`) as Cidr],
});
const { anonymous, first, handle, holdWrites, keyBody, newApiKey, newHost, newTag, owner, tick } = appliance;
let now = 0;

beforeEach(async () => {
  await new Promise<void>((resolve) => setImmediate(resolve));
  now += NEXT_ROUND_WAIT_MS + 1;
});

const PATH = "/api/v1/auth/keys";
const from = (peer: string, rest: Record<string, string> = {}) => ({ [PEER]: peer, ...rest });
const newKey = async (fields: JsonRecord = {}): Promise<{ record: JsonRecord; key: string }> => {
  const { api_key: record, key } = await expectOk(owner.post(PATH, { ...keyBody(), ...fields }));
  return { record, key };
};
const put = (record: JsonRecord, changes: JsonRecord): Promise<ApiResponse> =>
  owner.put(`${PATH}/${record.id}`, { ...record, ...changes });
const requestStatus = async (key: string, peer: string, rest: Record<string, string> = {}): Promise<number> =>
  (await anonymous.get("tags", { authorization: `Bearer ${key}`, ...from(peer, rest) })).status;

describe("the allowed sources of a key", () => {
  test("default to null and then allow every address", async () => {
    expect((await newKey()).record.allowed_sources).toBeNull();
    expect((await newKey({ allowed_sources: null })).record.allowed_sources).toBeNull();
  });

  test("are stored canonically, each block once, ordered by address", async () => {
    const { record } = await newKey({
      allowed_sources: ["2001:DB8:0:0::/32", "192.0.2.7/32", "10.0.0.0/8", "2001:db8::/32", "10.0.0.0/16", "0.0.0.0/0"],
    });
    const canonical = ["0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/16", "192.0.2.7/32", "2001:db8::/32"];
    expect(record.allowed_sources).toEqual(canonical);
    expect(await expectOk(owner.get(`${PATH}/${record.id}`))).toEqual(record);
    expect(((await expectOk(owner.get(PATH))) as unknown as JsonRecord[]).find(({ id }) => id === record.id)).toEqual(
      record,
    );
    const rows = csvRecords((await owner.get(`${PATH}/export/csv`)).text);
    expect(rows.find(({ id }) => id === record.id)?.allowed_sources).toBe(canonical.join(";"));
  });

  test("are unchanged by reordering, preserved when omitted, and cleared by null", async () => {
    const { record } = await newKey({ allowed_sources: BLOCKS });
    const { allowed_sources, ...rest } = record;
    expect(await expectOk(put(record, { allowed_sources: [...BLOCKS].reverse() }))).toEqual(record);
    expect(await expectOk(owner.put(`${PATH}/${record.id}`, rest))).toEqual(record);
    expect((await expectOk(owner.put(`${PATH}/${record.id}`, { ...rest, name: "renamed" }))).allowed_sources).toEqual(
      BLOCKS,
    );
    expect((await expectOk(put(record, { allowed_sources: null }))).allowed_sources).toBeNull();
    expect(allowed_sources).toEqual(BLOCKS);
  });

  test.each<[string, unknown, string[]]>([
    ["an empty list", [], ["/allowed_sources"]],
    ["a string", "10.0.0.0/8", ["/allowed_sources"]],
    ["an object", {}, ["/allowed_sources"]],
    ["an address", ["10.0.0.1"], ["/allowed_sources/0"]],
    ["host bits", ["10.0.0.0/8", "10.0.0.1/8"], ["/allowed_sources/1"]],
    [
      "invalid prefix lengths",
      ["10.0.0.0/33", "::/129", "10.0.0.0/"],
      [0, 1, 2].map((index) => `/allowed_sources/${index}`),
    ],
    [
      "IPv4-mapped IPv6",
      ["::/0", "::ffff:10.0.0.0/104", "::ffff:0:0/96"],
      ["/allowed_sources/1", "/allowed_sources/2"],
    ],
    ["a zone", ["fe80::%eth0/64"], ["/allowed_sources/0"]],
    ["a name", ["localhost"], ["/allowed_sources/0"]],
    ["a number", [5], ["/allowed_sources/0"]],
    ["null as an item", [null], ["/allowed_sources/0"]],
    [
      "more than the limit",
      Array.from({ length: ALLOWED_SOURCES_MAX + 1 }, (_, index) => `10.0.${index}.0/24`),
      ["/allowed_sources"],
    ],
  ])("reject %s by position, and write nothing", async (_case, allowed_sources, paths) => {
    const { record, key } = await newKey();
    for (const response of [
      await owner.post(PATH, { ...keyBody(), allowed_sources }),
      await put(record, { allowed_sources }),
    ]) {
      expect([response.status, response.body.code]).toEqual([400, "validation_failed"]);
      expect(response.body.params.issues.map((issue: JsonRecord) => issue.path)).toEqual(paths);
    }
    expect(await expectOk(owner.get(`${PATH}/${record.id}`))).toEqual(record);
    expect(await requestStatus(key, "203.0.113.1")).toBe(200);
  });

  test("accept a list of maximum length", async () => {
    const allowed_sources = Array.from({ length: ALLOWED_SOURCES_MAX }, (_, index) => `10.0.${index}.0/24`);
    const { record, key } = await newKey({ allowed_sources });
    expect(record.allowed_sources).toHaveLength(ALLOWED_SOURCES_MAX);
    expect([await requestStatus(key, "10.0.99.1"), await requestStatus(key, "10.0.100.1")]).toEqual([200, 401]);
  });

  test("appear in history and at past timestamps, and can be restored", async () => {
    const { record, key } = await newKey();
    tick();
    const narrowed = await expectOk(put(record, { allowed_sources: BLOCKS }));
    tick();
    const versions = (await owner.get(`${PATH}/${record.id}/history`)).data as JsonRecord[];
    expect(
      versions.map(({ operation, changed_fields, record: stored }) => [
        operation,
        changed_fields,
        stored.allowed_sources,
      ]),
    ).toEqual([
      ["Updated", ["allowed_sources"], BLOCKS],
      ["Created", [], null],
    ]);
    expect((await expectOk(owner.get(`${PATH}/${record.id}?at=${record.created_at}`))).allowed_sources).toBeNull();
    expect(await requestStatus(key, "203.0.113.1")).toBe(401);
    await expectOk(owner.post(`${PATH}/${record.id}/restore`, { at: record.created_at }));
    expect(await requestStatus(key, "203.0.113.1")).toBe(200);
    await expectOk(owner.post(`${PATH}/${record.id}/restore`, { at: narrowed.updated_at }));
    expect((await expectOk(owner.get(`${PATH}/${record.id}`))).allowed_sources).toEqual(BLOCKS);
    expect(await requestStatus(key, "203.0.113.1")).toBe(401);
  });

  test.each<[string, string[]]>([
    ["allowed_sources:*", ["narrow", "wide"]],
    ["NOT allowed_sources:*", ["any"]],
    ['allowed_sources = "10.0.0.0/8"', ["wide"]],
    ['allowed_sources : "10.0.30.7"', ["narrow", "wide"]],
    ['allowed_sources : "10.0.31.7"', ["wide"]],
    ['allowed_sources : "10.0.0.0/16"', ["narrow"]],
    ['changes(allowed_sources, "-1d") = 1', ["narrow"]],
    ['was("-1s", allowed_sources:*)', ["narrow", "wide"]],
  ])("can be filtered by filter=%s", async (filter, names) => {
    await newKey({ name: "any" });
    const { record } = await newKey({ name: "narrow" });
    await newKey({ name: "wide", allowed_sources: ["10.0.0.0/8"] });
    tick();
    await expectOk(put(record, { allowed_sources: BLOCKS }));
    appliance.clock.advance(2_000);
    const found = (await expectOk(
      owner.get(`${PATH}?filter=${encodeURIComponent(filter)}`),
    )) as unknown as JsonRecord[];
    expect(found.map(({ name }) => name).sort()).toEqual(names);
  });
});

describe("a key with allowed sources", () => {
  test.each([
    ["10.0.30.0", 200],
    ["10.0.30.255", 200],
    ["::ffff:10.0.30.7", 200],
    ["2001:db8:30::1", 200],
    ["2001:DB8:0030:ffff::1", 200],
    ["10.0.29.255", 401],
    ["10.0.31.0", 401],
    ["::ffff:10.0.31.0", 401],
    ["2001:db8:31::1", 401],
    ["::10.0.30.7", 401],
    ["127.0.0.1", 401],
    ["local", 401],
  ])("a request from %s gets status %p", async (peer, status) => {
    const { key } = await newKey({ allowed_sources: BLOCKS });
    expect(await requestStatus(key, peer)).toBe(status);
    // The caller's own claims are ignored.
    expect(await requestStatus(key, peer, { "x-forwarded-for": "10.0.30.7" })).toBe(status);
  });

  test("is accepted from an address reported by a trusted proxy", async () => {
    const { key } = await newKey({ allowed_sources: BLOCKS });
    const through = (forwardedFor: string) => requestStatus(key, PROXY, { "x-forwarded-for": forwardedFor });
    expect(await through("10.0.30.7")).toBe(200);
    expect(await through("198.51.100.1, 10.0.30.7")).toBe(200);
    expect(await through("10.0.30.7, 198.51.100.1")).toBe(401);
    expect(await through("10.0.30.7, unknown")).toBe(401);
    expect(await requestStatus(key, PROXY)).toBe(401);
  });

  test("accepts every IPv4 address and no IPv6 address if set to 0.0.0.0/0", async () => {
    const { key } = await newKey({ allowed_sources: ["0.0.0.0/0"] });
    expect([await requestStatus(key, "203.0.113.1"), await requestStatus(key, "::ffff:203.0.113.1")]).toEqual([
      200, 200,
    ]);
    expect(await requestStatus(key, "2001:db8::1")).toBe(401);
  });

  test("gets the same response as an unknown key when used from elsewhere, regardless of its state", async () => {
    const unknownKey = `${newApiKey().key.slice(0, 4)}${"0".repeat(43)}`;
    const visibleParts = ({ status, text, headers }: ApiResponse) => [
      status,
      text,
      headers.get("www-authenticate"),
      [...headers.keys()].sort(),
    ];
    const sendWith = (key: string, peer: string) =>
      anonymous.get("tags", { authorization: `Bearer ${key}`, "x-request-id": "same", ...from(peer) });
    const unknown = visibleParts(await sendWith(unknownKey, "203.0.113.1"));
    expect(unknown[0]).toBe(401);
    const options = { allowedSources: BLOCKS };
    for (const created of [
      newApiKey(options),
      newApiKey({ ...options, isEnabled: false }),
      newApiKey({ ...options, expiresAt: "2020-01-01T00:00:00.000Z" }),
    ])
      expect(visibleParts(await sendWith(created.key, "203.0.113.1"))).toEqual(unknown);
    // Requests from an allowed source get the actual reason.
    const { key } = newApiKey({ ...options, isEnabled: false });
    expect((await sendWith(key, "10.0.30.7")).body.code).toBe("auth_key_disabled");
  });

  test("is logged with its id, source and reason, but without the secret, when used from elsewhere", async () => {
    const { record, key } = await newKey({ allowed_sources: BLOCKS });
    for (const send of [
      () => requestStatus(key, "::ffff:203.0.113.1"),
      () => anonymous.post("tags", {}, { authorization: `Bearer ${key}`, ...from("203.0.113.1") }),
      () => requestStatus(key, PROXY, { "x-forwarded-for": "203.0.113.1" }),
    ]) {
      appliance.logLines.length = 0;
      await send();
      const [line, ...others] = appliance.logLines.filter((line) => line.includes(" request_refused "));
      expect(others).toEqual([]);
      expect(line).toContain("code=auth_not_authenticated");
      expect(line).toContain("source=203.0.113.1 ");
      expect(line).toContain(`actor_type=ApiKey actor_id=${record.id}`);
      expect(line).toContain("cause=source_not_allowed");
      expect(line).not.toContain(key);
    }
    appliance.logLines.length = 0;
    await requestStatus(`nlk_${"0".repeat(43)}`, "203.0.113.1");
    expect(appliance.logLines.join("\n")).not.toContain("cause=");
  });

  test("keeps its last_used when used from elsewhere", async () => {
    const { record, key } = await newKey({ allowed_sources: BLOCKS });
    await requestStatus(key, "203.0.113.1");
    expect((await expectOk(owner.get(`${PATH}/${record.id}`))).last_used).toBeNull();
    await requestStatus(key, "10.0.30.7");
    expect((await expectOk(owner.get(`${PATH}/${record.id}`))).last_used).not.toBeNull();
  });

  test("keeps the list when rotated", async () => {
    const { record, key } = await newKey({ allowed_sources: BLOCKS });
    const rotated = await expectOk(owner.post(`${PATH}/${record.id}/rotate`, {}));
    expect(rotated.api_key.allowed_sources).toEqual(BLOCKS);
    expect([await requestStatus(rotated.key, "10.0.30.7"), await requestStatus(rotated.key, "203.0.113.1")]).toEqual([
      200, 401,
    ]);
    expect(await requestStatus(key, "10.0.30.7")).toBe(401);
  });

  test("does not restrict sessions", async () => {
    await newKey({ allowed_sources: BLOCKS });
    expect((await owner.get("tags", from("203.0.113.1"))).status).toBe(200);
  });
});

describe("a change to allowed sources", () => {
  test("takes effect on the next request, in both directions", async () => {
    const { record, key } = await newKey();
    expect(await requestStatus(key, "203.0.113.1")).toBe(200);
    await expectOk(put(record, { allowed_sources: BLOCKS }));
    expect([await requestStatus(key, "203.0.113.1"), await requestStatus(key, "10.0.30.7")]).toEqual([401, 200]);
    await expectOk(put(record, { allowed_sources: ["203.0.113.0/24"] }));
    expect([await requestStatus(key, "203.0.113.1"), await requestStatus(key, "10.0.30.7")]).toEqual([200, 401]);
    await expectOk(put(record, { allowed_sources: null }));
    expect([await requestStatus(key, "203.0.113.1"), await requestStatus(key, "10.0.30.7")]).toEqual([200, 200]);
  });

  test("takes effect on a queued write, and the refused write changes nothing", async () => {
    const { record, key } = await newKey({ permissions: "Admin", allowed_sources: BLOCKS });
    const writeDuringChange = async (changes: JsonRecord): Promise<ApiResponse> => {
      const heldWrite = holdWrites(({ id }, command) => id === record.id && command === "tag.create");
      const pending = anonymous.post(
        "tags",
        { name: `late ${appliance.random.bytes(4).toHex()}`, color: "Red" },
        { authorization: `Bearer ${key}`, ...from("10.0.30.7") },
      );
      await heldWrite.arrived;
      await expectOk(put(record, changes));
      heldWrite.release();
      return pending;
    };
    appliance.logLines.length = 0;
    const refused = await writeDuringChange({ allowed_sources: ["10.0.31.0/24"] });
    expect([refused.status, refused.body.code]).toEqual([401, "auth_not_authenticated"]);
    expect(appliance.logLines.find((line) => line.includes("cause=source_not_allowed"))).toContain("source=10.0.30.7");
    expect((await owner.get("tags")).data).toEqual([]);
    await expectOk(put(record, { allowed_sources: BLOCKS }));
    expect((await writeDuringChange({ allowed_sources: ["10.0.30.0/25"] })).status).toBe(200);
  });

  test("takes effect on a long poll and on an event stream", async () => {
    const { record, key } = await newKey({ allowed_sources: BLOCKS });
    const head = appliance.reader.head().sequence;
    const headers = { authorization: `Bearer ${key}`, ...from("10.0.30.7") };
    const poll = anonymous.get(`changes?after=${head}&wait=60`, headers);
    const stream = await handle(
      new Request(`http://localhost/api/v1/changes?after=${head}`, {
        headers: { accept: "text/event-stream", ...headers },
      }),
    );
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    const read = async () => decoder.decode((await reader.read()).value);
    expect(await read()).toContain("retry");
    await expectOk(put(record, { allowed_sources: ["10.0.31.0/24"] }));
    await newTag();
    expect((await poll).status).toBe(401);
    let text = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += decoder.decode(next.value);
    expect(text).not.toContain('"tag"');
  });

  test("does not affect work the key has already started: a scan has no source address", async () => {
    const { record } = await newKey({ permissions: "Admin", allowed_sources: BLOCKS });
    const rights = new AuthorPermissions(appliance.reader.db);
    const requester = { type: "ApiKey", id: record.id, role: "Member", networkId: first.networkId } as const;
    expect(rights.mayRequest(requester, appliance.clock.now())).toBe(true);
  });
});

describe("a key used from elsewhere", () => {
  test("counts against its address, not its user, under concurrent requests", async () => {
    const { key } = await newKey({ allowed_sources: BLOCKS });
    await newHost();
    // Known to be valid, so it needs no lookup.
    expect(await requestStatus(key, "10.0.30.7")).toBe(200);
    await new Promise<void>((resolve) => setImmediate(resolve));
    now += NEXT_ROUND_WAIT_MS + 1;
    const request = (peer: string) =>
      new Request("http://localhost/api/v1/tags", { headers: { authorization: `Bearer ${key}`, ...from(peer) } });
    const flood = ROUND_ALWAYS_ADMITTED + ROUND_ALWAYS_ADMITTED_OF_CALLER;
    const otherRequest = () => new Request("http://localhost/api/v1/tags", { headers: from("198.51.100.1") });
    // Alternating, so that the key was valid just before.
    const alternating = await Promise.all(
      [
        ...Array.from({ length: ROUND_ALWAYS_ADMITTED }, otherRequest),
        ...Array.from({ length: 2 * ROUND_ALWAYS_ADMITTED_OF_CALLER }, (_, i) =>
          request(i % 2 === 0 ? "10.0.30.7" : "203.0.113.1"),
        ),
      ].map((sent) => {
        now += ROUND_WAIT_MS / 10;
        return handle(sent);
      }),
    );
    expect(alternating.slice(ROUND_ALWAYS_ADMITTED).map(({ status }) => status)).toEqual(
      Array.from({ length: ROUND_ALWAYS_ADMITTED_OF_CALLER }, () => [200, 401]).flat(),
    );
    await new Promise<void>((resolve) => setImmediate(resolve));
    now += NEXT_ROUND_WAIT_MS + 1;
    const responses = await Promise.all(
      [
        ...Array.from({ length: flood + 20 }, () => request("203.0.113.1")),
        ...Array.from({ length: ROUND_ALWAYS_ADMITTED_OF_CALLER + 1 }, () => request("10.0.30.7")),
      ].map((sent) => {
        now += ROUND_WAIT_MS / 10;
        return handle(sent);
      }),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.slice(0, flood)).toEqual(Array.from({ length: flood }, () => 401));
    expect(statuses.slice(flood, flood + 20)).toEqual(Array.from({ length: 20 }, () => 429));
    expect(statuses.slice(flood + 20)).toEqual([
      ...Array.from({ length: ROUND_ALWAYS_ADMITTED_OF_CALLER }, () => 200),
      429,
    ]);
  });
});
