// Idempotency-Key on writes: replayed responses, reused keys, and credentials mistaken for keys.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { generateSessionToken } from "../../src/access/session-token.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import { expectOk, invalid, refusal, tcp } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, keyBody, newApiKey, newHost, newSubnet, newTag, owner, tick, watchWrites } = appliance;
const DAY_MS = 86_400_000;
const body = { name: "core", color: "Green" };
const withKey = (key: string) => ({ "idempotency-key": key });
/** Transaction sequence of a response; null for none. */
const sequenceIn = ({ headers }: ApiResponse) => JSON.parse(headers.get("x-transaction-sequence") ?? "null");

describe("a PUT or DELETE with an Idempotency-Key", () => {
  test("returns the original response when repeated, regardless of writes in between", async () => {
    const tag = await newTag(body);
    tick();
    const first = await owner.put(`tags/${tag.id}`, { ...body, name: "renamed" }, withKey("k1"));
    expect(first).toMatchObject({ status: 200, data: { name: "renamed" } });
    tick();
    await expectOk(owner.put(`tags/${tag.id}`, { ...body, name: "renamed again" }));
    const expectNothingWritten = watchWrites();
    // Returns the original response: a repeated save must not undo another one in between.
    const second = await owner.put(`tags/${tag.id}`, { ...body, name: "renamed" }, withKey("k1"));
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(sequenceIn(first)).toBeNumber();
    expect(sequenceIn(second)).toBe(sequenceIn(first));
    expect(await owner.put(`tags/${tag.id}`, { ...body, name: "other" }, withKey("k1"))).toMatchObject(
      refusal(422, "idempotency_key_reused", { key: "k1" }),
    );
    expectNothingWritten();
    expect((await owner.get(`tags/${tag.id}`)).data.name).toBe("renamed again");
  });

  test("returns the original response even with If-Match and if the version has changed since", async () => {
    const tag = await newTag(body);
    tick();
    const etag = (await owner.get(`tags/${tag.id}`)).headers.get("etag") as string;
    const sent = { ...withKey("k1"), "if-match": etag };
    const first = await owner.put(`tags/${tag.id}`, { ...body, name: "renamed" }, sent);
    expect(first.status).toBe(200);
    expect(await owner.put(`tags/${tag.id}`, { ...body, name: "renamed" }, sent)).toMatchObject({ text: first.text });
  });

  test("deletes once, and repeats its response", async () => {
    const tag = await newTag(body);
    tick();
    const first = await owner.delete(`tags/${tag.id}`, withKey("k1"));
    expect(first).toMatchObject({ status: 200, data: { id: tag.id } });
    tick();
    const expectNothingWritten = watchWrites();
    const second = await owner.delete(`tags/${tag.id}`, withKey("k1"));
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(sequenceIn(second)).toBe(sequenceIn(first));
    expect((await owner.delete(`tags/${tag.id}`)).status).toBe(404);
    expect(await owner.delete(`tags/${tag.id}?cascade=true`, withKey("k1"))).toMatchObject(
      refusal(422, "idempotency_key_reused", { key: "k1" }),
    );
    expectNothingWritten();
    expect(await owner.delete(`tags/${tag.id}`, withKey("no\u00e9"))).toMatchObject({ status: 400 });
  });
});

describe("the transaction reported by a write", () => {
  test("contains exactly that change, and is absent if nothing changed, in a dry run and on refusal", async () => {
    const tag = await newTag(body);
    tick();
    const renamed = await owner.put(`tags/${tag.id}`, { ...body, name: "renamed" });
    const [last] = (await owner.get(`tags/${tag.id}/history?limit=1`)).data;
    expect(last).toMatchObject({ changed_fields: ["name"], transaction: { sequence: sequenceIn(renamed) } });
    const repeated = await owner.put(`tags/${tag.id}`, { ...body, name: "renamed" });
    const dryRun = await owner.post("tags/bulk-update", { ids: [tag.id], set: { color: "Red" }, dry_run: true });
    const refused = await owner.put(`tags/${tag.id}`, { ...body, name: "" });
    const read = await owner.get(`tags/${tag.id}`);
    expect([repeated, dryRun, refused, read].map((response) => [response.status, sequenceIn(response)])).toEqual([
      [200, null],
      [200, null],
      [400, null],
      [200, null],
    ]);
  });
});

