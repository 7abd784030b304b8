// Reads that may take long, run beside the thread that answers: each on a connection of its own, as a generator of bytes that
// goes one step whenever its reader has taken the last one. No transaction is held in between. Knows no resource.

import { DomainError, type ErrorCode } from "../base/errors.ts";
import type { Reader } from "./reader.ts";
import { readTroubleOf } from "./trouble.ts";
import { Turns } from "./turns.ts";

/**
 * A long read: yields the bytes of its answer in steps of some milliseconds; no bytes where a step has none to tell. What it reads must be
 * as of a fixed sequence, since every step sees a later state of the database.
 */
// biome-ignore lint/suspicious/noExplicitAny: each read's input is typed where it is defined and where it is called.
export type LongRead = (reader: Reader, input: any) => Generator<Uint8Array, void>;
export type LongReadTable = Readonly<Record<string, LongRead>>;

export interface LongReadOptions {
  readonly isAdmitted?: boolean;
}

export interface LongReads {
  /**
   * Starts a read by its name.
   * @param input plain data: it crosses to another thread
   * @param options.isAdmitted how many of these a caller has is bounded where they are asked for: they are refused to nobody here, and are not counted
   * @returns its bytes, the first of them made already
   * @throws DomainError as the read threw it before its first bytes; rate_limit_exceeded for one caller's too many
   */
  start(name: string, input: unknown, options?: LongReadOptions): Promise<AsyncIterable<Uint8Array>>;
  /** Lets go of the database: what is under way is cut off. */
  close(): Promise<void>;
}

/** Long reads of one caller at a time: each holds what it has found for as long as its answer is taken. Those of the change feed's streams have a bound of their own. */
export const LONG_READS_OF_CALLER_MAX = 32;

/**
 * Shares reads out among others: those with large steps among some, the rest among the rest, each to the one with the fewest under way.
 * So a question whose every step is short waits for no list whose first step is not.
 */
export class SharedOutLongReads implements LongReads {
  private readonly underWayOf = new Map<unknown, number>();
  private readonly callerOf: (input: unknown) => unknown;
  private readonly forLargeSteps: Lane[];
  private readonly forTheRest: Lane[];
  private readonly inLargeSteps: ReadonlySet<string>;

  /**
   * @param inLargeSteps names of reads; a step of theirs may take as long as one pass over what was alive
   * @param callerOf tells from a read's input who asks: nobody has more than LONG_READS_OF_CALLER_MAX under way, besides those that were admitted elsewhere
   */
  constructor(
    forLargeSteps: readonly LongReads[],
    forTheRest: readonly LongReads[],
    inLargeSteps: ReadonlySet<string>,
    callerOf: (input: unknown) => unknown,
  ) {
    this.callerOf = callerOf;
    const laneOf = (reads: LongReads): Lane => ({ reads, underWay: 0 });
    this.forLargeSteps = forLargeSteps.map(laneOf);
    this.forTheRest = forTheRest.map(laneOf);
    this.inLargeSteps = inLargeSteps;
  }

