import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { WRITE_RETRY_AFTER_S } from "../../src/db/write-queue.ts";
import { NEXT_ROUND_ALWAYS_ADMITTED, NEXT_ROUND_PATIENCE_MS, OVERLOAD_RETRY_AFTER_S, ROUND_ALWAYS_ADMITTED, ROUND_ALWAYS_ADMITTED_OF_SOURCE, ROUND_PATIENCE_MS } from "../../src/http/admission.ts";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import { documentCheck } from "../support/openapi.ts";

let appliance: TestAppliance;
/** What the appliance measures time by. */
let now = 0;

beforeAll(async () => {
  appliance = await newAppliance({ monotonicMs: () => now });
});
afterAll(() => appliance.close());
/** What was refused before is long ago. */
beforeEach(async () => {
  await roundIsOver();
  now += NEXT_ROUND_PATIENCE_MS + 1;
});

/** Sends so many requests before any of them is answered, each taken up so long after the one before it. */
async function together(count: number, stepMs: number, request: (i: number) => Request, atOnce = false): Promise<Response[]> {
  await roundIsOver();
  // What was refused before is long ago.
  if (!atOnce) now += NEXT_ROUND_PATIENCE_MS + 1;
  const answers: Promise<Response>[] = [];
  for (let i = 0; i < count; i += 1) {
    if (i > 0) now += stepMs;
    answers.push(appliance.handle(request(i)));
  }
  return Promise.all(answers);
}

/** All come from one address here. */
const ADMITTED = ROUND_ALWAYS_ADMITTED + ROUND_ALWAYS_ADMITTED_OF_SOURCE;

const roundIsOver = () => new Promise<void>((resolve) => setImmediate(resolve));
const list = () => new Request("http://localhost/api/v1/tags");
const statuses = (answers: readonly Response[]) => answers.map(({ status }) => status);

