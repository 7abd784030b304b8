// Commit notifications. Carries no content; subscribers read the ledger.

import type { Log } from "../base/log.ts";
import { Throttle } from "../base/throttle.ts";
import type { Timers } from "../base/timers.ts";

/** Other processes (subcommands) commit without notifying this process, so the head is polled. */
const POLL_INTERVAL_MS = 1_000;

/** The first commit after a quiet period is announced immediately; later ones at most this often. */
export const NOTIFY_INTERVAL_MS = 50;

export interface SubscriptionOptions {
  /** 0 announces every commit. */
  readonly intervalMs?: number;
  /** Ignores other processes' commits, and so needs no polling. */
  readonly isOwnOnly?: boolean;
}

interface CommitsOptions {
  /** Returns the newest transaction's sequence. */
  readonly head: () => number;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
  readonly log: Log;
}

export type CommitSource = Pick<Commits, "subscribe">;

export class Commits {
  private readonly options: CommitsOptions;
  private readonly beats = new Set<Throttle>();
  private newest = 0;
  /** Number of subscribers to other processes' commits. */
  private pollingSubscribers = 0;
  private cancelPoll: () => void = () => {};

  constructor(options: CommitsOptions) {
    this.options = options;
  }

  /**
   * @param listener called with the newest transaction's sequence after its commit; its errors are logged
   * @returns a function that ends the subscription
   */
  subscribe(
    listener: (newest: number) => void,
    { intervalMs = NOTIFY_INTERVAL_MS, isOwnOnly = false }: SubscriptionOptions = {},
  ): () => void {
    const { timers, monotonicMs, log } = this.options;
    if (!isOwnOnly) this.startPolling();
    let reported = this.newest;
    const act = () => {
      if (reported === this.newest) return false;
      reported = this.newest;
      try {
        listener(reported);
      } catch (error) {
        log.error("commit_listener_failed", { cause: error });
      }
      return true;
    };
    const beat = new Throttle({ intervalMs, act, timers, monotonicMs });
    this.beats.add(beat);
    return () => {
      beat.stop();
      if (this.beats.delete(beat) && !isOwnOnly) this.stopPolling();
    };
  }

  /** Call after every commit that wrote a transaction. */
  notify(sequence: number): void {
    if (sequence <= this.newest) return;
    this.newest = sequence;
    for (const beat of [...this.beats]) if (this.beats.has(beat)) beat.request();
  }

  private startPolling(): void {
    this.pollingSubscribers += 1;
    if (this.pollingSubscribers > 1) return;
    this.newest = Math.max(this.newest, this.options.head());
    const schedulePoll = () => {
      this.cancelPoll = this.options.timers.after(POLL_INTERVAL_MS, () => {
        schedulePoll();
        this.notify(this.options.head());
      });
    };
    schedulePoll();
  }

  private stopPolling(): void {
    this.pollingSubscribers -= 1;
    if (this.pollingSubscribers === 0) this.cancelPoll();
  }
}
