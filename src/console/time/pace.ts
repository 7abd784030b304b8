// Paces what comes faster than it can be shown: of all that comes meanwhile, the newest is taken and the rest is left out.

/** Calls back when there is room for the next; what it returns takes the call back. */
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

  /** Taken at once where nothing was shortly before; else when its turn comes, if nothing newer has come by then. */
  offer(value: Value): void {
    if (this.stopWaiting === null) this.hand(value);
    else this.next = { value };
  }

  /** Takes what still waits. */
  flush(): void {
    const { next } = this;
    this.clear();
    if (next !== null) this.take(next.value);
  }

  /** Leaves out what still waits. */
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
