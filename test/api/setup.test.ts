// Appliance setup, which works once and needs the token from the log.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newUnclaimedAppliance, SETUP_TOKEN, type UnclaimedAppliance } from "../support/appliance/appliance.ts";
import { clientOf, cookieOf } from "../support/appliance/sign-in.ts";
import { expectRefusal } from "../support/contract/shapes.ts";

let appliance: UnclaimedAppliance;

beforeEach(() => {
  appliance = newUnclaimedAppliance();
});
afterEach(() => appliance.close());

const claim = {
  setup_token: SETUP_TOKEN,
  organization_name: "Example Networks",
  network_name: "Campus North",
  email: "Noc@Example.net",
  password: "a phrase of their own",
};
const setUp = (body: object = claim, headers?: Record<string, string>) =>
  appliance.anonymous.post("/api/auth/setup", body, headers);

describe("an unclaimed appliance", () => {
  test("reports that setup is needed, and afterwards that it is not", async () => {
    expect((await appliance.anonymous.get("/api/auth/setup")).data).toEqual({ needed: true });
    expect((await setUp()).status).toBe(200);
    expect((await appliance.anonymous.get("/api/auth/setup")).data).toEqual({ needed: false });
  });

  test("is claimed with an organization, its first network and its Owner, who is signed in", async () => {
    const response = await setUp();
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ success: true, meta: { api_version: 1 } });
    const { user, organization_id, network_id } = response.data;
    expect(user).toMatchObject({
      organization_id,
      email: claim.email,
      name: claim.email,
      role: "Owner",
      network_ids: [],
      is_enabled: true,
      last_login: appliance.clock.text(),
      valid_to: null,
    });
    const owner = clientOf(appliance, response);
    expect((await owner.get("/api/auth/me")).data).toMatchObject({
      id: user.id,
      organization: { id: organization_id, name: claim.organization_name },
    });
    expect((await owner.get("networks")).data).toMatchObject([
      { id: network_id, name: claim.network_name, organization_id },
    ]);
  });

  test("names its Owner as given in the claim", async () => {
    const response = await setUp({ ...claim, name: "Ada Byron" });
    expect(response.data.user).toMatchObject({ name: "Ada Byron", email: claim.email });
  });

  test("is claimed in one transaction of the ledger", async () => {
    await setUp(claim, { "x-request-id": "the-claim" });
    const rows = appliance.reader.db
      .query(
        `SELECT sequence, actor_type, source, request_id, (SELECT count(*) FROM history_versions) AS versions
          FROM history_transactions`,
      )
      .all();
    expect(rows).toEqual([
      { sequence: 1, actor_type: "System", source: "organization.set_up", request_id: "the-claim", versions: 3 },
    ]);
  });

  test("accepts the token in any notation", async () => {
    const response = await setUp({
      ...claim,
      setup_token: ` ${SETUP_TOKEN.toLowerCase().replaceAll("-", " ").replaceAll("0", "o")} `,
    });
    expect(response.status).toBe(200);
  });

  test("lets its Owner sign in with the password", async () => {
    await setUp();
    const response = await appliance.anonymous.post("/api/auth/login", {
      email: claim.email,
      password: claim.password,
    });
    expect(response.status).toBe(200);
  });

  test("refuses a wrong token, sets no cookie and creates nothing", async () => {
    const wrong = { ...claim, setup_token: "7K3M-0QXZ-V9T2-H4RC-8WJP-5NDF-1BGZ" };
    const response = await expectRefusal(setUp(wrong), 401, "auth_invalid_credentials");
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(response.text).not.toContain("1BGZ");
    expect(appliance.reader.head().sequence).toBe(0);
    expect((await appliance.anonymous.get("/api/auth/setup")).data).toEqual({ needed: true });
  });

  test("throttles guesses of the token, and accepts the right one after the wait", async () => {
    const wrong = { ...claim, setup_token: "a guess" };
    for (let guess = 0; guess < 4; guess += 1) expect((await setUp(wrong)).status).toBe(401);
    const throttled = await setUp();
    expect(throttled.status).toBe(429);
    expect(throttled.body).toMatchObject({ code: "rate_limit_exceeded", params: { retry_after_seconds: 1 } });
    expect(throttled.headers.get("retry-after")).toBe("1");
    appliance.clock.advance(1_000);
    expect((await setUp()).status).toBe(200);
  });

  test("reports all errors of a claim at once, and echoes neither token nor password", async () => {
    const bad = { setup_token: "", network_name: " ", email: "nobody", password: "short", colour: "red" };
    const response = await expectRefusal(setUp(bad), 400, "validation_failed");
    expect(response.body.params.issues.map((issue: { path: string }) => issue.path).sort()).toEqual(
      "/colour /email /network_name /organization_name /password /setup_token".split(" "),
    );
    expect(response.text).not.toContain("short");
  });

  test("refuses a password that cannot be retyped, even with the right token", async () => {
    const response = await setUp({ ...claim, password: "a phrase with\ttab" });
    expect(response.status).toBe(400);
    expect(response.body.params.issues).toEqual([
      { path: "/password", message: "must not contain control characters such as a line break or a tab" },
    ]);
    expect(appliance.reader.head().sequence).toBe(0);
  });

  test("refuses an easily guessed password, even with the right token", async () => {
    for (const password of [" ".repeat(10), "1111111111", claim.email.toUpperCase()]) {
      const { status, body, text } = await setUp({ ...claim, password });
      expect([status, body.code, body.params.issues[0].path]).toEqual([400, "validation_failed", "/password"]);
      expect(text).not.toContain(password);
    }
    expect(appliance.reader.head().sequence).toBe(0);
  });

  test("rejects a claim from a cross-site page", async () => {
    for (const headers of [{ origin: "https://evil.example", host: "localhost" }, { "sec-fetch-site": "cross-site" }]) {
      await expectRefusal(setUp(claim, headers), 403, "auth_origin_rejected");
    }
    expect(appliance.reader.head().sequence).toBe(0);
  });

  test("refuses every sign-in", async () => {
    const response = await appliance.anonymous.post("/api/auth/login", {
      email: claim.email,
      password: claim.password,
    });
    expect(response.status).toBe(401);
  });
});

describe("a claimed appliance", () => {
  test("cannot be claimed again, with the right token or a wrong one", async () => {
    const first = await setUp();
    for (const setup_token of [SETUP_TOKEN, "wrong"]) {
      const secondClaim = { ...claim, setup_token, email: "other@example.net" };
      const response = await expectRefusal(setUp(secondClaim), 409, "entity_already_exists");
      expect(response.headers.getSetCookie()).toEqual([]);
    }
    expect(cookieOf(first).value).toHaveLength(43);
  });

  test("has one Owner if claimed twice concurrently", async () => {
    const responses = await Promise.all(
      [1, 2].map((number) => setUp({ ...claim, email: `owner-${number}@example.net` })),
    );
    expect(responses.map((response) => response.status).sort()).toEqual([200, 409]);
    expect(appliance.reader.db.query("SELECT count(*) AS users FROM users").get()).toEqual({ users: 1 });
  });
});
