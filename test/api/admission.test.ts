import { beforeEach, describe, expect, test } from "bun:test";
import { generateApiKey } from "../../src/access/api-key.ts";
import { DomainError } from "../../src/base/errors.ts";
import { RecentLines } from "../../src/base/recent-lines.ts";
import { WRITE_RETRY_AFTER_S } from "../../src/base/write-limits.ts";
import {
  Admission,
  NEXT_ROUND_ALWAYS_ADMITTED,
  NEXT_ROUND_WAIT_MS,
  OVERLOAD_RETRY_AFTER_S,
  ROUND_ALWAYS_ADMITTED,
  ROUND_ALWAYS_ADMITTED_OF_CALLER,
  ROUND_LOOKUPS_OF_SOURCE,
  ROUND_WAIT_MS,
} from "../../src/http/admission.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { documentCheck } from "../support/contract/openapi.ts";

const appliance = applianceForAll({ monotonicMs: () => now });
const { first, handle, newApiKey, newUser, owner, signedIn, timers } = appliance;
/** Monotonic clock of the appliance. */
let now = 0;

/** Puts earlier refusals far into the past. */
beforeEach(async () => {
  await roundIsOver();
  now += NEXT_ROUND_WAIT_MS + 1;
});

/** Sends requests concurrently, accepting one per interval, before any gets a response. */
async function sendConcurrently(
  count: number,
  stepMs: number,
  request: (i: number) => Request,
  immediately = false,
): Promise<Response[]> {
  await roundIsOver();
  // Puts earlier refusals far into the past.
  if (!immediately) now += NEXT_ROUND_WAIT_MS + 1;
  const responses: Promise<Response>[] = [];
  for (let i = 0; i < count; i += 1) {
    if (i > 0) now += stepMs;
    responses.push(handle(request(i)));
  }
  return Promise.all(responses);
}

/** All requests come from one address. */
const ADMITTED = ROUND_ALWAYS_ADMITTED + ROUND_ALWAYS_ADMITTED_OF_CALLER;

const roundIsOver = () => new Promise<void>((resolve) => setImmediate(resolve));
const list = () => new Request("http://localhost/api/v1/tags");
const statuses = (responses: readonly Response[]) => responses.map(({ status }) => status);

