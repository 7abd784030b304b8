// Body check thread: order of bodies, and results for bodies passed as bytes.

import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import {
  BodyChecks,
  type BodyToCheck,
  checkBody,
  LARGE_BODY_BYTES,
  serveBodyChecks,
} from "../../src/http/body-checks.ts";
import { Body, Uuid } from "../../src/schemas/schemas.ts";

const ID = "01936F2E-0D5C-7D3A-9A39-3F6F1F7A0001";
const operationId = "writeThings";
const operation = { operationId, body: Type.Array(Body({ id: Uuid })), takesBytes: true as const, issuesMax: 3 };
const textBody = (text: string): BodyToCheck => {
  return { operationId, bytes: new TextEncoder().encode(text), retryIdentity: null };
};
const body = (value: unknown): BodyToCheck => textBody(JSON.stringify(value));

describe("a body passed as bytes", () => {
  test("is returned checked and normalized, in shared memory", () => {
    const { checked } = checkBody(operation, body([{ id: ID }]));
    const bytes = checked.ok ? (checked.value as Uint8Array) : null;
    expect(bytes?.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(JSON.parse(new TextDecoder().decode(bytes as Uint8Array))).toEqual([{ id: ID.toLowerCase() }]);
  });

  test("reports as many issues as its operation allows", () => {
    const { checked } = checkBody(operation, body(Array.from({ length: 9 }, () => ({ id: 1 }))));
    expect(checked.ok ? [] : checked.issues.map(({ path }) => path)).toEqual(["/0/id", "/1/id", "/2/id"]);
  });
});

describe("a body passed as bytes above a limit", () => {
  const largeOnly = { operationId: "writeThing", body: Body({ id: Uuid }), acceptsRawBody: true as const };
  const paddedBody = (padding: number): BodyToCheck => {
    const bytes = new TextEncoder().encode(" ".repeat(padding) + JSON.stringify({ id: ID }));
    return { operationId: largeOnly.operationId, bytes, retryIdentity: "user 1" };
  };
  const { length } = paddedBody(0).bytes;
  const large = checkBody(largeOnly, paddedBody(LARGE_BODY_BYTES - length + 1));
  const small = checkBody(largeOnly, paddedBody(LARGE_BODY_BYTES - length));

  test("is an object up to the limit", () => {
    expect(small.checked).toEqual({ ok: true, value: { id: ID.toLowerCase() } });
  });

  test("is the checked and normalized bytes in shared memory above the limit", () => {
    const bytes = large.checked.ok ? (large.checked.value as Uint8Array) : null;
    expect(bytes?.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(JSON.parse(new TextDecoder().decode(bytes as Uint8Array))).toEqual({ id: ID.toLowerCase() });
  });

  test("has the same digest in either form", () => {
    expect(large.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(large.fingerprint).toBe(small.fingerprint);
  });
});

/** In-process stand-in for the thread; the test completes each body. */
function fakeThread() {
  const sent: BodyToCheck[] = [];
  let crash = () => {};
  let receive = (_body: BodyToCheck) => {};
  const checks = new BodyChecks(
    (onMessage, onEnd) => {
      receive = serveBodyChecks([operation])(onMessage, () => null);
      crash = () => onEnd("gone");
      return { post: (body) => void sent.push(body), terminate: () => {} };
    },
    () => {},
  );
  return { checks, crash: () => crash(), done: () => receive(sent.at(-1) as BodyToCheck), sent };
}

describe("the body thread", () => {
  test("checks one body at a time, round-robin by sender, and refuses only an invalid one", async () => {
    const { checks, done, sent } = fakeThread();
    const order: string[] = [];
    const pending = ["a []", "a []", "a }", "a []", "b []"].map(async (entry, index) => {
      const [sender, text] = entry.split(" ") as [string, string];
      const [{ status }] = await Promise.allSettled([checks.check(textBody(text), sender)]);
      order.push(`${sender} ${index}${status === "rejected" ? " refused" : ""}`);
    });
    expect(sent).toHaveLength(1);
    for (let count = 1; count <= pending.length; count += 1) {
      expect(sent).toHaveLength(count);
      done();
      await Promise.resolve();
    }
    await Promise.all(pending);
    expect(order).toEqual(["a 0", "a 1", "b 4", "a 2 refused", "a 3"]);
  });

  test("fails all waiting bodies when it crashes, and is restarted for the next body", async () => {
    const { checks, crash, done } = fakeThread();
    const waiting = [checks.check(body([]), "a"), checks.check(body([]), "b")];
    crash();
    for (const check of waiting) await expect(check).rejects.toMatchObject({ code: "internal_error" });
    const next = checks.check(body([]), "a");
    done();
    expect((await next).checked.ok).toBe(true);
  });
});
