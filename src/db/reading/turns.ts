// Whose turn it is on a thread that many share: so that nobody gets more of its time by asking for more. Knows neither
// what is done in a turn nor how time is measured.

/**
 * Callers of whom it is remembered that they have had more than others; nobody is owed anything for having waited for
 * nothing.
 */
const REMEMBERED_MAX = 10_000;

interface Line<T> {
  /**
   * What the caller has had, on a scale on which everybody who comes anew begins with the least that anybody has who
   * waits.
   */
  hadMs: number;
  /** In the order in which they came. */
  readonly waiting: T[];
}

export class Turns<T> {
  private readonly lines = new Map<unknown, Line<T>>();
  /** Callers with something that waits. */
  private readonly inLine = new Set<unknown>();
  /** What whoever had the last turn had had before it: nobody who waits has had less. */
  private leastMs = 0;

  get isEmpty(): boolean {
    return this.inLine.size === 0;
  }

  /** @param caller compared, and not looked at */
  add(caller: unknown, item: T): void {
    const line = this.lines.get(caller) ?? { hadMs: 0, waiting: [] };
    if (line.waiting.length === 0) {
      line.hadMs = Math.max(line.hadMs, this.leastMs);
      this.forgetSome();
      this.lines.set(caller, line);
      this.inLine.add(caller);
    }
    line.waiting.push(item);
  }

  /** What is next: the first of whoever has had the least; of several, of who came first. Null where nothing waits. */
  take(): { readonly caller: unknown; readonly item: T } | null {
    let next: { readonly caller: unknown; readonly line: Line<T> } | null = null;
    for (const caller of this.inLine) {
      const line = this.lines.get(caller) as Line<T>;
      if (next === null || line.hadMs < next.line.hadMs) next = { caller, line };
    }
    if (next === null) return null;
    const { caller, line } = next;
    const item = line.waiting.shift() as T;
    // Behind the others who have had as much.
    this.inLine.delete(caller);
    if (line.waiting.length > 0) this.inLine.add(caller);
    this.leastMs = line.hadMs;
    return { caller, item };
  }

  /** What a turn took. */
  charge(caller: unknown, tookMs: number): void {
    const line = this.lines.get(caller);
    if (line !== undefined) line.hadMs += tookMs;
  }

  private forgetSome(): void {
    if (this.lines.size < REMEMBERED_MAX) return;
    for (const [caller, line] of this.lines) if (line.waiting.length === 0) this.lines.delete(caller);
  }
}
