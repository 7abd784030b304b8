// Long reads off the serving thread: interleaved, stopped when abandoned, and never left pending.

import { describe, expect, test } from "bun:test";
import { Counters } from "../../src/base/counters.ts";
import { DomainError } from "../../src/base/errors.ts";
import {
  LONG_READS_OF_CALLER_MAX,
  type LongRead,
  LongReadPool,
  type LongReads,
  longRead,
  serveLongReads,
  ThreadLongReads,
} from "../../src/db/reading/long-reads.ts";
import type { Reader } from "../../src/db/reading/reader.ts";
import { DirectLongReads } from "../support/injected/direct-long-reads.ts";
import { directThread } from "../support/injected/direct-thread.ts";

/** Reader without working snapshots, which these tests do not need. */
const READER = { snapshot: <T>(read: () => T) => read(), close: () => {} } as unknown as Reader;

/** The thread's clock; each step of `take` advances it. */
let now = 0;

/** Actions of the reads, in order. */
const events: string[] = [];

const count = longRead("count", function* (_reader, { name, to }: { name: string; to: number }) {
  try {
    for (let step = 1; step <= to; step += 1) {
      events.push(`${name}${step}`);
      // Steps without bytes count as well.
      yield step % 2 === 0 ? new Uint8Array() : Uint8Array.of(step);
    }
    events.push(`${name} done`);
  } finally {
    events.push(`${name} over`);
  }
});
interface TakeInput {
  readonly caller: string;
  readonly name: string;
  readonly stepMs: number;
  readonly to: number;
}
const take = longRead("take", function* (_reader, { name, stepMs, to }: TakeInput) {
  for (let step = 1; step <= to; step += 1) {
    now += stepMs;
    events.push(`${name}${step}`);
    yield new Uint8Array();
  }
  events.push(`${name} done`);
});
const refuse = longRead("refuse", function* (_reader, _input: object) {
  yield* [];
  throw new DomainError("entity_not_found", "Not found.", { entity: "host", id: "x" });
});
const failLater = longRead("break", function* (_reader, _input: object) {
  yield Uint8Array.of(1);
  throw new Error("disk I/O error");
});
/** A read that no thread knows. */
function idle(name: string, isInLargeSteps = false): LongRead<unknown> {
  return longRead(name, function* () {}, { isInLargeSteps });
}

const READS = [count, take, refuse, failLater];

function inThread() {
  const crashes: string[] = [];
  events.length = 0;
  const thread = directThread(
    serveLongReads(() => READER, READS, {
      callerOf: (input) => (input as { caller?: string }).caller ?? "somebody",
      monotonicMs: () => now,
    }),
  );
  return { reads: new ThreadLongReads(thread.start, "", (reason) => crashes.push(reason)), crashes, thread };
}

