// How the rest of the program reaches the writer: a promise per command. In the appliance the writer lives in a Worker,
// so that no write and no fsync makes a reader wait; commands that arrive together share a commit.

import type { Clock } from "../base/clock.ts";
import { DomainError } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import { AnsweredPast } from "./answered-past.ts";
import { CommitSignal } from "./commit-signal.ts";
import type { Repeatable } from "./kept-outcomes.ts";
import type { Author, Outcome } from "./transaction.ts";
import { MAX_GROUP, outcomeOf, type WriteReply, type WriteRequest, type Writer } from "./writer.ts";

export interface WriteQueue {
  /**
   * Runs a command and answers after its commit.
   * @param repeatable where a repetition is to be answered as the first time; what is refused is not kept
   * @throws DomainError as the command threw it; storage_full; internal_error; idempotency_key_reused
   */
  run<T>(command: string, input: unknown, actor: Author, repeatable?: Repeatable): Promise<Outcome<T>>;
  /**
   * To be called before an answer as of an instant that has passed: the same question a moment later must not be answered otherwise.
   * Nothing that this process writes from then on is dated there, also when the clock is set back by up to five minutes in the meantime.
   * @param seen the newest transaction in the state of the database that the answer would be read from
   * @returns null where that state has all of it; else what to wait for before another state is read
   */
  settlePast(at: Instant, seen: number): Promise<void> | null;
  /** Told after each commit that made a transaction. */
  readonly commits: CommitSignal;
  /** Finishes what is waiting, checkpoints and closes. */
  close(): Promise<void>;
}

/** Commands waiting at most, about a second's work; beyond that the caller is told to come back. */
export const MAX_WAITING_COMMANDS = 1_024;
/** What that caller is told to wait. */
export const WRITE_RETRY_AFTER_S = 1;

/** The writer on this thread: for subcommands and tests. */
export class DirectWriteQueue implements WriteQueue {
  readonly commits = new CommitSignal();
  private readonly writer: Writer;

  constructor(writer: Writer) {
    this.writer = writer;
  }

  async run<T>(command: string, input: unknown, actor: Author, repeatable?: Repeatable): Promise<Outcome<T>> {
    // As the Worker would hand it over: a copy, and nothing that can't be copied.
    const request = structuredClone({ command, input, actor, ...(repeatable === undefined ? {} : { repeatable }) });
    const reply = this.writer.execute([request])[0] as WriteReply;
    // As from another thread: not before this one has left the state of the database that it holds.
    if (reply.ok && reply.outcome.sequence !== null) queueMicrotask(() => this.commits.notify());
    return outcomeOf<T>(reply);
  }

  settlePast(at: Instant): null {
    this.writer.past.answer(at);
    // Each command is done before the next statement of this thread.
    return null;
  }

  async close(): Promise<void> {
    this.writer.close();
  }
}

export type ToWorker = { type: "open"; options: unknown; past: SharedArrayBuffer } | { type: "run"; id: number; request: WriteRequest } | { type: "close" };
export type FromWorker =
  | { type: "opened" }
  | { type: "refused"; message: string }
  | { type: "reply"; id: number; reply: WriteReply }
  /** A commit was given up, to be made at a later instant. */
  | { type: "postponed" }
  | { type: "closed" };

/** The writer in a Worker. */
export class WorkerWriteQueue implements WriteQueue {
  readonly commits = new CommitSignal();
  private readonly worker: Worker;
  private readonly past: AnsweredPast;
  /** In the order of their sending. */
  private readonly waiting = new Map<number, (reply: WriteReply) => void>();
  /** Who waits for the next word of the writer. */
  private listening: Array<() => void> = [];
  private nextId = 1;
  private closed: Promise<void> | null = null;
  private closedNow: () => void = () => {};
  private dead: string | null = null;

  private constructor(worker: Worker, past: AnsweredPast, onCrash: (message: string) => void) {
    this.worker = worker;
    this.past = past;
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    const crash = (message: string) => {
      if (this.dead !== null) return;
      this.dead = message;
      for (const id of [...this.waiting.keys()]) this.finish(id, internal(message));
      this.past.open(null);
      this.tell();
      if (this.closed === null) onCrash(message);
      // The writer that was to close is gone: there is nothing left to wait for.
      else this.closedNow();
    };
    worker.onerror = (event) => crash(event.message);
    worker.addEventListener("close", () => crash("the writer ended"));
  }

