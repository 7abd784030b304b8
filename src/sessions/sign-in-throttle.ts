// Slows failed sign-ins down, more with each one, per pair of account and source address, and more generously per source
// address. Must not verify passwords, nor know whether an account exists: what is made up is counted like what is
// there.

import type { Clock } from "../base/clock.ts";
import type { Instant } from "../base/instant.ts";
import { peerPlace } from "../base/ip.ts";
import { foldCase } from "../base/text.ts";
import type { Timers } from "../base/timers.ts";

/** Failures of one pair that cost nothing; the ones after make it wait 1 s, 2 s, 4 s … */
export const PAIR_FREE_FAILURES = 3;

/** Failures of one source address, over all accounts, that cost nothing: an office behind one address mistypes too. */
export const SOURCE_FREE_FAILURES = 30;

/**
 * A source's failures are forgiven one by one at this pace, so that an office never adds up, and a sprayer settles at
 * 30 guesses an hour.
 */
export const SOURCE_FORGIVEN_EVERY_MS = 120_000;

/** The longest wait, in seconds. */
export const MAX_WAIT_SECONDS = 900;

/** After so long without an attempt a pair or a source is forgotten. */
export const QUIET_MS = 24 * 3_600_000;

/** For so long after a sign-in its pair does not wait for what others do from the same address. */
export const KNOWN_GOOD_MS = 30 * 24 * 3_600_000;

/** An attempt that nobody reported on counts as running for so long: a lost report must not close the account. */
export const ATTEMPT_TIMEOUT_MS = 60_000;

/** Attempts that may wait for a running one, for each pair and each source. */
export const ATTEMPTS_MAX_WAITING = 10;

/** The longest that an attempt waits for a running one. */
export const ATTEMPT_WAIT_MS = 5_000;

/** Of pairs, of sources, and of pairs known to be good; beyond it the longest untouched goes. */
export const THROTTLE_MAX_ENTRIES = 10_000;

/** Why an attempt may not be made, and for how long. */
export interface RefusedAttempt {
  /** 1–900 s. */
  readonly retryAfterSeconds: number;
  /** Nothing has failed too often: too many attempts came at once, or one is verified for too long. */
  readonly isCrowded: boolean;
}

/** A verification takes less than the second. */
const CROWDED: RefusedAttempt = { retryAfterSeconds: 1, isCrowded: true };

/**
 * Guards sign-in. Call `enter` before anything is verified; when it answers null, exactly one of `failed`, `succeeded`
 * and `abandoned` must follow with the same arguments.
 *
 * Parallel guesses get no more tries than the same number in a row, and parallel sign-ins of who knows the password all
 * get in: of a pair one attempt runs, and of a source as many as could all fail without having to wait. The others wait
 * until it is known how those went.
 *
 * Nobody can be locked out from elsewhere: an account waits for its own failures from the same source, and for the
 * source's failures over all accounts (password spraying), except where it has signed in from that source lately, so
 * that a sprayer behind the same address translation does not shut out those who work there. Sign-ins do not wipe a
 * source's count, or an attacker's own account would.
 *
 * `account` is the e-mail address as typed; it is folded at least as coarsely as any look-up does, or a second spelling
 * would be a second count. `source` is an IP address, IPv4 also in IPv6-mapped form. An account's failures count by the
 * exact address, since a whole LAN is one IPv6 /64 and neighbours must not lock each other out; a source's failures
 * over all accounts count per /64, or one guesser had 2^64 sources.
 */
