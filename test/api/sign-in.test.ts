// Signing in and out, who one is, one's own password.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SESSION_FORGOTTEN_MS } from "../../src/access/commands.ts";
import { SESSION_IDLE_MS } from "../../src/access/gate.ts";
import { isTls } from "../../src/access/routes.ts";
import { SYSTEM_AUTHOR } from "../../src/access/usage.ts";
import { newAppliance, PASSWORD, PASSWORD_HASH, type TestAppliance } from "../support/appliance.ts";
import { newApiKey, newNetwork, newUser, transactionCount, versionsOf } from "../support/factories.ts";
import { clientOf, cookieOf, givePassword } from "../support/sign-in.ts";

const EMAIL = "owner@first.example";
const credentials = { email: EMAIL, password: PASSWORD };

let appliance: TestAppliance;

beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

const signIn = (body: object = credentials, headers: Record<string, string> = {}) =>
  appliance.anonymous.post("/api/auth/login", body, headers);

describe("signing in", () => {
  test("answers the user and sets a cookie that works", async () => {
    const answer = await signIn();
    expect(answer.status).toBe(200);
    expect(answer.data).toMatchObject({
      id: appliance.first.userId,
      organization_id: appliance.first.organizationId,
      email: EMAIL,
      role: "Owner",
      is_enabled: true,
      last_login: appliance.clock.text(),
    });
    expect(answer.text).not.toContain("argon2");
    expect((await clientOf(appliance, answer).get("/api/auth/me")).data.id).toBe(appliance.first.userId);
  });

  test("sets a cookie that scripts can't read, other sites don't send, and that outlives the session", async () => {
    const { name, value, attributes } = cookieOf(await signIn());
    expect(name).toBe("session_id");
    expect(value).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(attributes).toEqual({ httponly: "", samesite: "Lax", path: "/", "max-age": String(400 * 24 * 60 * 60) });
  });

  test("sets the cookie for TLS only where the browser came by TLS, to us or to a proxy in front", async () => {
    expect(cookieOf(await signIn(credentials, { "x-forwarded-proto": "https" })).attributes).toHaveProperty("secure");
    const request = new Request("http://localhost/api/auth/login", { headers: { "x-forwarded-proto": "http" } });
    expect(isTls({ request, isTls: false })).toBe(false);
    // Whatever the URL says: a request without a host has none that shows it.
    expect(isTls({ request, isTls: true })).toBe(true);
  });

  test("stores only a hash of the token", async () => {
    const { value } = cookieOf(await signIn());
    const stored = appliance.reader.db
      .query<{ hash: Uint8Array }, []>("SELECT hash FROM sessions ORDER BY created_at DESC")
      .all();
    const hash = Bun.SHA256.hash(value, "hex");
    expect(stored.map((row) => Buffer.from(row.hash).toString("hex"))).toContain(hash);
    expect(appliance.logLines.join("\n")).not.toContain(value);
  });

  test("makes no version", async () => {
    const before = transactionCount(appliance);
    await signIn();
    expect(transactionCount(appliance)).toBe(before);
    expect(versionsOf(appliance, appliance.first.userId)).toHaveLength(1);
  });

  test("takes the e-mail address in any case", async () => {
    expect((await signIn({ ...credentials, email: "OWNER@First.Example" })).status).toBe(200);
  });

  test("always gives a new token, also to a client that brings one, and ends the session that it replaces", async () => {
    const planted = "A".repeat(43);
    const first = await signIn(credentials, { cookie: `session_id=${planted}` });
    expect(cookieOf(first).value).not.toBe(planted);
    const second = await signIn(credentials, { cookie: `session_id=${cookieOf(first).value}` });
    expect(cookieOf(second).value).not.toBe(cookieOf(first).value);
    expect((await appliance.anonymous.get("/api/auth/me", { cookie: `session_id=${planted}` })).status).toBe(401);
    expect((await clientOf(appliance, first).get("/api/auth/me")).status).toBe(401);
    expect((await clientOf(appliance, second).get("/api/auth/me")).status).toBe(200);
  });

  test("is over real HTTP the same cookie", async () => {
    const { server } = appliance.app.listen({ port: 0, hostname: "127.0.0.1" });
    try {
      const response = await fetch(`${server?.url.origin}/api/auth/login`, {
        method: "POST",
        body: JSON.stringify(credentials),
        headers: { "content-type": "application/json" },
      });
      expect(response.status).toBe(200);
      const { value, attributes } = cookieOf(response);
      expect(attributes).toMatchObject({ httponly: "", samesite: "Lax", path: "/" });
      const me = await fetch(`${server?.url.origin}/api/auth/me`, { headers: { cookie: `session_id=${value}` } });
      expect(me.status).toBe(200);
      expect(me.headers.getSetCookie()).toEqual([]);
    } finally {
      await server?.stop(true);
    }
  });
});

