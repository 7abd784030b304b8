// Promise-based access to the writer. In the appliance the writer has its own thread, so that no write and no fsync
// blocks a reader. commit-scheduler.ts decides on order and shared commits.

import type { Clock } from "../../base/clock.ts";
import type { Counts } from "../../base/counters.ts";
import { DomainError, isFault } from "../../base/errors.ts";
import type { Instant } from "../../base/instant.ts";
import type { StartThread, Thread, ThreadMain } from "../../base/thread.ts";
import {
  MAX_URGENT_OF_USER,
  MAX_WAITING_BYTES_OF_USER,
  MAX_WAITING_COMMANDS,
  MAX_WAITING_OF_USER,
  RESERVED_OF_USER,
  WRITE_RETRY_AFTER_S,
} from "../../base/write-limits.ts";
import type { Calls, CallsOf, Commands, NoCalls } from "./command.ts";
import { CommitScheduler, isUserQueue, queueOf, type WaitingWrite } from "./commit-scheduler.ts";
import type { Repeatable } from "./kept-outcomes.ts";
import type { Author } from "./ledger.ts";
import { ReadFence } from "./read-fence.ts";
import type { CommandOutcome } from "./transaction.ts";
import { GROUP_SLICE_MS, outcomeOf, refusalReply, type WriteReply, type WriteRequest, type Writer } from "./writer.ts";

/** Metadata of a write. */
export interface WriteTerms {
  /** Set if repeats of the request get the stored outcome; refusals are not stored. */
  readonly repeatable?: Repeatable | undefined;
  /** Input size. */
  readonly bytes?: number;
}

/** @typeParam C its commands: a queue also serves as one for any subset */
export interface WriteQueue<C extends Calls = NoCalls> {
  /**
   * Runs a command and resolves after its commit.
   * @throws DomainError from the command; storage_full; internal_error; idempotency_key_reused; rate_limit_exceeded if
   * too much waits
   */
  run<N extends keyof C & string>(
    command: N,
    input: C[N]["input"],
    actor: Author,
    terms?: WriteTerms,
  ): Promise<CommandOutcome<C[N]["result"]>>;
  /**
   * Call before responding as of a past timestamp: the same query must get the same response later. Nothing that this
   * process writes afterwards is dated at or before it, even if the clock is then set back by up to five minutes.
   * @param seen the newest transaction in the snapshot to be read
   * @returns null if the snapshot is complete; otherwise a promise to await before taking another snapshot
   */
  settlePast(at: Instant, seen: number): Promise<void> | null;
  /** Finishes waiting commands, checkpoints and closes. */
  close(): Promise<void>;
}

/** Writer on the current thread: for subcommands and tests. */
export class DirectWriteQueue<T extends Commands> implements WriteQueue<CallsOf<T>> {
  private readonly writer: Writer<T>;
  private readonly onCommit: (sequence: number) => void;

  /** @param onCommit called after each commit that wrote a transaction */
  constructor(writer: Writer<T>, onCommit: (sequence: number) => void = () => {}) {
    this.writer = writer;
    this.onCommit = onCommit;
  }

  async run<N extends keyof T & string>(
    command: N,
    input: CallsOf<T>[N]["input"],
    actor: Author,
    { repeatable }: WriteTerms = {},
  ): Promise<CommandOutcome<CallsOf<T>[N]["result"]>> {
    // Copies like a thread message, so that input that cannot be cloned fails here too.
    const request = structuredClone({ command, input, actor, ...(repeatable === undefined ? {} : { repeatable }) });
    const reply = this.writer.execute([request])[0] as WriteReply;
    // Deferred like a thread message, until the caller has left its snapshot.
    const sequence = reply.ok ? reply.outcome.sequence : null;
    if (sequence !== null) queueMicrotask(() => this.onCommit(sequence));
    return outcomeOf(reply);
  }

  settlePast(at: Instant): null {
    this.writer.fence.answer(at);
    // Each command completes before this thread's next statement.
    return null;
  }

