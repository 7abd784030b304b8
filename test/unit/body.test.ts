import { describe, expect, test } from "bun:test";
import type { DomainError } from "../../src/base/errors.ts";
import {
  BODIES_LIMIT_BYTES,
  BODIES_OF_CALLER_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  BODY_TIMEOUT_MS,
  BodyAllowance,
  BodyMemory,
  parseJson,
  readBody,
  readShared,
  SMALL_BODY_BYTES,
} from "../../src/http/body.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";

const MIB = 1024 * 1024;

function newMemory(): { memory: BodyMemory; timers: TestTimers } {
  const timers = new TestTimers(new TestClock());
  return { memory: new BodyMemory(timers), timers };
}

/** A chunked request without Content-Length. */
function chunkedRequest(chunks: readonly string[]): Request {
  return streamedRequest((send, end) => {
    for (const chunk of chunks) send(chunk);
    end();
  });
}

function streamedRequest(produce: (send: (chunk: string) => void, end: () => void) => void): Request {
  const body = new ReadableStream({
    start: (controller) =>
      produce(
        (chunk) => controller.enqueue(new TextEncoder().encode(chunk)),
        () => controller.close(),
      ),
  });
  return new Request("http://127.0.0.1/", { method: "POST", body, headers: { "content-type": "application/json" } });
}

const refusalOf = (reading: Promise<unknown>): Promise<string | null> =>
  reading.then(() => null).catch((error: DomainError) => error.code);

describe("bodies in transit", () => {
  const largest = `"${"x".repeat(BODY_LIMIT_BYTES - 2)}"`;
  const send = (allowance: BodyAllowance) => {
    const request = { method: "POST", body: largest, headers: { "content-type": "application/json" } };
    return readBody(new Request("http://127.0.0.1/", request), BODY_LIMIT_BYTES, allowance);
  };

  /** Uses up this many bytes of a caller's allowance. */
  async function fill(memory: BodyMemory, caller: unknown, bytes: number): Promise<BodyAllowance[]> {
    const pending: BodyAllowance[] = [];
    for (let used = 0; used + BODY_LIMIT_BYTES <= bytes; used += BODY_LIMIT_BYTES) {
      const allowance = new BodyAllowance(memory, caller);
      pending.push(allowance);
      expect(await send(allowance)).toHaveLength(BODY_LIMIT_BYTES);
    }
    return pending;
  }

  test("are limited per caller until the response; other callers continue", async () => {
    const { memory } = newMemory();
    const pending = await fill(memory, "one", BODIES_OF_CALLER_LIMIT_BYTES);
    const extra = new BodyAllowance(memory, "one");
    expect(await refusalOf(send(extra))).toBe("rate_limit_exceeded");
    expect(await refusalOf(send(new BodyAllowance(memory, "another")))).toBeNull();
    extra.release();
    pending.pop()?.release();
    expect(await refusalOf(send(new BodyAllowance(memory, "one")))).toBeNull();
  });

  test("are limited in total, except small bodies", async () => {
    const { memory } = newMemory();
    await fill(memory, "one", BODIES_LIMIT_BYTES / 2);
    await fill(memory, "two", BODIES_LIMIT_BYTES / 2);
    expect(await refusalOf(send(new BodyAllowance(memory, "three")))).toBe("rate_limit_exceeded");
    const small = chunkedRequest([`"${"x".repeat(SMALL_BODY_BYTES - 2)}"`]);
    expect(await refusalOf(readBody(small, BODY_LIMIT_BYTES, new BodyAllowance(memory, "three")))).toBeNull();
  });

  test("are fully released after the response", async () => {
    const { memory } = newMemory();
    for (let round = 0; round < 3; round += 1)
      for (const allowance of await fill(memory, "one", BODIES_OF_CALLER_LIMIT_BYTES)) allowance.release();
    await fill(memory, "one", BODIES_OF_CALLER_LIMIT_BYTES);
  });
});

describe("an incomplete body", () => {
  test("times out a minute after its last MiB, even if bytes keep arriving", async () => {
    const { memory, timers } = newMemory();
    let send: (chunk: string) => void = () => {};
    const request = streamedRequest((sender) => (send = sender));
    const reading = refusalOf(readBody(request, BODY_LIMIT_BYTES, new BodyAllowance(memory, "one")));
    send("[");
    for (let elapsed = 0; elapsed < BODY_TIMEOUT_MS; elapsed += 10_000) {
      send("1,");
      await new Promise((resolve) => setImmediate(resolve));
      timers.pass(10_000);
    }
    expect(await reading).toBe("malformed_json");
    expect(timers.count).toBe(0);
  });

  test("gets a new timeout with each MiB", async () => {
    const { memory, timers } = newMemory();
    let send: (chunk: string) => void = () => {};
    let end: () => void = () => {};
    const request = streamedRequest((sender, close) => ([send, end] = [sender, close]));
    const reading = readBody(request, BODY_LIMIT_BYTES, new BodyAllowance(memory, "one"));
    for (let mib = 0; mib < 5; mib += 1) {
      send("x".repeat(MIB));
      await new Promise((resolve) => setImmediate(resolve));
      timers.pass(BODY_TIMEOUT_MS - 1);
    }
    end();
    expect(await reading).toHaveLength(5 * MIB);
    expect(timers.count).toBe(0);
  });
});

describe("a body read as bytes", () => {
  test("is complete and in shared memory, with a digest of all bytes", async () => {
    const chunks = ["[", ...Array.from({ length: 100 }, (_, position) => `"${String(position).repeat(2_000)}",`), "0]"];
    const digest = new Bun.CryptoHasher("sha256");
    const allowance = new BodyAllowance(newMemory().memory, "one");
    const bytes = await readShared(chunkedRequest(chunks), BODY_LIMIT_BYTES, allowance, digest);
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(parseJson(bytes)).toEqual(JSON.parse(chunks.join("")));
    expect(digest.digest("hex")).toBe(new Bun.CryptoHasher("sha256").update(chunks.join("")).digest("hex"));
  });

  test("is refused when it exceeds its limit", async () => {
    const allowance = new BodyAllowance(newMemory().memory, "one");
    const reading = readShared(chunkedRequest(["[1,2,3,", "4,5,6]"]), 10, allowance, null);
    expect(await refusalOf(reading)).toBe("payload_too_large");
  });
});
