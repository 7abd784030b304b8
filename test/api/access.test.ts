// Authentication: every kind of invalid credentials, and rights evaluated at the time of the request.

import { describe, expect, test } from "bun:test";
import { generateApiKey } from "../../src/access/api-key.ts";
import { apiKeyKind } from "../../src/resources/api-keys/api-key.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { userKind } from "../../src/resources/users/user.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Answer, Client } from "../support/appliance/client.ts";
import { made, type Wire } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, owner, signedIn } = appliance;
const { inTransaction, newApiKey, newNetwork, newTag, newUser } = appliance;
const { transactionCount, writingWatched, newViewer } = appliance;

const me = (client: Client): Promise<Answer> => client.get("/api/auth/me");
const withHeader = (authorization: string): Client => anonymous.with({ authorization });
const setUser = async (id: string, changes: Wire): Promise<Wire> => {
  const user = await made(owner.get(`users/${id}`));
  return made(owner.put(`users/${id}`, { ...user, ...changes }));
};

function expectRefused(answer: Answer, code: string): void {
  expect([answer.status, answer.body.code]).toEqual([401, code]);
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  expect(answer.body).toMatchObject({
    success: false,
    error: expect.any(String),
    params: {},
    meta: { api_version: 1 },
  });
  expect(answer.body).not.toHaveProperty("data");
}

describe("credentials", () => {
  test("are required on every operation that is not public, before path, query and body are checked", async () => {
    const guarded = appliance.surface.routes.filter((route) => route.operation.access !== "anyone");
    expect(guarded.length).toBeGreaterThan(30);
    for (const { method, path } of guarded) {
      const url = `${path.replaceAll(/:\w+/g, "not-an-id")}?no_such_parameter=1`;
      expectRefused(
        await anonymous.send(method, url, method === "GET" || method === "DELETE" ? undefined : "{"),
        "auth_not_authenticated",
      );
    }
    expect(transactionCount()).toBe(1);
  });

  test("are required by no other operation", () => {
    const open = appliance.surface.routes
      .filter((route) => route.operation.access === "anyone")
      .map((route) => `${route.method} ${route.path}`);
    expect(open.sort()).toEqual(
      [
        "GET /api/auth/setup",
        "POST /api/auth/login",
        "POST /api/auth/setup",
        ...open.filter((route) => /^GET \/api\/(health|version)$/.test(route)),
      ].sort(),
    );
  });

  test.each([
    ["nothing", ""],
    ["Basic", `Basic ${btoa("owner@first.example:correct horse battery")}`],
    ["the scheme alone", "Bearer"],
    ["no key", "Bearer "],
    ["garbage", "Bearer 0123456789abcdef"],
    ["a key with a wrong checksum", `Bearer nlk_${"0".repeat(43)}`],
    ["two keys", "Bearer nlk_a nlk_b"],
    ["excessive length", `Bearer ${"x".repeat(8_000)}`],
  ])("in another format are refused: %s", async (_title, authorization) => {
    expectRefused(await me(withHeader(authorization)), "auth_not_authenticated");
  });

  test("accept the scheme in any case", async () => {
    const { key } = newApiKey();
    for (const scheme of ["Bearer", "bearer", "BEARER  "])
      expect((await me(withHeader(`${scheme} ${key}`))).status).toBe(200);
  });

  test("that are a masked or unknown key are refused", async () => {
    const { id } = newApiKey();
    const { key: mask } = await made(owner.get(`auth/keys/${id}`));
    expectRefused(await me(withHeader(`Bearer ${encodeURIComponent(mask)}`)), "auth_not_authenticated");
    expectRefused(await me(withHeader(`Bearer ${generateApiKey(appliance.random)}`)), "auth_not_authenticated");
  });

  test("that are wrong are not rescued by a valid cookie", async () => {
    for (const authorization of ["", "Basic x", `Bearer ${generateApiKey(appliance.random)}`]) {
      expectRefused(await me(owner.with({ authorization })), "auth_not_authenticated");
    }
  });

  test("in a cookie must be a session token, in exactly its format", async () => {
    for (const cookie of [
      "",
      "session_id",
      "session_id=",
      "session_id=abc",
      `session_id=${"A".repeat(43)}`,
      `sessions_id=${"A".repeat(43)}`,
      `;=;session_id =${"A".repeat(43)}`,
      `session_id="${"A".repeat(43)}"`,
      "%00=%ff; session_id=%41",
    ]) {
      expectRefused(await me(anonymous.with({ cookie })), "auth_not_authenticated");
    }
  });

  test("in a cookie are found among other cookies", async () => {
    const session = await signedIn(first.userId);
    const cookie = (session as unknown as { headers: Record<string, string> }).headers.cookie;
    expect((await me(anonymous.with({ cookie: `theme=dark;${cookie}; session_id_old=x` }))).status).toBe(200);
  });
});