  async close(): Promise<void> {
    this.writer.close();
  }
}

/** Options for opening the database in the writer thread. */
export interface WriterOptions {
  readonly databasePath: string;
  /** Encrypts credential secrets. */
  readonly secretKey: Uint8Array;
}

export interface WriteMessages {
  readonly to:
    | { type: "open"; options: WriterOptions; fence: SharedArrayBuffer }
    | { type: "run"; id: number; bytes: number; request: WriteRequest }
    | { type: "close" };
  readonly from:
    | { type: "opened" }
    | { type: "refused"; message: string }
    | { type: "reply"; id: number; reply: WriteReply }
    /** A commit was abandoned and will be retried with a later timestamp. */
    | { type: "postponed" }
    | { type: "closed" };
}

interface WriteThreadOptions {
  readonly startThread: StartThread<WriteMessages>;
  readonly writer: WriterOptions;
  /** The clock that the thread uses as well. */
  readonly clock: Clock;
  /** Whether to try a command ahead of the queue: the writer then runs it only if it lowers permissions. */
  readonly mayBeUrgent: (command: string) => boolean;
  /** Called after each commit that wrote a transaction. */
  readonly onCommit: (sequence: number) => void;
  /** Called when the writer has died: the appliance cannot continue without it. */
  readonly onCrash: (reason: string) => void;
  readonly counts: Counts["writes"];
  readonly monotonicMs: () => number;
}

const STOPPED = "The writer has stopped; nothing was written.";

/** Waiting commands of one queue. */
interface QueueUsage {
  readonly queue: string;
  count: number;
  bytes: number;
  urgentCount: number;
}

/** Writer on its own thread. */
export class ThreadWriteQueue<C extends Calls> implements WriteQueue<C> {
  private readonly options: WriteThreadOptions;
  private readonly thread: Thread<WriteMessages>;
  private readonly opened = Promise.withResolvers<void>();
  private isOpen = false;
  private readonly fence: ReadFence;
  /** In order of submission. */
  private readonly waiting = new Map<
    number,
    {
      readonly settle: (reply: WriteReply) => void;
      readonly usage: QueueUsage;
      readonly bytes: number;
      readonly isUrgent: boolean;
      readonly sinceMs: number;
    }
  >();
  private readonly usageByQueue = new Map<string, QueueUsage>();
  /** Waiting commands of users. */
  private waitingOfUsers = 0;
  /** Waiting for the writer's next message. */
  private listeners: Array<() => void> = [];
  private nextId = 1;
  private closed: Promise<void> | null = null;
  private resolveClosed: () => void = () => {};
  private crashReason: string | null = null;

  private constructor(options: WriteThreadOptions) {
    this.options = options;
    this.fence = new ReadFence(options.clock);
    this.thread = options.startThread(
      (message) => this.receive(message),
      (reason) => this.crash(reason),
    );
    this.thread.post({ type: "open", options: options.writer, fence: this.fence.memory });
  }

  /**
   * Waits until the thread has opened the database.
   * @throws Error with one sentence for the operator if it fails
   */
  static async open<C extends Calls>(options: WriteThreadOptions): Promise<ThreadWriteQueue<C>> {
    const queue = new ThreadWriteQueue<C>(options);
    try {
      await queue.opened.promise;
    } catch (error) {
      queue.thread.terminate();
      throw error;
    }
    return queue;
  }

  /** Number of unfinished commands. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** Milliseconds since the oldest unfinished command was sent; 0 if none. */
  get oldestWaitMs(): number {
    const [oldest] = this.waiting.values();
    return oldest === undefined ? 0 : Math.round(this.options.monotonicMs() - oldest.sinceMs);
  }

