// Rate-limited action: runs immediately when idle, then at most once per interval.

import type { Timers } from "./timers.ts";

export interface ThrottleOptions {
  readonly intervalMs: number;
  /** Runs the action; returns whether there was anything to do. */
  readonly act: () => boolean;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
}

export class Throttle {
  private readonly options: ThrottleOptions;
  private lastRunMs = Number.NEGATIVE_INFINITY;
  private cancelPending: (() => void) | null = null;

  constructor(options: ThrottleOptions) {
    this.options = options;
  }

  /** Time until the action may run again; not above 0 if it may run now. */
  get waitMs(): number {
    return this.lastRunMs + this.options.intervalMs - this.options.monotonicMs();
  }

  /** Runs the action now, or once later for all requests until then. */
  request(): void {
    if (this.cancelPending !== null) return;
    const { waitMs } = this;
    if (waitMs > 0) {
      this.cancelPending = this.options.timers.after(waitMs, () => {
        this.cancelPending = null;
        this.request();
      });
      return;
    }
    const now = this.options.monotonicMs();
    if (this.options.act()) this.lastRunMs = now;
  }

  /** Cancels a pending run. */
  stop(): void {
    this.cancelPending?.();
    this.cancelPending = null;
  }
}
