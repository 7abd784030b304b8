// Fair scheduling of a shared thread: more requests do not give a caller more time. Independent of the work and the
// clock.

/** Maximum callers remembered, with their consumed time. Idle time earns no credit. */
const CALLERS_MAX = 10_000;

interface CallerQueue<T> {
  /** Consumed time, on a scale where a new caller starts with the minimum of all waiting callers. */
  usedMs: number;
  /** In order of arrival. */
  readonly waiting: T[];
}

export class FairScheduler<T> {
  private readonly queues = new Map<unknown, CallerQueue<T>>();
  /** Callers with waiting items. */
  private readonly waitingCallers = new Set<unknown>();
  /** Consumed time of the last caller before its turn: no waiting caller has less. */
  private minUsedMs = 0;

  get isEmpty(): boolean {
    return this.waitingCallers.size === 0;
  }

  /** @param caller an opaque key */
  add(caller: unknown, item: T): void {
    const queue = this.queues.get(caller) ?? { usedMs: 0, waiting: [] };
    if (queue.waiting.length === 0) {
      queue.usedMs = Math.max(queue.usedMs, this.minUsedMs);
      this.evictIdle();
      this.queues.set(caller, queue);
      this.waitingCallers.add(caller);
    }
    queue.waiting.push(item);
  }

  /** The first item of the caller with the least consumed time; ties go to the first in the queue. Null if nothing waits. */
  take(): { readonly caller: unknown; readonly item: T } | null {
    let next: { readonly caller: unknown; readonly queue: CallerQueue<T> } | null = null;
    for (const caller of this.waitingCallers) {
      const queue = this.queues.get(caller) as CallerQueue<T>;
      if (next === null || queue.usedMs < next.queue.usedMs) next = { caller, queue };
    }
    if (next === null) return null;
    const { caller, queue } = next;
    const item = queue.waiting.shift() as T;
    // Moves behind other callers with the same time.
    this.waitingCallers.delete(caller);
    if (queue.waiting.length > 0) this.waitingCallers.add(caller);
    this.minUsedMs = queue.usedMs;
    return { caller, item };
  }

  /** Adds the duration of a turn. */
  charge(caller: unknown, durationMs: number): void {
    const queue = this.queues.get(caller);
    if (queue !== undefined) queue.usedMs += durationMs;
  }

  private evictIdle(): void {
    if (this.queues.size < CALLERS_MAX) return;
    for (const [caller, queue] of this.queues) if (queue.waiting.length === 0) this.queues.delete(caller);
  }
}
