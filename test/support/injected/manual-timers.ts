// Timers that run when a test says so, in the order in which they are due.

import type { Timers } from "../../../src/base/timers.ts";

export class ManualTimers implements Timers {
  /** How long each that was ever set was to wait. */
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

  /** Those that have neither run nor been called off. */
  get pendingCount(): number {
    return this.due.length;
  }

  /** Lets so much time pass at once. */
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
