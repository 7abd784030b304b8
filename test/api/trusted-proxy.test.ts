// Requests through a trusted proxy: the client's address counts wherever an address matters; other forwarding headers
// are ignored.

import { beforeEach, describe, expect, test } from "bun:test";
import { type Cidr, parseCidr } from "../../src/base/ip.ts";
import {
  NEXT_ROUND_WAIT_MS,
  ROUND_ALWAYS_ADMITTED,
  ROUND_ALWAYS_ADMITTED_OF_CALLER,
  ROUND_WAIT_MS,
} from "../../src/http/admission.ts";
import { PAIR_FREE_FAILURES } from "../../src/sessions/sign-in-throttle.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";

/** Header that sets the peer address in these tests. */
const PEER = "x-test-peer";
const PROXY = "10.0.0.1";

const appliance = applianceForEach({
  monotonicMs: () => now,
  peerOf: (request) => request.headers.get(PEER) ?? "local",
  trustedProxies: [parseCidr("10.0.0.0/30") as Cidr],
});
const { anonymous, givePassword, handle, newUser, owner } = appliance;
let now = 0;

const endRound = () => new Promise<void>((resolve) => setImmediate(resolve));

beforeEach(async () => {
  await endRound();
  now += NEXT_ROUND_WAIT_MS + 1;
});

describe("failed sign-ins behind a trusted proxy", () => {
  /** Outcome of a sign-in, by socket address and header. */
  async function signIn(password: string, peer: string, forwardedFor?: string): Promise<number> {
    const sent = { email, password };
    const headers = { [PEER]: peer, ...(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }) };
    return (await anonymous.post("/api/auth/login", sent, headers)).status;
  }
  async function failRepeatedly(peer: string, forwardedFor: (i: number) => string): Promise<number> {
    for (let i = 0; i < PAIR_FREE_FAILURES; i += 1) expect(await signIn("wrong", peer, forwardedFor(i))).toBe(401);
    await signIn("wrong", peer, forwardedFor(PAIR_FREE_FAILURES));
    return signIn("correct horse battery", peer, forwardedFor(PAIR_FREE_FAILURES + 1));
  }
  let email = "";
  beforeEach(async () => {
    const user = await newUser({ role: "Viewer" });
    await givePassword(user.id);
    email = (await owner.get(`users/${user.id}`)).data.email;
  });

  test("throttle their own caller, and no other", async () => {
    expect(await failRepeatedly(PROXY, () => "203.0.113.5")).toBe(429);
    expect(await signIn("correct horse battery", PROXY, "203.0.113.6")).toBe(200);
    expect(await signIn("correct horse battery", "10.0.0.2", "203.0.113.5, 10.0.0.1")).toBe(429);
    expect(await signIn("correct horse battery", "203.0.113.5")).toBe(429);
  });

  test("throttle their caller regardless of its claims", async () => {
    expect(await failRepeatedly(PROXY, (i) => `198.51.100.${i}, 203.0.113.5`)).toBe(429);
  });

  test("throttle an untrusted peer regardless of the address it forwards", async () => {
    expect(await failRepeatedly("10.0.0.4", (i) => `198.51.100.${i}`)).toBe(429);
    expect(await signIn("correct horse battery", PROXY, "198.51.100.0")).toBe(200);
  });

  test("throttle the proxy itself if it forwards no address", async () => {
    expect(await failRepeatedly(PROXY, () => "unknown")).toBe(429);
    expect(await signIn("correct horse battery", PROXY)).toBe(429);
  });
});

test("concurrent requests are admitted per caller, not per proxy", async () => {
  const request = (peer: string, caller: string) =>
    new Request("http://localhost/api/v1/tags", { headers: { [PEER]: peer, "x-forwarded-for": caller } });
  const flood = ROUND_ALWAYS_ADMITTED + ROUND_ALWAYS_ADMITTED_OF_CALLER;
  const requests = [
    ...Array.from({ length: flood + 3 }, (_, i) => request(PROXY, `198.51.100.${i % 200}, 203.0.113.5`)),
    request(PROXY, "203.0.113.6"),
    ...Array.from({ length: 6 }, (_, i) => request("192.0.2.9", `198.51.100.${i}`)),
  ];
  const responses = await Promise.all(
    requests.map((request) => {
      now += ROUND_WAIT_MS / 10;
      return handle(request);
    }),
  );
  expect(responses.map(({ status }) => status)).toEqual([
    ...Array.from({ length: flood }, () => 401),
    ...[429, 429, 429],
    401,
    ...Array.from({ length: ROUND_ALWAYS_ADMITTED_OF_CALLER }, () => 401),
    429,
  ]);
});

describe("the log", () => {
  async function sourcesOf(headers: Record<string, string>): Promise<(string | undefined)[]> {
    appliance.logLines.length = 0;
    await owner.post("tags", { name: `tag ${appliance.random.bytes(4).toHex()}`, color: "Red" }, headers);
    await anonymous.get("tags", headers);
    return appliance.logLines
      .filter((line) => / request(_refused)? /.test(line))
      .map((line) => / source=(\S+)/.exec(line)?.[1]);
  }

  test("names the caller of completed and refused requests", async () => {
    expect(await sourcesOf({ [PEER]: PROXY, "x-forwarded-for": "198.51.100.1, 203.0.113.5:99" })).toEqual([
      "203.0.113.5",
      "203.0.113.5",
    ]);
    expect(await sourcesOf({ [PEER]: PROXY, "x-forwarded-for": "[2001:DB8::5]" })).toEqual([
      "2001:db8::5",
      "2001:db8::5",
    ]);
  });

  test("names the peer, in canonical form, without a trusted proxy", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.5" };
    expect(await sourcesOf({ [PEER]: "::ffff:192.0.2.7", ...forwarded })).toEqual(["192.0.2.7", "192.0.2.7"]);
    expect(await sourcesOf({ [PEER]: "::ffff:10.0.0.1" })).toEqual([PROXY, PROXY]);
    expect(await sourcesOf({ [PEER]: PROXY, forwarded: "for=203.0.113.5" })).toEqual([PROXY, PROXY]);
    expect(await sourcesOf({ [PEER]: PROXY, "x-real-ip": "203.0.113.5" })).toEqual([PROXY, PROXY]);
  });

  test("cannot be injected through a header", async () => {
    const [source] = await sourcesOf({ [PEER]: PROXY, "x-forwarded-for": 'x source=1.2.3.4 "' });
    expect(source).toBe(PROXY);
    expect(appliance.logLines.join("\n")).not.toContain("1.2.3.4");
  });
});
