import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { BODIES_LIMIT_BYTES, BODY_LIMIT_BYTES, BodyAllowance, parseJson, readJson, readShared } from "../../src/http/body.ts";

const largest = `"${"x".repeat(BODY_LIMIT_BYTES - 2)}"`;

function sent(): Request {
  return new Request("http://127.0.0.1/", { method: "POST", body: largest, headers: { "content-type": "application/json" } });
}

describe("bodies", () => {
  test("that wait for their answer count against what the appliance takes at once, until they are answered", async () => {
    const unanswered: BodyAllowance[] = [];
    try {
      for (let taken = 0; taken < BODIES_LIMIT_BYTES; taken += BODY_LIMIT_BYTES) {
        const allowance = new BodyAllowance();
        unanswered.push(allowance);
        expect(await readJson(sent(), BODY_LIMIT_BYTES, allowance)).toBeString();
      }
      const oneMore = new BodyAllowance();
      const refusal = await readJson(sent(), BODY_LIMIT_BYTES, oneMore).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(DomainError);
      expect((refusal as DomainError).code).toBe("rate_limit_exceeded");
      oneMore.release();
      unanswered.pop()?.release();
      const allowance = new BodyAllowance();
      unanswered.push(allowance);
      expect(await readJson(sent(), BODY_LIMIT_BYTES, allowance)).toBeString();
    } finally {
      for (const allowance of unanswered) allowance.release();
    }
  });
});

describe("a body that is read as bytes", () => {
  /** In pieces, and without its length in a header. */
  function inPieces(pieces: readonly string[]): Request {
    const body = new ReadableStream({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    return new Request("http://127.0.0.1/", { method: "POST", body, headers: { "content-type": "application/json" } });
  }

  test("is whole and in memory that another thread shares, and its digest is that of all of it", async () => {
    const pieces = ["[", ...Array.from({ length: 100 }, (_, position) => `"${String(position).repeat(2_000)}",`), "0]"];
    const allowance = new BodyAllowance();
    const digest = new Bun.CryptoHasher("sha256");
    const bytes = await readShared(inPieces(pieces), BODY_LIMIT_BYTES, allowance, digest);
    allowance.release();
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(parseJson(bytes)).toEqual(JSON.parse(pieces.join("")));
    expect(digest.digest("hex")).toBe(new Bun.CryptoHasher("sha256").update(pieces.join("")).digest("hex"));
  });

  test("is refused when it turns out to be larger than it may be", async () => {
    const allowance = new BodyAllowance();
    const refusal = await readShared(inPieces(["[1,2,3,", "4,5,6]"]), 10, allowance, null).catch((error: unknown) => error);
    allowance.release();
    expect((refusal as DomainError).code).toBe("payload_too_large");
  });
});