export class SignInThrottle {
  private readonly clock: Clock;
  private readonly timers: Timers;
  private readonly pairs = new FailureCounts(PAIR_FREE_FAILURES, null, 1);
  private readonly sources = new FailureCounts(
    SOURCE_FREE_FAILURES,
    SOURCE_FORGIVEN_EVERY_MS,
    Number.POSITIVE_INFINITY,
  );
  private readonly knownGood = new Map<string, Instant>();
  /** What wakes those who wait for the running attempts of a pair or a source, the first come first. */
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock;
    this.timers = timers;
  }

  /**
   * Waits, where the failure of attempts that run would make this one too early, until it is known how they went.
   * Asking too early costs nothing.
   * @returns null when the attempt may be made, and then it is reserved
   */
  async enter(account: string, source: string): Promise<RefusedAttempt | null> {
    const keys = keysOf(account, source);
    const answer = this.reserve(keys);
    return typeof answer === "string" ? this.enterLater(keys, answer) : answer;
  }

  /** The account does not exist, is disabled, or the password is wrong. */
  failed(account: string, source: string): void {
    const now = this.clock.now();
    const { pair, place } = keysOf(account, source);
    this.pairs.fail(pair, now);
    this.sources.fail(place, now);
    this.wake(pair, place);
  }

  /** Signed in: the pair starts anew and is known to be good. */
  succeeded(account: string, source: string): void {
    const { pair, place } = keysOf(account, source);
    this.pairs.clear(pair);
    this.sources.release(place);
    touch(this.knownGood, pair, this.clock.now());
    this.wake(pair, place);
  }

  /** Nothing was verified after all (too busy, shutting down): as if never tried. */
  abandoned(account: string, source: string): void {
    const { pair, place } = keysOf(account, source);
    this.pairs.release(pair);
    this.sources.release(place);
    this.wake(pair, place);
  }

  /** Whether the account has signed in from this source lately. */
  knows(account: string, source: string): boolean {
    return this.isKnownGood(keysOf(account, source).pair, this.clock.now());
  }

  /** @returns null when it is reserved; the key of the running attempts that it has to wait for */
  private reserve({ pair, place }: Keys): RefusedAttempt | string | null {
    const now = this.clock.now();
    const isKnown = this.isKnownGood(pair, now);
    const waitMs = Math.max(this.pairs.waitMs(pair, now), isKnown ? 0 : this.sources.waitMs(place, now));
    if (waitMs > 0) return { retryAfterSeconds: Math.ceil(waitMs / 1000), isCrowded: false };
    if (this.pairs.isBusy(pair, now)) return pair;
    if (!isKnown && this.sources.isBusy(place, now)) return place;
    this.pairs.reserve(pair, now);
    this.sources.reserve(place, now);
    return null;
  }

  /** @param busy the key of what it waits for first: a source may be busy once its pair is not */
  private async enterLater(keys: Keys, busy: string): Promise<RefusedAttempt | null> {
    const late = Promise.withResolvers<boolean>();
    const callOff = this.timers.after(ATTEMPT_WAIT_MS, () => late.resolve(true));
    try {
      for (let key = busy; ; ) {
        const line = this.waiting.get(key) ?? new Set();
        if (line.size >= ATTEMPTS_MAX_WAITING) return CROWDED;
        const { promise, resolve } = Promise.withResolvers<boolean>();
        const wake = () => resolve(false);
        this.waiting.set(key, line.add(wake));
        const isLate = await Promise.race([promise, late.promise]);
        if (line.delete(wake) && line.size === 0) this.waiting.delete(key);
        if (isLate) return CROWDED;
        const answer = this.reserve(keys);
        if (typeof answer !== "string") return answer;
        key = answer;
      }
    } finally {
      callOff();
    }
  }

  /** In the order in which they came: whoever still has to wait keeps their place. */
  private wake(...keys: readonly string[]): void {
    for (const key of keys) {
      const line = this.waiting.get(key);
      this.waiting.delete(key);
      for (const wake of line ?? []) wake();
      line?.clear();
    }
  }

  private isKnownGood(pair: string, now: Instant): boolean {
    const since = this.knownGood.get(pair);
    return since !== undefined && now - since < KNOWN_GOOD_MS;
  }
}

interface Count {
  failures: number;
  /** Attempts reserved and not reported on yet. */
  running: number;
  lastReservedAt: Instant;
  lastFailedAt: Instant;
  /** Up to where forgiving has been done. */
  forgivenAt: Instant;
}

