// So many in a second and no more; whoever comes later waits for a turn, in the order of coming.

import type { Timers } from "../../base/timers.ts";

/** Ends as a whole: whoever waits then, or comes later, gets the reason as an error. */
export class TokenBucket {
  readonly #ratePerMs: number;
  readonly #capacity: number;
  readonly #monotonicMs: () => number;
  readonly #timers: Timers;
  readonly #waiting: { enter: () => void; refuse: (reason: unknown) => void }[] = [];
  #tokens: number;
  #filledAtMs: number;
  #cancelTimer: (() => void) | null = null;
  #ended: { reason: unknown } | null = null;

  /** What was not used is kept for BURST_MS, so that the coarse timers of an event loop lose nothing and nobody sees a flood. */
  constructor(ratePerSecond: number, monotonicMs: () => number, timers: Timers) {
    this.#ratePerMs = ratePerSecond / 1_000;
    this.#capacity = Math.max(1, this.#ratePerMs * BURST_MS);
    this.#tokens = this.#capacity;
    this.#monotonicMs = monotonicMs;
    this.#timers = timers;
    this.#filledAtMs = monotonicMs();
  }

  take(): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended.reason);
    this.#fill();
    if (this.#waiting.length === 0 && this.#tokens >= 1) {
      this.#tokens -= 1;
      return Promise.resolve();
    }
    return new Promise((enter, refuse) => {
      this.#waiting.push({ enter, refuse });
      this.#wake();
    });
  }

  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    for (const { refuse } of this.#waiting.splice(0)) refuse(reason);
  }

  #fill(): void {
    const now = this.#monotonicMs();
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#filledAtMs) * this.#ratePerMs);
    this.#filledAtMs = now;
  }

  /** One timer for all that wait: when the first token is there, but not for each of them a timer of its own. */
  #wake(): void {
    this.#cancelTimer ??= this.#timers.after(
      Math.max(MIN_WAIT_MS, Math.ceil((1 - this.#tokens) / this.#ratePerMs)),
      () => {
        this.#cancelTimer = null;
        this.#fill();
        let count = 0;
        for (; count < this.#waiting.length && this.#tokens >= 1; count += 1) this.#tokens -= 1;
        for (const { enter } of this.#waiting.splice(0, count)) enter();
        if (this.#waiting.length > 0) this.#wake();
      },
    );
  }
}

const BURST_MS = 20;
const MIN_WAIT_MS = 4;
