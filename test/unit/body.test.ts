import { describe, expect, test } from "bun:test";
import type { DomainError } from "../../src/base/errors.ts";
import {
  BODIES_LIMIT_BYTES,
  BODIES_OF_CALLER_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  BODY_TIMEOUT_MS,
  BodyAllowance,
  BodyRoom,
  parseJson,
  readBody,
  readShared,
  SMALL_BODY_BYTES,
} from "../../src/http/body.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";

const MIB = 1024 * 1024;

function newRoom(): { room: BodyRoom; timers: TestTimers } {
  const timers = new TestTimers(new TestClock());
  return { room: new BodyRoom(timers), timers };
}

/** A chunked request without Content-Length. */
function inPieces(pieces: readonly string[]): Request {
  return open((send, end) => {
    for (const piece of pieces) send(piece);
    end();
  });
}

function open(begin: (send: (piece: string) => void, end: () => void) => void): Request {
  const body = new ReadableStream({
    start: (controller) =>
      begin(
        (piece) => controller.enqueue(new TextEncoder().encode(piece)),
        () => controller.close(),
      ),
  });
  return new Request("http://127.0.0.1/", { method: "POST", body, headers: { "content-type": "application/json" } });
}

const refusalOf = (reading: Promise<unknown>) =>
  reading.then(
    () => null,
    (error: DomainError) => error.code,
  );

describe("bodies in transit", () => {
  const largest = `"${"x".repeat(BODY_LIMIT_BYTES - 2)}"`;
  const send = (allowance: BodyAllowance) =>
    readBody(
      new Request("http://127.0.0.1/", {
        method: "POST",
        body: largest,
        headers: { "content-type": "application/json" },
      }),
      BODY_LIMIT_BYTES,
      allowance,
    );

  /** Callers who have each used up their allowance. */
  async function filled(room: BodyRoom, caller: unknown, bytes: number): Promise<BodyAllowance[]> {
    const unanswered: BodyAllowance[] = [];
    for (let taken = 0; taken + BODY_LIMIT_BYTES <= bytes; taken += BODY_LIMIT_BYTES) {
      const allowance = new BodyAllowance(room, caller);
      unanswered.push(allowance);
      expect(await send(allowance)).toHaveLength(BODY_LIMIT_BYTES);
    }
    return unanswered;
  }

  test("are limited per caller, until answered; others continue", async () => {
    const { room } = newRoom();
    const unanswered = await filled(room, "one", BODIES_OF_CALLER_LIMIT_BYTES);
    const oneMore = new BodyAllowance(room, "one");
    expect(await refusalOf(send(oneMore))).toBe("rate_limit_exceeded");
    expect(await refusalOf(send(new BodyAllowance(room, "another")))).toBeNull();
    oneMore.release();
    unanswered.pop()?.release();
    expect(await refusalOf(send(new BodyAllowance(room, "one")))).toBeNull();
  });

  test("are limited in total, which refuses no small body", async () => {
    const { room } = newRoom();
    await filled(room, "one", BODIES_LIMIT_BYTES / 2);
    await filled(room, "two", BODIES_LIMIT_BYTES / 2);
    expect(await refusalOf(send(new BodyAllowance(room, "three")))).toBe("rate_limit_exceeded");
    const small = inPieces([`"${"x".repeat(SMALL_BODY_BYTES - 2)}"`]);
    expect(await refusalOf(readBody(small, BODY_LIMIT_BYTES, new BodyAllowance(room, "three")))).toBeNull();
  });

  test("are released to the last byte when answered", async () => {
    const { room } = newRoom();
    for (let round = 0; round < 3; round += 1)
      for (const allowance of await filled(room, "one", BODIES_OF_CALLER_LIMIT_BYTES)) allowance.release();
    await filled(room, "one", BODIES_OF_CALLER_LIMIT_BYTES);
  });
});

describe("an incomplete body", () => {
  test("is waited for at most a minute since its last MiB, however often a byte arrives", async () => {
    const { room, timers } = newRoom();
    let send: (piece: string) => void = () => {};
    const reading = refusalOf(
      readBody(
        open((each) => (send = each)),
        BODY_LIMIT_BYTES,
        new BodyAllowance(room, "one"),
      ),
    );
    send("[");
    for (let passed = 0; passed < BODY_TIMEOUT_MS; passed += 10_000) {
      send("1,");
      await new Promise((resolve) => setImmediate(resolve));
      timers.pass(10_000);
    }
    expect(await reading).toBe("malformed_json");
    expect(timers.count).toBe(0);
  });

  test("gets a new timeout with each MiB", async () => {
    const { room, timers } = newRoom();
    let send: (piece: string) => void = () => {};
    let end: () => void = () => {};
    const reading = readBody(
      open((each, close) => ([send, end] = [each, close])),
      BODY_LIMIT_BYTES,
      new BodyAllowance(room, "one"),
    );
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
  test("is complete and in shared memory, with a digest of the whole", async () => {
    const pieces = ["[", ...Array.from({ length: 100 }, (_, position) => `"${String(position).repeat(2_000)}",`), "0]"];
    const digest = new Bun.CryptoHasher("sha256");
    const bytes = await readShared(
      inPieces(pieces),
      BODY_LIMIT_BYTES,
      new BodyAllowance(newRoom().room, "one"),
      digest,
    );
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(parseJson(bytes)).toEqual(JSON.parse(pieces.join("")));
    expect(digest.digest("hex")).toBe(new Bun.CryptoHasher("sha256").update(pieces.join("")).digest("hex"));
  });

  test("is refused when it exceeds its limit", async () => {
    expect(
      await refusalOf(readShared(inPieces(["[1,2,3,", "4,5,6]"]), 10, new BodyAllowance(newRoom().room, "one"), null)),
    ).toBe("payload_too_large");
  });
});
