// Concurrency limit; further callers wait in order.

/** Once ended, rejects waiting and later callers with the reason. */
export class Slots {
  private readonly waiting: { enter: () => void; refuse: (reason: unknown) => void }[] = [];
  private free: number;
  private ended: { reason: unknown } | null = null;

  constructor(capacity: number) {
    this.free = capacity;
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.acquire();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Waits for a free slot and takes it; exactly one `release` must follow. */
  acquire(): Promise<void> {
    if (this.ended) return Promise.reject(this.ended.reason);
    if (this.free > 0) {
      this.free -= 1;
      return Promise.resolve();
    }
    return new Promise((enter, refuse) => this.waiting.push({ enter, refuse }));
  }

  release(): void {
    const next = this.waiting.shift();
    if (next) next.enter();
    else this.free += 1;
  }

  end(reason: unknown): void {
    this.ended ??= { reason };
    for (const { refuse } of this.waiting.splice(0)) refuse(reason);
  }
}
