// Poller for sockets unknown to the event loop, active while a reply is expected.

import type { Timers } from "../../base/timers.ts";

/** Reads pending input without waiting. @returns true if there was any */
export type Drain = () => boolean;

/** Never blocks the thread; polls less often while nothing arrives. */
export class SocketPoller {
  private readonly timers: Timers;
  private readonly drains = new Set<Drain>();
  private waitMs = MIN_WAIT_MS;
  private cancelTimer: (() => void) | null = null;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  add(drain: Drain): void {
    this.drains.add(drain);
    this.waitMs = MIN_WAIT_MS;
    this.schedule();
  }

  remove(drain: Drain): void {
    this.drains.delete(drain);
    if (this.drains.size > 0) return;
    this.cancelTimer?.();
    this.cancelTimer = null;
  }

  private schedule(): void {
    if (this.drains.size === 0) return;
    this.cancelTimer ??= this.timers.after(this.waitMs, () => {
      this.cancelTimer = null;
      let isBusy = false;
      for (const drain of [...this.drains]) isBusy = drain() || isBusy;
      this.waitMs = isBusy ? MIN_WAIT_MS : Math.min(MAX_WAIT_MS, this.waitMs * 2);
      this.schedule();
    });
  }
}

const MIN_WAIT_MS = 1;
const MAX_WAIT_MS = 8;
