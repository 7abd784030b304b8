// Waits for new transactions, for readers that have caught up. Reads only the head.

import { Beat } from "../base/beat.ts";
import type { Timers } from "../base/timers.ts";
import { type CommitSource, TELLING_INTERVAL_MS } from "./commits.ts";

export type WaitOutcome = "changed" | "elapsed" | "closed";

interface Waiter {
  readonly sequence: number;
  readonly settle: (outcome: WaitOutcome) => void;
}

export class CommitWatch {
  private readonly commits: CommitSource;
  private readonly timers: Timers;
  private readonly head: () => number;
  private readonly waiters = new Set<Waiter>();
  private unsubscribe: () => void = () => {};
  /** Wakes all waiters together: each waking costs everyone a read. */
  private readonly notifying: Beat;
  /** The transaction that waiters were last told. */
  private notifiedSequence = 0;
  private isClosed = false;

  /** @param options.head the newest transaction's sequence */
  constructor(options: { commits: CommitSource; timers: Timers; head: () => number; monotonicMs: () => number }) {
    const { commits, timers, head, monotonicMs } = options;
    this.commits = commits;
    this.timers = timers;
    this.head = head;
    this.notifying = new Beat({ intervalMs: TELLING_INTERVAL_MS, act: () => this.tell(), timers, monotonicMs });
  }

  get waiting(): number {
    return this.waiters.size;
  }

  /** Ends after so many milliseconds, or once the caller has gone. */
  deadline(ms: number, gone: AbortSignal): { readonly signal: AbortSignal; readonly release: () => void } {
    const controller = new AbortController();
    const abort = () => controller.abort();
    const cancel = this.timers.after(ms, abort);
    gone.addEventListener("abort", abort);
    if (gone.aborted) abort();
    const release = () => {
      cancel();
      gone.removeEventListener("abort", abort);
    };
    return { signal: controller.signal, release };
  }

  /**
   * For polling callers that know all that was last told: they are answered no more often than waiters.
   * @returns null where they need not wait
   */
  turn(after: number, gone: AbortSignal): Promise<void> | null {
    const { restMs } = this.notifying;
    if (restMs <= 0 || after < this.notifiedSequence) return null;
    const { signal, release } = this.deadline(restMs, gone);
    return new Promise((resolve) => {
      const over = () => {
        release();
        resolve();
      };
      if (signal.aborted) over();
      else signal.addEventListener("abort", over, { once: true });
    });
  }

  /**
   * Waits until a transaction beyond `sequence` is committed.
   * @param signal ends the wait, as elapsed
   */
  beyond(sequence: number, signal: AbortSignal): Promise<WaitOutcome> {
    if (this.isClosed) return Promise.resolve("closed");
    if (signal.aborted) return Promise.resolve("elapsed");
    return new Promise((resolve) => {
      // A waiter that stops still learns of new commits.
      const aborted = () => waiter.settle(this.head() > sequence ? "changed" : "elapsed");
      const waiter: Waiter = {
        sequence,
        settle: (outcome) => {
          if (!this.waiters.delete(waiter)) return;
          signal.removeEventListener("abort", aborted);
          if (this.waiters.size === 0) {
            this.unsubscribe();
            this.notifying.stop();
          }
          resolve(outcome);
        },
      };
      signal.addEventListener("abort", aborted);
      this.waiters.add(waiter);
      if (this.waiters.size === 1)
        this.unsubscribe = this.commits.subscribe(() => this.notifying.ask(), { intervalMs: 0 });
      // Committed between the caller's read and now.
      if (this.behind().length > 0) this.notifying.ask();
    });
  }

  /** Ends every wait at shutdown. */
  close(): void {
    this.isClosed = true;
    for (const waiter of [...this.waiters]) waiter.settle("closed");
  }

  private behind(head = this.head()): Waiter[] {
    return [...this.waiters].filter(({ sequence }) => head > sequence);
  }

  private tell(): boolean {
    const head = this.head();
    const told = this.behind(head);
    if (told.length === 0) return false;
    this.notifiedSequence = head;
    for (const waiter of told) waiter.settle("changed");
    return true;
  }
}
