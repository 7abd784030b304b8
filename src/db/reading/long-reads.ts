// Long reads in worker threads, each thread with its own connection. A read is a generator of bytes that advances when
// its consumer has taken the last chunk, without a transaction in between. Independent of resources.

import type { Counts } from "../../base/counters.ts";
import { DomainError, domainError, type PlainError, plainError } from "../../base/errors.ts";
import type { StartThread, Thread, ThreadMain } from "../../base/thread.ts";
import { readFailureOf } from "../sqlite-failures.ts";
import { FairScheduler } from "./fair-scheduler.ts";
import type { Reader } from "./reader.ts";

/**
 * A long read: yields its response bytes in steps of a few milliseconds; empty if a step has no output. Must read as of
 * a fixed sequence, since every step sees a later database state.
 */
export interface LongRead<Input> {
  (reader: Reader, input: Input): Generator<Uint8Array, void>;
  readonly readName: string;
  readonly isInLargeSteps: boolean;
}
/** A long read with any input type. */
export type AnyLongRead = LongRead<never>;

/**
 * @param name identifies the read in the thread
 * @param isInLargeSteps whether a step may take as long as a full pass over live records: a sort or filter, everything
 * of one record, all links of a network
 */
export function longRead<Input>(
  name: string,
  read: (reader: Reader, input: Input) => Generator<Uint8Array, void>,
  { isInLargeSteps = false } = {},
): LongRead<Input> {
  return Object.assign(read, { readName: name, isInLargeSteps });
}

/** Empty step of a long read: yields to other reads. */
export const PAUSE: Uint8Array = new Uint8Array(0);

const encoder = new TextEncoder();

/** Part of a response as bytes. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Runs steps without output to their result, yielding to other reads in between. */
export function* pausing<Result>(steps: Generator<unknown, Result>): Generator<Uint8Array, Result> {
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) yield PAUSE;
  return step.value;
}

export interface LongReadOptions {
  readonly bypassesLimit?: boolean;
}

export interface LongReads {
  /**
   * @param input plain data: it crosses to another thread
   * @param options.bypassesLimit the caller's limit is enforced where the read is requested; here the read is neither
   * limited nor counted
   * @returns its bytes, the first chunk already produced
   * @throws DomainError from the read before its first bytes; rate_limit_exceeded if one caller has too many
   */
  start<Input>(
    read: LongRead<Input>,
    input: NoInfer<Input>,
    options?: LongReadOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Closes the database and aborts reads in progress. */
  close(): Promise<void>;
}

/**
 * Maximum concurrent long reads per caller: each keeps its results in memory until the response is consumed. Change
 * feed streams have their own limit.
 */
export const LONG_READS_OF_CALLER_MAX = 32;

/**
 * Distributes reads over lanes, each to the one with the fewest reads in progress. Reads with large steps have separate
 * lanes, so that short-step reads never wait for a long first step.
 */
export class LongReadPool implements LongReads {
  private readonly inProgressOf = new Map<unknown, number>();
  private readonly callerOf: (input: unknown) => unknown;
  private readonly counts: Counts["long_reads"];
  private readonly forLargeSteps: Lane[];
  private readonly forSmallSteps: Lane[];

  /**
   * @param callerOf returns the caller from a read's input: no caller has more than LONG_READS_OF_CALLER_MAX in
   * progress, besides those admitted elsewhere
   */
  constructor(
    forLargeSteps: readonly LongReads[],
    forSmallSteps: readonly LongReads[],
    callerOf: (input: unknown) => unknown,
    counts: Counts["long_reads"],
  ) {
    this.callerOf = callerOf;
    this.counts = counts;
    const laneOf = (reads: LongReads): Lane => ({ reads, inProgress: 0 });
    this.forLargeSteps = forLargeSteps.map(laneOf);
    this.forSmallSteps = forSmallSteps.map(laneOf);
  }

  async start<Input>(
    read: LongRead<Input>,
    input: Input,
    { bypassesLimit = false }: LongReadOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const lanes = read.isInLargeSteps ? this.forLargeSteps : this.forSmallSteps;
    const lane = lanes.reduce((leastBusy, each) => (each.inProgress < leastBusy.inProgress ? each : leastBusy));
    const release = bypassesLimit ? () => {} : this.acquire(this.callerOf(input));
    lane.inProgress += 1;
    const onEnd = () => {
      lane.inProgress -= 1;
      release();
    };
    try {
      const chunks = withEndCallback(await lane.reads.start(read, input), onEnd);
      this.counts.started += 1;
      return chunks;
    } catch (error) {
      this.counts.refused += 1;
      onEnd();
      throw error;
    }
  }

