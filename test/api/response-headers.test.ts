// Response headers of successful operations, errors, pages and empty responses.

import { beforeAll, describe, expect, test } from "bun:test";
import { generateSessionToken } from "../../src/access/session-token.ts";
import { newAppliance, PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";

const appliance = applianceForAll();
const { anonymous, first, handle, owner } = appliance;
let cookie: string;
let keyId: string;
beforeAll(async () => {
  const signedIn = await anonymous.post("/api/auth/login", { email: "owner@first.example", password: PASSWORD });
  cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const key = await owner.post("auth/keys", {
    name: "a",
    organization_id: first.organizationId,
    user_id: first.userId,
    tags: [],
  });
  keyId = key.data.api_key?.id ?? key.data.id;
  if (keyId === undefined) throw new Error(key.text);
});

const COMMON_HEADERS = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };
const LOCKED_CSP = "default-src 'none'; frame-ancestors 'none'";

async function request(path: string, init: RequestInit = {}, base = "http://localhost"): Promise<Response> {
  const { headers, ...rest } = init;
  return handle(
    new Request(`${base}${path}`, { ...rest, headers: { cookie, ...(headers as Record<string, string>) } }),
  );
}

/** Without a session: a sign-in would end it. */
const withoutSession = (method: string, body: string) => ({
  method,
  body,
  headers: { "content-type": "application/json", cookie: "" },
});
const json = (method: string, body: string) => ({ method, body, headers: { "content-type": "application/json" } });

