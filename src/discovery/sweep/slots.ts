// So many at once and no more; whoever comes later waits for a turn, in the order of coming.

/** Ends as a whole: whoever waits then, or comes later, gets the reason as an error. */
export class Slots {
  readonly #waiting: { enter: () => void; refuse: (reason: unknown) => void }[] = [];
  #free: number;
  #ended: { reason: unknown } | null = null;

  constructor(capacity: number) {
    this.#free = capacity;
  }

  /** Runs the work when there is room for it. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }

  /** Resolves when there is room, which is then taken: exactly one `give` follows. */
  take(): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended.reason);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((enter, refuse) => this.#waiting.push({ enter, refuse }));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next) next.enter();
    else this.#free += 1;
  }

  end(reason: unknown): void {
    this.#ended ??= { reason };
    for (const { refuse } of this.#waiting.splice(0)) refuse(reason);
  }
}
