// Reads that may take long, run beside the thread that answers: each on a connection of its own, as a generator of
// bytes that goes one step whenever its reader has taken the last one. No transaction is held in between. Knows no
// resource.

import type { Counts } from "../../base/counters.ts";
import { DomainError, domainError, type PlainError, plainError } from "../../base/errors.ts";
import type { StartThread, Thread, ThreadMain } from "../../base/thread.ts";
import { readTroubleOf } from "../trouble.ts";
import type { Reader } from "./reader.ts";
import { Turns } from "./turns.ts";

/**
 * A long read: yields the bytes of its answer in steps of some milliseconds; no bytes where a step has none to tell.
 * What it reads must be as of a fixed sequence, since every step sees a later state of the database.
 */
export interface LongRead<Input> {
  (reader: Reader, input: Input): Generator<Uint8Array, void>;
  readonly readName: string;
  readonly isInLargeSteps: boolean;
}
/** One of whatever input. */
export type AnyLongRead = LongRead<never>;

/**
 * @param name by which the thread knows it
 * @param isInLargeSteps whether a step may take as long as one pass over what was alive: an order or a filter, all that
 * one record has, all links of a network
 */
export function longRead<Input>(
  name: string,
  read: (reader: Reader, input: Input) => Generator<Uint8Array, void>,
  { isInLargeSteps = false } = {},
): LongRead<Input> {
  return Object.assign(read, { readName: name, isInLargeSteps });
}

export interface LongReadOptions {
  readonly isAdmitted?: boolean;
}

export interface LongReads {
  /**
   * @param input plain data: it crosses to another thread
   * @param options.isAdmitted how many of these a caller has is bounded where they are asked for: they are refused to
   * nobody here, and are not counted
   * @returns its bytes, the first of them made already
   * @throws DomainError as the read threw it before its first bytes; rate_limit_exceeded for one caller's too many
   */
  start<Input>(
    read: LongRead<Input>,
    input: NoInfer<Input>,
    options?: LongReadOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Lets go of the database: what is under way is cut off. */
  close(): Promise<void>;
}

/**
 * Long reads of one caller at a time: each holds what it has found for as long as its answer is taken. Those of the
 * change feed's streams have a bound of their own.
 */
export const LONG_READS_OF_CALLER_MAX = 32;

/**
 * Shares reads out among others: those with large steps among some, the rest among the rest, each to the one with the
 * fewest under way. So a question whose every step is short waits for no list whose first step is not.
 */
export class LongReadPool implements LongReads {
  private readonly underWayOf = new Map<unknown, number>();
  private readonly callerOf: (input: unknown) => unknown;
  private readonly counts: Counts["long_reads"];
  private readonly forLargeSteps: Lane[];
  private readonly forTheRest: Lane[];

  /**
   * @param callerOf tells from a read's input who asks: nobody has more than LONG_READS_OF_CALLER_MAX under way,
   * besides those that were admitted elsewhere
   */
  constructor(
    forLargeSteps: readonly LongReads[],
    forTheRest: readonly LongReads[],
    callerOf: (input: unknown) => unknown,
    counts: Counts["long_reads"],
  ) {
    this.callerOf = callerOf;
    this.counts = counts;
    const laneOf = (reads: LongReads): Lane => ({ reads, underWay: 0 });
    this.forLargeSteps = forLargeSteps.map(laneOf);
    this.forTheRest = forTheRest.map(laneOf);
  }

  async start<Input>(
    read: LongRead<Input>,
    input: Input,
    { isAdmitted = false }: LongReadOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const lanes = read.isInLargeSteps ? this.forLargeSteps : this.forTheRest;
    const lane = lanes.reduce((least, each) => (each.underWay < least.underWay ? each : least));
    const release = isAdmitted ? () => {} : this.take(this.callerOf(input));
    lane.underWay += 1;
    const over = () => {
      lane.underWay -= 1;
      release();
    };
    try {
      const chunks = untilOver(await lane.reads.start(read, input), over);
      this.counts.started += 1;
      return chunks;
    } catch (error) {
      this.counts.refused += 1;
      over();
      throw error;
    }
  }

  /** How many are under way. */
  get count(): number {
    return [...this.forLargeSteps, ...this.forTheRest].reduce((sum, { underWay }) => sum + underWay, 0);
  }

  async close(): Promise<void> {
    await Promise.all([...this.forLargeSteps, ...this.forTheRest].map(({ reads }) => reads.close()));
  }

