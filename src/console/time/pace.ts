// Throttle for values that arrive faster than they can be shown: passes on the newest and drops the rest.

/** Calls back when the next value can be taken; returns a function that cancels the callback. */
type Wait = (ready: () => void) => () => void;

export class Pace<Value> {
  private readonly take: (value: Value) => void;
  private readonly wait: Wait;
  private next: { readonly value: Value } | null = null;
  private stopWaiting: (() => void) | null = null;

  constructor(take: (value: Value) => void, wait: Wait) {
    this.take = take;
    this.wait = wait;
  }

  /** Takes the value at once if idle, else at the next turn unless a newer value replaces it. */
  offer(value: Value): void {
    if (this.stopWaiting === null) this.hand(value);
    else this.next = { value };
  }

  /** Takes the pending value now. */
  flush(): void {
    const { next } = this;
    this.clear();
    if (next !== null) this.take(next.value);
  }

  /** Drops the pending value. */
  clear(): void {
    this.stopWaiting?.();
    this.stopWaiting = null;
    this.next = null;
  }

  private hand(value: Value): void {
    this.next = null;
    this.stopWaiting = this.wait(() => {
      this.stopWaiting = null;
      if (this.next !== null) this.hand(this.next.value);
    });
    this.take(value);
  }
}