describe("requests that come together", () => {
  test("are all let in while there are few of them, however long each of them takes", async () => {
    const answers = await together(ROUND_ALWAYS_ADMITTED, 10 * ROUND_PATIENCE_MS, list);
    expect(new Set(statuses(answers))).toEqual(new Set([401]));
  });

  test("are all let in while none of them has to wait long, however many there are", async () => {
    const answers = await together(20 * ROUND_ALWAYS_ADMITTED, ROUND_PATIENCE_MS / (20 * ROUND_ALWAYS_ADMITTED), list);
    expect(new Set(statuses(answers))).toEqual(new Set([401]));
  });

  test("are refused beyond that, before anybody asks who sends them, and are told when to come again", async () => {
    const answers = await together(ADMITTED + 50, ROUND_PATIENCE_MS / 10, list);
    expect(statuses(answers.slice(0, ADMITTED))).toEqual(Array.from({ length: ADMITTED }, () => 401));
    expect(statuses(answers.slice(ADMITTED))).toEqual(Array.from({ length: 50 }, () => 429));
    const refused = answers.at(-1) as Response;
    expect(refused.headers.get("retry-after")).toBe(String(OVERLOAD_RETRY_AFTER_S));
    expect(refused.headers.get("x-request-id")).not.toBeNull();
    expect(await refused.json()).toMatchObject({ success: false, code: "rate_limit_exceeded", params: { retry_after_seconds: OVERLOAD_RETRY_AFTER_S } });
  });

  test("write nothing where they are refused", async () => {
    const { cookie } = (appliance.owner as unknown as { headers: Record<string, string> }).headers;
    const before = appliance.reader.head().sequence;
    const answers = await together(ADMITTED + 20, ROUND_PATIENCE_MS / 10, (i) => {
      if (i < ADMITTED) return list();
      const body = JSON.stringify({ organization_id: appliance.first.organizationId, name: `tag ${i}`, color: "Red", is_application: false });
      return new Request("http://localhost/api/v1/tags", { method: "POST", headers: { cookie: cookie as string, "content-type": "application/json" }, body });
    });
    expect(statuses(answers.slice(ADMITTED))).toEqual(Array.from({ length: 20 }, () => 429));
    expect(appliance.reader.head().sequence).toBe(before);
  });

  test("are refused sooner, and more of them, in a round that follows at once on one in which some were refused", async () => {
    const between = (NEXT_ROUND_PATIENCE_MS + ROUND_PATIENCE_MS) / 2;
    const refused = async (count: number, atOnce: boolean) => (await together(count, between / count, list, atOnce)).filter(({ status }) => status === 429).length;
    expect(await refused(ROUND_ALWAYS_ADMITTED, false)).toBe(0);
    await together(2 * ROUND_ALWAYS_ADMITTED, ROUND_PATIENCE_MS, list);
    expect(await refused(ROUND_ALWAYS_ADMITTED, true)).toBeGreaterThan(ROUND_ALWAYS_ADMITTED / 4);
    expect(await refused(NEXT_ROUND_ALWAYS_ADMITTED, true)).toBe(0);
    expect(await refused(ROUND_ALWAYS_ADMITTED, false)).toBe(0);
  });

  test("hold up none of the next round", async () => {
    await together(2 * ROUND_ALWAYS_ADMITTED, ROUND_PATIENCE_MS, list);
    const answers = await together(1, 0, list);
    expect(statuses(answers)).toEqual([401]);
  });

  test("are refused with the end of their connection, so that what else was sent on it at once is dropped", async () => {
    const answers = await together(ADMITTED + 2, ROUND_PATIENCE_MS, (i) => (i > ADMITTED ? new Request("http://localhost/api/health") : list()));
    expect(answers.slice(-3).map(({ headers }) => headers.get("connection"))).toEqual([null, "close", "close"]);
  });

  test.each(["/api/nothing", "/nothing", "/docs", "/docs/scalar.js", "/api/openapi.json", "/"])("are refused at %s as well, which is no operation", async (path) => {
    const answers = await together(ADMITTED + 1, ROUND_PATIENCE_MS, () => new Request(`http://localhost${path}`));
    expect(answers.at(-1)?.status).toBe(429);
  });

  test("leave the health check to be answered", async () => {
    const answers = await together(ADMITTED + 2, ROUND_PATIENCE_MS, (i) => (i > ADMITTED ? new Request("http://localhost/api/health") : list()));
    expect(statuses(answers.slice(-2))).toEqual([429, 200]);
  });

  test("are logged as one line a second where they are refused", async () => {
    appliance.timers.pass(1_000);
    appliance.logLines.length = 0;
    await together(ADMITTED + 30, ROUND_PATIENCE_MS, list);
    expect(appliance.logLines.filter((line) => line.includes("429") || line.includes("rate_limit") || line.includes("overloaded"))).toEqual([]);
    appliance.timers.pass(1_000);
    expect(appliance.logLines.filter((line) => line.includes("overloaded"))).toEqual([expect.stringContaining("refused=30")]);
  });

  test("may be refused by every operation but the health check, and the document says so", async () => {
    const document = (await (await appliance.handle(new Request("http://localhost/api/openapi.json"))).json()) as { paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>> };
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods)).filter((each) => each.operationId !== undefined);
    expect(operations.length).toBeGreaterThan(100);
    expect(operations.filter(({ responses }) => responses["429"] === undefined).map(({ operationId }) => operationId)).toEqual(["getHealth"]);
    const check = documentCheck(async (request) => appliance.handle(request));
    const refused = (await together(ADMITTED + 2, ROUND_PATIENCE_MS, () => new Request("http://localhost/api/version"))).at(-1) as Response;
    expect(refused.status).toBe(429);
    await roundIsOver();
    const text = await refused.text();
    await check("GET", "/api/version", { status: refused.status, headers: refused.headers, text, body: JSON.parse(text), data: undefined });
  });
});

describe("what cannot be written now", () => {
  const refusals: [string, DomainError, number, string][] = [
    ["the line of writes is full", new DomainError("rate_limit_exceeded", "Too many writes are waiting; try again in a second.", { retry_after_seconds: WRITE_RETRY_AFTER_S }), 429, String(WRITE_RETRY_AFTER_S)],
    ["the appliance ends", new DomainError("shutting_down", "The appliance is shutting down: nothing was written."), 503, "5"],
  ];
  test.each(refusals)("is told when to come again where %s", async (_, error, status, retryAfter) => {
    const { run } = appliance.writes;
    appliance.writes.run = () => Promise.reject(error);
    const answer = await appliance.owner.post("/api/v1/tags", { organization_id: appliance.first.organizationId, name: "late", color: "Red", description: "", is_application: false });
    appliance.writes.run = run;
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, retryAfter]);
  });
});
