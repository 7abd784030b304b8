// JSON client for other servers: retries, timeouts, and error messages.

import { afterEach, describe, expect, test } from "bun:test";
import type { Timers } from "../../src/base/timers.ts";
import { ANSWER_BOUNDS, ANSWER_MAX_BYTES, JsonClient, RemoteTrouble } from "../../src/importers/json-client.ts";
import { SecretMask } from "../../src/importers/secret-mask.ts";

/** Pauses end at once and are recorded; answers take their time. */
class NoPauses implements Timers {
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

function serve(answer: (asked: number) => Response): { client: JsonClient; timers: NoPauses; asked: () => number } {
  let asked = 0;
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      asked += 1;
      return answer(asked);
    },
  });
  const timers = new NoPauses();
  return {
    client: new JsonClient({ product: "Shelf", base: server.url.origin, headers: {}, ca: null, timers, secrets }),
    timers,
    asked: () => asked,
  };
}

async function troubleOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RemoteTrouble);
  return (error as RemoteTrouble).message;
}

const BUSY = (headers: Record<string, string> = {}) => new Response("busy", { status: 503, headers });

describe("a busy server", () => {
  test("is retried with doubling delays", async () => {
    const { client, timers, asked } = serve((time) => (time < 5 ? BUSY() : Response.json({ fine: true })));
    expect(await client.get("/a")).toMatchObject({ status: 200, body: { fine: true } });
    expect([asked(), timers.pauses]).toEqual([5, [500, 1_000, 2_000, 4_000]]);
  });

  test("is retried after its Retry-After, within a limit", async () => {
    const says = ["7", "100000", "Wed, 21 Oct 2026 07:28:00 GMT", "0"];
    const { client, timers } = serve((time) =>
      time <= says.length ? BUSY({ "retry-after": says[time - 1] as string }) : Response.json(1),
    );
    expect((await client.get("/a")).body).toBe(1);
    expect(timers.pauses).toEqual([7_000, 60_000, 2_000, 0]);
  });

  test("that stays busy is given up in one sentence", async () => {
    const { client, asked } = serve(() => BUSY());
    expect(await troubleOf(client.get("/a"))).toMatch(/^Shelf is busy: http:\S+\/a answers 503 again and again$/);
    expect(asked()).toBe(7);
  });

  test.each([429, 502, 503, 504])("is recognized by status %p, and retried", async (status) => {
    const { client, asked } = serve((time) => (time === 1 ? new Response("", { status }) : Response.json(1)));
    await client.get("/a");
    expect(asked()).toBe(2);
  });

  test.each([400, 401, 403, 404, 409, 500])("is not recognized by status %p, which is passed on", async (status) => {
    const { client, asked } = serve(() => Response.json({ code: "no" }, { status }));
    expect(await client.get("/a")).toMatchObject({ status, body: { code: "no" } });
    expect(asked()).toBe(1);
  });
});

describe("an unreachable server", () => {
  test("that never answered is given up at once, since its address is wrong", async () => {
    const timers = new NoPauses();
    const base = "http://127.0.0.1:1";
    const client = new JsonClient({ product: "Shelf", base, headers: {}, ca: null, timers, secrets });
    expect(await troubleOf(client.get("/a"))).toMatch(/^Shelf cannot be reached at http:\/\/127\.0\.0\.1:1\/a \(/);
    expect(timers.pauses).toEqual([]);
  });

  test("that answered before is waited for", async () => {
    const { client, timers } = serve(() => Response.json(1));
    await client.get("/a");
    await server?.stop(true);
    expect(await troubleOf(client.get("/b"))).toMatch(/^Shelf cannot be reached at \S+\/b \(/);
    expect(timers.pauses).toHaveLength(6);
  });
});

describe("a server's answer", () => {
  test("without an end is not read to completion", async () => {
    const chunk = new Uint8Array(4 * 1024 * 1024).fill(32);
    let sent = 0;
    const { client } = serve(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              sent += chunk.length;
              controller.enqueue(chunk);
            },
          }),
        ),
    );
    expect(await troubleOf(client.get("/a"))).toMatch(/answers more than 64 MiB$/);
    expect(sent).toBeLessThan(2 * ANSWER_MAX_BYTES);
  });

  test("with a redirect is not followed, since the token would be sent there", async () => {
    const { client, asked } = serve(() => Response.redirect("http://127.0.0.1:1/\u0007", 301));
    expect(await troubleOf(client.get("/a"))).toMatch(/redirects to http:\/\/127\.0\.0\.1:1\/\S*; give the address/);
    expect(asked()).toBe(1);
  });

  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("of nested %s is parsed to depth 64, and no deeper", async (_what, open, close) => {
    const nested = (depth: number) => new Response(`${open.repeat(depth)}0${close.repeat(depth)}`);
    const { client } = serve((time) => nested(time === 1 ? 64 : 65));
    expect((await client.get("/a")).status).toBe(200);
    expect(await troubleOf(client.get("/a"))).toMatch(/answers JSON of arrays and objects more than 64 deep$/);
  });

  test("with too many arrays and objects is not parsed, whatever its strings contain", async () => {
    const items = (count: number, item: string) => `[${`${item},`.repeat(count - 1)}${item}]`;
    const { containers } = ANSWER_BOUNDS;
    const { client } = serve(
      (time) => new Response(time === 1 ? items(100, String.raw`"[[{\"[\\"`) : items(containers, "[]")),
    );
    expect((await client.get("/a")).body).toHaveLength(100);
    expect(await troubleOf(client.get("/a"))).toMatch(/answers JSON of more than 1000000 arrays and objects$/);
  });

  test("with too many values is not parsed", async () => {
    const { client } = serve(() => new Response(`[${"1,".repeat(ANSWER_BOUNDS.commas + 1)}1]`));
    expect(await troubleOf(client.get("/a"))).toMatch(/answers JSON of more than 4000000 values$/);
  });

  test("echoing the token is passed on without it, in any notation", async () => {
    const escaped = TOKEN.replace(/^0/, String.raw`\u0030`);
    const { client } = serve(
      () => new Response(`{"a":"is ${TOKEN}!","b":["${TOKEN.toUpperCase()}"],"${TOKEN}":"${escaped}","c":1}`),
    );
    expect((await client.get("/a")).body).toEqual({ a: "is [hidden]!", b: ["[hidden]"], "[hidden]": "[hidden]", c: 1 });
  });

  test.each([
    ["its redirect target", () => Response.redirect(`http://127.0.0.1/${"a".repeat(170)}${TOKEN}`, 302)],
    [
      "its type",
      () => new Response("<p>", { headers: { "content-type": `text/html; of=${"a".repeat(170)}${TOKEN}` } }),
    ],
  ])("echoing the token in %s is reported without it, even if truncated", async (_where, answer) => {
    const trouble = await troubleOf(serve(answer).client.get("/a"));
    expect(trouble).toContain("[hidden]");
    expect(trouble).not.toContain(TOKEN.slice(0, 8));
  });

  test("that is not JSON is reported with its type, on one line", async () => {
    const { client } = serve(() => new Response("<html>", { headers: { "content-type": "text/html; charset=utf-8" } }));
    expect(await troubleOf(client.get("/a"))).toMatch(
      /answers 200 with text\/html; charset=utf-8 instead of JSON; is it the address of a Shelf\?$/,
    );
  });
});