describe("a sign-in that fails", () => {
  test("answers the same for a wrong password, an unknown account, a disabled one and one without a password", async () => {
    const disabled = await newUser(appliance, { role: "Member" });
    await givePassword(appliance, disabled.id);
    const user = (await appliance.owner.get(`/api/v1/users/${disabled.id}`)).data;
    expect((await appliance.owner.put(`/api/v1/users/${disabled.id}`, { ...user, is_enabled: false })).status).toBe(
      200,
    );
    const without = await newUser(appliance, { role: "Member" });
    const { email } = (await appliance.owner.get(`/api/v1/users/${without.id}`)).data;
    const answers = [
      await signIn({ email: EMAIL, password: "wrong" }, { "x-request-id": "same" }),
      await signIn({ email: "nobody@first.example", password: PASSWORD }, { "x-request-id": "same" }),
      await signIn({ email: user.email, password: PASSWORD }, { "x-request-id": "same" }),
      await signIn({ email, password: PASSWORD }, { "x-request-id": "same" }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.body.code).toBe("auth_invalid_credentials");
      expect(answer.text).toBe(answers[0]?.text as string);
      expect([...answer.headers]).toEqual([...(answers[0]?.headers ?? [])]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  test("is slowed down growingly after the third, also with the right password", async () => {
    const wrong = { ...credentials, password: "wrong" };
    for (let guess = 0; guess < 4; guess += 1) expect((await signIn(wrong)).status).toBe(401);
    const refused = await signIn();
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: "rate_limit_exceeded", params: { retry_after_seconds: 1 } });
    expect(refused.headers.get("retry-after")).toBe("1");
    appliance.clock.advance(1_000);
    expect((await signIn(wrong)).status).toBe(401);
    expect((await signIn(wrong)).body.params).toEqual({ retry_after_seconds: 2 });
    appliance.clock.advance(2_000);
    expect((await signIn()).status).toBe(200);
    expect((await signIn(wrong)).status).toBe(401);
    expect((await signIn()).status).toBe(200);
  });

  test("is slowed down just the same for an account that does not exist, and for a disabled one whatever the password", async () => {
    const { id } = await newUser(appliance, { role: "Member" });
    await givePassword(appliance, id);
    const user = (await appliance.owner.get(`/api/v1/users/${id}`)).data;
    await appliance.owner.put(`/api/v1/users/${id}`, { ...user, is_enabled: false });
    for (const body of [
      { email: "nobody@first.example", password: "wrong" },
      { email: user.email, password: PASSWORD },
    ]) {
      for (let guess = 0; guess < 4; guess += 1) expect((await signIn(body)).status).toBe(401);
      expect((await signIn(body)).status).toBe(429);
    }
    expect((await signIn()).status).toBe(200);
  });

  test("opens no session for a user who was disabled, or whose password was changed, while it was verified", async () => {
    const { id } = await newUser(appliance, { role: "Member" });
    await givePassword(appliance, id);
    const open = (fields: object) =>
      appliance.writes.run(
        "session.open",
        {
          hash: appliance.random.bytes(32),
          userId: id,
          at: appliance.clock.now(),
          passwordHash: PASSWORD_HASH,
          ...fields,
        },
        SYSTEM_AUTHOR,
      );
    await open({});
    const refusal = { code: "auth_invalid_credentials" };
    expect(open({ passwordHash: "the hash of before" })).rejects.toMatchObject(refusal);
    const user = (await appliance.owner.get(`/api/v1/users/${id}`)).data;
    await appliance.owner.put(`/api/v1/users/${id}`, { ...user, is_enabled: false });
    expect(open({})).rejects.toMatchObject(refusal);
  });

  test("is refused from another site's page before anything is verified", async () => {
    for (const headers of [
      { origin: "https://evil.example", host: "localhost" },
      { origin: "null", host: "localhost" },
      { "sec-fetch-site": "same-site" },
    ]) {
      const answer = await signIn(credentials, headers);
      expect(answer.status).toBe(403);
      expect(answer.body.code).toBe("auth_origin_rejected");
    }
    expect(
      (await signIn(credentials, { origin: "http://localhost", host: "localhost", "sec-fetch-site": "same-origin" }))
        .status,
    ).toBe(200);
  });

  test("names what is wrong with the body and echoes no password", async () => {
    const answer = await signIn({ email: "nobody", pasword: "hunter2hunter2", password: 5 });
    expect(answer.status).toBe(400);
    expect(answer.body.params.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      "/email",
      "/password",
      "/pasword",
    ]);
    expect(answer.text).not.toContain("hunter2");
  });
});

describe("signing out", () => {
  test("ends the session and the cookie", async () => {
    const client = clientOf(appliance, await signIn());
    const answer = await client.post("/api/auth/logout", undefined);
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({});
    const { name, value, attributes } = cookieOf(answer);
    expect([name, value]).toEqual(["session_id", ""]);
    expect(attributes).toMatchObject({ "max-age": "0", path: "/" });
    const after = await client.get("/api/auth/me");
    expect(after.status).toBe(401);
    expect(after.body.code).toBe("auth_not_authenticated");
  });

  test("leaves the user's other sessions alone", async () => {
    const [one, other] = [clientOf(appliance, await signIn()), clientOf(appliance, await signIn())];
    await one.post("/api/auth/logout", undefined);
    expect((await other.get("/api/auth/me")).status).toBe(200);
  });

  test("takes a session: nobody and an API key have none to end", async () => {
    expect((await appliance.anonymous.post("/api/auth/logout", undefined)).status).toBe(401);
    expect((await newApiKey(appliance).client.post("/api/auth/logout", undefined)).body.code).toBe(
      "auth_session_required",
    );
  });

  test("is refused from another site's page", async () => {
    const client = clientOf(appliance, await signIn());
    expect((await client.post("/api/auth/logout", undefined, { "sec-fetch-site": "cross-site" })).body.code).toBe(
      "auth_origin_rejected",
    );
    expect((await client.get("/api/auth/me")).status).toBe(200);
  });
});

describe("a session", () => {
  test("lasts while it is used, and ends after seven days without", async () => {
    const client = clientOf(appliance, await signIn());
    for (let week = 0; week < 3; week += 1) {
      appliance.clock.advance(SESSION_IDLE_MS);
      expect((await client.get("/api/auth/me")).status).toBe(200);
    }
    appliance.clock.advance(SESSION_IDLE_MS + 1);
    const answer = await client.get("/api/auth/me");
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe("auth_session_expired");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("is told that it expired also after others signed in, and is forgotten in the end", async () => {
    const client = clientOf(appliance, await signIn());
    appliance.clock.advance(2 * SESSION_IDLE_MS);
    await signIn();
    expect((await client.get("/api/auth/me")).body.code).toBe("auth_session_expired");
    appliance.clock.advance(SESSION_FORGOTTEN_MS + 1);
    await signIn();
    expect(appliance.reader.db.query("SELECT count(*) AS sessions FROM sessions").get()).toEqual({ sessions: 1 });
  });

  test("is noted as used at most once a minute", async () => {
    const client = clientOf(appliance, await signIn());
    const lastUsed = () =>
      (appliance.reader.db.query("SELECT max(last_used_at) AS at FROM sessions").get() as { at: number }).at;
    const used = appliance.clock.now();
    await client.get("/api/auth/me");
    appliance.clock.advance(59_999);
    await client.get("/api/auth/me");
    expect(lastUsed()).toBe(used);
    appliance.clock.advance(1);
    await client.get("/api/auth/me");
    expect(lastUsed()).toBe(used + 60_000);
  });
});

describe("asking who one is", () => {
  test("answers the user, the organization and what the session may do", async () => {
    const second = await newNetwork(appliance);
    const member = await newUser(appliance, { role: "Member", networkIds: [second["id"]] });
    const { data } = await member.client.get("/api/auth/me");
    const user = (await member.client.get(`/api/v1/users/${member.id}`)).data;
    const organization = (await member.client.get("/api/v1/organizations")).data;
    expect(data).toEqual({
      ...user,
      organization,
      authenticated_by: "Session",
      api_key_id: null,
      effective_role: "Member",
      reachable_network_ids: [second["id"]],
    });
    expect((await appliance.owner.get("/api/auth/me")).data.reachable_network_ids).toEqual([
      appliance.first.networkId,
      second["id"],
    ]);
  });

  test("answers an API key with its own role and reach", async () => {
    const second = await newNetwork(appliance);
    const key = newApiKey(appliance, { permissions: "Viewer", networkIds: [second["id"]] });
    const { data } = await key.client.get("/api/auth/me");
    expect(data).toMatchObject({
      id: appliance.first.userId,
      role: "Owner",
      authenticated_by: "ApiKey",
      api_key_id: key.id,
      effective_role: "Viewer",
      reachable_network_ids: [second["id"]],
    });
  });

  test("takes credentials", async () => {
    expect((await appliance.anonymous.get("/api/auth/me")).status).toBe(401);
  });
});

describe("changing one's own password", () => {
  const change = { current_password: PASSWORD, new_password: "another phrase" };

  test("takes effect at once, ends the other sessions and keeps this one", async () => {
    const [here, elsewhere] = [clientOf(appliance, await signIn()), clientOf(appliance, await signIn())];
    const answer = await here.put("/api/auth/password", change);
    expect(answer.status).toBe(200);
    expect(answer.data.id).toBe(appliance.first.userId);
    expect((await here.get("/api/auth/me")).status).toBe(200);
    expect((await elsewhere.get("/api/auth/me")).status).toBe(401);
    expect((await appliance.owner.get("/api/auth/me")).status).toBe(401);
    expect((await signIn()).status).toBe(401);
    expect((await signIn({ email: EMAIL, password: change.new_password })).status).toBe(200);
  });

  test("is a version that says so, without the password or its hash", async () => {
    await appliance.owner.put("/api/auth/password", change);
    expect(versionsOf(appliance, appliance.first.userId).map((version) => version.changed)).toEqual([
      null,
      ["password"],
    ]);
    const documents = appliance.reader.db
      .query<{ members: string | null }, []>("SELECT members FROM history_versions")
      .all();
    expect(JSON.stringify(documents)).not.toMatch(/argon2|another phrase/);
  });

  test("leaves API keys, and other people's sessions, as they are", async () => {
    const key = newApiKey(appliance);
    const other = await newUser(appliance, { role: "Viewer" });
    await appliance.owner.put("/api/auth/password", change);
    expect((await other.client.get("/api/auth/me")).status).toBe(200);
    expect((await key.client.get("/api/auth/me")).status).toBe(200);
  });

  test("takes the present password, and slows guesses of it down", async () => {
    const guess = { ...change, current_password: "a guess" };
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const answer = await appliance.owner.put("/api/auth/password", guess);
      expect(answer.status).toBe(401);
      expect(answer.body.code).toBe("auth_invalid_credentials");
    }
    expect((await appliance.owner.put("/api/auth/password", change)).status).toBe(429);
    expect((await signIn()).status).toBe(429);
    expect(versionsOf(appliance, appliance.first.userId)).toHaveLength(1);
  });

  test("takes a password of ten characters at least", async () => {
    const answer = await appliance.owner.put("/api/auth/password", { ...change, new_password: "nine char" });
    expect(answer.status).toBe(400);
    expect(answer.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/new_password"]);
    expect(answer.text).not.toContain("nine char");
    const spaced = await appliance.owner.put("/api/auth/password", {
      ...change,
      new_password: "a phrase with\nline break",
    });
    expect(spaced.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/new_password"]);
  });

  test("takes a session, also of a Viewer, and no API key", async () => {
    expect((await newApiKey(appliance).client.put("/api/auth/password", change)).body.code).toBe(
      "auth_session_required",
    );
    expect((await appliance.anonymous.put("/api/auth/password", change)).body.code).toBe("auth_not_authenticated");
    const viewer = await newUser(appliance, { role: "Viewer" });
    await givePassword(appliance, viewer.id);
    expect((await (await appliance.signedIn(viewer.id)).put("/api/auth/password", change)).status).toBe(200);
  });
});