function onThisThread(): { reads: LongReads } {
  events.length = 0;
  return { reads: new DirectLongReads(READER, READS) };
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<number[]> {
  const bytes: number[] = [];
  for await (const chunk of chunks) bytes.push(...chunk);
  return bytes;
}

/** Delivers posted messages. */
async function deliverMessages(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe.each([
  ["on this thread", onThisThread],
  ["in a thread", inThread],
])("a long read %s", (_where, open) => {
  test("delivers its bytes in order, and ends", async () => {
    const { reads } = open();
    expect(await bytesOf(await reads.start(count, { name: "a", to: 5 }))).toEqual([1, 3, 5]);
    expect(events).toEqual(["a1", "a2", "a3", "a4", "a5", "a done", "a over"]);
    expect(await bytesOf(await reads.start(count, { name: "b", to: 0 }))).toEqual([]);
    await reads.close();
  });

  test("proceeds only on demand", async () => {
    const { reads } = open();
    const chunks = (await reads.start(count, { name: "a", to: 1_000 }))[Symbol.asyncIterator]();
    await deliverMessages();
    expect(events).toEqual(["a1"]);
    await chunks.next();
    await chunks.next();
    await deliverMessages();
    expect(events).toEqual(["a1", "a2", "a3"]);
    await reads.close();
  });

  test("ends when its consumer stops", async () => {
    const { reads } = open();
    for await (const _chunk of await reads.start(count, { name: "a", to: 1_000 })) break;
    await deliverMessages();
    expect(events).toEqual(["a1", "a over"]);
    await reads.close();
  });

  test("takes turns with others", async () => {
    const { reads } = open();
    const [a, b] = await Promise.all(["a", "b"].map((name) => reads.start(count, { name, to: 5 })));
    await Promise.all([bytesOf(a as AsyncIterable<Uint8Array>), bytesOf(b as AsyncIterable<Uint8Array>)]);
    expect(events.indexOf("b1")).toBeLessThan(events.indexOf("a5"));
    expect(events.indexOf("a5")).toBeLessThan(events.indexOf("b over"));
    await reads.close();
  });

  test("fails with the error thrown before its first bytes", async () => {
    const { reads } = open();
    const refused = await reads.start(refuse, {}).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DomainError);
    const params = { entity: "host", id: "x" };
    expect(refused).toMatchObject({ code: "entity_not_found", message: "Not found.", params });
    await reads.close();
  });

  test("fails midway on a later error", async () => {
    const { reads } = open();
    const broken = await bytesOf(await reads.start(failLater, {})).catch((error: unknown) => error);
    expect(`${broken} ${(broken as Error).cause ?? ""}`).toContain("disk I/O error");
    await reads.close();
  });
});

describe("callers of long reads", () => {
  const startAll = (reads: LongReads, caller: string, count: number, options: Pick<TakeInput, "stepMs" | "to">) =>
    Array.from({ length: count }, (_, n) => reads.start(take, { caller, name: `${caller}${n}.`, ...options }));

  test("take turns, regardless of their numbers of reads", async () => {
    const { reads } = inThread();
    const otherReads = startAll(reads, "many", 32, { stepMs: 10, to: 20 });
    await deliverMessages();
    const before = events.length;
    const [other] = startAll(reads, "one", 1, { stepMs: 10, to: 20 });
    await bytesOf(await (other as Promise<AsyncIterable<Uint8Array>>));
    const newEvents = events.slice(before);
    expect(newEvents.filter((event) => event.startsWith("one"))).toHaveLength(21);
    // One of their turns per turn of the other, plus the turn in progress.
    expect(newEvents.filter((event) => event.startsWith("many")).length).toBeLessThanOrEqual(22);
    await Promise.all(otherReads.map(async (reading) => bytesOf(await reading)));
    await reads.close();
  });

  test("get equal thread time, regardless of the length of their steps", async () => {
    const { reads } = inThread();
    const otherReads = startAll(reads, "long", 8, { stepMs: 100, to: 10 });
    await deliverMessages();
    const before = events.length;
    const [other] = startAll(reads, "short", 1, { stepMs: 5, to: 40 });
    await bytesOf(await (other as Promise<AsyncIterable<Uint8Array>>));
    const longEvents = events.slice(before).filter((event) => event.startsWith("long"));
    // 200 ms for 200 ms.
    expect(longEvents.length).toBeLessThanOrEqual(3);
    await Promise.all(otherReads.map(async (reading) => bytesOf(await reading)));
    await reads.close();
  });

  test("incur no debt from others' idle time, and gain no credit from their own", async () => {
    const { reads } = inThread();
    await bytesOf(await reads.start(take, { caller: "first", name: "first", stepMs: 1_000, to: 5 }));
    const before = events.length;
    const [second, first] = [
      ...startAll(reads, "second", 1, { stepMs: 10, to: 50 }),
      ...startAll(reads, "first", 1, { stepMs: 10, to: 50 }),
    ];
    await Promise.all([second, first].map(async (read) => bytesOf(await (read as Promise<AsyncIterable<Uint8Array>>))));
    const turnsOfFirst = events
      .slice(before)
      .flatMap((event, position) => (event.startsWith("first0.") ? [position] : []));
    // Alternating from the first to the last.
    expect(turnsOfFirst.filter((position, n) => Math.abs(position - 2 * n) > 3)).toEqual([]);
    await reads.close();
  });

  test("have their own reads served in turn as well", async () => {
    const { reads } = inThread();
    const otherReads = startAll(reads, "own", 3, { stepMs: 10, to: 3 });
    await Promise.all(otherReads.map(async (reading) => bytesOf(await reading)));
    expect(events.filter((event) => !event.includes("done"))).toEqual(
      "own0.1 own1.1 own2.1 own0.2 own1.2 own2.2 own0.3 own1.3 own2.3".split(" "),
    );
    await reads.close();
  });
});

describe("the long-read thread", () => {
  test("is started once, on demand", async () => {
    const { reads, thread } = inThread();
    expect(thread.started).toBe(0);
    await bytesOf(await reads.start(count, { name: "a", to: 3 }));
    await bytesOf(await reads.start(count, { name: "b", to: 3 }));
    expect(thread.started).toBe(1);
    await reads.close();
    expect(thread.isTerminated).toBe(true);
  });

  test("is restarted after a crash, and waiting and running reads fail", async () => {
    const { reads, crashes, thread } = inThread();
    const idle = (await reads.start(count, { name: "idle", to: 9 }))[Symbol.asyncIterator]();
    await idle.next();
    const waiting = reads.start(count, { name: "waiting", to: 9 }).catch((error: unknown) => error);
    thread.crash("out of memory");
    expect(await waiting).toMatchObject({ code: "internal_error", cause: "out of memory" });
    expect(crashes).toEqual(["out of memory"]);
    expect(await bytesOf(await reads.start(count, { name: "next", to: 3 }))).toEqual([1, 3]);
    expect(thread.started).toBe(2);
    // The read is unknown to the new thread, which reports that.
    const hasEnded = { code: "internal_error", cause: expect.stringContaining("has ended") };
    await expect(idle.next()).rejects.toMatchObject(hasEnded);
    await reads.close();
  });

  test("is not restarted while the appliance stops", async () => {
    const { reads, thread } = inThread();
    const chunks = (await reads.start(count, { name: "a", to: 9 }))[Symbol.asyncIterator]();
    await chunks.next();
    const waiting = chunks.next().catch((error: unknown) => error);
    const closing = reads.close();
    expect(await waiting).toMatchObject({ code: "internal_error", cause: "the appliance is shutting down" });
    await expect(reads.start(count, { name: "b", to: 1 })).rejects.toMatchObject({ code: "internal_error" });
    expect(thread.started).toBe(1);
    await closing;
  });

  test("accepts registered reads only", async () => {
    const { reads } = inThread();
    for (const name of ["toString", "nonsense"]) {
      const refusal = { code: "internal_error", cause: expect.stringContaining(`unknown read ${name}`) };
      await expect(reads.start(idle(name), {})).rejects.toMatchObject(refusal);
    }
    await reads.close();
  });
});

describe("distributed reads", () => {
  /** Reads of two bytes each, with a record of their starts and ends. */
  class RecordingReads implements LongReads {
    readonly started: string[] = [];
    readonly ended: string[] = [];
    isClosed = false;

    async start<Input>({ readName: name }: LongRead<Input>): Promise<AsyncIterable<Uint8Array>> {
      if (name === "refused") throw new DomainError("entity_not_found", "Not found.");
      this.started.push(name);
      const { ended } = this;
      return (async function* () {
        try {
          yield Uint8Array.of(1);
          yield Uint8Array.of(2);
        } finally {
          ended.push(name);
        }
      })();
    }

    async close(): Promise<void> {
      this.isClosed = true;
    }
  }

  const list = idle("list", true);
  const refused = idle("refused", true);
  const locate = idle("locate");
  const createPool = () => {
    const { long_reads: counts } = new Counters().counts;
    const [a, b, rest] = [new RecordingReads(), new RecordingReads(), new RecordingReads()];
    return { a, b, rest, counts, shared: new LongReadPool([a, b], [rest], (input) => input, counts) };
  };

  test("go to the least loaded thread, those with large steps separately", async () => {
    const { a, b, rest, shared } = createPool();
    const first = await shared.start(list, null);
    await shared.start(list, null);
    await shared.start(locate, null);
    expect([a.started, b.started, rest.started]).toEqual([["list"], ["list"], ["locate"]]);
    expect(await bytesOf(first)).toEqual([1, 2]);
    await shared.start(list, null);
    expect([a.started.length, b.started.length]).toEqual([2, 1]);
  });

  test("are finished when abandoned or refused", async () => {
    const { a, b, shared } = createPool();
    for await (const _ of await shared.start(list, null)) break;
    expect(a.ended).toEqual(["list"]);
    for (let round = 0; round < 3; round += 1) expect(await bytesOf(await shared.start(list, null))).toEqual([1, 2]);
    await expect(shared.start(refused, null)).rejects.toThrow("Not found.");
    await shared.start(list, null);
    expect([a.started.length, b.started.length]).toEqual([5, 0]);
  });

  test("are counted by whether they started, and reported while running", async () => {
    const { shared, counts } = createPool();
    const first = await shared.start(list, null);
    await shared.start(locate, null);
    await expect(shared.start(refused, null)).rejects.toThrow("Not found.");
    expect(shared.count).toBe(2);
    await bytesOf(first);
    expect(shared.count).toBe(1);
    for (let started = 1; started < LONG_READS_OF_CALLER_MAX; started += 1) await shared.start(locate, null);
    await expect(shared.start(locate, null)).rejects.toThrow("already");
    expect(counts).toEqual({ started: LONG_READS_OF_CALLER_MAX + 1, refused: 2 });
  });

  test("are refused only to a caller with too many running", async () => {
    const { shared } = createPool();
    const open: Array<AsyncIterable<Uint8Array>> = [];
    for (let started = 0; started < LONG_READS_OF_CALLER_MAX; started += 1)
      open.push(await shared.start(locate, "one"));
    await expect(shared.start(list, "one")).rejects.toMatchObject({ code: "rate_limit_exceeded" });
    expect(await bytesOf(await shared.start(list, "other"))).toEqual([1, 2]);
    expect(await bytesOf(open[0] as AsyncIterable<Uint8Array>)).toEqual([1, 2]);
    expect(await bytesOf(await shared.start(list, "one"))).toEqual([1, 2]);
  });

  test("are neither refused nor counted for their caller if admitted elsewhere", async () => {
    const { shared } = createPool();
    for (let started = 0; started <= LONG_READS_OF_CALLER_MAX; started += 1)
      await shared.start(locate, "one", { bypassesLimit: true });
    const countedReads: Array<AsyncIterable<Uint8Array>> = [];
    for (let started = 0; started < LONG_READS_OF_CALLER_MAX; started += 1)
      countedReads.push(await shared.start(locate, "one"));
    await expect(shared.start(locate, "one")).rejects.toMatchObject({ code: "rate_limit_exceeded" });
    expect(await bytesOf(await shared.start(locate, "one", { bypassesLimit: true }))).toEqual([1, 2]);
    expect(await bytesOf(countedReads[0] as AsyncIterable<Uint8Array>)).toEqual([1, 2]);
    expect(await bytesOf(await shared.start(locate, "one"))).toEqual([1, 2]);
  });

  test("are all closed together", () => {
    const { a, b, rest, shared } = createPool();
    void shared.close();
    expect([a.isClosed, b.isClosed, rest.isClosed]).toEqual([true, true, true]);
  });
});
