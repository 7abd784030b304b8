// Rate limit; further callers wait in order.

import type { Timers } from "../../base/timers.ts";

/** Once ended, rejects waiting and later callers with the reason. */
export class TokenBucket {
  private readonly ratePerMs: number;
  private readonly capacity: number;
  private readonly monotonicMs: () => number;
  private readonly timers: Timers;
  private readonly waiting: { enter: () => void; refuse: (reason: unknown) => void }[] = [];
  private tokens: number;
  private filledAtMs: number;
  private cancelTimer: (() => void) | null = null;
  private ended: { reason: unknown } | null = null;

  /** Unused tokens last for BURST_MS, so that coarse timers lose none and no flood follows. */
  constructor(ratePerSecond: number, monotonicMs: () => number, timers: Timers) {
    this.ratePerMs = ratePerSecond / 1_000;
    this.capacity = Math.max(1, this.ratePerMs * BURST_MS);
    this.tokens = this.capacity;
    this.monotonicMs = monotonicMs;
    this.timers = timers;
    this.filledAtMs = monotonicMs();
  }

  take(): Promise<void> {
    if (this.ended) return Promise.reject(this.ended.reason);
    this.fill();
    if (this.waiting.length === 0 && this.tokens >= 1) {
      this.tokens -= 1;
      return Promise.resolve();
    }
    return new Promise((enter, refuse) => {
      this.waiting.push({ enter, refuse });
      this.wake();
    });
  }

  end(reason: unknown): void {
    this.ended ??= { reason };
    this.cancelTimer?.();
    this.cancelTimer = null;
    for (const { refuse } of this.waiting.splice(0)) refuse(reason);
  }

  private fill(): void {
    const now = this.monotonicMs();
    this.tokens = Math.min(this.capacity, this.tokens + (now - this.filledAtMs) * this.ratePerMs);
    this.filledAtMs = now;
  }

  /** One timer for all waiting callers. */
  private wake(): void {
    this.cancelTimer ??= this.timers.after(Math.max(MIN_WAIT_MS, Math.ceil((1 - this.tokens) / this.ratePerMs)), () => {
      this.cancelTimer = null;
      this.fill();
      let count = 0;
      for (; count < this.waiting.length && this.tokens >= 1; count += 1) this.tokens -= 1;
      for (const { enter } of this.waiting.splice(0, count)) enter();
      if (this.waiting.length > 0) this.wake();
    });
  }
}

const BURST_MS = 20;
const MIN_WAIT_MS = 4;