  async start(
    name: string,
    input: unknown,
    { isAdmitted = false }: LongReadOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const lanes = this.inLargeSteps.has(name) ? this.forLargeSteps : this.forTheRest;
    const lane = lanes.reduce((least, each) => (each.underWay < least.underWay ? each : least));
    const release = isAdmitted ? () => {} : this.take(this.callerOf(input));
    lane.underWay += 1;
    const over = () => {
      lane.underWay -= 1;
      release();
    };
    try {
      return untilOver(await lane.reads.start(name, input), over);
    } catch (error) {
      over();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.forLargeSteps, ...this.forTheRest].map(({ reads }) => reads.close()));
  }

  /** One more of a caller's own. @returns ends it */
  private take(caller: unknown): () => void {
    const own = this.underWayOf.get(caller) ?? 0;
    if (own >= LONG_READS_OF_CALLER_MAX) {
      throw new DomainError(
        "rate_limit_exceeded",
        `You have ${LONG_READS_OF_CALLER_MAX} long reads under way already; take what they answer, or close them, first.`,
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

/** The same bytes; tells once when they are over, or are no longer wanted, also where nobody has asked for the first of them. */
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

export type ToReadWorker =
  | { type: "open"; options: unknown }
  | { type: "start"; id: number; name: string; input: unknown }
  | { type: "more"; id: number }
  | { type: "stop"; id: number }
  | { type: "close" };
/** A thread that is in the middle of a long step is waited for no longer than this before it is ended. */
const CLOSE_MAX_MS = 1_000;

export type FromReadWorker =
  | { type: "closed" }
  | { type: "chunk"; id: number; bytes: Uint8Array }
  | { type: "done"; id: number }
  | {
      type: "failed";
      id: number;
      code: ErrorCode;
      message: string;
      params: Record<string, unknown>;
      cause: string | null;
    };

const SHUTTING_DOWN = "the appliance is shutting down";

interface Waiting {
  readonly settle: (message: Exclude<FromReadWorker, { type: "closed" }>) => void;
}

/** In a Worker, started when it is first needed and again after a crash. */
export class WorkerLongReads implements LongReads {
  private readonly startWorker: () => Worker;
  private readonly options: unknown;
  private readonly onCrash: (message: string) => void;
  private worker: Worker | null = null;
  private isClosed = false;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;

  /** @param options handed to the Worker as they are */
  constructor(startWorker: () => Worker, options: unknown, onCrash: (message: string) => void) {
    this.startWorker = startWorker;
    this.options = options;
    this.onCrash = onCrash;
  }

  async start(name: string, input: unknown): Promise<AsyncIterable<Uint8Array>> {
    const id = this.nextId;
    this.nextId += 1;
    const first = await this.ask(id, { type: "start", id, name, input });
    return this.chunks(id, first);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { worker } = this;
    this.worker = null;
    this.fail(SHUTTING_DOWN);
    if (worker === null) return;
    // Its connection must be closed by its own thread, or the writer cannot fold all of the log into the database.
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    worker.onmessage = (event: MessageEvent<FromReadWorker>) => {
      if (event.data.type === "closed") resolve();
    };
    worker.onerror = () => resolve();
    const timer = setTimeout(resolve, CLOSE_MAX_MS);
    worker.postMessage({ type: "close" } satisfies ToReadWorker);
    await closed;
    clearTimeout(timer);
    worker.terminate();
  }

  private async *chunks(id: number, first: Uint8Array | null): AsyncGenerator<Uint8Array> {
    let next = first;
    try {
      while (next !== null) {
        yield next;
        next = await this.ask(id, { type: "more", id });
      }
    } finally {
      if (next !== null) this.worker?.postMessage({ type: "stop", id } satisfies ToReadWorker);
    }
  }

  /** The next bytes; null at the end. */
  private ask(id: number, message: ToReadWorker): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      // What goes on meanwhile must not start another thread; and where none can be started, nothing waits for it.
      const worker = this.isClosed ? null : this.running();
      this.waiting.set(id, {
        settle: (reply) => {
          if (reply.type === "chunk") resolve(reply.bytes);
          else if (reply.type === "done") resolve(null);
          else {
            const error = new DomainError(reply.code, reply.message, reply.params);
            if (reply.cause !== null) error.cause = reply.cause;
            reject(error);
          }
        },
      });
      if (worker === null) this.fail(SHUTTING_DOWN);
      else worker.postMessage(message);
    });
  }

  private running(): Worker {
    if (this.worker !== null) return this.worker;
    const worker = this.startWorker();
    this.worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromReadWorker>) => {
      if (data.type === "closed") return;
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      waiting?.settle(data);
    };
    const crash = (message: string) => {
      if (this.worker !== worker) return;
      this.worker = null;
      this.onCrash(message);
      this.fail(message);
    };
    worker.onerror = (event) => crash(event.message);
    worker.addEventListener("close", () => crash("the thread of long reads ended"));
    worker.postMessage({ type: "open", options: this.options } satisfies ToReadWorker);
    return worker;
  }

  private fail(message: string): void {
    for (const [id, waiting] of [...this.waiting]) {
      this.waiting.delete(id);
      waiting.settle({
        type: "failed",
        id,
        code: "internal_error",
        message: "The read was cut off.",
        params: {},
        cause: message,
      });
    }
  }
}

/** A turn ends with the first step that ends after so long, or that has bytes to tell. */
export const TURN_MS = 4;

export interface TurnOptions {
  /** Tells from a read's input who asks. */
  readonly callerOf: (input: unknown) => unknown;
  readonly monotonicMs?: () => number;
}

/** The Worker's side. Callers take turns, whoever has had the least of the thread's time first; the reads of one caller one after the other. */
export function serveLongReads(
  open: (options: unknown) => Reader,
  reads: LongReadTable,
  port: { postMessage(message: FromReadWorker): void },
  { callerOf, monotonicMs = () => performance.now() }: TurnOptions,
): (message: ToReadWorker) => void {
  let reader: Reader | null = null;
  const running = new Map<number, { readonly caller: unknown; readonly steps: Generator<Uint8Array, void> }>();
  const turns = new Turns<number>();
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
        port.postMessage({ type: "done", id });
      } else if (next.value.length === 0) wait(id, caller);
      else port.postMessage({ type: "chunk", id, bytes: next.value });
    } catch (error) {
      running.delete(id);
      port.postMessage(failure(id, error));
    }
  };
  return (message) => {
    if (message.type === "open") {
      reader = open(message.options);
    } else if (message.type === "start") {
      const read = Object.hasOwn(reads, message.name) ? reads[message.name] : undefined;
      if (read === undefined || reader === null) {
        port.postMessage(failure(message.id, new Error(`long reads: there is none called ${message.name}`)));
        return;
      }
      const caller = callerOf(message.input);
      running.set(message.id, { caller, steps: read(reader, message.input) });
      wait(message.id, caller);
    } else if (message.type === "more") {
      // The thread that it ran in may have crashed since, and this be the next one.
      const read = running.get(message.id);
      if (read !== undefined) wait(message.id, read.caller);
      else port.postMessage(failure(message.id, new Error("long reads: the thread that it began in has ended")));
    } else if (message.type === "stop") {
      running.get(message.id)?.steps.return();
      running.delete(message.id);
    } else {
      for (const { steps } of running.values()) steps.return();
      running.clear();
      reader?.close();
      reader = null;
      port.postMessage({ type: "closed" });
    }
  };
}

function failure(id: number, error: unknown): FromReadWorker {
  if (error instanceof DomainError)
    return { type: "failed", id, code: error.code, message: error.message, params: error.params, cause: null };
  const trouble = readTroubleOf(error);
  if (trouble !== null)
    return {
      type: "failed",
      id,
      code: trouble.code,
      message: trouble.message,
      params: {},
      cause: String(trouble.cause),
    };
  return {
    type: "failed",
    id,
    code: "internal_error",
    message: "Something went wrong inside the appliance.",
    params: {},
    cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
