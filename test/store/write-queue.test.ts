// Coordination of reads of the past with a commit in progress. Nothing is written at a timestamp already read, and a
// read waits only for a commit in progress.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Clock } from "../../src/base/clock.ts";
import { Counters, type Counts } from "../../src/base/counters.ts";
import { formatInstant } from "../../src/base/instant.ts";
import {
  MAX_URGENT_OF_USER,
  MAX_WAITING_BYTES_OF_USER,
  MAX_WAITING_COMMANDS,
  MAX_WAITING_OF_USER,
  RESERVED_OF_USER,
  WRITE_RETRY_AFTER_S,
} from "../../src/base/write-limits.ts";
import type { CallsOf, Commands } from "../../src/db/writing/command.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import { ReadFence } from "../../src/db/writing/read-fence.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { ThreadWriteQueue, type WriteMessages } from "../../src/db/writing/write-queue.ts";
import { outcomeOf, type WriteReply, type WriteRequest, Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";
import { type TagRecord, tagKind } from "../../src/resources/tags/tag.ts";
import { Store, tagFields } from "../support/store/store.ts";

const AUTHOR: Author = { type: "System", id: null, name: "test", organizationId: null, requestId: null };
const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/** Queue for any commands. */
type AnyQueue = ThreadWriteQueue<CallsOf<Commands>>;

/** Opens a queue with the test in the role of the writer. */
async function openWithFakeWriter(clock: Clock): Promise<{
  queue: AnyQueue;
  thread: ReadFence;
  deliver: (message: WriteMessages["from"]) => void;
  crash: (reason: string) => void;
  counts: Counts["writes"];
  sent: WriteRequest[];
}> {
  const sent: WriteRequest[] = [];
  let thread = new ReadFence(clock);
  let receive: (message: WriteMessages["from"]) => void = () => {};
  let end: (reason: string) => void = () => {};
  const { writes: counts } = new Counters().counts;
  const queue = await ThreadWriteQueue.open<CallsOf<Commands>>({
    monotonicMs: () => clock.now(),
    startThread: (onMessage, onEnd) => {
      receive = onMessage;
      end = onEnd;
      return {
        post: (message) => {
          if (message.type === "run") sent.push(message.request);
          if (message.type !== "open") return;
          thread = new ReadFence(clock, message.fence);
          queueMicrotask(() => receive({ type: "opened" }));
        },
        terminate: () => {},
      };
    },
    writer: { databasePath: "", secretKey: new Uint8Array() },
    clock,
    mayBeUrgent: (command) => command === "lower",
    onCommit: () => {},
    onCrash: () => {},
    counts,
  });
  return { queue, thread, deliver: (message) => receive(message), crash: (reason) => end(reason), counts, sent };
}

const REFUSED = { code: "rate_limit_exceeded", params: { retry_after_seconds: WRITE_RETRY_AFTER_S } };
const replyTo = (id: number, result: unknown = null) =>
  ({ type: "reply", id, reply: { ok: true, outcome: { sequence: null, result } } }) as const;
const writeWith = (writer: Writer) =>
  outcomeOf<TagRecord>(writer.execute([{ command: "test", input: null, actor: AUTHOR }])[0] as WriteReply);

describe("the command queue", () => {
  test("is bounded: one more command is rejected immediately with Retry-After, until one is done", async () => {
    const { queue, deliver } = await openWithFakeWriter({ now: () => 0 });
    const done = Array.from({ length: MAX_WAITING_COMMANDS }, () => queue.run("test", null, AUTHOR));
    await expect(queue.run("test", null, AUTHOR)).rejects.toMatchObject(REFUSED);
    deliver(replyTo(1, "first"));
    expect(await done[0]).toEqual({ sequence: null, result: "first" });
    const next = queue.run("test", null, AUTHOR);
    deliver(replyTo(MAX_WAITING_COMMANDS + 1, "last"));
    expect(await next).toEqual({ sequence: null, result: "last" });
  });

  test("counts commands by outcome, and reports pending ones", async () => {
    const { queue, deliver, crash, counts } = await openWithFakeWriter({ now: () => 0 });
    const refusal: WriteReply = { ok: false, code: "entity_in_use", message: "", params: {}, cause: null };
    const replies: WriteReply[] = [
      { ok: true, outcome: { sequence: 1, result: null } },
      { ok: true, outcome: { sequence: null, result: null } },
      refusal,
      { ...refusal, code: "storage_full" },
    ];
    const done = [...replies, null].map(() => queue.run("test", null, AUTHOR).catch(() => {}));
    expect(queue.waitingCount).toBe(5);
    for (const [index, reply] of replies.entries()) deliver({ type: "reply", id: index + 1, reply });
    expect(queue.waitingCount).toBe(1);
    expect(counts).toEqual({ committed: 1, unchanged: 1, refused: 1, failed: 1 });
    crash("gone");
    await Promise.all(done);
    expect(counts.failed).toBe(2);
  });

  const user = (id: string): Author => ({ ...AUTHOR, type: "User", id });
  const keyOf = (userId: string): Author => ({ ...AUTHOR, type: "ApiKey", id: `key of ${userId}`, userId });
  const codeOf = (writing: Promise<unknown>) =>
    writing.then(
      () => null,
      ({ code }: { code: string }) => code,
    );
  /** Sends this many commands that wait forever. */
  const fillQueue = (queue: AnyQueue, count: number, author: Author, command = "test") => {
    for (let n = 0; n < count; n += 1) void queue.run(command, null, author).catch(() => {});
  };

  test("limits commands per user, including their keys", async () => {
    const { queue, deliver } = await openWithFakeWriter({ now: () => 0 });
    fillQueue(queue, MAX_WAITING_OF_USER - 1, user("a"));
    fillQueue(queue, 1, keyOf("a"));
    for (const author of [user("a"), keyOf("a")])
      await expect(queue.run("test", null, author)).rejects.toMatchObject(REFUSED);
    fillQueue(queue, MAX_WAITING_OF_USER, user("b"));
    expect(await codeOf(queue.run("test", null, user("b")))).toBe("rate_limit_exceeded");
    deliver(replyTo(1));
    const next = codeOf(queue.run("test", null, user("a")));
    deliver(replyTo(2 * MAX_WAITING_OF_USER + 1));
    expect(await next).toBeNull();
  });

  test("limits bytes per user for any number of writes, and admits a larger write into an empty queue", async () => {
    const { queue, deliver } = await openWithFakeWriter({ now: () => 0 });
    void queue.run("test", null, user("a"), { bytes: MAX_WAITING_BYTES_OF_USER + 1 });
    expect(await codeOf(queue.run("test", null, keyOf("a"), { bytes: 0 }))).toBe("rate_limit_exceeded");
    deliver(replyTo(1));
    void queue.run("test", null, user("a"), { bytes: MAX_WAITING_BYTES_OF_USER - 1 });
    void queue.run("test", null, user("a"), { bytes: 1 });
    expect(await codeOf(queue.run("test", null, user("a"), { bytes: 1 }))).toBe("rate_limit_exceeded");
    void queue.run("test", null, user("b"), { bytes: MAX_WAITING_BYTES_OF_USER });
    expect(await codeOf(queue.run("test", null, user("b"), { bytes: 1 }))).toBe("rate_limit_exceeded");
  });

  test("reserves room in a full queue for other users, for scans and for the appliance itself", async () => {
    const { queue } = await openWithFakeWriter({ now: () => 0 });
    const users = Math.ceil(MAX_WAITING_COMMANDS / MAX_WAITING_OF_USER);
    for (let n = 0; n < users; n += 1) fillQueue(queue, MAX_WAITING_OF_USER, user(`crowd ${n}`));
    expect(await codeOf(queue.run("test", null, user("crowd 0")))).toBe("rate_limit_exceeded");
    const refusals: string[] = [];
    for (const author of [
      ...Array.from({ length: RESERVED_OF_USER }, () => user("another")),
      AUTHOR,
      { ...AUTHOR, type: "Discovery", id: "scan" } as const,
    ])
      void queue.run("test", null, author).catch(() => refusals.push("refused"));
    expect(await codeOf(queue.run("test", null, user("another")))).toBe("rate_limit_exceeded");
    expect(refusals).toEqual([]);
  });

  test("reserves room per user for permission-lowering commands, in addition to their other ones", async () => {
    const { queue, sent } = await openWithFakeWriter({ now: () => 0 });
    fillQueue(queue, MAX_WAITING_OF_USER, user("a"));
    fillQueue(queue, MAX_URGENT_OF_USER, user("a"), "lower");
    expect(sent.filter(({ isUrgent }) => isUrgent === true)).toHaveLength(MAX_URGENT_OF_USER);
    expect(await codeOf(queue.run("lower", null, user("a")))).toBe("rate_limit_exceeded");
    // Beyond the limit, a command waits with the others.
    fillQueue(queue, MAX_URGENT_OF_USER + 1, user("b"), "lower");
    expect(sent.at(-1)?.isUrgent).toBeUndefined();
  });
});

describe("a read of the past", () => {
  let now: number;
  let queue: AnyQueue;
  /** The writer's side, controlled by the test. */
  let thread: ReadFence;
  let deliver: (message: WriteMessages["from"]) => void;
  let crash: (reason: string) => void;

  beforeEach(async () => {
    now = Date.UTC(2026, 10, 21);
    ({ queue, thread, deliver, crash } = await openWithFakeWriter({ now: () => now }));
  });

  const isSettled = async (promise: Promise<void> | null): Promise<boolean> =>
    (await Promise.race([
      promise?.then(() => true),
      new Promise<boolean>((resolve) => setImmediate(resolve, false)),
    ])) === true;

  test("does not wait for a command of any duration", () => {
    void queue.run("test", null, AUTHOR);
    now += 60 * SECOND;
    expect(queue.settlePast(now - 1, 0)).toBeNull();
  });

  test("waits for a running commit at or before its timestamp, until it is done or postponed", async () => {
    expect(thread.close(now)).toBe(true);
    now += SECOND;
    expect(queue.settlePast(now - SECOND - 1, 0)).toBeNull();
    const waiting = queue.settlePast(now - SECOND, 0);
    deliver(replyTo(99));
    expect(await isSettled(waiting)).toBe(false);
    thread.open(1);
    deliver({ type: "postponed" });
    expect(await isSettled(waiting)).toBe(true);
  });

  test("is not read from a state before a finished commit", async () => {
    thread.open(7);
    expect(await isSettled(queue.settlePast(now - 1, 6))).toBe(true);
    expect(queue.settlePast(now - 1, 7)).toBeNull();
  });

  test("postpones a commit at its own timestamp, and no later one", () => {
    void queue.settlePast(now - 1, 0);
    expect(thread.close(now - 1)).toBe(false);
    expect(thread.close(now)).toBe(true);
    expect(thread.earliest()).toBe(now);
  });

  test("orders later commits after it, even if the clock is set back by less than five minutes", () => {
    void queue.settlePast(now - 1, 0);
    now -= 60 * SECOND;
    expect(thread.earliest()).toBe(now + 60 * SECOND);
    now += 120 * SECOND;
    expect(thread.earliest()).toBe(now);
  });

  test("does not pull the ledger toward a clock that was wrong by a day when requested", () => {
    const correctTime = now;
    now += DAY;
    void queue.settlePast(now - 1, 0);
    now = correctTime;
    expect(thread.earliest()).toBe(correctTime);
    expect(thread.close(correctTime)).toBe(true);
    // Reads from here on are fixed again.
    now += 10 * SECOND;
    void queue.settlePast(now - 1, 0);
    now -= 5 * SECOND;
    expect(thread.earliest()).toBe(correctTime + 10 * SECOND);
  });

  test("continues without a writer once it has stopped", async () => {
    thread.close(now);
    const waiting = queue.settlePast(now, 0);
    crash("gone");
    expect(await isSettled(waiting)).toBe(true);
  });
});

describe("a commit whose timestamp was read in the meantime", () => {
  let store: Store;
  let fence: ReadFence;
  let postponed: number;
  let writer: Writer;
  /** Called by each run of the command, once its transaction has a timestamp. */
  let during: (run: number, tx: WriteTransaction) => void;
  let runs: number;

  beforeEach(() => {
    store = new Store();
    fence = new ReadFence(store.clock);
    postponed = 0;
    runs = 0;
    during = () => {};
    writer = new Writer({
      db: store.db,
      kinds: KINDS,
      commands: {
        test: (tx: WriteTransaction) => {
          runs += 1;
          during(runs, tx);
          return tx.create(tagKind, store.organizationId, tagFields(store.organizationId, "core"));
        },
      },
      clock: store.clock,
      random: store.random,
      fence,
      pause: (ms) => {
        store.clock.at += ms;
      },
      onPostponed: () => {
        postponed += 1;
      },
    });
  });
  afterEach(() => store.close());

  const write = () => writeWith(writer);
  const tags = () => store.list(tagKind).items;

  test("is redone, dated after the read and ahead by its own duration", () => {
    during = (run, tx) => {
      store.clock.at += 4 * SECOND + 1;
      if (run === 1) fence.answer(tx.instant + SECOND);
    };
    const start = store.clock.at;
    const { sequence } = write();
    expect({ runs, postponed }).toEqual({ runs: 2, postponed: 1 });
    expect(tags()).toHaveLength(1);
    expect(tags()[0]?.valid_from).toBe(formatInstant(start + 9 * SECOND + 3));
    // Acknowledged at its own timestamp, not earlier: the present data existed then.
    expect(store.clock.at).toBe(start + 9 * SECOND + 3);
    expect(sequence).toBe(2);
    expect(fence.committed).toBe(2);
    expect(fence.isClosing(store.clock.at + DAY)).toBe(false);
  });

  test("is unaffected if only earlier timestamps were read", () => {
    during = (_run, tx) => {
      fence.answer(tx.instant - 1);
      store.clock.at += 4 * SECOND;
    };
    write();
    expect({ runs, postponed }).toEqual({ runs: 1, postponed: 0 });
  });

  test("is not postponed indefinitely: reads wait for it eventually", () => {
    const closing: boolean[] = [];
    during = (_run, tx) => {
      closing.push(fence.isClosing(tx.instant));
      fence.answer(tx.instant);
    };
    write();
    expect(closing).toEqual([false, false, false, false, true]);
    expect(tags()).toHaveLength(1);
    expect(fence.isClosing(Number.MAX_SAFE_INTEGER - 1)).toBe(false);
  });

  test("leaves nothing blocked when refused", () => {
    during = () => {
      throw new Error("refused");
    };
    expect(write).toThrow();
    expect(fence.isClosing(Number.MAX_SAFE_INTEGER - 1)).toBe(false);
  });
});

describe("a writer alongside another reading process", () => {
  let store: Store;
  let paused: number[];
  /** Duration of the command, run by run. */
  let takesMs: number[];
  let writer: Writer;

  beforeEach(() => {
    store = new Store();
    paused = [];
    takesMs = [];
    writer = new Writer({
      db: store.db,
      kinds: KINDS,
      commands: {
        test: (tx: WriteTransaction) => {
          store.clock.at += takesMs.shift() ?? 0;
          return tx.create(tagKind, store.organizationId, tagFields(store.organizationId, `tag ${tx.sequence}`));
        },
      },
      clock: store.clock,
      random: store.random,
      leadMs: SECOND,
      pause: (ms) => {
        paused.push(ms);
        store.clock.at += ms;
      },
    });
  });
  afterEach(() => store.close());

  const write = () => writeWith(writer);
  const validFrom = () => store.list(tagKind).items[0]?.valid_from;

  test("dates its commit ahead of all possible reads, and acknowledges it at that timestamp", () => {
    const start = store.clock.at;
    takesMs = [100];
    write();
    expect(validFrom()).toBe(formatInstant(start + SECOND));
    expect([paused, store.clock.at]).toEqual([[900], start + SECOND]);
  });

  test("redoes it further ahead if the lead was used up", () => {
    const start = store.clock.at;
    takesMs = [501, 501];
    write();
    // The second is dated by the duration of the first plus a quarter, and waits until only the lead is left.
    expect(validFrom()).toBe(formatInstant(start + 501 + Math.ceil(501 * 1.25) + SECOND));
    expect(paused.reduce((sum, ms) => sum + ms, 0)).toBe(Math.ceil(501 * 1.25) + SECOND - 501);
  });

  test("does not wait for a ledger that leads the clock by more", () => {
    write();
    paused = [];
    store.clock.at -= DAY;
    write();
    expect(paused).toEqual([]);
  });
});