  run<N extends keyof C & string>(
    command: N,
    input: C[N]["input"],
    actor: Author,
    { repeatable, bytes = 0 }: WriteTerms = {},
  ): Promise<CommandOutcome<C[N]["result"]>> {
    if (this.closed !== null)
      return Promise.reject(new DomainError("shutting_down", "The appliance is shutting down: nothing was written."));
    if (this.crashReason !== null) return Promise.reject(new DomainError("internal_error", STOPPED));
    const queue = queueOf(actor);
    const usage = this.usageByQueue.get(queue) ?? { queue, count: 0, bytes: 0, urgentCount: 0 };
    const isUrgent = this.options.mayBeUrgent(command) && usage.urgentCount < MAX_URGENT_OF_USER;
    const reason = isUrgent ? null : this.refusalOf(usage, bytes);
    if (reason !== null) {
      this.options.counts.refused += 1;
      const params = { retry_after_seconds: WRITE_RETRY_AFTER_S };
      return Promise.reject(new DomainError("rate_limit_exceeded", reason, params));
    }
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      const settle = (reply: WriteReply) => {
        try {
          resolve(outcomeOf(reply));
        } catch (error) {
          reject(error);
        }
      };
      const request: WriteRequest = {
        command,
        input,
        actor,
        ...(repeatable === undefined ? {} : { repeatable }),
        ...(isUrgent ? { isUrgent } : {}),
      };
      this.thread.post({ type: "run", id, bytes, request });
      this.waiting.set(id, { settle, usage, bytes, isUrgent, sinceMs: this.options.monotonicMs() });
      this.count(usage, 1, bytes, isUrgent);
    });
  }

  /** Reason to refuse another command of a queue; null to accept it. */
  private refusalOf({ queue, count, bytes }: QueueUsage, moreBytes: number): string | null {
    const isUser = isUserQueue(queue);
    if (!isUser) return count >= MAX_WAITING_COMMANDS ? "Too many writes are waiting; try again in a second." : null;
    const isFull = count >= MAX_WAITING_OF_USER || (count > 0 && bytes + moreBytes > MAX_WAITING_BYTES_OF_USER);
    if (isFull)
      return `Too many of your writes are waiting (the limit is ${MAX_WAITING_OF_USER}, or ${MAX_WAITING_BYTES_OF_USER / 1024 / 1024} MiB); try again in a second.`;
    return this.waitingOfUsers >= MAX_WAITING_COMMANDS && count >= RESERVED_OF_USER
      ? "Too many writes are waiting; try again in a second."
      : null;
  }

  /** @param step 1 to add a command, -1 to remove it */
  private count(usage: QueueUsage, step: 1 | -1, bytes: number, isUrgent: boolean): void {
    if (isUrgent) usage.urgentCount += step;
    else {
      usage.count += step;
      usage.bytes += step * bytes;
      if (isUserQueue(usage.queue)) this.waitingOfUsers += step;
    }
    if (usage.count + usage.urgentCount > 0) this.usageByQueue.set(usage.queue, usage);
    else this.usageByQueue.delete(usage.queue);
  }

  close(): Promise<void> {
    if (this.closed === null) {
      this.closed = new Promise((resolve) => {
        this.resolveClosed = resolve;
      });
      if (this.crashReason !== null) this.resolveClosed();
      else this.thread.post({ type: "close" });
    }
    return this.closed;
  }

  settlePast(at: Instant, seen: number): Promise<void> | null {
    this.fence.answer(at);
    if (this.fence.isClosing(at)) return this.settled(at);
    // Committed between the caller's snapshot and now.
    return this.fence.committed > seen ? Promise.resolve() : null;
  }

  private async settled(at: Instant): Promise<void> {
    while (this.fence.isClosing(at)) await new Promise<void>((resolve) => this.listeners.push(resolve));
  }

  private finish(id: number, reply: WriteReply): void {
    const waiting = this.waiting.get(id);
    if (waiting === undefined) return;
    this.waiting.delete(id);
    this.count(waiting.usage, -1, waiting.bytes, waiting.isUrgent);
    this.options.counts[outcomeIn(reply)] += 1;
    waiting.settle(reply);
  }

  private notifyListeners(): void {
    const listeners = this.listeners;
    this.listeners = [];
    for (const resolve of listeners) resolve();
  }

  private receive(message: WriteMessages["from"]): void {
    if (message.type === "reply") {
      this.finish(message.id, message.reply);
      if (message.reply.ok && message.reply.outcome.sequence !== null)
        this.options.onCommit(message.reply.outcome.sequence);
    } else if (message.type === "opened") {
      this.isOpen = true;
      this.opened.resolve();
    } else if (message.type === "refused") this.opened.reject(new Error(message.message));
    else if (message.type === "closed") {
      this.resolveClosed();
      this.thread.terminate();
    }
    this.notifyListeners();
  }

  private crash(reason: string): void {
    this.crashReason = reason;
    if (!this.isOpen) this.opened.reject(new Error(reason));
    const reply = refusalReply("internal_error", STOPPED, reason);
    for (const id of [...this.waiting.keys()]) this.finish(id, reply);
    this.fence.open(null);
    this.notifyListeners();
    // The writer died while closing: stop waiting for it.
    if (this.closed !== null) this.resolveClosed();
    else if (this.isOpen) this.options.onCrash(reason);
  }
}

