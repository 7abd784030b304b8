// Waiting for new transactions, for caught-up readers. Reads only the head.

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
  /** Wakes all waiters together: every wake-up costs each of them a read. */
  private readonly notifying: Beat;
  /** Sequence of the last transaction announced to waiters. */
  private notifiedSequence = 0;
  private isClosed = false;

  /** @param options.head returns the newest transaction's sequence */
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

  /** Aborts after the given milliseconds, or when the caller disconnects. */
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
   * Throttles polling callers that have seen the last announced transaction, to the rate of waiters.
   * @returns null if there is no need to wait
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
   * Waits for a transaction beyond `sequence`.
   * @param signal ends the wait with "elapsed"
   */
  beyond(sequence: number, signal: AbortSignal): Promise<WaitOutcome> {
    if (this.isClosed) return Promise.resolve("closed");
    if (signal.aborted) return Promise.resolve("elapsed");
    return new Promise((resolve) => {
      // An aborted waiter still reports new commits.
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
      // Catches a commit between the caller's read and this call.
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
