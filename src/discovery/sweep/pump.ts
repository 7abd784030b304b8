// Looks after sockets that the event loop does not know: asks them at short intervals, as long as something is expected of them.

import type { Timers } from "../../base/timers.ts";

/** Takes what has come in, without waiting. @returns whether there was anything */
export type Drain = () => boolean;

/** The thread is never held: a round takes what is there, and rounds are further apart while nothing comes. */
export class Pump {
  readonly #timers: Timers;
  readonly #drains = new Set<Drain>();
  #waitMs = MIN_WAIT_MS;
  #cancelTimer: (() => void) | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** From now on something is expected. */
  add(drain: Drain): void {
    this.#drains.add(drain);
    this.#waitMs = MIN_WAIT_MS;
    this.#schedule();
  }

  /** From now on nothing is. */
  remove(drain: Drain): void {
    this.#drains.delete(drain);
    if (this.#drains.size > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #schedule(): void {
    if (this.#drains.size === 0) return;
    this.#cancelTimer ??= this.#timers.after(this.#waitMs, () => {
      this.#cancelTimer = null;
      let isBusy = false;
      for (const drain of [...this.#drains]) isBusy = drain() || isBusy;
      this.#waitMs = isBusy ? MIN_WAIT_MS : Math.min(MAX_WAIT_MS, this.#waitMs * 2);
      this.#schedule();
    });
  }
}

const MIN_WAIT_MS = 1;
const MAX_WAIT_MS = 8;