describe("concurrent requests", () => {
  test("are all admitted while there are few of them, even if each takes long", async () => {
    const responses = await sendConcurrently(ROUND_ALWAYS_ADMITTED, 10 * ROUND_WAIT_MS, list);
    expect(new Set(statuses(responses))).toEqual(new Set([401]));
  });

  test("are all admitted in any number while none of them waits long", async () => {
    const responses = await sendConcurrently(
      20 * ROUND_ALWAYS_ADMITTED,
      ROUND_WAIT_MS / (20 * ROUND_ALWAYS_ADMITTED),
      list,
    );
    expect(new Set(statuses(responses))).toEqual(new Set([401]));
  });

  test("are refused above that limit, before authentication, with Retry-After", async () => {
    const responses = await sendConcurrently(ADMITTED + 50, ROUND_WAIT_MS / 10, list);
    expect(statuses(responses.slice(0, ADMITTED))).toEqual(Array.from({ length: ADMITTED }, () => 401));
    expect(statuses(responses.slice(ADMITTED))).toEqual(Array.from({ length: 50 }, () => 429));
    const refused = responses.at(-1) as Response;
    expect(refused.headers.get("retry-after")).toBe(String(OVERLOAD_RETRY_AFTER_S));
    expect(refused.headers.get("x-request-id")).not.toBeNull();
    expect(await refused.json()).toMatchObject({
      success: false,
      code: "rate_limit_exceeded",
      params: { retry_after_seconds: OVERLOAD_RETRY_AFTER_S },
    });
  });

  test("write nothing when refused", async () => {
    const { cookie } = (owner as unknown as { headers: Record<string, string> }).headers;
    const before = appliance.reader.head().sequence;
    const responses = await sendConcurrently(ADMITTED + 20, ROUND_WAIT_MS / 10, (i) => {
      if (i < ADMITTED) return new Request("http://localhost/api/v1/tags", { headers: { cookie: cookie as string } });
      const body = JSON.stringify({
        organization_id: first.organizationId,
        name: `tag ${i}`,
        color: "Red",
        is_application: false,
      });
      return new Request("http://localhost/api/v1/tags", {
        method: "POST",
        headers: { cookie: cookie as string, "content-type": "application/json" },
        body,
      });
    });
    expect(statuses(responses.slice(ADMITTED))).toEqual(Array.from({ length: 20 }, () => 429));
    expect(appliance.reader.head().sequence).toBe(before);
  });

  test("are rejected sooner, and in greater numbers, right after a round with rejections", async () => {
    const between = (NEXT_ROUND_WAIT_MS + ROUND_WAIT_MS) / 2;
    const refused = async (count: number, immediately: boolean) =>
      (await sendConcurrently(count, between / count, list, immediately)).filter(({ status }) => status === 429).length;
    expect(await refused(ROUND_ALWAYS_ADMITTED, false)).toBe(0);
    await sendConcurrently(2 * ROUND_ALWAYS_ADMITTED, ROUND_WAIT_MS, list);
    expect(await refused(ROUND_ALWAYS_ADMITTED, true)).toBeGreaterThan(ROUND_ALWAYS_ADMITTED / 4);
    expect(await refused(NEXT_ROUND_ALWAYS_ADMITTED, true)).toBe(0);
    expect(await refused(ROUND_ALWAYS_ADMITTED, false)).toBe(0);
  });

  test("do not delay the next round once refused", async () => {
    await sendConcurrently(2 * ROUND_ALWAYS_ADMITTED, ROUND_WAIT_MS, list);
    const responses = await sendConcurrently(1, 0, list);
    expect(statuses(responses)).toEqual([401]);
  });

  test("close their connection when refused, dropping anything else sent on it", async () => {
    const responses = await sendConcurrently(ADMITTED + 2, ROUND_WAIT_MS, (i) =>
      i > ADMITTED ? new Request("http://localhost/api/health") : list(),
    );
    expect(responses.slice(-3).map(({ headers }) => headers.get("connection"))).toEqual([null, "close", "close"]);
  });

  test.each("/api/nothing /nothing /docs /docs/scalar.js /api/openapi.json /openapi.json /handbook /".split(" "))(
    "are refused even at %s, which is not an operation",
    async (path) => {
      const responses = await sendConcurrently(
        ADMITTED + 1,
        ROUND_WAIT_MS,
        () => new Request(`http://localhost${path}`),
      );
      expect(responses.at(-1)?.status).toBe(429);
    },
  );

  test("leave the health check responsive", async () => {
    const responses = await sendConcurrently(ADMITTED + 2, ROUND_WAIT_MS, (i) =>
      i > ADMITTED ? new Request("http://localhost/api/health") : list(),
    );
    expect(statuses(responses.slice(-2))).toEqual([429, 200]);
  });

  test("are logged once a second while refused", async () => {
    timers.pass(1_000);
    appliance.logLines.length = 0;
    await sendConcurrently(ADMITTED + 30, ROUND_WAIT_MS, list);
    expect(
      appliance.logLines.filter(
        (line) => line.includes("429") || line.includes("rate_limit") || line.includes("overloaded"),
      ),
    ).toEqual([]);
    timers.pass(1_000);
    expect(appliance.logLines.filter((line) => line.includes("overloaded"))).toEqual([
      expect.stringContaining("refused=30"),
    ]);
  });

  test("can be rejected on every operation except the health check, as documented", async () => {
    const document = (await (await handle(new Request("http://localhost/api/openapi.json"))).json()) as {
      paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
    };
    const operations = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter((operation) => operation.operationId !== undefined);
    expect(operations.length).toBeGreaterThan(100);
    expect(
      operations.filter(({ responses }) => responses["429"] === undefined).map(({ operationId }) => operationId),
    ).toEqual(["getHealth"]);
    const check = documentCheck(async (request) => handle(request));
    const refused = (
      await sendConcurrently(ADMITTED + 2, ROUND_WAIT_MS, () => new Request("http://localhost/api/version"))
    ).at(-1) as Response;
    expect(refused.status).toBe(429);
    await roundIsOver();
    const text = await refused.text();
    await check("GET", "/api/version", {
      status: refused.status,
      headers: refused.headers,
      text,
      body: JSON.parse(text),
      data: undefined,
    });
  });
});

