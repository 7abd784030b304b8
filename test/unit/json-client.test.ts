// JSON client for other servers: retries, timeouts, and error messages.

import { afterEach, describe, expect, test } from "bun:test";
import type { Timers } from "../../src/base/timers.ts";
import { JsonClient, RESPONSE_BOUNDS, RESPONSE_MAX_BYTES, RemoteError } from "../../src/importers/json-client.ts";
import { SecretMask } from "../../src/importers/secret-mask.ts";

/** Timers whose pauses end immediately and are recorded; response timeouts never fire. */
class ImmediateTimers implements Timers {
  readonly pauses: number[] = [];

  after(ms: number, action: () => void): () => void {
    if (ms > 60_000) return () => {};
    this.pauses.push(ms);
    queueMicrotask(action);
    return () => {};
  }
}

const TOKEN = "0123456789abcdef0123456789abcdef01234567";
const secrets = new SecretMask([TOKEN]);

let server: Bun.Server<undefined> | null = null;
afterEach(async () => {
  await server?.stop(true);
  server = null;
});

function serve(respond: (requestCount: number) => Response) {
  let requestCount = 0;
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      requestCount += 1;
      return respond(requestCount);
    },
  });
  const timers = new ImmediateTimers();
  const base = server.url.origin;
  const client = new JsonClient({ product: "Shelf", base, headers: {}, ca: null, timers, secrets });
  return { client, timers, requestCount: () => requestCount };
}

async function errorMessageOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RemoteError);
  return (error as RemoteError).message;
}

const busyResponse = (headers: Record<string, string> = {}) => new Response("busy", { status: 503, headers });

describe("a busy server", () => {
  test("is retried with doubling delays", async () => {
    const respond = (call: number) => (call < 5 ? busyResponse() : Response.json({ fine: true }));
    const { client, timers, requestCount } = serve(respond);
    expect(await client.get("/a")).toMatchObject({ status: 200, body: { fine: true } });
    expect([requestCount(), timers.pauses]).toEqual([5, [500, 1_000, 2_000, 4_000]]);
  });

  test("is retried after its Retry-After, within a limit", async () => {
    const retryAfterValues = ["7", "100000", "Wed, 21 Oct 2026 07:28:00 GMT", "0"];
    const { client, timers } = serve((call) => {
      const retryAfter = retryAfterValues[call - 1];
      return retryAfter === undefined ? Response.json(1) : busyResponse({ "retry-after": retryAfter });
    });
    expect((await client.get("/a")).body).toBe(1);
    expect(timers.pauses).toEqual([7_000, 60_000, 2_000, 0]);
  });

  test("is abandoned with a one-sentence error if it stays busy", async () => {
    const { client, requestCount } = serve(() => busyResponse());
    expect(await errorMessageOf(client.get("/a"))).toMatch(/^Shelf is busy: http:\S+\/a keeps returning 503$/);
    expect(requestCount()).toBe(7);
  });

  test.each([429, 502, 503, 504])("is recognized by status %p, and retried", async (status) => {
    const { client, requestCount } = serve((call) => (call === 1 ? new Response("", { status }) : Response.json(1)));
    await client.get("/a");
    expect(requestCount()).toBe(2);
  });

  test.each([400, 401, 403, 404, 409, 500])("is not assumed from status %p, which is returned", async (status) => {
    const { client, requestCount } = serve(() => Response.json({ code: "no" }, { status }));
    expect(await client.get("/a")).toMatchObject({ status, body: { code: "no" } });
    expect(requestCount()).toBe(1);
  });
});