  /** One more of a caller's own. @returns ends it */
  private take(caller: unknown): () => void {
    const own = this.underWayOf.get(caller) ?? 0;
    if (own >= LONG_READS_OF_CALLER_MAX) {
      this.counts.refused += 1;
      throw new DomainError(
        "rate_limit_exceeded",
        `You already have ${LONG_READS_OF_CALLER_MAX} long reads open; finish or close them first.`,
        { retry_after_seconds: 1 },
      );
    }
    this.underWayOf.set(caller, own + 1);
    return () => {
      const left = (this.underWayOf.get(caller) ?? 1) - 1;
      if (left === 0) this.underWayOf.delete(caller);
      else this.underWayOf.set(caller, left);
    };
  }
}

interface Lane {
  readonly reads: LongReads;
  underWay: number;
}

/**
 * The same bytes; tells once when they are over, or are no longer wanted, also where nobody has asked for the first of
 * them.
 */
export function untilOver(chunks: AsyncIterable<Uint8Array>, over: () => void): AsyncIterable<Uint8Array> {
  const steps = chunks[Symbol.asyncIterator]();
  let isOver = false;
  const end = () => {
    if (!isOver) over();
    isOver = true;
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

/** A thread that is in the middle of a long step is waited for no longer than this before it is ended. */
const CLOSE_MAX_MS = 1_000;

const SHUTTING_DOWN = "the appliance is shutting down";

/** What a thread answers of one read. */
type ReadReply = Exclude<LongReadMessages["from"], { type: "closed" }>;

/** In a thread of their own, started when it is first needed and again after a crash. */
export class ThreadLongReads implements LongReads {
  private readonly startThread: StartThread<LongReadMessages>;
  private readonly databasePath: string;
  private readonly onCrash: (reason: string) => void;
  private thread: Thread<LongReadMessages> | null = null;
  private isClosed = false;
  private closedNow: () => void = () => {};
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
    const first = await this.ask(id, { type: "start", id, name: read.readName, input });
    return this.chunks(id, first);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { thread } = this;
    this.thread = null;
    this.fail(SHUTTING_DOWN);
    if (thread === null) return;
    // Its connection must be closed by its own thread, or the writer cannot fold all of the log into the database.
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.closedNow = resolve;
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
        next = await this.ask(id, { type: "more", id });
      }
    } finally {
      if (next !== null) this.thread?.post({ type: "stop", id });
    }
  }

  /** The next bytes; null at the end. */
  private ask(id: number, message: LongReadMessages["to"]): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      // What goes on meanwhile must not start another thread; and where none can be started, nothing waits for it.
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
        if (message.type === "closed") this.closedNow();
        else this.settle(message);
      },
      (reason) => {
        this.thread = null;
        if (this.isClosed) this.closedNow();
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
    for (const id of [...this.waiting.keys()])
      this.settle({ type: "failed", id, code: "internal_error", message: "The read was cut off.", params: {}, cause });
  }
}

/** A turn ends with the first step that ends after so long, or that has bytes to tell. */
const TURN_MS = 4;

interface TurnOptions {
  /** Tells from a read's input who asks. */
  readonly callerOf: (input: unknown) => unknown;
  readonly monotonicMs?: () => number;
}

/**
 * The thread's side. Callers take turns, whoever has had the least of the thread's time first; the reads of one caller
 * one after the other.
 */
export function serveLongReads(
  open: (databasePath: string) => Reader,
  reads: readonly AnyLongRead[],
  { callerOf, monotonicMs = () => performance.now() }: TurnOptions,
): ThreadMain<LongReadMessages> {
  const byName = new Map(reads.map((read) => [read.readName, read]));
  return (post) => {
    let reader: Reader | null = null;
    const running = new Map<number, { readonly caller: unknown; readonly steps: Generator<Uint8Array, void> }>();
    const turns = new Turns<number>();
    const fail = (id: number, error: unknown) =>
      post({ type: "failed", id, ...plainError(readTroubleOf(error) ?? error) });
    let isScheduled = false;
    const wait = (id: number, caller: unknown) => {
      turns.add(caller, id);
      // What has been asked for by then has its say in whose turn it is.
      if (!isScheduled) setImmediate(run);
      isScheduled = true;
    };
    const run = () => {
      isScheduled = false;
      const next = turns.take();
      if (next === null) return;
      const read = running.get(next.item);
      if (read !== undefined && reader !== null) {
        const began = monotonicMs();
        step(reader, next.item, read, began + TURN_MS);
        turns.charge(next.caller, monotonicMs() - began);
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
          fail(message.id, new Error(`long reads: there is none called ${message.name}`));
          return;
        }
        const caller = callerOf(message.input);
        // Typed where it was started.
        running.set(message.id, { caller, steps: read(reader, message.input as never) });
        wait(message.id, caller);
      } else if (message.type === "more") {
        // The thread that it ran in may have crashed since, and this be the next one.
        const read = running.get(message.id);
        if (read !== undefined) wait(message.id, read.caller);
        else fail(message.id, new Error("long reads: the thread that it began in has ended"));
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