/** Failures by key, with the waits that follow from them. */
class FailureCounts {
  private readonly freeFailures: number;
  private readonly forgivenEveryMs: number | null;
  private readonly maxRunning: number;
  private readonly counts = new Map<string, Count>();

  constructor(freeFailures: number, forgivenEveryMs: number | null, maxRunning: number) {
    this.freeFailures = freeFailures;
    this.forgivenEveryMs = forgivenEveryMs;
    this.maxRunning = maxRunning;
  }

  /** How long an attempt has to wait for the failures that are known; 0 where it has not. */
  waitMs(key: string, now: Instant): number {
    const count = this.current(key, now);
    return count === null ? 0 : Math.max(0, count.lastFailedAt + this.delayMs(count.failures) - now);
  }

  /** Whether one more has to wait until it is known how those that run went: it would be too early if all failed. */
  isBusy(key: string, now: Instant): boolean {
    const count = this.current(key, now);
    if (count === null || count.running === 0) return false;
    return count.running >= this.maxRunning || this.delayMs(count.failures + count.running) > 0;
  }

  reserve(key: string, now: Instant): void {
    const count = this.current(key, now) ?? newCount(now);
    count.running += 1;
    count.lastReservedAt = now;
    touch(this.counts, key, count);
  }

  fail(key: string, now: Instant): void {
    const count = this.current(key, now) ?? newCount(now);
    count.running = Math.max(0, count.running - 1);
    if (count.failures === 0) count.forgivenAt = now;
    count.failures += 1;
    count.lastFailedAt = now;
    touch(this.counts, key, count);
  }

  release(key: string): void {
    const count = this.counts.get(key);
    if (!count) return;
    count.running = Math.max(0, count.running - 1);
    if (count.running === 0 && count.failures === 0) this.counts.delete(key);
  }

  /** Forgets the failures; attempts that still run keep their reservation. */
  clear(key: string): void {
    const count = this.counts.get(key);
    if (count) count.failures = 0;
    this.release(key);
  }

  /** The count as of now: forgotten, forgiven and timed out what is due. */
  private current(key: string, now: Instant): Count | null {
    const count = this.counts.get(key);
    if (!count) return null;
    // The clock may step back; a wait must not grow by the step.
    count.lastReservedAt = Math.min(count.lastReservedAt, now);
    count.lastFailedAt = Math.min(count.lastFailedAt, now);
    count.forgivenAt = Math.min(count.forgivenAt, now);
    if (now - Math.max(count.lastReservedAt, count.lastFailedAt) >= QUIET_MS) {
      this.counts.delete(key);
      return null;
    }
    if (now - count.lastReservedAt >= ATTEMPT_TIMEOUT_MS) count.running = 0;
    if (this.forgivenEveryMs !== null) {
      const forgiven = Math.floor((now - count.forgivenAt) / this.forgivenEveryMs);
      count.failures = Math.max(0, count.failures - forgiven);
      count.forgivenAt += forgiven * this.forgivenEveryMs;
    }
    return count;
  }

  /** 0 for the free ones, then 1 s, 2 s, 4 s … */
  private delayMs(failures: number): number {
    const costly = failures - this.freeFailures;
    return costly <= 0 ? 0 : Math.min(2 ** (costly - 1), MAX_WAIT_SECONDS) * 1000;
  }
}

function newCount(now: Instant): Count {
  return { failures: 0, running: 0, lastReservedAt: now, lastFailedAt: now, forgivenAt: now };
}

/**
 * Sets the entry as the most recently touched and drops the longest untouched beyond the bound: a Map keeps the order
 * of insertion.
 */
function touch<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= THROTTLE_MAX_ENTRIES) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

interface Keys {
  readonly pair: string;
  readonly place: string;
}

/** Hashed, so that a key's size does not depend on what was typed. */
function keysOf(account: string, source: string): Keys {
  const { address, place } = peerPlace(source);
  const folded = foldCase(account.normalize("NFKC")).trim();
  return { pair: Bun.SHA256.hash(`${address}\n${folded}`, "base64"), place: Bun.SHA256.hash(place, "base64") };
}