describe("an unreachable server", () => {
  test("is abandoned immediately if it never responded, since its address is likely wrong", async () => {
    const timers = new ImmediateTimers();
    const base = "http://127.0.0.1:1";
    const client = new JsonClient({ product: "Shelf", base, headers: {}, ca: null, timers, secrets });
    expect(await errorMessageOf(client.get("/a"))).toMatch(/^Shelf cannot be reached at http:\/\/127\.0\.0\.1:1\/a \(/);
    expect(timers.pauses).toEqual([]);
  });

  test("is retried if it responded before", async () => {
    const { client, timers } = serve(() => Response.json(1));
    await client.get("/a");
    await server?.stop(true);
    expect(await errorMessageOf(client.get("/b"))).toMatch(/^Shelf cannot be reached at \S+\/b \(/);
    expect(timers.pauses).toHaveLength(6);
  });
});

describe("a server's response", () => {
  test("is not read to completion if it is endless", async () => {
    const chunk = new Uint8Array(4 * 1024 * 1024).fill(32);
    let sent = 0;
    const pull = (controller: ReadableStreamDefaultController): void => {
      sent += chunk.length;
      controller.enqueue(chunk);
    };
    const { client } = serve(() => new Response(new ReadableStream({ pull })));
    expect(await errorMessageOf(client.get("/a"))).toMatch(/returns more than 64 MiB$/);
    expect(sent).toBeLessThan(2 * RESPONSE_MAX_BYTES);
  });

  test("is not followed if it is a redirect, since the token would be sent there", async () => {
    const { client, requestCount } = serve(() => Response.redirect("http://127.0.0.1:1/\u0007", 301));
    const message = await errorMessageOf(client.get("/a"));
    expect(message).toMatch(/redirects to http:\/\/127\.0\.0\.1:1\/\S*; give the target address/);
    expect(requestCount()).toBe(1);
  });

  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("is parsed to depth 64, and no deeper, if it has nested %s", async (_case, open, close) => {
    const nested = (depth: number) => new Response(`${open.repeat(depth)}0${close.repeat(depth)}`);
    const { client } = serve((call) => nested(call === 1 ? 64 : 65));
    expect((await client.get("/a")).status).toBe(200);
    expect(await errorMessageOf(client.get("/a"))).toMatch(/returns JSON of arrays and objects more than 64 deep$/);
  });

  test("is not parsed if it has too many arrays and objects, not counting brackets in strings", async () => {
    const items = (count: number, item: string) => `[${`${item},`.repeat(count - 1)}${item}]`;
    const { containers } = RESPONSE_BOUNDS;
    const texts = [items(100, String.raw`"[[{\"[\\"`), items(containers, "[]")];
    const { client } = serve((call) => new Response(texts[call - 1] as string));
    expect((await client.get("/a")).body).toHaveLength(100);
    expect(await errorMessageOf(client.get("/a"))).toMatch(/returns JSON of more than 1000000 arrays and objects$/);
  });

  test("is not parsed if it has too many values", async () => {
    const { client } = serve(() => new Response(`[${"1,".repeat(RESPONSE_BOUNDS.commas + 1)}1]`));
    expect(await errorMessageOf(client.get("/a"))).toMatch(/returns JSON of more than 4000000 values$/);
  });

  test("is returned without the token that it echoes, in any notation", async () => {
    const escaped = TOKEN.replace(/^0/, String.raw`\u0030`);
    const json = `{"a":"is ${TOKEN}!","b":["${TOKEN.toUpperCase()}"],"${TOKEN}":"${escaped}","c":1}`;
    const { client } = serve(() => new Response(json));
    expect((await client.get("/a")).body).toEqual({ a: "is [hidden]!", b: ["[hidden]"], "[hidden]": "[hidden]", c: 1 });
  });

  const longText = `${"a".repeat(170)}${TOKEN}`;
  test.each([
    ["its redirect target", () => Response.redirect(`http://127.0.0.1/${longText}`, 302)],
    ["its type", () => new Response("<p>", { headers: { "content-type": `text/html; of=${longText}` } })],
  ])("is reported without the token that it echoes in %s, even if truncated", async (_where, respond) => {
    const message = await errorMessageOf(serve(respond).client.get("/a"));
    expect(message).toContain("[hidden]");
    expect(message).not.toContain(TOKEN.slice(0, 8));
  });

  test("is reported with its type, on one line, if it is not JSON", async () => {
    const { client } = serve(() => new Response("<html>", { headers: { "content-type": "text/html; charset=utf-8" } }));
    const expected = "returns 200 with text/html; charset=utf-8 instead of JSON; is it the address of a Shelf?";
    expect(await errorMessageOf(client.get("/a"))).toEndWith(expected);
  });
});