  /** Reads in progress. */
  get count(): number {
    return [...this.forLargeSteps, ...this.forSmallSteps].reduce((sum, { inProgress }) => sum + inProgress, 0);
  }

  async close(): Promise<void> {
    await Promise.all([...this.forLargeSteps, ...this.forSmallSteps].map(({ reads }) => reads.close()));
  }

  /** Counts one more read of a caller. @returns a function that ends it */
  private acquire(caller: unknown): () => void {
    const own = this.inProgressOf.get(caller) ?? 0;
    if (own >= LONG_READS_OF_CALLER_MAX) {
      this.counts.refused += 1;
      throw new DomainError(
        "rate_limit_exceeded",
        `You already have ${LONG_READS_OF_CALLER_MAX} long reads open; finish or close them first.`,
        { retry_after_seconds: 1 },
      );
    }
    this.inProgressOf.set(caller, own + 1);
    return () => {
      const left = (this.inProgressOf.get(caller) ?? 1) - 1;
      if (left === 0) this.inProgressOf.delete(caller);
      else this.inProgressOf.set(caller, left);
    };
  }
}

interface Lane {
  readonly reads: LongReads;
  inProgress: number;
}

/**
 * Passes the bytes on. Calls `over` once when they end or are no longer wanted, even before the first chunk is
 * requested.
 */
export function withEndCallback(chunks: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncIterable<Uint8Array> {
  const steps = chunks[Symbol.asyncIterator]();
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) onEnd();
    hasEnded = true;
  };
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      try {
        const next = await steps.next();
        if (next.done === true) end();
        return next;
      } catch (error) {
        end();
        throw error;
      }
    },
    return: async () => {
      end();
      return (await steps.return?.()) ?? { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

export interface LongReadMessages {
  readonly to:
    | { type: "open"; databasePath: string }
    | { type: "start"; id: number; name: string; input: unknown }
    | { type: "more"; id: number }
    | { type: "stop"; id: number }
    | { type: "close" };
  readonly from:
    | { type: "chunk"; id: number; bytes: Uint8Array }
    | { type: "done"; id: number }
    | ({ type: "failed"; id: number } & PlainError)
    | { type: "closed" };
}

/** Maximum wait for a thread in a long step before it is terminated. */
const CLOSE_MAX_MS = 1_000;

const SHUTTING_DOWN = "the appliance is shutting down";

/** A thread's reply to one read. */
type ReadReply = Exclude<LongReadMessages["from"], { type: "closed" }>;

/** Runs reads in a thread, started on first use and again after a crash. */
export class ThreadLongReads implements LongReads {
  private readonly startThread: StartThread<LongReadMessages>;
  private readonly databasePath: string;
  private readonly onCrash: (reason: string) => void;
  private thread: Thread<LongReadMessages> | null = null;
  private isClosed = false;
  private resolveClosed: () => void = () => {};
  private readonly waiting = new Map<number, (reply: ReadReply) => void>();
  private nextId = 1;

  constructor(startThread: StartThread<LongReadMessages>, databasePath: string, onCrash: (reason: string) => void) {
    this.startThread = startThread;
    this.databasePath = databasePath;
    this.onCrash = onCrash;
  }

  async start<Input>(read: LongRead<Input>, input: NoInfer<Input>): Promise<AsyncIterable<Uint8Array>> {
    const id = this.nextId;
    this.nextId += 1;
    const first = await this.request(id, { type: "start", id, name: read.readName, input });
    return this.chunks(id, first);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { thread } = this;
    this.thread = null;
    this.fail(SHUTTING_DOWN);
    if (thread === null) return;
    // The thread must close its own connection, or the writer cannot checkpoint the whole WAL.
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.resolveClosed = resolve;
    const timer = setTimeout(resolve, CLOSE_MAX_MS);
    thread.post({ type: "close" });
    await closed;
    clearTimeout(timer);
    thread.terminate();
  }

  private async *chunks(id: number, first: Uint8Array | null): AsyncGenerator<Uint8Array> {
    let next = first;
    try {
      while (next !== null) {
        yield next;
        next = await this.request(id, { type: "more", id });
      }
    } finally {
      if (next !== null) this.thread?.post({ type: "stop", id });
    }
  }

  /** The next bytes; null at the end. */
  private request(id: number, message: LongReadMessages["to"]): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      // After close, do not start another thread; without a thread, fail immediately instead of waiting.
      const thread = this.isClosed ? null : this.running();
      this.waiting.set(id, (reply) => {
        if (reply.type === "chunk") resolve(reply.bytes);
        else if (reply.type === "done") resolve(null);
        else reject(domainError(reply));
      });
      if (thread === null) this.fail(SHUTTING_DOWN);
      else thread.post(message);
    });
  }

  private running(): Thread<LongReadMessages> {
    if (this.thread !== null) return this.thread;
    this.thread = this.startThread(
      (message) => {
        if (message.type === "closed") this.resolveClosed();
        else this.settle(message);
      },
      (reason) => {
        this.thread = null;
        if (this.isClosed) this.resolveClosed();
        else this.onCrash(reason);
        this.fail(reason);
      },
    );
    this.thread.post({ type: "open", databasePath: this.databasePath });
    return this.thread;
  }

  private settle(reply: ReadReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    waiting?.(reply);
  }

  private fail(cause: string): void {
    const error: PlainError = { code: "internal_error", message: "The read was interrupted.", params: {}, cause };
    for (const id of [...this.waiting.keys()]) this.settle({ type: "failed", id, ...error });
  }
}

