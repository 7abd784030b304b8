// Shared-memory fence between the reading and the writing thread, which makes responses about the past final.
//
// PROBLEM. A transaction gets its timestamp when it begins and becomes visible when it commits. A read as of T in
// between does not see it; the same read afterwards does, if its timestamp is <= T. The fence prevents that without a
// lock: a reader never waits for a command that runs, only for a commit in progress.
//
// STATE. Three 64-bit cells of a SharedArrayBuffer, accessed by Atomics (sequentially consistent):
//   UNTIL      the latest past time read so far; no transaction may be dated at or before it
//   CLOSING    the earliest timestamp of the commit in progress; NOT_CLOSING if there is none
//   COMMITTED  the last sequence committed by this process
//
// STEPS. Reader: settledAt (records/read-instant.ts) and ThreadWriteQueue.settlePast. Writer: Writer.execute.
//   R1  open a snapshot, resolve T to a sequence, note the head      W1  date the transaction, run its commands
//   R2  answer(T): UNTIL := max(UNTIL, T)                            W2  close(t): CLOSING := t
//   R3  isClosing(T): is CLOSING <= T?                               W3  close(t): is UNTIL < t?
//         yes: await a message until it is not, then R5                    no: ROLLBACK, CLOSING := none, W1 later
//   R4  is COMMITTED beyond the head of R1?                          W4  COMMIT
//   R5  read; after a yes in R3 or R4 on a new snapshot              W5  open(): COMMITTED := sequence, CLOSING := none
//
// TIMELINES, for t <= T. Each side announces (R2, W2) before it checks (R3, W3), so at least one sees the other:
//
//   W3 before R2    reader  R1 ........... R2  R3 ............ R5    The reader sees CLOSING and waits for the commit,
//                   writer  ... W1  W2  W3 ........ W4  W5 ......    which its new snapshot contains.
//
//   R3 before W2    reader  R1  R2  R3  R4  R5 .................     The writer sees UNTIL and retries with t > T; the
//                   writer  W1 ............... W2  W3  ROLLBACK      result stays final.
//
//   R2 before W3,   reader  R1 ..... R2  R3 ............... R5       Both see each other: the writer retreats, and its
//   W2 before R3    writer  W1  W2 ........ W3  ROLLBACK ......      message wakes the reader.
//
//   W5 before R3    reader  R1 ................... R2  R3  R4  R5    The commit fell between R1 and R3: CLOSING is
//                   writer  W1  W2  W3  W4  W5 .................     none again, but R4 finds COMMITTED.
//
// W5 sets COMMITTED before it clears CLOSING: a reader that finds CLOSING cleared also finds the sequence.
//
// LIVENESS. Reads keep advancing UNTIL to almost now, so a long command could be postponed forever. A retry is dated
// ahead by 1.25 times its last duration, and its commit waits until the clock gets there, since no acknowledged write
// may be dated in the future. After MAX_POSTPONEMENTS postponements the writer closes before it runs, and reads of
// times from then on wait for it instead. A reader waits for messages, never on the memory; if the writer dies, crash()
// opens.
//
// LIMITS. A clock that was set back leaves UNTIL in the future. Up to MAX_LEAD_MS, transactions are dated after it;
// beyond, UNTIL is ignored, as a single wrong jump must not drag the ledger along permanently, and reads of the times in
// between are no longer final. UNTIL is not stored: after a restart only the head's timestamp is a lower bound. Reads
// at or after the clock's time are live and need no fence. Another process (a subcommand next to an appliance) shares
// no memory: it dates its commits `leadMs` ahead of the clock, and abandons one if half of that lead is used up.

import type { Clock } from "../../base/clock.ts";
import type { Instant } from "../../base/instant.ts";

/**
 * Maximum lead of transaction timestamps over a clock that was set back: a single wrong jump must not move the ledger's
 * clock permanently.
 */
const MAX_LEAD_MS = 300_000;

const UNTIL_INDEX = 0;
const CLOSING = 1;
const COMMITTED = 2;
const NOT_CLOSING = BigInt(Number.MAX_SAFE_INTEGER);

/** The three cells, as used by either thread. */
export class ReadFence {
  readonly memory: SharedArrayBuffer;
  private readonly cells: BigInt64Array;
  private readonly clock: Clock;

  constructor(clock: Clock, memory: SharedArrayBuffer | null = null) {
    this.clock = clock;
    this.memory = memory ?? new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT);
    this.cells = new BigInt64Array(this.memory);
    if (memory === null) {
      Atomics.store(this.cells, UNTIL_INDEX, -1n);
      Atomics.store(this.cells, CLOSING, NOT_CLOSING);
    }
  }

  /** Announces a response as of `at`: from now on nothing is written at or before that time. */
  answer(at: Instant): void {
    const until = Number(Atomics.load(this.cells, UNTIL_INDEX));
    if (at > until || this.isTooFarAhead(until)) Atomics.store(this.cells, UNTIL_INDEX, BigInt(at));
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
    const until = Number(Atomics.load(this.cells, UNTIL_INDEX));
    const now = this.clock.now();
    return this.isTooFarAhead(until) ? now : Math.max(now, until + 1);
  }

  /** Announces a commit dated `instant` or later. @returns whether no response has been given for that time or later */
  close(instant: Instant): boolean {
    Atomics.store(this.cells, CLOSING, BigInt(instant));
    const until = Number(Atomics.load(this.cells, UNTIL_INDEX));
    return until < instant || this.isTooFarAhead(until);
  }

  /** Ends the commit, whether done or abandoned. @param sequence its last transaction; null if it wrote none */
  open(sequence: number | null): void {
    if (sequence !== null) Atomics.store(this.cells, COMMITTED, BigInt(sequence));
    Atomics.store(this.cells, CLOSING, NOT_CLOSING);
  }

  private isTooFarAhead(until: Instant): boolean {
    return until - this.clock.now() > MAX_LEAD_MS;
  }
}
