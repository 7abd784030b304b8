// Session origins: the stored address and client, shown to their user.

import { describe, expect, test } from "bun:test";
import { type Cidr, parseCidr } from "../../src/base/ip.ts";
import { plainUserAgent, USER_AGENT_MAX_LENGTH } from "../../src/sessions/session-origin.ts";
import { USAGE_INTERVAL_MS } from "../../src/sessions/usage.ts";
import { newUnclaimedAppliance, PASSWORD, SETUP_TOKEN } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { cookieOf } from "../support/appliance/sign-in.ts";

/** Header that sets the peer address in these tests. */
const PEER = "x-test-peer";
const PROXY = "192.0.2.80";
const options = {
  peerOf: (request: Request) => request.headers.get(PEER) ?? "local",
  trustedProxies: [parseCidr(`${PROXY}/32`) as Cidr],
};

const appliance = applianceForEach(options);
const { anonymous, clientOf, clock, first, givePassword, owner, watchWrites } = appliance;

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

async function signIn(headers: Record<string, string>): Promise<Client> {
  const response = await anonymous.post(
    "/api/auth/login",
    { email: "owner@first.example", password: PASSWORD },
    headers,
  );
  expect(response.status).toBe(200);
  return clientOf(response);
}

/** Origins of the sessions, in list order. */
async function origins(client: Client, headers: Record<string, string> = {}): Promise<unknown[]> {
  const sessions = (await client.get("/api/auth/sessions", headers)).data as JsonRecord[];
  return sessions.map(({ last_used_from, user_agent, is_current }) => [last_used_from, user_agent, is_current]);
}

describe("a session", () => {
  test("shows the address and user agent of its sign-in", async () => {
    await givePassword(first.userId);
    const client = await signIn({ [PEER]: "::ffff:10.0.30.7", "user-agent": FIREFOX });
    clock.advance(1_000);
    await signIn({ [PEER]: PROXY, "x-forwarded-for": "2001:DB8::5", "user-agent": "  curl/8.5.0\t" });
    clock.advance(1_000);
    await signIn({});
    const listed = await origins(client, { [PEER]: "10.0.30.7", "user-agent": FIREFOX });
    expect(listed).toHaveLength(3);
    expect(listed).toContainEqual(["10.0.30.7", FIREFOX, true]);
    expect(listed).toContainEqual(["2001:db8::5", "curl/8.5.0", false]);
    expect(listed).toContainEqual([null, null, false]);
  });

  test("shows the address of its last use, recorded with the time at most once a minute", async () => {
    await givePassword(first.userId);
    const client = await signIn({ [PEER]: "10.0.30.7", "user-agent": FIREFOX });
    const at = (peer: string, agent: string) => origins(client, { [PEER]: peer, "user-agent": agent });
    await at("10.0.30.7", FIREFOX);
    clock.advance(USAGE_INTERVAL_MS - 1);
    await at("203.0.113.9", "curl/8.5.0");
    expect(await at("203.0.113.9", "curl/8.5.0")).toEqual([["10.0.30.7", FIREFOX, true]]);
    clock.advance(1);
    await at("203.0.113.9", "curl/8.5.0");
    expect(await at("10.0.30.7", FIREFOX)).toEqual([["203.0.113.9", "curl/8.5.0", true]]);
    clock.advance(USAGE_INTERVAL_MS);
    await client.get("/api/auth/me", { [PEER]: "2001:db8::9" });
    expect(await at("10.0.30.7", FIREFOX)).toEqual([["2001:db8::9", null, true]]);
  });

  test("shows no origin until used again if it was created without one", async () => {
    clock.advance(USAGE_INTERVAL_MS);
    expect(await origins(owner, { [PEER]: "10.0.30.7" })).toEqual([[null, null, true]]);
    expect(await origins(owner, { [PEER]: "10.0.30.7" })).toEqual([["10.0.30.7", null, true]]);
  });

  test("is found by last address and user agent", async () => {
    await givePassword(first.userId);
    const ownHeaders = { [PEER]: "10.0.30.7", "user-agent": FIREFOX };
    const client = await signIn(ownHeaders);
    clock.advance(1_000);
    await signIn({ [PEER]: "2001:db8::5", "user-agent": "curl/8.5.0" });
    const found = async (filter: string) =>
      (
        (await client.get(`/api/auth/sessions?filter=${encodeURIComponent(filter)}`, ownHeaders)).data as JsonRecord[]
      ).map(({ last_used_from }) => last_used_from);
    expect(await found('last_used_from : "10.0.0.0/8"')).toEqual(["10.0.30.7"]);
    expect(await found('last_used_from = "2001:DB8::5"')).toEqual(["2001:db8::5"]);
    expect(await found("user_agent : firefox")).toEqual(["10.0.30.7"]);
    expect(await found('NOT last_used_from : "10.0.0.0/8"')).toContain("2001:db8::5");
  });

  test("creates no version when used elsewhere, and is bound to no address", async () => {
    await givePassword(first.userId);
    const client = await signIn({ [PEER]: "10.0.30.7" });
    clock.advance(USAGE_INTERVAL_MS);
    const expectNothingWritten = watchWrites();
    expect((await client.get("/api/auth/me", { [PEER]: "203.0.113.9" })).status).toBe(200);
    expectNothingWritten();
  });

  test("has an origin even if created by setup", async () => {
    const unclaimed = newUnclaimedAppliance(options);
    try {
      const response = await unclaimed.anonymous.post(
        "/api/auth/setup",
        {
          setup_token: SETUP_TOKEN,
          organization_name: "Acme",
          network_name: "Main",
          email: "owner@acme.example",
          password: PASSWORD,
        },
        { [PEER]: "10.0.30.7", "user-agent": FIREFOX },
      );
      const client = unclaimed.anonymous.with({ cookie: `session_id=${cookieOf(response).value}` });
      expect(await origins(client, { [PEER]: "10.0.30.7", "user-agent": FIREFOX })).toEqual([
        ["10.0.30.7", FIREFOX, true],
      ]);
    } finally {
      await unclaimed.close();
    }
  });
});

