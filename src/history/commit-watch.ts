// Waits for the ledger to grow: for callers of the change feed who have read all there is. Reads nothing but the head.

import type { Timers } from "../base/timers.ts";
import type { CommitSignal } from "../db/commit-signal.ts";

/** Another process (a subcommand) may write as well, and does not tell: the head is looked at this often while somebody waits. */
const LOOK_INTERVAL_MS = 1_000;

export type WaitOutcome = "changed" | "elapsed" | "closed";

interface Waiter {
  readonly sequence: number;
  readonly settle: (outcome: WaitOutcome) => void;
}

export class CommitWatch {
  private readonly commits: CommitSignal;
  private readonly timers: Timers;
  private readonly head: () => number;
  private readonly waiters = new Set<Waiter>();
  private endLooking: () => void = () => {};
  private isClosed = false;

  /** @param options.head the newest transaction's sequence */
  constructor(options: { commits: CommitSignal; timers: Timers; head: () => number }) {
    this.commits = options.commits;
    this.timers = options.timers;
    this.head = options.head;
  }

  /** How many wait. */
  get waiting(): number {
    return this.waiters.size;
  }

  /** Is over after so many milliseconds, or once the caller has gone away. */
  patience(ms: number, request: Request): { readonly signal: AbortSignal; readonly release: () => void } {
    const controller = new AbortController();
    const abort = () => controller.abort();
    const cancel = this.timers.after(ms, abort);
    request.signal.addEventListener("abort", abort);
    if (request.signal.aborted) abort();
    const release = () => {
      cancel();
      request.signal.removeEventListener("abort", abort);
    };
    return { signal: controller.signal, release };
  }

  /**
   * Waits until a transaction beyond `sequence` is committed.
   * @param signal ends the wait, as elapsed
   */
  beyond(sequence: number, signal: AbortSignal): Promise<WaitOutcome> {
    if (this.isClosed) return Promise.resolve("closed");
    if (signal.aborted) return Promise.resolve("elapsed");
    return new Promise((resolve) => {
      const aborted = () => waiter.settle("elapsed");
      const waiter: Waiter = {
        sequence,
        settle: (outcome) => {
          if (!this.waiters.delete(waiter)) return;
          signal.removeEventListener("abort", aborted);
          if (this.waiters.size === 0) this.endLooking();
          resolve(outcome);
        },
      };
      signal.addEventListener("abort", aborted);
      this.waiters.add(waiter);
      if (this.waiters.size === 1) this.startLooking();
      // What was committed between the caller's read and now.
      this.look();
    });
  }

  /** Ends every wait: the appliance is shutting down. */
  close(): void {
    this.isClosed = true;
    for (const waiter of [...this.waiters]) waiter.settle("closed");
  }

  private startLooking(): void {
    const unlisten = this.commits.listen(() => this.look());
    let cancel = () => {};
    const again = () => {
      cancel = this.timers.after(LOOK_INTERVAL_MS, () => {
        again();
        this.look();
      });
    };
    again();
    this.endLooking = () => {
      unlisten();
      cancel();
    };
  }

  private look(): void {
    if (this.waiters.size === 0) return;
    const head = this.head();
    for (const waiter of [...this.waiters]) if (head > waiter.sequence) waiter.settle("changed");
  }
}
