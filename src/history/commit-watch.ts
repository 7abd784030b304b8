// Waits for the ledger to grow: for callers of the change feed who have read all there is. Reads nothing but the head.

import type { Timers } from "../base/timers.ts";
import type { CommitSignal } from "../db/commit-signal.ts";

/** Another process (a subcommand) may write as well, and does not tell: the head is looked at this often while somebody waits. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * Who waits is told of a commit at once, and then not again before this is over, with all that was committed meanwhile: each telling costs
 * everyone who is told a read, however little there is.
 */
export const TELLING_INTERVAL_MS = 50;

export type WaitOutcome = "changed" | "elapsed" | "closed";

interface Waiter {
  readonly sequence: number;
  readonly settle: (outcome: WaitOutcome) => void;
}

export class CommitWatch {
  private readonly commits: CommitSignal;
  private readonly timers: Timers;
  private readonly head: () => number;
  private readonly monotonicMs: () => number;
  private readonly waiters = new Set<Waiter>();
  private endLooking: () => void = () => {};
  /** When those who wait were told last, and up to which transaction. */
  private toldMs = Number.NEGATIVE_INFINITY;
  private toldSequence = 0;
  private cancelTelling: (() => void) | null = null;
  private isClosed = false;

  /** @param options.head the newest transaction's sequence */
  constructor(options: { commits: CommitSignal; timers: Timers; head: () => number; monotonicMs: () => number }) {
    this.commits = options.commits;
    this.timers = options.timers;
    this.head = options.head;
    this.monotonicMs = options.monotonicMs;
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
   * For callers who would wait, and who know all that was told last: asking again and again, they are told no more often than those who wait.
   * Whoever is behind has no turn to wait for.
   * @returns null where they need not wait
   */
  turn(after: number, request: Request): Promise<void> | null {
    const restMs = this.restMs();
    if (restMs <= 0 || after < this.toldSequence) return null;
    const { signal, release } = this.patience(restMs, request);
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
      // What was committed since the last telling is not kept from whoever stops waiting.
      const aborted = () => waiter.settle(this.head() > sequence ? "changed" : "elapsed");
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
      this.cancelTelling?.();
      this.cancelTelling = null;
    };
  }

  private look(): void {
    if (this.waiters.size === 0) return;
    const head = this.head();
    const told = [...this.waiters].filter(({ sequence }) => head > sequence);
    if (told.length === 0) return;
    const restMs = this.restMs();
    if (restMs > 0) {
      this.cancelTelling ??= this.timers.after(restMs, () => {
        this.cancelTelling = null;
        this.look();
      });
      return;
    }
    // By nobody else: who is told without waiting must not put off those who wait.
    this.toldMs = this.monotonicMs();
    this.toldSequence = head;
    for (const waiter of told) waiter.settle("changed");
  }

  /** What is left until anybody may be told again. */
  private restMs(): number {
    return this.toldMs + TELLING_INTERVAL_MS - this.monotonicMs();
  }
}
