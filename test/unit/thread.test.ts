import { describe, expect, mock, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { DESCRIPTORS_PER_START, type Messages, type StartThread, threadOf } from "../../src/base/thread.ts";
import { type LongReadMessages, longRead, ThreadLongReads } from "../../src/db/reading/long-reads.ts";
import { startOrEnd } from "../../src/discovery/scans/scan-thread.ts";
import { BodyChecks } from "../../src/http/body-checks.ts";
import { openDescriptors } from "../support/sweep/descriptors.ts";

/** Opener of at most `count` files. */
function openerWithLimit(count: number): () => number {
  let left = count;
  return () => {
    if (left === 0) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
    left -= 1;
    return openSync("/dev/null", "r");
  };
}

const refusal = { name: "DomainError", code: "rate_limit_exceeded", params: { retry_after_seconds: 5 } };

/** Fails like a thread that cannot be started. */
function noThread<M extends Messages>(): StartThread<M> {
  return threadOf(() => {
    throw new Error("the thread was started anyway");
  }, openerWithLimit(0));
}

/** A worker with the members that a start uses. */
const WORKER = { addEventListener: () => {}, postMessage: () => {} } as unknown as Worker;

describe("a thread", () => {
  test("is started if descriptors suffice, and leaks none", () => {
    const before = openDescriptors();
    const create = mock(() => WORKER);
    threadOf(create, openerWithLimit(DESCRIPTORS_PER_START))(mock(), mock());
    expect(create).toHaveBeenCalledTimes(1);
    expect(openDescriptors()).toBe(before);
  });

  test("is not started if connections have used up the descriptors, which would end the process", () => {
    const before = openDescriptors();
    const create = mock(() => WORKER);
    expect(() => threadOf(create, openerWithLimit(DESCRIPTORS_PER_START - 1))(mock(), mock())).toThrow(
      expect.objectContaining(refusal),
    );
    expect(create).not.toHaveBeenCalled();
    expect(openDescriptors()).toBe(before);
    closeSync(openSync("/dev/null", "r"));
  });

  test("refuses a long read if it cannot be started, and the next one retries", async () => {
    let tries = 0;
    const list = longRead("list", function* (_reader, _input: object) {});
    const reads = new ThreadLongReads(
      (...args) => {
        tries += 1;
        return noThread<LongReadMessages>()(...args);
      },
      "",
      () => {},
    );
    expect(reads.start(list, {})).rejects.toMatchObject(refusal);
    await expect(reads.start(list, {})).rejects.toMatchObject(refusal);
    expect(tries).toBe(2);
    await reads.close();
  });

  test("refuses a large body if it cannot be started", async () => {
    const checks = new BodyChecks(noThread(), () => {});
    await expect(
      checks.check({ operationId: "createTag", bytes: new Uint8Array(70_000), retryIdentity: null }, "user"),
    ).rejects.toMatchObject(refusal);
    checks.close();
  });

  test("is reported as ended if it cannot be started for scans", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const thread = startOrEnd(noThread())(() => {}, resolve);
    thread.post({ type: "close" });
    thread.terminate();
    expect(await promise).toContain("Too many connections are open");
  });
});
