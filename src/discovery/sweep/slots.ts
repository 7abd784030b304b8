// Limits concurrency; others wait in order.

/** When ended, waiting and later callers get the reason as an error. */
export class Slots {
  private readonly waiting: { enter: () => void; refuse: (reason: unknown) => void }[] = [];
  private free: number;
  private ended: { reason: unknown } | null = null;

  constructor(capacity: number) {
    this.free = capacity;
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }

  /** Waits for room and takes it; exactly one `give` follows. */
  take(): Promise<void> {
    if (this.ended) return Promise.reject(this.ended.reason);
    if (this.free > 0) {
      this.free -= 1;
      return Promise.resolve();
    }
    return new Promise((enter, refuse) => this.waiting.push({ enter, refuse }));
  }

  give(): void {
    const next = this.waiting.shift();
    if (next) next.enter();
    else this.free += 1;
  }

  end(reason: unknown): void {
    this.ended ??= { reason };
    for (const { refuse } of this.waiting.splice(0)) refuse(reason);
  }
}
