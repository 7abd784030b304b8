// Throttle for values that arrive faster than they can be shown: passes on the newest and drops the rest.

/** Calls back when the next value can be passed on; returns a function that cancels the callback. */
type Wait = (ready: () => void) => () => void;

export class Throttle<Value> {
  private readonly accept: (value: Value) => void;
  private readonly wait: Wait;
  private next: { readonly value: Value } | null = null;
  private stopWaiting: (() => void) | null = null;

  constructor(accept: (value: Value) => void, wait: Wait) {
    this.accept = accept;
    this.wait = wait;
  }

  /** Passes the value on immediately if idle, else at the next opportunity unless a newer value replaces it. */
  offer(value: Value): void {
    if (this.stopWaiting === null) this.pass(value);
    else this.next = { value };
  }

  /** Passes on the pending value now. */
  flush(): void {
    const { next } = this;
    this.clear();
    if (next !== null) this.accept(next.value);
  }

  /** Drops the pending value. */
  clear(): void {
    this.stopWaiting?.();
    this.stopWaiting = null;
    this.next = null;
  }

  private pass(value: Value): void {
    this.next = null;
    this.stopWaiting = this.wait(() => {
      this.stopWaiting = null;
      if (this.next !== null) this.pass(this.next.value);
    });
    this.accept(value);
  }
}
