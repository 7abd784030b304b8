// Sign-in and sign-out, the current user, and changes to one's own password.

import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { SYSTEM_AUTHOR } from "../../src/access/actor.ts";
import { SESSION_IDLE_MS, userPasswords } from "../../src/access/tables.ts";
import { writtenSql } from "../../src/db/packing.ts";
import { NO_PEER } from "../../src/http/caller-address.ts";
import { SESSION_RETENTION_MS, SESSIONS_OF_USER_MAX } from "../../src/sessions/commands.ts";
import { isTls } from "../../src/sessions/routes.ts";
import { ATTEMPT_WAIT_MS, ATTEMPTS_MAX_WAITING } from "../../src/sessions/sign-in-throttle.ts";
import { PASSWORD, PASSWORD_HASH } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { inTransaction, type JsonRecord } from "../support/appliance/factories.ts";
import { cookieOf } from "../support/appliance/sign-in.ts";
import { expectRefusal } from "../support/contract/shapes.ts";

const EMAIL = "owner@first.example";
const credentials = { email: EMAIL, password: PASSWORD };

const appliance = applianceForEach();
const { anonymous, clock, first, owner, signedIn } = appliance;
const { clientOf, givePassword, newApiKey, newNetwork, newUser, tick, watchWrites, versionsOf } = appliance;

const signIn = (body: object = credentials, headers: Record<string, string> = {}) =>
  anonymous.post("/api/auth/login", body, headers);