describe("an API key", () => {
  test("that is disabled gets its own error, and works again once enabled", async () => {
    const key = newApiKey();
    const record = await made(owner.get(`auth/keys/${key.id}`));
    await made(owner.put(`auth/keys/${key.id}`, { ...record, is_enabled: false }));
    expectRefused(await me(key.client), "auth_key_disabled");
    await made(owner.put(`auth/keys/${key.id}`, { ...record, is_enabled: true }));
    expect((await me(key.client)).status).toBe(200);
  });

  test("expires at exactly expires_at, to the millisecond", async () => {
    const key = newApiKey({ expiresAt: "2026-11-21T10:00:00.000Z" });
    clock.advance(Date.UTC(2026, 10, 21, 10) - 1 - clock.now());
    expect((await me(key.client)).status).toBe(200);
    clock.advance(1);
    expectRefused(await me(key.client), "auth_key_expired");
  });

  test("that is deleted is treated as unknown", async () => {
    const key = newApiKey();
    inTransaction((tx) => removeRecord(tx, apiKeyKind, key.id, false));
    expectRefused(await me(key.client), "auth_not_authenticated");
  });

  test("is disabled with its user, and deleted with the user", async () => {
    const user = await newUser({ role: "Member" });
    const key = newApiKey({ userId: user.id });
    await setUser(user.id, { is_enabled: false });
    expectRefused(await me(key.client), "auth_key_disabled");
    inTransaction((tx) => removeRecord(tx, userKind, user.id, false));
    expectRefused(await me(key.client), "auth_not_authenticated");
    expectRefused(await me(user.client), "auth_not_authenticated");
    expect((await owner.get(`auth/keys/${key.id}`)).status).toBe(404);
  });

  test("has the lower of its own role and its user's, whichever changes", async () => {
    const user = await newUser({ role: "Admin" });
    const key = newApiKey({ userId: user.id, permissions: "Admin" });
    const tag = (color: string) => key.client.post("tags", { name: color, color });
    expect((await tag("Green")).status).toBe(200);
    await setUser(user.id, { role: "Viewer" });
    const refused = await tag("Blue");
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Admin", actual: "Viewer" },
    });
    await setUser(user.id, { role: "Admin" });
    expect((await tag("Blue")).status).toBe(200);
    const record = await made(owner.get(`auth/keys/${key.id}`));
    await made(owner.put(`auth/keys/${key.id}`, { ...record, permissions: "Member" }));
    expect((await tag("Red")).status).toBe(403);
  });

  test("reaches the networks shared by its list and its user, and shrinks at once when the user is demoted", async () => {
    const second = (await newNetwork()).id;
    const { networkId } = first;
    const user = await newUser({ role: "Owner", networkIds: [second] });
    const [follows, listed, apart] = [
      newApiKey({ userId: user.id }),
      newApiKey({ userId: user.id, networkIds: [networkId, second] }),
      newApiKey({ userId: user.id, networkIds: [networkId] }),
    ];
    const reach = (client: Client) =>
      client.get("networks").then((answer) => answer.data.map((network: Wire) => network.id));
    expect(await Promise.all([follows, listed, apart].map((key) => reach(key.client)))).toEqual([
      [networkId, second],
      [networkId, second],
      [networkId],
    ]);
    await setUser(user.id, { role: "Member" });
    expect(await Promise.all([follows, listed, apart].map((key) => reach(key.client)))).toEqual([
      [second],
      [second],
      [],
    ]);
    expect((await follows.client.get(`networks/${networkId}`)).status).toBe(404);
    expect((await follows.client.post("subnets", { network_id: networkId, cidr: "10.0.0.0/24" })).body.code).toBe(
      "entity_reference_invalid",
    );
  });
});

describe("a role that is too low", () => {
  test("is refused with the required role, before the body is checked", async () => {
    const viewer = await newViewer();
    const answer = await viewer.client.post("subnets", "{");
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({
      code: "auth_permission_denied",
      params: { required: "Member", actual: "Viewer" },
    });
  });
});

describe("a write authenticated by cookie", () => {
  const tag = (client: Client, name: string, headers: Record<string, string>) =>
    client.post("tags", { name, color: "Green" }, { host: "localhost", ...headers });

  test.each([
    ["a foreign Origin", { origin: "https://evil.example" }],
    ["an Origin of another port", { origin: "http://localhost:81" }],
    ["an opaque Origin", { origin: "null" }],
    ["a cross-site request", { "sec-fetch-site": "cross-site" }],
    ["a same-site request", { "sec-fetch-site": "same-site", origin: "http://localhost" }],
  ])("is refused for %s", async (_title, headers) => {
    const expectNothingWritten = writingWatched();
    const answer = await tag(owner, "core", headers);
    expect([answer.status, answer.body.code]).toEqual([403, "auth_origin_rejected"]);
    expectNothingWritten();
  });

  test("is accepted from the appliance's own pages, and without either header", async () => {
    expect((await tag(owner, "one", {})).status).toBe(200);
    expect((await tag(owner, "two", { origin: "http://localhost", "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await tag(owner, "three", { "sec-fetch-site": "none" })).status).toBe(200);
  });

  test("is also checked for PUT and DELETE, but not for reads", async () => {
    const { id } = await newTag();
    const foreign = { "sec-fetch-site": "cross-site" };
    expect((await owner.put(`tags/${id}`, { name: "core", color: "Red" }, foreign)).body.code).toBe(
      "auth_origin_rejected",
    );
    expect((await owner.delete(`tags/${id}`, foreign)).body.code).toBe("auth_origin_rejected");
    expect((await owner.get(`tags/${id}`, foreign)).status).toBe(200);
  });

  test("is not checked for API keys, which may be used from anywhere", async () => {
    expect(
      (await tag(newApiKey().client, "core", { origin: "https://dashboard.example", "sec-fetch-site": "cross-site" }))
        .status,
    ).toBe(200);
  });
});
