// Client preferences of a user: /api/auth/preferences.

import { describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { PREFERENCES_LIMIT_BYTES } from "../../src/http/body.ts";
import { KINDS } from "../../src/records/resources.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, refusal } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { newApiKey, newUser, owner, signedIn, transactionCount } = appliance;
const PATH = "/api/auth/preferences";
const tagOf = ({ headers }: { headers: Headers }) => headers.get("etag") as string;

describe("preferences", () => {
  test("are an empty object at first, then the last written value, even in other sessions", async () => {
    const viewer = await newUser({ role: "Viewer" });
    expect((await viewer.client.get(PATH)).data).toEqual({});
    const expected = { theme: "dark", "hosts.columns": ["name", { width: 12.5 }], none: null, Ölberg: true };
    const put = await viewer.client.put(PATH, expected);
    expect([put.status, put.data, put.headers.get("cache-control")]).toEqual([200, expected, "no-store"]);
    expect((await (await signedIn(viewer.id)).get(PATH)).data).toEqual(expected);
    expect((await viewer.client.put(PATH, { theme: "light" })).data).toEqual({ theme: "light" });
    expect((await viewer.client.get(PATH)).data).toEqual({ theme: "light" });
  });

  test("belong to a user, even an Owner, and are unavailable to API keys", async () => {
    const viewer = await newUser({ role: "Viewer" });
    await viewer.client.put(PATH, { of: "viewer" });
    expect((await owner.get(PATH)).data).toEqual({});
    await owner.put(PATH, { of: "owner" });
    expect((await viewer.client.get(PATH)).data).toEqual({ of: "viewer" });
    const key = newApiKey();
    for (const response of [await key.client.get(PATH), await key.client.put(PATH, {})])
      expect(response).toMatchObject(refusal(403, "auth_session_required"));
  });

  test("have an ETag unique to each version, and If-Match protects concurrent writes", async () => {
    const none = tagOf(await owner.get(PATH));
    const first = tagOf(await owner.put(PATH, { a: 1 }, { "if-match": none }));
    expect(await owner.put(PATH, { a: 2 }, { "if-match": none })).toMatchObject(refusal(412, "precondition_failed"));
    expect((await owner.get(PATH)).data).toEqual({ a: 1 });
    const second = tagOf(await owner.put(PATH, { a: 2 }, { "if-match": first }));
    const again = tagOf(await owner.put(PATH, { a: 1 }, { "if-match": second }));
    expect(new Set([none, first, second, again]).size).toBe(4);
    expect(await owner.put(PATH, {}, { "if-match": first })).toMatchObject(refusal(412, "precondition_failed"));
    expect((await owner.get(PATH, { "if-none-match": again })).status).toBe(304);
    expect((await owner.get(PATH, { "if-none-match": first })).status).toBe(200);
    expect(await owner.put(PATH, {}, { "if-none-match": "*" })).toMatchObject(refusal(412, "precondition_failed"));
  });

  test("are written each time, even with a used Idempotency-Key", async () => {
    const key = { "idempotency-key": "k1" };
    const expected = [{ a: 1 }, { a: 2 }, { a: 2 }];
    for (const value of expected) {
      const put = await owner.put(PATH, value, key);
      expect([put.status, put.data, put.headers.get("idempotency-replayed")]).toEqual([200, value, null]);
    }
    expect((await owner.get(PATH)).data).toEqual({ a: 2 });
    expect(await owner.put(PATH, {}, { "idempotency-key": "a b" })).toMatchObject(
      invalid({ path: "/Idempotency-Key" }),
    );
  });

  test("are an object of at most 16 KiB, as sent and as stored", async () => {
    const bodyOfSize = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
    expect(PREFERENCES_LIMIT_BYTES).toBe(16_384);
    expect((await owner.put(PATH, bodyOfSize(16_384))).status).toBe(200);
    const stored = (await owner.get(PATH)).data;
    const tooLong = await owner.put(PATH, bodyOfSize(16_385));
    expect(tooLong).toMatchObject(refusal(413, "payload_too_large"));
    expect(tooLong.body.error).toBe("The body is larger than 16 KiB.");
    expect(await owner.put(PATH, `{"a":[${"1e20,".repeat(1_000)}1]}`)).toMatchObject(refusal(413, "payload_too_large"));
    for (const body of ["[]", "null", '"a"', "1", '{"a":"\\ud800"}'])
      expect(await owner.put(PATH, body)).toMatchObject(refusal(400, "validation_failed"));
    expect((await owner.get(PATH)).data).toEqual(stored);
  });

  test("keep members of any name unchanged", async () => {
    const body = '{"__proto__":{"role":"Owner"},"constructor":1,"password":"p"}';
    expect((await owner.put(PATH, body)).status).toBe(200);
    expect((await owner.get(PATH)).text).toContain(`"data":${body}`);
    expect((await owner.get("/api/auth/me")).data.role).toBe("Owner");
  });

  test("refuse a number that would not round-trip", async () => {
    const { headers } = owner as unknown as { headers: Record<string, string> };
    const response = await appliance.handle(
      new Request(`http://localhost${PATH}`, {
        method: "PUT",
        headers: { ...headers, "content-type": "application/json" },
        body: '{"a/b":[1,{"far":1e400}],"less":-1e400,"fine":1e300}',
      }),
    );
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: "validation_failed", params: { issues: [{ path: "/a~1b/1/far" }, { path: "/less" }] } },
    ]);
    expect((await owner.get(PATH)).data).toEqual({});
  });

  test("have no history, pass verification, and are deleted with their user", async () => {
    const viewer = await newUser({ role: "Viewer" });
    const before = transactionCount();
    await viewer.client.put(PATH, { theme: "dark" });
    expect(transactionCount()).toBe(before);
    const rows = () => appliance.reader.db.query("SELECT preferences FROM user_preferences").values();
    expect(rows()).toEqual([['{"theme":"dark"}']]);
    const db = openReadOnly(appliance.databasePath);
    expect(verifyLedger(db, KINDS).findings).toEqual([]);
    db.$client.close();
    await expectOk(owner.delete(`users/${viewer.id}`));
    expect(rows()).toEqual([]);
  });
});
