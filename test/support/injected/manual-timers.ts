// Timers that fire on request, in due order.

import type { Timers } from "../../../src/base/timers.ts";

export class ManualTimers implements Timers {
  /** Delay of each timer ever set. */
  readonly waits: number[] = [];
  private now = 0;
  private due: { at: number; action: () => void }[] = [];

  after(ms: number, action: () => void): () => void {
    this.waits.push(ms);
    const timer = { at: this.now + ms, action };
    this.due.push(timer);
    return () => {
      this.due = this.due.filter((other) => other !== timer);
    };
  }

  /** Timers neither fired nor canceled. */
  get pendingCount(): number {
    return this.due.length;
  }

  /** Advances the time in one step. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (let next = this.next(end); next !== undefined; next = this.next(end)) {
      this.now = next.at;
      this.due = this.due.filter((other) => other !== next);
      next.action();
    }
    this.now = end;
  }

  private next(end: number): { at: number; action: () => void } | undefined {
    return this.due.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
  }
}
