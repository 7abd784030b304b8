// Something that is done at once after a quiet time, and then not again before an interval is over, with all that came
// meanwhile.

import type { Timers } from "./timers.ts";

export interface BeatOptions {
  readonly intervalMs: number;
  /** Does it; says whether there was anything to do. */
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

  /** What is left until it may be done again; nothing where it is not above 0. */
  get restMs(): number {
    return this.actedMs + this.options.intervalMs - this.options.monotonicMs();
  }

  /** Has it done now, or once for all who ask until then. */
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

  /** Calls off what was asked for. */
  stop(): void {
    this.callOff?.();
    this.callOff = null;
  }
}
