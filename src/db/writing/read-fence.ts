// What the thread that answers and the thread that writes know of each other, in shared memory: how far the past has
// been answered, and from which instant on a commit is being made. So neither waits for the other but for the commit
// itself.

import type { Clock } from "../../base/clock.ts";
import type { Instant } from "../../base/instant.ts";

/**
 * How far transactions are dated ahead of a clock that was set back: one wrong leap must not draw the ledger after it
 * for good.
 */
const MAX_LEAD_MS = 300_000;

const UNTIL = 0;
const CLOSING = 1;
const COMMITTED = 2;
const NOT_CLOSING = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Either side first says what it is about to do and then looks at what the other has said, so that of two that meet at
 * least one knows of the other.
 */
export class ReadFence {
  readonly memory: SharedArrayBuffer;
  private readonly cells: BigInt64Array;
  private readonly clock: Clock;

  constructor(clock: Clock, memory: SharedArrayBuffer | null = null) {
    this.clock = clock;
    this.memory = memory ?? new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT);
    this.cells = new BigInt64Array(this.memory);
    if (memory === null) {
      Atomics.store(this.cells, UNTIL, -1n);
      Atomics.store(this.cells, CLOSING, NOT_CLOSING);
    }
  }

  /** An answer as of `at` is about to be given: nothing is written there any more. */
  answer(at: Instant): void {
    const until = Number(Atomics.load(this.cells, UNTIL));
    if (at > until || this.leads(until)) Atomics.store(this.cells, UNTIL, BigInt(at));
  }

  /** Whether a commit under way may be dated at `at` or before it. */
  isClosing(at: Instant): boolean {
    return BigInt(at) >= Atomics.load(this.cells, CLOSING);
  }

  /** The last transaction that this process has committed; 0 for none. */
  get committed(): number {
    return Number(Atomics.load(this.cells, COMMITTED));
  }

  /** The earliest instant of a transaction that begins now. */
  earliest(): Instant {
    const until = Number(Atomics.load(this.cells, UNTIL));
    const now = this.clock.now();
    return this.leads(until) ? now : Math.max(now, until + 1);
  }

  /** A commit dated from `instant` on is about to be made. @returns whether nothing from there on has been answered */
  close(instant: Instant): boolean {
    Atomics.store(this.cells, CLOSING, BigInt(instant));
    const until = Number(Atomics.load(this.cells, UNTIL));
    return until < instant || this.leads(until);
  }

  /** The commit is made, or given up. @param sequence its last transaction; null where it made none */
  open(sequence: number | null): void {
    if (sequence !== null) Atomics.store(this.cells, COMMITTED, BigInt(sequence));
    Atomics.store(this.cells, CLOSING, NOT_CLOSING);
  }

  private leads(until: Instant): boolean {
    return until - this.clock.now() > MAX_LEAD_MS;
  }
}