/** A turn ends after the first step that exceeds this time or has output. */
const TURN_MS = 4;

interface TurnOptions {
  /** Returns the caller from a read's input. */
  readonly callerOf: (input: unknown) => unknown;
  readonly monotonicMs?: () => number;
}

/** Thread side of long reads. Callers take turns, least consumed time first; the reads of one caller round-robin. */
export function serveLongReads(
  open: (databasePath: string) => Reader,
  reads: readonly AnyLongRead[],
  { callerOf, monotonicMs = () => performance.now() }: TurnOptions,
): ThreadMain<LongReadMessages> {
  const byName = new Map(reads.map((read) => [read.readName, read]));
  return (post) => {
    let reader: Reader | null = null;
    const running = new Map<number, { readonly caller: unknown; readonly steps: Generator<Uint8Array, void> }>();
    const turns = new FairScheduler<number>();
    const fail = (id: number, error: unknown) =>
      post({ type: "failed", id, ...plainError(readFailureOf(error) ?? error) });
    let isScheduled = false;
    const wait = (id: number, caller: unknown) => {
      turns.add(caller, id);
      // Includes reads requested before the callback in the choice of the next turn.
      if (!isScheduled) setImmediate(run);
      isScheduled = true;
    };
    const run = () => {
      isScheduled = false;
      const next = turns.take();
      if (next === null) return;
      const read = running.get(next.item);
      if (read !== undefined && reader !== null) {
        const startMs = monotonicMs();
        step(reader, next.item, read, startMs + TURN_MS);
        turns.charge(next.caller, monotonicMs() - startMs);
      }
      if (!turns.isEmpty && !isScheduled) {
        setImmediate(run);
        isScheduled = true;
      }
    };
    const step = (
      from: Reader,
      id: number,
      { caller, steps }: { readonly caller: unknown; readonly steps: Generator<Uint8Array, void> },
      untilMs: number,
    ) => {
      try {
        const next = from.snapshot(() => {
          for (;;) {
            const each = steps.next();
            if (each.done === true || each.value.length > 0 || monotonicMs() >= untilMs) return each;
          }
        });
        if (next.done === true) {
          running.delete(id);
          post({ type: "done", id });
        } else if (next.value.length === 0) wait(id, caller);
        else post({ type: "chunk", id, bytes: next.value });
      } catch (error) {
        running.delete(id);
        fail(id, error);
      }
    };
    return (message) => {
      if (message.type === "open") {
        reader = open(message.databasePath);
      } else if (message.type === "start") {
        const read = byName.get(message.name);
        if (read === undefined || reader === null) {
          fail(message.id, new Error(`long reads: unknown read ${message.name}`));
          return;
        }
        const caller = callerOf(message.input);
        // Type-checked at the start of the read.
        running.set(message.id, { caller, steps: read(reader, message.input as never) });
        wait(message.id, caller);
      } else if (message.type === "more") {
        // The thread that ran the read may have crashed and been replaced by the current one.
        const read = running.get(message.id);
        if (read !== undefined) wait(message.id, read.caller);
        else fail(message.id, new Error("long reads: the thread that started the read has ended"));
      } else if (message.type === "stop") {
        running.get(message.id)?.steps.return();
        running.delete(message.id);
      } else {
        for (const { steps } of running.values()) steps.return();
        running.clear();
        reader?.close();
        reader = null;
        post({ type: "closed" });
      }
    };
  };
}