describe("credentials in an Idempotency-Key", () => {
  test.each([
    ["an API key", () => newApiKey().key],
    ["most of an API key", () => newApiKey().key.slice(0, 20)],
    ["an API key inside other text", () => `import:${newApiKey().key}`],
    ["an encoded API key", () => newApiKey().key.replace("_", "%5F")],
    ["a session token", () => generateSessionToken(appliance.random)],
    [
      "an encoded token",
      () => generateSessionToken(appliance.random).replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`),
    ],
    ["a session cookie", () => `session_id=${generateSessionToken(appliance.random)};`],
  ])("are refused with 400 and not echoed: %s", async (_case, text) => {
    const sent = text();
    const tag = await newTag(body);
    const expectNothingWritten = watchWrites();
    const responses = [
      await owner.post("tags", { ...body, name: "edge" }, withKey(sent)),
      await owner.put(`tags/${tag.id}`, { ...body, name: "renamed" }, withKey(sent)),
      await owner.delete(`tags/${tag.id}`, withKey(sent)),
    ];
    for (const response of responses) {
      expect(response).toMatchObject(invalid({ path: "/Idempotency-Key" }));
      expect(response.text).not.toContain(sent);
    }
    expectNothingWritten();
  });

  test.each([
    "550e8400-e29b-41d4-a716-446655440000-000000",
    "a1B2".repeat(10),
    "a1B2".repeat(11),
    "nlk_Ab3d",
    "x".repeat(42).concat("A").toLowerCase(),
    "0123456789abcdef".repeat(4),
  ])("are not detected in %s", async (sent) => {
    expect((await owner.post("tags", { ...body, name: sent }, withKey(sent))).status).toBe(200);
  });

  test("are never stored, nor is any other part of the key", async () => {
    await expectOk(owner.post("tags", body, withKey("my-own-word-for-it")));
    const rows = appliance.reader.statement("SELECT key FROM idempotency_keys").values();
    expect(rows).toEqual([[expect.stringMatching(/^[0-9a-f]{64}$/)]]);
    const files = [appliance.databasePath, `${appliance.databasePath}-wal`].filter((path) => existsSync(path));
    for (const path of files) expect(readFileSync(path).includes("my-own-word")).toBe(false);
  });
});

describe("a POST with an Idempotency-Key", () => {
  test("does nothing when repeated and returns the original response, marked as such", async () => {
    const first = await owner.post("tags", body, withKey("k1"));
    expect(first).toMatchObject({ status: 200, data: { name: "core" } });
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    const expectNothingWritten = watchWrites();
    clock.advance(DAY_MS - 1);
    const second = await owner.post("tags", body, withKey("k1"));
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expectNothingWritten();
  });

  test("returns the original response even if the record was changed or deleted since", async () => {
    const first = await owner.post("tags", body, withKey("k1"));
    tick();
    await owner.put(`tags/${first.data.id}`, { ...body, name: "renamed" });
    const changed = await owner.post("tags", body, withKey("k1"));
    expect(changed.data).toMatchObject({ id: first.data.id, name: "core" });
    tick();
    await owner.delete(`tags/${first.data.id}`);
    expect((await owner.post("tags", body, withKey("k1"))).data).toMatchObject({ id: first.data.id, name: "core" });
  });

  test.each<[string, () => Promise<{ sent: unknown; first: string; other: string; otherwise?: unknown }>]>([
    [
      "body",
      async () => ({ sent: body, first: "/api/v1/tags", other: "/api/v1/tags", otherwise: { ...body, name: "edge" } }),
    ],
    [
      "path",
      async () => ({
        sent: { entity_type: "host", entity_ids: [(await newHost()).id], tag_id: (await newTag()).id },
        first: "/api/v1/tags/assign/bulk-add",
        other: "/api/v1/tags/assign/bulk-remove",
      }),
    ],
    [
      "query",
      async () => ({
        sent: [(await newSubnet()).id],
        first: "/api/v1/subnets/bulk-delete",
        other: "/api/v1/subnets/bulk-delete?cascade=true",
      }),
    ],
  ])("is refused with 422 and does nothing when repeated with a different %s", async (_case, attempt) => {
    const { sent, first, other, otherwise = sent } = await attempt();
    await expectOk(owner.post(first, sent, withKey("k1")));
    const expectNothingWritten = watchWrites();
    expect(await owner.post(other, otherwise, withKey("k1"))).toMatchObject(
      refusal(422, "idempotency_key_reused", { key: "k1" }),
    );
    expectNothingWritten();
    expect((await owner.post(first, sent, withKey("k1"))).headers.get("idempotency-replayed")).toBe("true");
  });

  test("is forgotten after 24 hours", async () => {
    await owner.post("tags", body, withKey("k1"));
    clock.advance(DAY_MS);
    const later = await owner.post("tags", { ...body, name: "edge" }, withKey("k1"));
    expect(later).toMatchObject({ status: 200, data: { name: "edge" } });
    expect(later.headers.get("idempotency-replayed")).toBeNull();
  });

  test("belongs to its caller: another user's or key's identical key is independent", async () => {
    await owner.post("tags", body, withKey("k1"));
    const { client } = newApiKey();
    const otherResponse = await client.post("tags", { ...body, name: "edge" }, withKey("k1"));
    expect(otherResponse).toMatchObject({ status: 200, data: { name: "edge" } });
    expect(otherResponse.headers.get("idempotency-replayed")).toBeNull();
  });

  test("is not stored after a refusal, so that a repetition can succeed", async () => {
    const tag = await newTag({ name: "core" });
    expect(await owner.post("tags", body, withKey("k1"))).toMatchObject({ status: 409 });
    await owner.delete(`tags/${tag.id}`);
    expect(await owner.post("tags", body, withKey("k1"))).toMatchObject({ status: 200 });
  });

  test("returns a new API key's secret again without storing it in the clear", async () => {
    const sent = keyBody();
    const first = await owner.post("auth/keys", sent, withKey("k1"));
    const repeated = await owner.post("auth/keys", sent, withKey("k1"));
    expect(repeated).toMatchObject({ status: 200, text: first.text });
    expect(repeated.headers.get("cache-control")).toBe("no-store");
    expect(await anonymous.with({ authorization: `Bearer ${repeated.data.key}` }).get("tags")).toMatchObject({
      status: 200,
    });
    for (const suffix of ["", "-wal"])
      expect(Buffer.from(await Bun.file(appliance.databasePath + suffix).bytes()).includes(first.data.key)).toBe(false);
  });

  test("stores no copies of records in the ledger", async () => {
    const description = "told once ".repeat(300);
    const host = {
      name: "core",
      description,
      network_id: first.networkId,
      ports: Array.from({ length: 200 }, (_, n) => tcp(n + 1)),
    };
    const created = await owner.post("hosts", host, withKey("k1"));
    const removed = await owner.post("hosts/bulk-delete", [created.data.id], withKey("k2"));
    const sizes = appliance.reader.db.query("SELECT length(sealed) FROM idempotency_keys").values().flat() as number[];
    expect(sizes).toHaveLength(2);
    // The fingerprint, an id, and the seal.
    expect(Math.max(...sizes)).toBeLessThan(250);
    expect((await owner.post("hosts", host, withKey("k1"))).text).toBe(created.text);
    expect((await owner.post("hosts/bulk-delete", [created.data.id], withKey("k2"))).text).toBe(removed.text);
  });

  test("returns the record as of the first request if that changed nothing, despite later changes", async () => {
    await newSubnet({ cidr: "10.2.0.0/24" });
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.0.1" }] });
    const { id } = host.ip_addresses[0];
    tick();
    const expectNothingWritten = watchWrites();
    const confirm = () => owner.post(`ip-addresses/${id}/confirm`, undefined, withKey("k1"));
    const first = await confirm();
    expect(first).toMatchObject({ status: 200, data: { ip_address: "10.2.0.1", credential_ids: [] } });
    expectNothingWritten();
    tick();
    await expectOk(owner.put(`ip-addresses/${id}`, { host_id: host.id, ip_address: "10.2.0.66" }));
    const changed = await confirm();
    expect([changed.text, changed.headers.get("etag"), changed.headers.get("idempotency-replayed")]).toEqual([
      first.text,
      first.headers.get("etag"),
      "true",
    ]);
    await expectOk(owner.delete(`ip-addresses/${id}?cascade=true`));
    expect((await confirm()).text).toBe(first.text);
  });

  test("deletes in bulk only once", async () => {
    const subnet = await newSubnet({ cidr: "10.9.0.0/16" });
    const first = await owner.post("subnets/bulk-delete", [subnet.id], withKey("k1"));
    expect(first).toMatchObject({ status: 200, data: [{ id: subnet.id }] });
    expect(await owner.post("subnets/bulk-delete", [subnet.id], withKey("k1"))).toMatchObject({
      status: 200,
      text: first.text,
    });
    expect(await owner.post("subnets/bulk-delete", [subnet.id])).toMatchObject({ status: 400 });
  });

  test("does not outlive the caller's permissions", async () => {
    const { id, client } = newApiKey();
    await client.post("tags", body, withKey("k1"));
    await owner.put(`auth/keys/${id}`, { ...keyBody(), permissions: "Viewer" });
    expect(await client.post("tags", body, withKey("k1"))).toMatchObject({ status: 403 });
  });

  test.each([[""], ["a b"], ["ä"], ["x".repeat(256)]])("is refused by name if the key is %p", async (key) => {
    expect(await owner.post("tags", body, withKey(key))).toMatchObject(invalid({ path: "/Idempotency-Key" }));
  });

  test("is documented on every authenticated write", async () => {
    const document = JSON.parse((await anonymous.get("/api/openapi.json")).text);
    for (const [path, methods] of Object.entries(document.paths) as Array<
      [string, Record<string, { parameters: Array<{ $ref?: string }>; security: unknown[] }>]
    >) {
      for (const [method, operation] of Object.entries(methods)) {
        const isDocumented = operation.parameters.some((parameter) => parameter.$ref?.endsWith("/IdempotencyKey"));
        expect(isDocumented, `${method} ${path}`).toBe(
          // A download does not write: its confirmation password must not be in a URL.
          method !== "get" &&
            operation.security.length > 0 &&
            !path.startsWith("/api/auth/") &&
            !path.endsWith("/download") &&
            // Nor does a trial: it reports the device's current responses.
            path !== "/api/v1/credentials/{id}/try",
        );
      }
    }
  });
});
