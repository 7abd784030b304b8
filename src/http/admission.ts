// Admission control: rejects requests at once under overload, so that admitted ones are served quickly. Looks only at
// the arrival time of a request and, under overload, at its sender.

import { DomainError } from "../base/errors.ts";
import { peerSource } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";

/**
 * One round of the event loop takes up all requests that have arrived on any connection, so a request taken up late has
 * waited at least since the start of the round. Requests that have waited longer than this are rejected.
 */
export const ROUND_WAIT_MS = 150;
/**
 * Number of requests per round admitted regardless of the time: parallel callers with one request each are not an
 * overload.
 */
export const ROUND_ALWAYS_ADMITTED = 100;
/** Both limits in a round directly after one with rejections: its requests have waited through that round as well. */
export const NEXT_ROUND_WAIT_MS = 50;
export const NEXT_ROUND_ALWAYS_ADMITTED = 25;
/**
 * Number of requests per caller admitted beyond that, so that one caller filling a round (all requests sent at once on
 * a connection are taken up before any other) does not lock out the others. A caller is the user of the valid
 * credentials in the request, with any key or session of that user; all requests without valid credentials from one
 * address are one caller.
 */
export const ROUND_ALWAYS_ADMITTED_OF_CALLER = 5;
/**
 * Credential lookups per address and round, not counting recently valid credentials: invented ones are rejected without
 * a store read.
 */
export const ROUND_LOOKUPS_OF_SOURCE = 20;
/** Retry-After of a rejected request. */
export const OVERLOAD_RETRY_AFTER_S = 1;
/** Interval at which rejections are logged together. */
const LOG_AFTER_MS = 1_000;

/** Error of a rejected request. */
export function overloaded(): DomainError {
  return new DomainError("rate_limit_exceeded", "Too many requests at once; try again in a second.", {
    retry_after_seconds: OVERLOAD_RETRY_AFTER_S,
  });
}

/** Sender of a request, as far as admission needs it. Called only under overload. */
export interface Sender {
  /** The caller's address. */
  source(): string;
  /**
   * The user of valid credentials in the request; null for none.
   * @param mayReadStore called before the store is read, which recently valid credentials do not need
   */
  user(mayReadStore: () => boolean): unknown;
}

export class Admission {
  private readonly timers: Timers;
  private readonly log: Log;
  /** Requests in this round; 0 between rounds. */
  private count = 0;
  private startedAt = 0;
  private timeoutMs = ROUND_WAIT_MS;
  private alwaysAdmitted = ROUND_ALWAYS_ADMITTED;
  private refusedAt = Number.NEGATIVE_INFINITY;
  /** Number not logged yet. */
  private refused = 0;
  /** Requests admitted beyond the limits in this round, by user and by address. */
  private readonly byUser = new Map<unknown, number>();
  private readonly bySource = new Map<string, number>();
  /** Credential lookups in this round, by address. */
  private readonly lookups = new Map<string, number>();

  constructor(timers: Timers, log: Log) {
    this.timers = timers;
    this.log = log;
  }

  /**
   * Call for every request as it is taken up, before anything else.
   * @param now monotonic, in milliseconds
   * @param sender called only beyond the limits
   * @returns whether to admit the request; otherwise respond with `overloaded`
   */
  admits(now: number, sender: Sender): boolean {
    if (this.count === 0) {
      this.startedAt = now;
      const isNext = now - this.refusedAt <= NEXT_ROUND_WAIT_MS;
      this.timeoutMs = isNext ? NEXT_ROUND_WAIT_MS : ROUND_WAIT_MS;
      this.alwaysAdmitted = isNext ? NEXT_ROUND_ALWAYS_ADMITTED : ROUND_ALWAYS_ADMITTED;
      // Runs after everything that has arrived is taken up.
      setImmediate(this.endRound);
    }
    this.count += 1;
    if (this.count <= this.alwaysAdmitted || now - this.startedAt <= this.timeoutMs) return true;
    const { source } = peerSource(sender.source());
    const user = sender.user(() => tryIncrement(this.lookups, source, ROUND_LOOKUPS_OF_SOURCE));
    if (
      user === null
        ? tryIncrement(this.bySource, source, ROUND_ALWAYS_ADMITTED_OF_CALLER)
        : tryIncrement(this.byUser, user, ROUND_ALWAYS_ADMITTED_OF_CALLER)
    )
      return true;
    this.refusedAt = now;
    this.countRefusal();
    return false;
  }

  /** Not one line per rejection: there can be thousands per second. */
  private countRefusal(): void {
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
    for (const counts of [this.byUser, this.bySource, this.lookups]) if (counts.size > 0) counts.clear();
  };
}

/** Increments a counter, unless it has reached its maximum. */
function tryIncrement<T>(counts: Map<T, number>, key: T, max: number): boolean {
  const count = counts.get(key) ?? 0;
  if (count >= max) return false;
  counts.set(key, count + 1);
  return true;
}
