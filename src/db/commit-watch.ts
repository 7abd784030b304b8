// Waiting for new transactions, for readers that have caught up. Reads only the head.

import { Throttle } from "../base/throttle.ts";
import type { Timers } from "../base/timers.ts";
import { type CommitSource, NOTIFY_INTERVAL_MS } from "./commits.ts";

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
  /** Wakes all waiters together: every wake-up costs each of them a read. */
  private readonly beat: Throttle;
  /** Sequence of the last transaction announced to waiters. */
  private notifiedSequence = 0;
  private isClosed = false;

  /** @param options.head returns the newest transaction's sequence */
  constructor(options: { commits: CommitSource; timers: Timers; head: () => number; monotonicMs: () => number }) {
    const { commits, timers, head, monotonicMs } = options;
    this.commits = commits;
    this.timers = timers;
    this.head = head;
    this.beat = new Throttle({ intervalMs: NOTIFY_INTERVAL_MS, act: () => this.notifyWaiters(), timers, monotonicMs });
  }

  get waiting(): number {
    return this.waiters.size;
  }

  /** Aborts after the given milliseconds, or when the caller disconnects. */
  deadline(ms: number, disconnected: AbortSignal): { readonly signal: AbortSignal; readonly release: () => void } {
    const controller = new AbortController();
    const abort = () => controller.abort();
    const cancel = this.timers.after(ms, abort);
    disconnected.addEventListener("abort", abort);
    if (disconnected.aborted) abort();
    const release = () => {
      cancel();
      disconnected.removeEventListener("abort", abort);
    };
    return { signal: controller.signal, release };
  }

  /**
   * Throttles polling callers that have seen the last announced transaction, to the rate of waiters.
   * @returns null if there is no need to wait
   */
  pollDelay(after: number, disconnected: AbortSignal): Promise<void> | null {
    const { waitMs: restMs } = this.beat;
    if (restMs <= 0 || after < this.notifiedSequence) return null;
    const { signal, release } = this.deadline(restMs, disconnected);
    return new Promise((resolve) => {
      const finish = () => {
        release();
        resolve();
      };
      if (signal.aborted) finish();
      else signal.addEventListener("abort", finish, { once: true });
    });
  }

  /**
   * Waits for a transaction beyond `sequence`.
   * @param signal ends the wait with "elapsed"
   */
  waitBeyond(sequence: number, signal: AbortSignal): Promise<WaitOutcome> {
    if (this.isClosed) return Promise.resolve("closed");
    if (signal.aborted) return Promise.resolve("elapsed");
    return new Promise((resolve) => {
      // An aborted waiter still reports new commits.
      const onAbort = () => waiter.settle(this.head() > sequence ? "changed" : "elapsed");
      const waiter: Waiter = {
        sequence,
        settle: (outcome) => {
          if (!this.waiters.delete(waiter)) return;
          signal.removeEventListener("abort", onAbort);
          if (this.waiters.size === 0) {
            this.unsubscribe();
            this.beat.stop();
          }
          resolve(outcome);
        },
      };
      signal.addEventListener("abort", onAbort);
      this.waiters.add(waiter);
      if (this.waiters.size === 1)
        this.unsubscribe = this.commits.subscribe(() => this.beat.request(), { intervalMs: 0 });
      // Catches a commit between the caller's read and this call.
      if (this.waitersBehind().length > 0) this.beat.request();
    });
  }

  /** Ends every wait at shutdown. */
  close(): void {
    this.isClosed = true;
    for (const waiter of [...this.waiters]) waiter.settle("closed");
  }

  private waitersBehind(head = this.head()): Waiter[] {
    return [...this.waiters].filter(({ sequence }) => head > sequence);
  }

  private notifyWaiters(): boolean {
    const head = this.head();
    const due = this.waitersBehind(head);
    if (due.length === 0) return false;
    this.notifiedSequence = head;
    for (const waiter of due) waiter.settle("changed");
    return true;
  }
}