describe("signing in", () => {
  test("returns the user and sets a working cookie", async () => {
    const response = await signIn();
    expect(response.status).toBe(200);
    expect(response.data).toMatchObject({
      id: first.userId,
      organization_id: first.organizationId,
      email: EMAIL,
      role: "Owner",
      is_enabled: true,
      last_login: clock.text(),
    });
    expect(response.text).not.toContain("argon2");
    expect((await clientOf(response).get("/api/auth/me")).data.id).toBe(first.userId);
  });

  test("sets a cookie that is HttpOnly, same-site, and outlives the session", async () => {
    const { name, value, attributes } = cookieOf(await signIn());
    expect(name).toBe("session_id");
    expect(value).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(attributes).toEqual({ httponly: "", samesite: "Lax", path: "/", "max-age": String(400 * 24 * 60 * 60) });
  });

  test("sets a Secure cookie only if the browser used TLS, to the appliance or to a proxy", async () => {
    expect(cookieOf(await signIn(credentials, { "x-forwarded-proto": "https" })).attributes).toHaveProperty("secure");
    const request = new Request("http://localhost/api/auth/login", { headers: { "x-forwarded-proto": "http" } });
    expect(isTls({ request, isTls: false })).toBe(false);
    // Independent of the URL: that of a request without a host does not show it.
    expect(isTls({ request, isTls: true })).toBe(true);
  });

  test.each([
    ["https", true],
    ["HTTPS", true],
    ["https, http", true],
    ["http, https", false],
    ["https;", false],
    ["", false],
    [",https", false],
  ])("assumes TLS with X-Forwarded-Proto %p: %p", (proto, expected) => {
    const request = new Request("http://localhost/api/auth/login", { headers: { "x-forwarded-proto": proto } });
    expect(isTls({ request, isTls: false })).toBe(expected);
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

  test("creates no version", async () => {
    const expectNothingWritten = watchWrites();
    await signIn();
    expectNothingWritten();
    expect(versionsOf(first.userId)).toHaveLength(1);
  });

  test("accepts the e-mail address in any case", async () => {
    expect((await signIn({ ...credentials, email: "OWNER@First.Example" })).status).toBe(200);
  });

  test("always returns a new token, even if the client sends one, and ends the replaced session", async () => {
    const planted = "A".repeat(43);
    const first = await signIn(credentials, { cookie: `session_id=${planted}` });
    expect(cookieOf(first).value).not.toBe(planted);
    const second = await signIn(credentials, { cookie: `session_id=${cookieOf(first).value}` });
    expect(cookieOf(second).value).not.toBe(cookieOf(first).value);
    expect((await anonymous.get("/api/auth/me", { cookie: `session_id=${planted}` })).status).toBe(401);
    expect((await clientOf(first).get("/api/auth/me")).status).toBe(401);
    expect((await clientOf(second).get("/api/auth/me")).status).toBe(200);
  });

  test("sets the same cookie over real HTTP", async () => {
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

describe("concurrent sign-ins", () => {
  const signInConcurrently = async (
    count: number,
    body: (index: number) => object,
    headers: Record<string, string> = {},
  ) => {
    const responses = await Promise.all(Array.from({ length: count }, (_, index) => signIn(body(index), headers)));
    return responses.map(({ status }) => status);
  };
  const wrong = { ...credentials, password: "wrong" };

  test("all succeed for one account and address", async () => {
    expect(await signInConcurrently(8, () => credentials)).toEqual(Array(8).fill(200));
  });

  test("are verified as often as sequential ones if all are wrong for one account", async () => {
    const statuses = await signInConcurrently(11, () => wrong);
    expect(statuses).toEqual([...Array(4).fill(401), ...Array(7).fill(429)]);
    expect((await signIn()).body.params).toEqual({ retry_after_seconds: 1 });
  });

  test("block the right password of one account exactly like sequential ones if wrong ones come first", async () => {
    expect(await signInConcurrently(4, (index) => (index < 3 ? wrong : credentials))).toEqual([401, 401, 401, 200]);
    expect(await signInConcurrently(5, (index) => (index < 4 ? wrong : credentials))).toEqual([
      401, 401, 401, 401, 429,
    ]);
  });

  test("all succeed for many accounts from an address with thirty failures", async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => newUser({ role: "Viewer" })));
    for (const { id } of people) await givePassword(id);
    const emails = await Promise.all(people.map(async ({ id }) => (await owner.get(`users/${id}`)).data.email));
    for (let guess = 0; guess < 30; guess += 1)
      expect((await signIn({ ...wrong, email: `nobody${guess}@first.example` })).status).toBe(401);
    expect(await signInConcurrently(8, (index) => ({ ...credentials, email: emails[index] }))).toEqual(
      Array(8).fill(200),
    );
  });

  /** Starts an attempt for the account that runs until canceled, and one queued behind it. */
  async function queueSignIn(password = PASSWORD) {
    expect(await appliance.throttle.enter(EMAIL, NO_PEER)).toBeNull();
    const { count } = appliance.timers;
    const pending = signIn({ email: EMAIL, password });
    while (appliance.timers.count === count) await new Promise<void>((resolve) => setImmediate(resolve));
    return { pending, end: () => appliance.throttle.abandoned(EMAIL, NO_PEER) };
  }

  test("queue up to ten deep; one more gets Retry-After", async () => {
    const { pending, end } = await queueSignIn();
    const more = Array.from({ length: ATTEMPTS_MAX_WAITING }, () => signIn());
    const throttled = await Promise.race(more);
    expect([throttled.status, throttled.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(throttled.body.error).toBe("Too many attempts at once; try again in 1 s.");
    expect(throttled.body.params).toEqual({ retry_after_seconds: 1 });
    end();
    const statuses = (await Promise.all([pending, ...more])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(ATTEMPTS_MAX_WAITING).fill(200), 429]);
  });

  test("wait at most five seconds, and then cost nothing", async () => {
    const { pending, end } = await queueSignIn();
    appliance.timers.pass(ATTEMPT_WAIT_MS);
    expect((await pending).body.error).toBe("Too many attempts at once; try again in 1 s.");
    end();
    expect((await signIn()).status).toBe(200);
  });

  test("are verified against the password at the time of verification", async () => {
    const { pending, end } = await queueSignIn("another phrase");
    const passwordHash = await Bun.password.hash("another phrase", {
      algorithm: "argon2id",
      memoryCost: 8,
      timeCost: 1,
    });
    await appliance.writes.run("user.set_password", { id: first.userId, passwordHash, keptHash: null }, SYSTEM_AUTHOR);
    end();
    expect((await pending).status).toBe(200);
  });
});

describe("a failed sign-in", () => {
  test("is the same for a wrong password, an unknown account, a disabled one and one without a password", async () => {
    const disabled = await newUser({ role: "Member" });
    await givePassword(disabled.id);
    const user = (await owner.get(`users/${disabled.id}`)).data;
    expect((await owner.put(`users/${disabled.id}`, { ...user, is_enabled: false })).status).toBe(200);
    const without = await newUser({ role: "Member" });
    const { email } = (await owner.get(`users/${without.id}`)).data;
    // As after the loss of a row.
    inTransaction(appliance, (tx) => {
      const isUser = eq(userPasswords.user_n, tx.recordN(without.id) as number);
      tx.db.delete(userPasswords).where(isUser).run();
    });
    const responses = [
      await signIn({ email: EMAIL, password: "wrong" }, { "x-request-id": "same" }),
      await signIn({ email: "nobody@first.example", password: PASSWORD }, { "x-request-id": "same" }),
      await signIn({ email: user.email, password: PASSWORD }, { "x-request-id": "same" }),
      await signIn({ email, password: PASSWORD }, { "x-request-id": "same" }),
    ];
    for (const response of responses) {
      expect(response.status).toBe(401);
      expect(response.body.code).toBe("auth_invalid_credentials");
      expect(response.text).toBe(responses[0]?.text as string);
      expect([...response.headers]).toEqual([...(responses[0]?.headers ?? [])]);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test("is increasingly throttled after the third, even with the right password", async () => {
    const wrong = { ...credentials, password: "wrong" };
    for (let guess = 0; guess < 4; guess += 1) expect((await signIn(wrong)).status).toBe(401);
    const throttled = await signIn();
    expect(throttled.status).toBe(429);
    expect(throttled.body).toMatchObject({ code: "rate_limit_exceeded", params: { retry_after_seconds: 1 } });
    expect(throttled.headers.get("retry-after")).toBe("1");
    tick();
    expect((await signIn(wrong)).status).toBe(401);
    expect((await signIn(wrong)).body.params).toEqual({ retry_after_seconds: 2 });
    clock.advance(2_000);
    expect((await signIn()).status).toBe(200);
    expect((await signIn(wrong)).status).toBe(401);
    expect((await signIn()).status).toBe(200);
  });

  test("is throttled in the same way for an unknown account, and for a disabled one regardless of the password", async () => {
    const { id } = await newUser({ role: "Member" });
    await givePassword(id);
    const user = (await owner.get(`users/${id}`)).data;
    await owner.put(`users/${id}`, { ...user, is_enabled: false });
    for (const body of [
      { email: "nobody@first.example", password: "wrong" },
      { email: user.email, password: PASSWORD },
    ]) {
      for (let guess = 0; guess < 4; guess += 1) expect((await signIn(body)).status).toBe(401);
      expect((await signIn(body)).status).toBe(429);
    }
    expect((await signIn()).status).toBe(200);
  });

  test("opens no session for a user disabled, or whose password was changed, during verification", async () => {
    const { id } = await newUser({ role: "Member" });
    await givePassword(id);
    const open = (fields: object) =>
      appliance.writes.run(
        "session.open",
        { hash: appliance.random.bytes(32), userId: id, at: clock.now(), passwordHash: PASSWORD_HASH, ...fields },
        SYSTEM_AUTHOR,
      );
    await open({});
    const refusal = { code: "auth_invalid_credentials" };
    expect(open({ passwordHash: "the former hash" })).rejects.toMatchObject(refusal);
    const user = (await owner.get(`users/${id}`)).data;
    await owner.put(`users/${id}`, { ...user, is_enabled: false });
    expect(open({})).rejects.toMatchObject(refusal);
  });

  test("is rejected from a cross-site page before any verification", async () => {
    for (const headers of [
      { origin: "https://evil.example", host: "localhost" },
      { origin: "null", host: "localhost" },
      { "sec-fetch-site": "same-site" },
    ]) {
      await expectRefusal(signIn(credentials, headers), 403, "auth_origin_rejected");
    }
    expect(
      (await signIn(credentials, { origin: "http://localhost", host: "localhost", "sec-fetch-site": "same-origin" }))
        .status,
    ).toBe(200);
  });

  test("reports errors of the body and echoes no password", async () => {
    const response = await signIn({ email: "nobody", pasword: "hunter2hunter2", password: 5 });
    expect(response.status).toBe(400);
    expect(response.body.params.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      "/email",
      "/password",
      "/pasword",
    ]);
    expect(response.text).not.toContain("hunter2");
  });
});

describe("signing out", () => {
  test("ends the session and the cookie", async () => {
    const client = clientOf(await signIn());
    const response = await client.post("/api/auth/logout", undefined);
    expect(response.status).toBe(200);
    expect(response.data).toEqual({});
    const { name, value, attributes } = cookieOf(response);
    expect([name, value]).toEqual(["session_id", ""]);
    expect(attributes).toMatchObject({ "max-age": "0", path: "/" });
    await expectRefusal(client.get("/api/auth/me"), 401, "auth_not_authenticated");
  });

  test("leaves the user's other sessions alone", async () => {
    const [firstClient, secondClient] = [clientOf(await signIn()), clientOf(await signIn())];
    await firstClient.post("/api/auth/logout", undefined);
    expect((await secondClient.get("/api/auth/me")).status).toBe(200);
  });

  test("requires a session: an anonymous caller and an API key have none", async () => {
    expect((await anonymous.post("/api/auth/logout", undefined)).status).toBe(401);
    expect((await newApiKey().client.post("/api/auth/logout", undefined)).body.code).toBe("auth_session_required");
  });

  test("is rejected from a cross-site page", async () => {
    const client = clientOf(await signIn());
    expect((await client.post("/api/auth/logout", undefined, { "sec-fetch-site": "cross-site" })).body.code).toBe(
      "auth_origin_rejected",
    );
    expect((await client.get("/api/auth/me")).status).toBe(200);
  });
});

describe("one's own sessions", () => {
  const sessionsOf = async (client: Client) => (await client.get("/api/auth/sessions")).data as JsonRecord[];

  test("are listed by last use, newest first, including the current one, without their tokens", async () => {
    const startedAt = clock.text();
    const firstClient = clientOf(await signIn());
    clock.advance(120_000);
    const secondClient = clientOf(await signIn());
    const [newest, older] = await sessionsOf(secondClient);
    expect(newest).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      last_used_from: null,
      user_agent: null,
      expires_at: new Date(Date.parse(newest?.last_used_at) + 7 * 24 * 3_600_000).toISOString(),
      is_current: true,
    });
    expect(older).toMatchObject({ is_current: false });
    expect(older?.created_at >= startedAt).toBe(true);
    const sessions = await sessionsOf(firstClient);
    expect(sessions.map(({ id }) => id).sort()).toEqual((await sessionsOf(secondClient)).map(({ id }) => id).sort());
    expect(sessions.filter(({ is_current }) => is_current).map(({ id }) => id)).toEqual([older?.id]);
    const hashes = (appliance.reader.db.query("SELECT hash FROM sessions").values() as Array<[Uint8Array]>).map(
      ([hash]) => Buffer.from(hash).toString("hex"),
    );
    const text = JSON.stringify(await sessionsOf(secondClient)).replaceAll("-", "");
    for (const hash of hashes) for (let i = 0; i < 48; i += 8) expect(text).not.toContain(hash.slice(i, i + 16));
  });

  test("can be ended individually, with immediate effect", async () => {
    const [current, ended] = [clientOf(await signIn()), clientOf(await signIn())];
    const id = (await sessionsOf(ended)).find(({ is_current }) => is_current)?.id;
    const response = await current.delete(`/api/auth/sessions/${id}`);
    expect([response.status, response.data]).toEqual([200, {}]);
    expect([(await current.get("/api/auth/me")).status, (await ended.get("/api/auth/me")).status]).toEqual([200, 401]);
    expect((await current.delete(`/api/auth/sessions/${id}`)).body.code).toBe("entity_not_found");
  });

  test("can be ended including the current one", async () => {
    const current = clientOf(await signIn());
    const id = (await sessionsOf(current)).find(({ is_current }) => is_current)?.id;
    expect((await current.delete(`/api/auth/sessions/${id}`)).status).toBe(200);
    expect((await current.get("/api/auth/me")).status).toBe(401);
  });

  test("can be ended all at once except the current one; expired ones are not counted", async () => {
    await signIn();
    clock.advance(8 * 24 * 3_600_000);
    const [current, other, third] = [clientOf(await signIn()), clientOf(await signIn()), clientOf(await signIn())];
    expect(await sessionsOf(current)).toHaveLength(3);
    expect((await current.post("/api/auth/sessions/end-others", undefined)).data).toEqual({ ended: 2 });
    for (const client of [other, third]) expect((await client.get("/api/auth/me")).status).toBe(401);
    expect(await sessionsOf(current)).toHaveLength(1);
  });

  test("are limited in number: one more ends the least recently used one, of the same user only", async () => {
    const colleague = await newUser({ role: "Viewer" });
    const [used, unused] = [clientOf(await signIn()), clientOf(await signIn())];
    clock.advance(120_000);
    expect((await used.get("/api/auth/me")).status).toBe(200);
    while ((await sessionsOf(used)).length < SESSIONS_OF_USER_MAX) await signIn();
    for (let more = 0; more < 3; more += 1) await signIn();
    expect(await sessionsOf(used)).toHaveLength(SESSIONS_OF_USER_MAX);
    const statuses = await Promise.all([used, unused, colleague.client].map((session) => session.get("/api/auth/me")));
    expect(statuses.map(({ status }) => status)).toEqual([200, 401, 200]);
  });

  test("are private, even from an Owner, and unavailable to API keys", async () => {
    const viewer = await newUser({ role: "Viewer" });
    const [{ id } = {} as JsonRecord] = await sessionsOf(viewer.client);
    expect((await sessionsOf(owner)).map((session) => session.id)).not.toContain(id);
    expect((await owner.delete(`/api/auth/sessions/${id}`)).body.code).toBe("entity_not_found");
    await owner.post("/api/auth/sessions/end-others", undefined);
    expect((await viewer.client.get("/api/auth/me")).status).toBe(200);
    expect((await newApiKey().client.get("/api/auth/sessions")).body.code).toBe("auth_session_required");
  });
});

describe("a session", () => {
  test("lasts while used, and ends after seven days of inactivity", async () => {
    const client = clientOf(await signIn());
    for (let week = 0; week < 3; week += 1) {
      clock.advance(SESSION_IDLE_MS);
      expect((await client.get("/api/auth/me")).status).toBe(200);
    }
    clock.advance(SESSION_IDLE_MS + 1);
    const response = await expectRefusal(client.get("/api/auth/me"), 401, "auth_session_expired");
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("is reported as expired even after other sign-ins, and is forgotten eventually", async () => {
    const client = clientOf(await signIn());
    clock.advance(2 * SESSION_IDLE_MS);
    await signIn();
    expect((await client.get("/api/auth/me")).body.code).toBe("auth_session_expired");
    clock.advance(SESSION_RETENTION_MS + 1);
    await signIn();
    expect(appliance.reader.db.query("SELECT count(*) AS sessions FROM sessions").get()).toEqual({ sessions: 1 });
  });

  test("records its use at most once a minute", async () => {
    const client = clientOf(await signIn());
    const lastUsed = () =>
      (appliance.reader.db.query("SELECT max(last_used_at) AS at FROM sessions").get() as { at: number }).at;
    const used = clock.now();
    await client.get("/api/auth/me");
    clock.advance(59_999);
    await client.get("/api/auth/me");
    expect(lastUsed()).toBe(used);
    clock.advance(1);
    await client.get("/api/auth/me");
    expect(lastUsed()).toBe(used + 60_000);
  });
});

describe("the identity request", () => {
  test("returns the user, the organization and the session's permissions", async () => {
    const second = await newNetwork();
    const member = await newUser({ role: "Member", networkIds: [second.id] });
    const { data } = await member.client.get("/api/auth/me");
    const user = (await member.client.get(`users/${member.id}`)).data;
    const organization = (await member.client.get("organizations")).data;
    const { permitted_operations: permitted } = data;
    expect([permitted.includes("createHost"), permitted.includes("createUser")]).toEqual([true, false]);
    expect(data).toEqual({
      ...user,
      organization,
      authenticated_by: "Session",
      api_key_id: null,
      effective_role: "Member",
      reachable_network_ids: [second.id],
      permitted_operations: permitted,
    });
    expect((await owner.get("/api/auth/me")).data.reachable_network_ids).toEqual([first.networkId, second.id]);
  });

  test("returns an API key with its own role and networks", async () => {
    const second = await newNetwork();
    const key = newApiKey({ permissions: "Viewer", networkIds: [second.id] });
    const { data } = await key.client.get("/api/auth/me");
    expect(data).toMatchObject({
      id: first.userId,
      role: "Owner",
      authenticated_by: "ApiKey",
      api_key_id: key.id,
      effective_role: "Viewer",
      reachable_network_ids: [second.id],
    });
  });

  test("requires credentials", async () => {
    expect((await anonymous.get("/api/auth/me")).status).toBe(401);
  });
});

describe("changing one's own password", () => {
  const change = { current_password: PASSWORD, new_password: "another phrase" };

  test("takes effect immediately, ends the other sessions and keeps the current one", async () => {
    const [current, third] = [clientOf(await signIn()), clientOf(await signIn())];
    const response = await current.put("/api/auth/password", change);
    expect(response.status).toBe(200);
    expect(response.data.id).toBe(first.userId);
    expect((await current.get("/api/auth/me")).status).toBe(200);
    expect((await third.get("/api/auth/me")).status).toBe(401);
    expect((await owner.get("/api/auth/me")).status).toBe(401);
    expect((await signIn()).status).toBe(401);
    expect((await signIn({ email: EMAIL, password: change.new_password })).status).toBe(200);
  });

  test("creates a version naming the change, without the password or its hash", async () => {
    await owner.put("/api/auth/password", change);
    expect(versionsOf(first.userId).map((version) => version.changed)).toEqual([null, ["password"]]);
    const documents = appliance.reader.db
      .query<{ members: string | null }, []>(`SELECT ${writtenSql("v", "members")} AS members FROM history_versions v`)
      .all();
    expect(JSON.stringify(documents)).not.toMatch(/argon2|another phrase/);
  });

  test("does not affect API keys and other users' sessions", async () => {
    const key = newApiKey();
    const otherUser = await newUser({ role: "Viewer" });
    await owner.put("/api/auth/password", change);
    expect((await otherUser.client.get("/api/auth/me")).status).toBe(200);
    expect((await key.client.get("/api/auth/me")).status).toBe(200);
  });

  test("requires the current password, and throttles guesses of it", async () => {
    const guess = { ...change, current_password: "a guess" };
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await expectRefusal(owner.put("/api/auth/password", guess), 401, "auth_invalid_credentials");
    }
    expect((await owner.put("/api/auth/password", change)).status).toBe(429);
    expect((await signIn()).status).toBe(429);
    expect(versionsOf(first.userId)).toHaveLength(1);
  });

  test("requires at least ten characters", async () => {
    const response = await owner.put("/api/auth/password", { ...change, new_password: "nine char" });
    expect(response.status).toBe(400);
    expect(response.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/new_password"]);
    expect(response.text).not.toContain("nine char");
    const spaced = await owner.put("/api/auth/password", { ...change, new_password: "a phrase with\nline break" });
    expect(spaced.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual(["/new_password"]);
  });

  test("refuses an easily guessed password without counting an attempt; existing ones keep working", async () => {
    for (const new_password of ["\u2800".repeat(10), "1111111111", EMAIL]) {
      const { status, body, text } = await owner.put("/api/auth/password", { ...change, new_password });
      expect([status, body.code, body.params.issues[0].path]).toEqual([400, "validation_failed", "/new_password"]);
      expect(text).not.toContain(new_password);
    }
    expect(versionsOf(first.userId)).toHaveLength(1);
    const passwordHash = await Bun.password.hash("1111111111", { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
    await appliance.writes.run(
      "user.set_password",
      { id: first.userId, passwordHash, keptHash: null },
      { type: "System", id: null, name: "netledger", organizationId: null, requestId: null },
    );
    expect((await signIn({ email: EMAIL, password: "1111111111" })).status).toBe(200);
  });

  test("requires a session, even for a Viewer, and refuses API keys", async () => {
    expect((await newApiKey().client.put("/api/auth/password", change)).body.code).toBe("auth_session_required");
    expect((await anonymous.put("/api/auth/password", change)).body.code).toBe("auth_not_authenticated");
    const viewer = await newUser({ role: "Viewer" });
    await givePassword(viewer.id);
    expect((await (await signedIn(viewer.id)).put("/api/auth/password", change)).status).toBe(200);
  });
});