/** Dependencies of the thread side. */
interface ServeOptions {
  readonly open: (options: WriterOptions, fence: SharedArrayBuffer, onPostponed: () => void) => Writer;
  /** Whether a command may take long regardless of its input. */
  readonly takesLong: (command: string) => boolean;
  readonly monotonicMs: () => number;
}

/**
 * Thread side: groups commands into commits, with fair turns between queues. Checks for new arrivals before each
 * additional commit.
 */
export function serveWrites({ open, takesLong, monotonicMs }: ServeOptions): ThreadMain<WriteMessages> {
  return (post, nextMessage) => {
    let writer: Writer | null = null;
    const scheduler = new CommitScheduler(takesLong);
    let scheduled = false;
    let isClosing = false;
    /** Queues newly arrived messages. */
    const receiveArrived = () => {
      for (let next = nextMessage(); next !== null; next = nextMessage()) {
        if (next.message.type === "run") scheduler.add(next.message);
        else if (next.message.type === "close") isClosing = true;
      }
    };
    const commit = (from: Writer) => {
      const group = scheduler.next();
      const startMs = monotonicMs();
      const arrivals = () => {
        receiveArrived();
        const more = scheduler.arrivals(group);
        group.push(...more);
        return more.map(({ request }) => request);
      };
      const requests = group.map(({ request }) => request);
      const replies = from.execute(requests, GROUP_SLICE_MS, arrivals);
      scheduler.served(monotonicMs() - startMs);
      scheduler.putBack(group.slice(replies.length));
      for (const [position, reply] of replies.entries()) {
        const write = group[position] as WaitingWrite;
        if (!reply.ok && reply.isNotUrgent === true)
          scheduler.add({ ...write, request: { ...write.request, isUrgent: undefined } });
        else post({ type: "reply", id: write.id, reply });
      }
    };
    const end = () => {
      try {
        while (writer !== null && !scheduler.isEmpty) commit(writer);
        writer?.close();
      } finally {
        writer = null;
        post({ type: "closed" });
      }
    };
    const schedule = () => {
      if (scheduled) return;
      scheduled = true;
      setImmediate(() => {
        scheduled = false;
        if (writer === null) return;
        if (!scheduler.isEmpty) commit(writer);
        if (isClosing) end();
        else if (!scheduler.isEmpty) schedule();
      });
    };
    return (message) => {
      if (message.type === "open") {
        try {
          writer = open(message.options, message.fence, () => post({ type: "postponed" }));
          post({ type: "opened" });
        } catch (error) {
          post({ type: "refused", message: error instanceof Error ? error.message : String(error) });
        }
      } else if (message.type === "run") {
        scheduler.add(message);
        schedule();
      } else end();
    };
  };
}

function outcomeIn(reply: WriteReply): keyof Counts["writes"] {
  if (reply.ok) return reply.outcome.sequence === null ? "unchanged" : "committed";
  return isFault(reply.code) ? "failed" : "refused";
}