describe("the headers of every response", () => {
  test.each([
    ["a list", 200, "/api/v1/hosts", {}],
    ["an endless list", 200, "/api/v1/hosts?limit=0", {}],
    ["a HEAD", 200, "/api/v1/hosts", { method: "HEAD" }],
    ["CSV", 200, "/api/v1/hosts/export/csv", {}],
    ["the feed", 200, "/api/v1/changes?limit=1", {}],
    ["the feed as NDJSON", 200, "/api/v1/diff?from=2020-01-01T00:00:00Z&format=ndjson", {}],
    ["health", 200, "/api/health", {}],
    ["the version", 200, "/api/version", {}],
    ["the document", 200, "/api/openapi.json", {}],
    ["the page script", 200, "/docs/scalar.js", {}],
    ["the redirect to the page", 302, "/", {}],
    ["an unknown parameter", 400, "/api/v1/hosts?nothing=1", {}],
    ["a malformed body", 400, "/api/v1/hosts", json("POST", "{")],
    ["no credentials", 401, "/api/v1/hosts", { headers: { cookie: "" } }],
    ["a bad key", 401, "/api/v1/hosts", { headers: { authorization: "Bearer nlk_x" } }],
    [
      "a foreign page",
      403,
      "/api/v1/hosts",
      { ...json("POST", "{}"), headers: { "content-type": "application/json", origin: "http://evil.example" } },
    ],
    ["an unknown record", 404, "/api/v1/hosts/0192f0c1-2345-7000-8000-000000000000", {}],
    ["an unknown path", 404, "/api/nothing", {}],
    ["an unknown path outside the API", 404, "/nothing", {}],
    ["a wrong method", 405, "/api/v1/hosts", { method: "DELETE" }],
    [
      "another content type",
      415,
      "/api/v1/hosts",
      { method: "POST", body: "a=1", headers: { "content-type": "application/x-www-form-urlencoded" } },
    ],
  ] as [string, number, string, RequestInit][])(
    "prevent sniffing, framing, referrers and caching for %s",
    async (_case, status, path, init) => {
      const response = await request(path, init);
      expect(response.status).toBe(status);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        ...COMMON_HEADERS,
        "content-security-policy": LOCKED_CSP,
      });
      // The document and the script are the same for all users.
      expect(response.headers.get("cache-control")).toBe(
        path === "/api/openapi.json" || path === "/docs/scalar.js" ? "no-cache" : "private, no-cache",
      );
      for (const name of ["server", "x-powered-by", "strict-transport-security", "access-control-allow-origin"])
        expect(response.headers.has(name)).toBe(false);
      await response.body?.cancel();
    },
  );

  test("let the page load only the appliance's own files", async () => {
    const response = await request("/docs");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...COMMON_HEADERS,
      "x-frame-options": "DENY",
      "cross-origin-resource-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
    });
    const policy = new Map(
      (response.headers.get("content-security-policy") ?? "")
        .split("; ")
        .map((directive) => [directive.split(" ")[0], directive.split(" ").slice(1)]),
    );
    expect(policy.get("default-src")).toEqual(["'none'"]);
    expect(policy.get("script-src")).toEqual(["'self'"]);
    expect(policy.get("connect-src")).toEqual(["'self'"]);
    for (const name of ["base-uri", "form-action", "frame-ancestors"]) expect(policy.get(name)).toEqual(["'none'"]);
  });

  test("isolate the opener if browsers honor it: not over plain HTTP on a LAN", async () => {
    const opener = async (url: string, headers: Record<string, string> = {}) =>
      (await appliance.handle(new Request(url, { headers }))).headers.get("cross-origin-opener-policy");
    for (const trusted of ["http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost"])
      for (const path of ["/docs", "/handbook"])
        expect([trusted, path, await opener(trusted + path)]).toEqual([trusted, path, "same-origin"]);
    for (const lan of ["http://netledger.lan:8080", "http://10.0.0.1", "http://localhost.lan", "http://127.0.0.1.lan"])
      expect([lan, await opener(`${lan}/docs`)]).toEqual([lan, null]);
    // Behind a proxy that terminates TLS.
    expect(await opener("http://netledger.lan/docs", { "sec-fetch-dest": "document" })).toBe("same-origin");
  });

  test("are set on 304, with its ETag", async () => {
    const first = await request(`/api/v1/organizations`);
    const tag = first.headers.get("etag") ?? "";
    expect(tag).not.toBe("");
    const revalidated = await request(`/api/v1/organizations`, { headers: { "if-none-match": tag } });
    expect(revalidated.status).toBe(304);
    expect(Object.fromEntries(revalidated.headers)).toMatchObject({
      ...COMMON_HEADERS,
      "cache-control": "private, no-cache",
      etag: tag,
    });
  });

  test("are set on internal errors", async () => {
    const failing = await newAppliance();
    failing.reader.snapshot = () => {
      throw new Error("out of order");
    };
    const response = await failing.handle(new Request("http://localhost/api/v1/hosts"));
    await failing.close();
    expect(response.status).toBe(500);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...COMMON_HEADERS,
      "content-security-policy": LOCKED_CSP,
    });
  });
});