describe("a stored user agent", () => {
  test.each<[string, string | null, string | null]>([
    ["unchanged", FIREFOX, FIREFOX],
    ["is null if absent", null, null],
    ["is null if empty", "", null],
    ["is null if blank", " \t\u00a0 ", null],
    ["is on one line", "a\r\nb\u0085c\u2028d\te", "a b c d e"],
    ["has no control characters", "\u001b[31mred\u0000\u007f\u009b2J", "[31mred 2J"],
    ["has no characters that reverse or hide text", "safe\u202egnp.exe\u200b\u00ad\ufeff!", "safe gnp.exe !"],
    ["has no lone surrogates", "a\ud800b\udc00", "a b"],
    ["keeps letters of any script", "Überbrowser/1 ネット", "Überbrowser/1 ネット"],
    ["is null if it contains an API key", `agent nlk_${"a1B".repeat(14)}c`, null],
    ["is null if it contains a session token", `session_id=${"aB".repeat(21)}A`, null],
    ["truncated", "x".repeat(USER_AGENT_MAX_LENGTH + 1), "x".repeat(USER_AGENT_MAX_LENGTH)],
    ["is truncated between characters", "😀".repeat(300), "😀".repeat(USER_AGENT_MAX_LENGTH)],
    [
      "is truncated before a space",
      `${"x".repeat(USER_AGENT_MAX_LENGTH - 1)} y`,
      "x".repeat(USER_AGENT_MAX_LENGTH - 1),
    ],
    ["is null if its stored part would be blank", `${" ".repeat(100_000)}x`, null],
  ])("%s", (_case, header, stored) => {
    expect(plainUserAgent(header)).toBe(stored);
  });
});
