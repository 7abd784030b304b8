// Shared-memory fence between the reading and the writing thread: the time up to which past reads were answered, and
// the earliest timestamp of a commit in progress. Neither thread waits for the other, except for the commit itself.

import type { Clock } from "../../base/clock.ts";
import type { Instant } from "../../base/instant.ts";

/**
 * Maximum lead of transaction timestamps over a clock that was set back: a single wrong jump must not drag the ledger
 * along for good.
 */
const MAX_LEAD_MS = 300_000;

const UNTIL = 0;
const CLOSING = 1;
const COMMITTED = 2;
const NOT_CLOSING = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Each side announces its action before it checks the other's, so that of two concurrent ones at least one sees the
 * other.
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

  /** Announces an answer as of `at`: from now on nothing is written at or before that time. */
  answer(at: Instant): void {
    const until = Number(Atomics.load(this.cells, UNTIL));
    if (at > until || this.leads(until)) Atomics.store(this.cells, UNTIL, BigInt(at));
  }

  /** Whether a commit in progress may be dated at or before `at`. */
  isClosing(at: Instant): boolean {
    return BigInt(at) >= Atomics.load(this.cells, CLOSING);
  }

  /** The last transaction committed by this process; 0 for none. */
  get committed(): number {
    return Number(Atomics.load(this.cells, COMMITTED));
  }

  /** The earliest timestamp for a transaction that starts now. */
  earliest(): Instant {
    const until = Number(Atomics.load(this.cells, UNTIL));
    const now = this.clock.now();
    return this.leads(until) ? now : Math.max(now, until + 1);
  }

  /** Announces a commit dated `instant` or later. @returns whether nothing from there on has been answered */
  close(instant: Instant): boolean {
    Atomics.store(this.cells, CLOSING, BigInt(instant));
    const until = Number(Atomics.load(this.cells, UNTIL));
    return until < instant || this.leads(until);
  }

  /** Ends the commit, whether done or abandoned. @param sequence its last transaction; null if it wrote none */
  open(sequence: number | null): void {
    if (sequence !== null) Atomics.store(this.cells, COMMITTED, BigInt(sequence));
    Atomics.store(this.cells, CLOSING, NOT_CLOSING);
  }

  private leads(until: Instant): boolean {
    return until - this.clock.now() > MAX_LEAD_MS;
  }
}
