// Whether a request is let in, or refused at once because too many came together: who is served is then served soon.
// Looks at nothing of a request but when its turn comes, and, where some have to be refused, whose it is.

import { DomainError } from "../base/errors.ts";
import { peerPlace } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";

/**
 * The event loop takes up in one round what has arrived on all connections by then, so that a request taken up late in
 * a round has waited since the round's beginning at least. One that has waited longer than this is refused.
 */
export const ROUND_WAIT_MS = 150;
/**
 * So many requests of a round are let in however long they take: callers at once, each with one request, are no
 * overload.
 */
export const ROUND_ALWAYS_ADMITTED = 100;
/**
 * Both in a round that follows at once on one in which requests were refused: who comes now has waited through that one
 * as well.
 */
export const NEXT_ROUND_WAIT_MS = 50;
export const NEXT_ROUND_ALWAYS_ADMITTED = 25;
/**
 * Beyond that, so many of each caller are let in all the same: who fills a round (requests sent at once on one
 * connection are all taken up before anybody else's) does not shut out the others. A caller is the user whose valid
 * credentials a request carries, with whichever of the user's keys and sessions; all that come without such from one
 * address are one.
 */
export const ROUND_ALWAYS_ADMITTED_OF_CALLER = 5;
/**
 * Credentials of one address that are looked up in a round to tell whose they are, besides those that were good lately:
 * made-up ones are refused without asking the store.
 */
export const ROUND_LOOKUPS_OF_SOURCE = 20;
/** What a caller that was refused is told to wait. */
export const OVERLOAD_RETRY_AFTER_S = 1;
/** Refusals are logged together, once in this time. */
const LOG_AFTER_MS = 1_000;

/** What a request that is not let in is answered. */
export function overloaded(): DomainError {
  return new DomainError("rate_limit_exceeded", "Too many requests at once; try again in a second.", {
    retry_after_seconds: OVERLOAD_RETRY_AFTER_S,
  });
}

/** Who sends a request, as far as admission cares. Nothing is asked where nobody has to wait. */
export interface Sender {
  /** The caller's address. */
  source(): string;
  /**
   * The user whose valid credentials the request carries; null for none.
   * @param mayAsk asked before the store is: only for credentials that were not good lately
   */
  user(mayAsk: () => boolean): unknown;
}

export class Admission {
  private readonly timers: Timers;
  private readonly log: Log;
  /** Requests of this round; 0 between rounds. */
  private count = 0;
  private beganAt = 0;
  private timeoutMs = ROUND_WAIT_MS;
  private alwaysAdmitted = ROUND_ALWAYS_ADMITTED;
  private refusedAt = Number.NEGATIVE_INFINITY;
  /** Not logged yet. */
  private refused = 0;
  /** Let in after the wait, in this round: of each user and each address. */
  private readonly byUser = new Map<unknown, number>();
  private readonly byPlace = new Map<string, number>();
  /** Looked up in this round, by address. */
  private readonly lookups = new Map<string, number>();

  constructor(timers: Timers, log: Log) {
    this.timers = timers;
    this.log = log;
  }

  /**
   * To be asked of every request as it is taken up, before anything else.
   * @param now monotonic, in milliseconds
   * @param sender asked only where the wait is over
   * @returns whether it is let in; what it is answered otherwise is `overloaded`
   */
  admits(now: number, sender: Sender): boolean {
    if (this.count === 0) {
      this.beganAt = now;
      const isNext = now - this.refusedAt <= NEXT_ROUND_WAIT_MS;
      this.timeoutMs = isNext ? NEXT_ROUND_WAIT_MS : ROUND_WAIT_MS;
      this.alwaysAdmitted = isNext ? NEXT_ROUND_ALWAYS_ADMITTED : ROUND_ALWAYS_ADMITTED;
      // Runs when all that had arrived is taken up.
      setImmediate(this.endRound);
    }
    this.count += 1;
    if (this.count <= this.alwaysAdmitted || now - this.beganAt <= this.timeoutMs) return true;
    const { place } = peerPlace(sender.source());
    const user = sender.user(() => counted(this.lookups, place, ROUND_LOOKUPS_OF_SOURCE));
    if (
      user === null
        ? counted(this.byPlace, place, ROUND_ALWAYS_ADMITTED_OF_CALLER)
        : counted(this.byUser, user, ROUND_ALWAYS_ADMITTED_OF_CALLER)
    )
      return true;
    this.refusedAt = now;
    this.noteRefusal();
    return false;
  }

  /** Not a line for each: thousands come in a second. */
  private noteRefusal(): void {
    if (this.refused === 0) {
      this.timers.after(LOG_AFTER_MS, () => {
        this.log.warn("overloaded", { refused: this.refused });
        this.refused = 0;
      });
    }
    this.refused += 1;
  }

  private readonly endRound = () => {
    this.count = 0;
    for (const counts of [this.byUser, this.byPlace, this.lookups]) if (counts.size > 0) counts.clear();
  };
}

/** One more of someone, unless there are so many already. */
function counted<T>(counts: Map<T, number>, of: T, max: number): boolean {
  const count = counts.get(of) ?? 0;
  if (count >= max) return false;
  counts.set(of, count + 1);
  return true;
}