describe("secrets are never cached", () => {
  test.each([
    ["the setup state", 200, "/api/auth/setup", {}],
    [
      "a setup",
      409,
      "/api/auth/setup",
      json(
        "POST",
        '{"setup_token":"x","organization_name":"a","network_name":"b","email":"a@b.example","password":"correct horse"}',
      ),
    ],
    [
      "a failed sign-in",
      401,
      "/api/auth/login",
      withoutSession("POST", '{"email":"owner@first.example","password":"something else"}'),
    ],
    ["a malformed sign-in", 400, "/api/auth/login", json("POST", "{")],
    ["the signed-in user", 200, "/api/auth/me", {}],
    ["keys", 200, "/api/v1/auth/keys", {}],
    ["keys as CSV", 200, "/api/v1/auth/keys/export/csv", {}],
    ["keys without credentials", 401, "/api/v1/auth/keys", { headers: { cookie: "" } }],
    ["credentials", 200, "/api/v1/credentials", {}],
    ["an unknown credential", 404, "/api/v1/credentials/0192f0c1-2345-7000-8000-000000000000", {}],
    ["an unknown path next to them", 404, "/api/auth/nothing", {}],
    ["a wrong method", 405, "/api/auth/login", { method: "DELETE" }],
  ] as [string, number, string, RequestInit][])("%s", async (_case, status, path, init) => {
    const response = await request(path, init);
    expect([response.status, response.headers.get("cache-control")]).toEqual([status, "no-store"]);
    await response.body?.cancel();
  });

  test("a sign-in, a new key, and its replay", async () => {
    const signedIn = await request(
      "/api/auth/login",
      withoutSession("POST", JSON.stringify({ email: "owner@first.example", password: PASSWORD })),
    );
    expect([signedIn.status, signedIn.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const read = await request(`/api/v1/auth/keys/${keyId}`);
    expect([read.status, read.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const rotated = await request(`/api/v1/auth/keys/${keyId}/rotate`, { method: "POST" });
    expect([rotated.status, rotated.headers.get("cache-control")]).toEqual([200, "no-store"]);
  });
});

describe("HSTS", () => {
  test("is sent under TLS, and not over plain HTTP, whatever a proxy claims", async () => {
    const overTls = await newAppliance({ isTls: true });
    expect(
      (await overTls.handle(new Request("http://localhost/api/nothing"))).headers.get("strict-transport-security"),
    ).toBe("max-age=31536000");
    await overTls.close();
    expect((await request("/api/nothing", {}, "https://localhost")).headers.has("strict-transport-security")).toBe(
      false,
    );
    expect(
      (await request("/api/health", { headers: { "x-forwarded-proto": "https" } })).headers.has(
        "strict-transport-security",
      ),
    ).toBe(false);
  });
});

describe("a key in a URL", () => {
  test("is refused from any caller on any path, and never echoed", async () => {
    const created = await owner.post("auth/keys", {
      name: "leaked",
      organization_id: first.organizationId,
      user_id: first.userId,
      tags: [],
    });
    const key: string = created.data.key;
    const before = appliance.logLines.length;
    const encoded = [...key].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");
    const paths = [
      `/api/v1/hosts?api_key=${key}`,
      `/api/v1/hosts?limit=1&x=${encoded}`,
      `/api/v1/hosts/${key}`,
      `/api/nothing/${key}`,
      `/api/health?${key}`,
      `/api/auth/login?key=${key}`,
      `/docs?key=${key}`,
      `/?${key}`,
      `/docs/scalar.js?${key}`,
      `/handbook/time?key=${key}`,
      `/api/openapi.json?${key}`,
    ];
    for (const path of paths) {
      for (const headers of [{ cookie: "" }, { cookie }, { authorization: `Bearer ${key}` }]) {
        const response = await request(path, { headers: headers as Record<string, string> });
        const text = await response.text();
        expect([path, response.status]).toEqual([path, 400]);
        expect(JSON.parse(text).code).toBe("validation_failed");
        expect(text).toContain("The URL contains a key");
        expect(text + JSON.stringify([...response.headers])).not.toContain(key.slice(0, 20));
      }
    }
    const posted = await request(`/api/v1/hosts?token=${key}`, json("POST", "{"));
    expect([posted.status, JSON.parse(await posted.text()).error]).toEqual([
      400,
      expect.stringContaining("The URL contains a key"),
    ]);
    const lines = appliance.logLines.slice(before);
    expect(lines.length).toBeGreaterThanOrEqual(paths.length * 3);
    expect(lines.filter((line) => !line.includes(" request_refused "))).toEqual([]);
    expect(lines.join("\n")).not.toContain(key.slice(0, 20));
  });

  test("is not accepted as a request id either", async () => {
    const created = await owner.post("auth/keys", {
      name: "confused",
      organization_id: first.organizationId,
      user_id: first.userId,
      tags: [],
    });
    const response = await request("/api/v1/hosts", { headers: { "x-request-id": created.data.key } });
    expect(response.headers.get("x-request-id")).not.toContain("nlk_");
    const token = generateSessionToken(appliance.random);
    const other = await request("/api/v1/hosts", { headers: { "x-request-id": token } });
    expect(other.headers.get("x-request-id")).not.toContain(token);
  });
});
