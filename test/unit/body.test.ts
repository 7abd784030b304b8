import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { BODIES_LIMIT_BYTES, BODY_LIMIT_BYTES, BodyAllowance, readJson } from "../../src/http/body.ts";

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
