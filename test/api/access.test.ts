// Authentication: every kind of invalid credentials, and permissions as of the request.

import { describe, expect, test } from "bun:test";
import { generateApiKey } from "../../src/access/api-key.ts";
import { apiKeyKind } from "../../src/resources/api-keys/api-key.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { userKind } from "../../src/resources/users/user.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, owner, inTransaction, newApiKey, newNetwork, newUser } = appliance;
const { transactionCount, newViewer } = appliance;

const me = (client: Client): Promise<ApiResponse> => client.get("/api/auth/me");
const withHeader = (authorization: string): Client => anonymous.with({ authorization });
const setUser = async (id: string, changes: JsonRecord): Promise<JsonRecord> => {
  const user = await expectOk(owner.get(`users/${id}`));
  return expectOk(owner.put(`users/${id}`, { ...user, ...changes }));
};

function expectRefused(response: ApiResponse, code: string): void {
  expect([response.status, response.body.code]).toEqual([401, code]);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(response.body).toMatchObject({
    success: false,
    error: expect.any(String),
    params: {},
    meta: { api_version: 1 },
  });
  expect(response.body).not.toHaveProperty("data");
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

  test("are not required by any other operation", () => {
    const publicRoutes = appliance.surface.routes
      .filter((route) => route.operation.access === "anyone")
      .map((route) => `${route.method} ${route.path}`);
    expect(publicRoutes.sort()).toEqual(
      [
        "GET /api/auth/setup",
        "POST /api/auth/login",
        "POST /api/auth/setup",
        ...publicRoutes.filter((route) => /^GET \/api\/(health|version)$/.test(route)),
      ].sort(),
    );
  });

  test("accept the scheme regardless of case", async () => {
    const { key } = newApiKey();
    for (const scheme of ["Bearer", "bearer", "BEARER  "])
      expect((await me(withHeader(`${scheme} ${key}`))).status).toBe(200);
  });

  test("are refused if the key is masked or unknown", async () => {
    const { id } = newApiKey();
    const { key: mask } = await expectOk(owner.get(`auth/keys/${id}`));
    expectRefused(await me(withHeader(`Bearer ${encodeURIComponent(mask)}`)), "auth_not_authenticated");
    expectRefused(await me(withHeader(`Bearer ${generateApiKey(appliance.random)}`)), "auth_not_authenticated");
  });

  test("are refused if wrong, even with a valid cookie", async () => {
    for (const authorization of ["", "Basic x", `Bearer ${generateApiKey(appliance.random)}`]) {
      expectRefused(await me(owner.with({ authorization })), "auth_not_authenticated");
    }
  });
});

describe("an API key", () => {
  test("is rejected with a specific error while disabled, and works again once enabled", async () => {
    const key = newApiKey();
    const record = await expectOk(owner.get(`auth/keys/${key.id}`));
    await expectOk(owner.put(`auth/keys/${key.id}`, { ...record, is_enabled: false }));
    expectRefused(await me(key.client), "auth_key_disabled");
    await expectOk(owner.put(`auth/keys/${key.id}`, { ...record, is_enabled: true }));
    expect((await me(key.client)).status).toBe(200);
  });

  test("expires at exactly expires_at, to the millisecond", async () => {
    const key = newApiKey({ expiresAt: "2026-11-21T10:00:00.000Z" });
    clock.advance(Date.UTC(2026, 10, 21, 10) - 1 - clock.now());
    expect((await me(key.client)).status).toBe(200);
    clock.advance(1);
    expectRefused(await me(key.client), "auth_key_expired");
  });

  test("is treated as unknown once deleted", async () => {
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

  test("has the lower of its own role and its user's role, even after either changes", async () => {
    const user = await newUser({ role: "Admin" });
    const key = newApiKey({ userId: user.id, permissions: "Admin" });
    const tag = (color: string) => key.client.post("tags", { name: color, color });
    expect((await tag("Green")).status).toBe(200);
    await setUser(user.id, { role: "Viewer" });
    const refused = await tag("Blue");
    expect(refused).toMatchObject(refusal(403, "auth_permission_denied", { required: "Admin", actual: "Viewer" }));
    await setUser(user.id, { role: "Admin" });
    expect((await tag("Blue")).status).toBe(200);
    const record = await expectOk(owner.get(`auth/keys/${key.id}`));
    await expectOk(owner.put(`auth/keys/${key.id}`, { ...record, permissions: "Member" }));
    expect((await tag("Red")).status).toBe(403);
  });

  test("can access the networks in both its own list and its user's, and loses access as soon as the user is demoted", async () => {
    const second = (await newNetwork()).id;
    const { networkId } = first;
    const user = await newUser({ role: "Owner", networkIds: [second] });
    const [unrestricted, listed, disjoint] = [
      newApiKey({ userId: user.id }),
      newApiKey({ userId: user.id, networkIds: [networkId, second] }),
      newApiKey({ userId: user.id, networkIds: [networkId] }),
    ];
    const reach = (client: Client) =>
      client.get("networks").then((response) => response.data.map((network: JsonRecord) => network.id));
    expect(await Promise.all([unrestricted, listed, disjoint].map((key) => reach(key.client)))).toEqual([
      [networkId, second],
      [networkId, second],
      [networkId],
    ]);
    await setUser(user.id, { role: "Member" });
    expect(await Promise.all([unrestricted, listed, disjoint].map((key) => reach(key.client)))).toEqual([
      [second],
      [second],
      [],
    ]);
    expect((await unrestricted.client.get(`networks/${networkId}`)).status).toBe(404);
    expect((await unrestricted.client.post("subnets", { network_id: networkId, cidr: "10.0.0.0/24" })).body.code).toBe(
      "entity_reference_invalid",
    );
  });
});

describe("a role that is too low", () => {
  test("is refused with the required role, before the body is checked", async () => {
    const viewer = await newViewer();
    const response = await viewer.client.post("subnets", "{");
    expect(response).toMatchObject(refusal(403, "auth_permission_denied", { required: "Member", actual: "Viewer" }));
  });
});

describe("a write authenticated by cookie", () => {
  const tag = (client: Client, name: string, headers: Record<string, string>) =>
    client.post("tags", { name, color: "Green" }, { host: "localhost", ...headers });

  test("is accepted from the appliance's own pages, and without either header", async () => {
    expect((await tag(owner, "one", {})).status).toBe(200);
    expect((await tag(owner, "two", { origin: "http://localhost", "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await tag(owner, "three", { "sec-fetch-site": "none" })).status).toBe(200);
  });
});
