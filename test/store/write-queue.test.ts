// The queue before the writer's thread: what an answer about the past waits for, and what no later command may be dated to.
// The thread is played by the test, so that each reply comes when the test says.

import { beforeEach, describe, expect, test } from "bun:test";
import { WorkerWriteQueue, type FromWorker, type ToWorker } from "../../src/db/write-queue.ts";
import type { Author } from "../../src/db/transaction.ts";

const AUTHOR: Author = { type: "System", id: null, name: "test", organizationId: null, requestId: null };
const SECOND = 1_000;
const DAY = 86_400 * SECOND;

let now: number;
let sent: Array<Extract<ToWorker, { type: "run" }>>;
let queue: WorkerWriteQueue;
let reply: (position: number) => void;

beforeEach(async () => {
  now = Date.UTC(2026, 10, 21);
  sent = [];
  let receive: (message: FromWorker) => void = () => {};
  const thread = {
    set onmessage(handler: (event: { data: FromWorker }) => void) {
      receive = (data) => handler({ data });
    },
    postMessage(message: ToWorker) {
      if (message.type === "open") queueMicrotask(() => receive({ type: "opened" }));
      else if (message.type === "run") sent.push(message);
    },
    addEventListener() {},
    terminate() {},
  };
  queue = await WorkerWriteQueue.open(thread as unknown as Worker, {}, { now: () => now }, () => {});
  reply = (position) => receive({ type: "reply", id: sent[position]?.id as number, reply: { ok: true, outcome: { sequence: position + 1, result: null } } });
});

/** Asks for a command; its instant can't be before this. */
function ask(): number {
  void queue.run("test", null, AUTHOR);
  return sent.at(-1)?.request.notBefore as number;
}

async function isOver(promise: Promise<void> | null): Promise<boolean> {
  return await Promise.race([promise?.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]).then((over) => over === true);
}

describe("an answer about the past", () => {
  test("waits for nothing while nothing is being written", () => {
    expect(queue.settlePast(now - 1)).toBeNull();
  });

  test("does not wait for a command that was asked for after its instant", () => {
    const at = now;
    now += SECOND;
    ask();
    expect(queue.settlePast(at)).toBeNull();
  });

  test("waits for the last of the commands that may be dated before it", async () => {
    ask();
    ask();
    now += SECOND;
    const settled = queue.settlePast(now - 1);
    reply(0);
    expect(await isOver(settled)).toBe(false);
    reply(1);
    expect(await isOver(settled)).toBe(true);
    expect(queue.settlePast(now - 1)).toBeNull();
  });
});

describe("a command", () => {
  test("is dated after what has been answered, also when the clock is set back", () => {
    expect(ask()).toBe(now);
    now += 60 * SECOND;
    const at = now - 1;
    queue.settlePast(at);
    expect(ask()).toBe(now);
    now -= 60 * SECOND;
    expect(ask()).toBe(at + 1);
    now += 120 * SECOND;
    expect(ask()).toBe(now);
  });

  test("is not drawn after a clock that was wrong by a day when somebody asked", () => {
    const right = now;
    now += DAY;
    queue.settlePast(now - 1);
    now = right;
    expect(ask()).toBe(right);
    // And what is answered from here on is kept again.
    now += 10 * SECOND;
    queue.settlePast(now - 1);
    now -= 5 * SECOND;
    expect(ask()).toBe(right + 10 * SECOND);
  });
});
