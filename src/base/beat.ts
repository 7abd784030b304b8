// Rate-limited action: runs at once after a quiet time, then at most once per interval for all requests in between.

import type { Timers } from "./timers.ts";

export interface BeatOptions {
  readonly intervalMs: number;
  /** Runs the action; returns whether there was anything to do. */
  readonly act: () => boolean;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
}

export class Beat {
  private readonly options: BeatOptions;
  private actedMs = Number.NEGATIVE_INFINITY;
  private callOff: (() => void) | null = null;

  constructor(options: BeatOptions) {
    this.options = options;
  }

  /** Time until the action may run again; not above 0 if it may run now. */
  get restMs(): number {
    return this.actedMs + this.options.intervalMs - this.options.monotonicMs();
  }

  /** Runs the action now, or once later for all requests until then. */
  ask(): void {
    if (this.callOff !== null) return;
    const { restMs } = this;
    if (restMs > 0) {
      this.callOff = this.options.timers.after(restMs, () => {
        this.callOff = null;
        this.ask();
      });
      return;
    }
    const now = this.options.monotonicMs();
    if (this.options.act()) this.actedMs = now;
  }

  /** Cancels a pending run. */
  stop(): void {
    this.callOff?.();
    this.callOff = null;
  }
}