describe("concurrent requests from one address", () => {
  const bearing = (authorization: string) =>
    new Request("http://localhost/api/v1/tags", { headers: { authorization } });
  /** Well-formed, but unknown. */
  const unknownKey = () => `Bearer ${generateApiKey(appliance.random)}`;
  /** Fills a round, then sends the given requests, each after the wait. */
  const afterFlood = async (flood: (i: number) => Request, after: readonly Request[], flooding = 3 * ADMITTED) => {
    const responses = await sendConcurrently(flooding + after.length, ROUND_WAIT_MS / 10, (i) =>
      i < flooding ? flood(i) : (after[i - flooding] as Request),
    );
    return { flood: statuses(responses.slice(0, flooding)), after: statuses(responses.slice(flooding)) };
  };
  /** Sends a request in a separate round, long after all refusals. */
  const sendAlone = async (request: Request) => (await sendConcurrently(1, 0, () => request))[0]?.status;
  const count = (responses: readonly number[], status: number) => responses.filter((code) => code === status).length;

  test("do not shut out other users or anonymous callers if they come from one user", async () => {
    const [viewer, otherUser] = [await newUser({ role: "Viewer" }), await newUser({ role: "Viewer" })];
    const key = newApiKey({ userId: viewer.id, permissions: "Viewer" }).key;
    const otherKey = newApiKey({ userId: otherUser.id, permissions: "Viewer" }).key;
    const { flood, after } = await afterFlood(
      () => bearing(`Bearer ${key}`),
      [bearing(`Bearer ${otherKey}`), list(), bearing(`Bearer ${otherKey}`)],
    );
    expect([count(flood, 200), count(flood, 429)]).toEqual([ADMITTED, 2 * ADMITTED]);
    expect(after).toEqual([200, 401, 200]);
  });

  test("are counted per user, across keys and sessions", async () => {
    const { id } = await newUser({ role: "Viewer" });
    const session = (await signedIn(id)) as unknown as { headers: Record<string, string> };
    const keys = Array.from({ length: 20 }, () => newApiKey({ userId: id, permissions: "Viewer" }).key);
    const request = (i: number) =>
      i % 21 === 20
        ? new Request("http://localhost/api/v1/tags", { headers: session.headers })
        : bearing(`Bearer ${keys[i % 21]}`);
    const { flood } = await afterFlood(request, []);
    expect([count(flood, 200), count(flood, 429)]).toEqual([ADMITTED, 2 * ADMITTED]);
  });

  test.each<[string, () => Request]>([
    ["unknown keys", () => bearing(unknownKey())],
    ["malformed keys", () => bearing("Bearer nlk_of my own making")],
    ["other authorization", () => bearing("Basic bm9ib2R5Om5vdGhpbmc=")],
    [
      "unknown sessions",
      () =>
        new Request("http://localhost/api/v1/tags", {
          headers: { cookie: `session_id=${Buffer.from(appliance.random.bytes(32)).toString("base64url")}` },
        }),
    ],
    ["no credentials", list],
  ])("are counted per address if sent with %s: they shut out each other, but not users", async (kind, flooding) => {
    const { key } = newApiKey({ permissions: "Viewer" });
    const { flood, after } = await afterFlood(flooding, [
      flooding(),
      bearing(`Bearer ${key}`),
      list(),
      bearing(`Bearer ${key}`),
    ]);
    expect([count(flood, 401), count(flood, 429)]).toEqual([ADMITTED, 2 * ADMITTED]);
    // Made-up keys use up the lookups; a previously used key needs none.
    const expectedStatus = kind.includes("unknown") ? 429 : 200;
    expect(after).toEqual([429, expectedStatus, 429, expectedStatus]);
    expect(await sendAlone(bearing(`Bearer ${key}`))).toBe(200);
    expect((await afterFlood(flooding, [bearing(`Bearer ${key}`), flooding()])).after).toEqual([200, 429]);
  });

  test("are counted per address if the key is expired, disabled or owned by a disabled user", async () => {
    const { id } = await newUser({ role: "Viewer" });
    const expired = newApiKey({ userId: id, permissions: "Viewer", expiresAt: "2020-01-01T00:00:00.000Z" });
    const disabled = newApiKey({ userId: id, permissions: "Viewer", isEnabled: false });
    for (const { key } of [expired, disabled]) {
      const { flood, after } = await afterFlood(() => bearing(`Bearer ${key}`), [list()]);
      expect([count(flood, 401), count(flood, 429)]).toEqual([ADMITTED, 2 * ADMITTED]);
      expect(after).toEqual([429]);
    }
    const good = newApiKey({ userId: id, permissions: "Viewer" });
    expect(await sendAlone(bearing(`Bearer ${good.key}`))).toBe(200);
    await owner.put(`users/${id}`, { ...(await owner.get(`users/${id}`)).data, is_enabled: false });
    expect(await sendAlone(bearing(`Bearer ${good.key}`))).toBe(401);
    expect((await afterFlood(() => bearing(`Bearer ${good.key}`), [list()])).after).toEqual([429]);
  });

  test("do not record key use when refused", async () => {
    const { id } = await newUser({ role: "Viewer" });
    const used = newApiKey({ userId: id, permissions: "Viewer" });
    const unused = newApiKey({ userId: id, permissions: "Viewer" });
    const { after } = await afterFlood(() => bearing(`Bearer ${used.key}`), [bearing(`Bearer ${unused.key}`)]);
    expect(after).toEqual([429]);
    const record = (await owner.get(`auth/keys/${unused.id}`)).data;
    expect(record.last_used).toBeNull();
  });

  test("look up each credential in the store only a limited number of times", async () => {
    await roundIsOver();
    let lookups = 0;
    const admission = new Admission(timers, {
      info: () => {},
      warn: () => {},
      error: () => {},
      audit: () => {},
      recent: new RecentLines(),
    });
    const from = (source: string) => ({
      source: () => source,
      user: (mayAsk: () => boolean) => {
        if (mayAsk()) lookups += 1;
        return null;
      },
    });
    admission.admits(0, from("192.0.2.1"));
    for (let n = 0; n < ROUND_ALWAYS_ADMITTED; n += 1) admission.admits(1, from("192.0.2.1"));
    expect(lookups).toBe(0);
    for (let n = 0; n < 1_000; n += 1) admission.admits(ROUND_WAIT_MS + 1, from("192.0.2.1"));
    expect(lookups).toBe(ROUND_LOOKUPS_OF_SOURCE);
    // One machine has 2^64 IPv6 addresses; one IPv4 address has two notations.
    const admitted = (sources: readonly string[]) =>
      sources.filter((source) => admission.admits(ROUND_WAIT_MS + 1, from(source))).length;
    expect(admitted(Array.from({ length: 1_000 }, (_, n) => `2001:db8:0:1::${n.toString(16)}`))).toBe(
      ROUND_ALWAYS_ADMITTED_OF_CALLER,
    );
    expect(admitted(["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:0:1:ffff::1%eth0"])).toBe(0);
    expect(admitted(["192.0.2.2", "2001:db8:0:2::1"])).toBe(2);
    expect(lookups).toBe(4 * ROUND_LOOKUPS_OF_SOURCE - 38);
  });
});

describe("a temporarily impossible write", () => {
  const refusals: [string, DomainError, number, string][] = [
    [
      "the write queue is full",
      new DomainError("rate_limit_exceeded", "Too many writes are waiting; try again in a second.", {
        retry_after_seconds: WRITE_RETRY_AFTER_S,
      }),
      429,
      String(WRITE_RETRY_AFTER_S),
    ],
    [
      "the appliance is shutting down",
      new DomainError("shutting_down", "The appliance is shutting down: nothing was written."),
      503,
      "5",
    ],
  ];
  test.each(refusals)("is refused with Retry-After when %s", async (_, error, status, retryAfter) => {
    const { run } = appliance.writes;
    appliance.writes.run = () => Promise.reject(error);
    const response = await owner.post("tags", {
      organization_id: first.organizationId,
      name: "late",
      color: "Red",
      description: "",
      is_application: false,
    });
    appliance.writes.run = run;
    expect([response.status, response.headers.get("retry-after")]).toEqual([status, retryAfter]);
  });
});
