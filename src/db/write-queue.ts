// How the rest of the program reaches the writer: a promise per command. In the appliance the writer lives in a Worker,
// so that no write and no fsync makes a reader wait; commands that arrive together share a commit.

import { DomainError } from "../base/errors.ts";
import type { Author, Outcome } from "./transaction.ts";
import { MAX_GROUP, outcomeOf, type WriteReply, type WriteRequest, type Writer } from "./writer.ts";

export interface WriteQueue {
  /**
   * Runs a command and answers after its commit.
   * @throws DomainError as the command threw it; storage_full; internal_error
   */
  run<T>(command: string, input: unknown, actor: Author): Promise<Outcome<T>>;
  /** Finishes what is waiting, checkpoints and closes. */
  close(): Promise<void>;
}

/** Commands waiting at most; beyond that the caller is told to come back. */
export const MAX_WAITING_COMMANDS = 4_096;

/** The writer on this thread: for subcommands and tests. */
export class DirectWriteQueue implements WriteQueue {
  private readonly writer: Writer;

  constructor(writer: Writer) {
    this.writer = writer;
  }

  async run<T>(command: string, input: unknown, actor: Author): Promise<Outcome<T>> {
    // As the Worker would hand it over: a copy, and nothing that can't be copied.
    const request = structuredClone({ command, input, actor });
    return outcomeOf<T>(this.writer.execute([request])[0] as WriteReply);
  }

  async close(): Promise<void> {
    this.writer.close();
  }
}

export type ToWorker = { type: "open"; options: unknown } | { type: "run"; id: number; request: WriteRequest } | { type: "close" };
export type FromWorker =
  | { type: "opened" }
  | { type: "refused"; message: string }
  | { type: "reply"; id: number; reply: WriteReply }
  | { type: "closed" };

/** The writer in a Worker. */
export class WorkerWriteQueue implements WriteQueue {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, (reply: WriteReply) => void>();
  private nextId = 1;
  private closed: Promise<void> | null = null;
  private closedNow: () => void = () => {};
  private dead: string | null = null;

  private constructor(worker: Worker, onCrash: (message: string) => void) {
    this.worker = worker;
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    const crash = (message: string) => {
      if (this.dead !== null || this.closed !== null) return;
      this.dead = message;
      for (const settle of this.waiting.values()) settle(internal(message));
      this.waiting.clear();
      onCrash(message);
    };
    worker.onerror = (event) => crash(event.message);
    worker.addEventListener("close", () => crash("the writer ended"));
  }

  /**
   * Waits until the Worker has opened the database.
   * @param options handed to the Worker as they are
   * @param onCrash called when the writer is gone: the appliance can't go on without it
   */
  static open(worker: Worker, options: unknown, onCrash: (message: string) => void): Promise<WorkerWriteQueue> {
    return new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message));
      worker.onmessage = (event: MessageEvent<FromWorker>) => {
        if (event.data.type === "opened") resolve(new WorkerWriteQueue(worker, onCrash));
        else if (event.data.type === "refused") reject(new Error(event.data.message));
      };
      worker.postMessage({ type: "open", options } satisfies ToWorker);
    });
  }

  run<T>(command: string, input: unknown, actor: Author): Promise<Outcome<T>> {
    if (this.closed !== null) return Promise.reject(new DomainError("shutting_down", "The appliance is shutting down: nothing was written."));
    if (this.dead !== null) return Promise.reject(new DomainError("internal_error", "The writer has stopped; nothing was written."));
    if (this.waiting.size >= MAX_WAITING_COMMANDS) {
      return Promise.reject(new DomainError("rate_limit_exceeded", "Too many writes are waiting; try again in a second.", { retry_after_seconds: 1 }));
    }
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (reply) => {
        try {
          resolve(outcomeOf<T>(reply));
        } catch (error) {
          reject(error);
        }
      });
      this.worker.postMessage({ type: "run", id, request: { command, input, actor } } satisfies ToWorker);
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

  private receive(message: FromWorker): void {
    if (message.type === "reply") {
      const settle = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      settle?.(message.reply);
    } else if (message.type === "closed") {
      this.closedNow();
      this.worker.terminate();
    }
  }
}

/** The Worker's side: collects what arrives together and commits it together. */
export function serveWrites(open: (options: unknown) => Writer, port: { postMessage(message: FromWorker): void }): (message: ToWorker) => void {
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
        writer = open(message.options);
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
      drain();
      writer?.close();
      writer = null;
      port.postMessage({ type: "closed" });
    }
  };
}

function internal(cause: string): WriteReply {
  return { ok: false, code: "internal_error", message: "The writer has stopped; nothing was written.", params: {}, cause };
}