  /**
   * Waits until the Worker has opened the database.
   * @param options handed to the Worker as they are
   * @param clock the one that the Worker reads as well
   * @param onCrash called when the writer is gone: the appliance can't go on without it
   */
  static open(worker: Worker, options: unknown, clock: Clock, onCrash: (message: string) => void): Promise<WorkerWriteQueue> {
    const past = new AnsweredPast(clock);
    return new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message));
      worker.onmessage = (event: MessageEvent<FromWorker>) => {
        if (event.data.type === "opened") resolve(new WorkerWriteQueue(worker, past, onCrash));
        else if (event.data.type === "refused") reject(new Error(event.data.message));
      };
      worker.postMessage({ type: "open", options, past: past.memory } satisfies ToWorker);
    });
  }

  run<T>(command: string, input: unknown, actor: Author, repeatable?: Repeatable): Promise<Outcome<T>> {
    if (this.closed !== null) return Promise.reject(new DomainError("shutting_down", "The appliance is shutting down: nothing was written."));
    if (this.dead !== null) return Promise.reject(new DomainError("internal_error", "The writer has stopped; nothing was written."));
    if (this.waiting.size >= MAX_WAITING_COMMANDS) {
      return Promise.reject(new DomainError("rate_limit_exceeded", "Too many writes are waiting; try again in a second.", { retry_after_seconds: WRITE_RETRY_AFTER_S }));
    }
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      const settle = (reply: WriteReply) => {
        try {
          resolve(outcomeOf<T>(reply));
        } catch (error) {
          reject(error);
        }
      };
      this.waiting.set(id, settle);
      this.worker.postMessage({ type: "run", id, request: { command, input, actor, ...(repeatable === undefined ? {} : { repeatable }) } } satisfies ToWorker);
    });
  }

  close(): Promise<void> {
    if (this.closed === null) {
      this.closed = new Promise((resolve) => {
        this.closedNow = resolve;
      });
      if (this.dead !== null) this.closedNow();
      else this.worker.postMessage({ type: "close" } satisfies ToWorker);
    }
    return this.closed;
  }

  settlePast(at: Instant, seen: number): Promise<void> | null {
    this.past.answer(at);
    if (this.past.isClosing(at)) return this.settled(at);
    // Committed between the caller's look at the database and now.
    return this.past.committed > seen ? Promise.resolve() : null;
  }

  private async settled(at: Instant): Promise<void> {
    while (this.past.isClosing(at)) await new Promise<void>((resolve) => this.listening.push(resolve));
  }

  private finish(id: number, reply: WriteReply): void {
    this.waiting.get(id)?.(reply);
    this.waiting.delete(id);
  }

  private tell(): void {
    const listening = this.listening;
    this.listening = [];
    for (const resolve of listening) resolve();
  }

  private receive(message: FromWorker): void {
    if (message.type === "reply") {
      this.finish(message.id, message.reply);
      if (message.reply.ok && message.reply.outcome.sequence !== null) this.commits.notify();
    } else if (message.type === "closed") {
      this.closedNow();
      this.worker.terminate();
    }
    this.tell();
  }
}

/** The Worker's side: collects what arrives together and commits it together. */
export function serveWrites(open: (options: unknown, past: SharedArrayBuffer, onPostponed: () => void) => Writer, port: { postMessage(message: FromWorker): void }): (message: ToWorker) => void {
  let writer: Writer | null = null;
  let queue: Array<{ id: number; request: WriteRequest }> = [];
  let scheduled = false;
  const drain = () => {
    scheduled = false;
    while (queue.length > 0 && writer !== null) {
      const group = queue.slice(0, MAX_GROUP);
      queue = queue.slice(MAX_GROUP);
      const replies = writer.execute(group.map((each) => each.request));
      group.forEach(({ id }, position) => port.postMessage({ type: "reply", id, reply: replies[position] as WriteReply }));
    }
  };
  return (message) => {
    if (message.type === "open") {
      try {
        writer = open(message.options, message.past, () => port.postMessage({ type: "postponed" }));
        port.postMessage({ type: "opened" });
      } catch (error) {
        port.postMessage({ type: "refused", message: error instanceof Error ? error.message : String(error) });
      }
    } else if (message.type === "run") {
      queue.push({ id: message.id, request: message.request });
      if (!scheduled) {
        scheduled = true;
        setImmediate(drain);
      }
    } else {
      try {
        drain();
        writer?.close();
      } finally {
        writer = null;
        port.postMessage({ type: "closed" });
      }
    }
  };
}

function internal(cause: string): WriteReply {
  return { ok: false, code: "internal_error", message: "The writer has stopped; nothing was written.", params: {}, cause };
}
