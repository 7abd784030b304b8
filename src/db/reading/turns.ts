// Fair scheduling of a shared thread: more requests do not give a caller more time. Independent of the work and the
// clock.

/** Maximum callers remembered, with their consumed time. Idle time earns no credit. */
const CALLERS_MAX = 10_000;

interface Line<T> {
  /** Consumed time, on a scale where a new caller starts with the minimum of all waiting callers. */
  usedMs: number;
  /** In order of arrival. */
  readonly waiting: T[];
}

export class Turns<T> {
  private readonly lines = new Map<unknown, Line<T>>();
  /** Callers with waiting items. */
  private readonly waitingCallers = new Set<unknown>();
  /** Consumed time of the last caller before its turn: no waiting caller has less. */
  private minUsedMs = 0;

  get isEmpty(): boolean {
    return this.waitingCallers.size === 0;
  }

  /** @param caller an opaque key */
  add(caller: unknown, item: T): void {
    const line = this.lines.get(caller) ?? { usedMs: 0, waiting: [] };
    if (line.waiting.length === 0) {
      line.usedMs = Math.max(line.usedMs, this.minUsedMs);
      this.evictIdle();
      this.lines.set(caller, line);
      this.waitingCallers.add(caller);
    }
    line.waiting.push(item);
  }

  /** The first item of the caller with the least consumed time; ties go to the first in line. Null if nothing waits. */
  take(): { readonly caller: unknown; readonly item: T } | null {
    let next: { readonly caller: unknown; readonly line: Line<T> } | null = null;
    for (const caller of this.waitingCallers) {
      const line = this.lines.get(caller) as Line<T>;
      if (next === null || line.usedMs < next.line.usedMs) next = { caller, line };
    }
    if (next === null) return null;
    const { caller, line } = next;
    const item = line.waiting.shift() as T;
    // Moves behind other callers with the same time.
    this.waitingCallers.delete(caller);
    if (line.waiting.length > 0) this.waitingCallers.add(caller);
    this.minUsedMs = line.usedMs;
    return { caller, item };
  }

  /** Adds the duration of a turn. */
  charge(caller: unknown, durationMs: number): void {
    const line = this.lines.get(caller);
    if (line !== undefined) line.usedMs += durationMs;
  }

  private evictIdle(): void {
    if (this.lines.size < CALLERS_MAX) return;
    for (const [caller, line] of this.lines) if (line.waiting.length === 0) this.lines.delete(caller);
  }
}
