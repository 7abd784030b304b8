// Throttle for failed sign-ins with growing delays, per pair of account and source address, and more leniently per
// source address. Does not verify passwords. Unknown accounts are treated like existing ones.

import type { Clock } from "../base/clock.ts";
import type { Instant } from "../base/instant.ts";
import { peerSource } from "../base/ip.ts";
import { foldCase } from "../base/text.ts";
import type { Timers } from "../base/timers.ts";

/** Failures of a pair without delay; later ones delay by 1 s, 2 s, 4 s … */
export const PAIR_FREE_FAILURES = 3;

/** Failures of a source address over all accounts without delay: a whole office behind one address mistypes too. */
export const SOURCE_FREE_FAILURES = 30;

/**
 * Interval at which one failure of a source is forgiven, so that an office never accumulates delays, and password
 * spraying is limited to 30 guesses an hour.
 */
export const SOURCE_FORGIVEN_EVERY_MS = 120_000;

/** Maximum delay in seconds. */
export const MAX_WAIT_SECONDS = 900;

/** Pairs and sources are forgotten after this time without an attempt. */
export const QUIET_MS = 24 * 3_600_000;

/** After a sign-in, its pair is exempt from the delays of its source for this time. */
export const KNOWN_GOOD_MS = 30 * 24 * 3_600_000;

/** An attempt without a reported result counts as running for this time: a lost report must not lock the account. */
export const ATTEMPT_TIMEOUT_MS = 60_000;

/** Maximum number of attempts waiting for a running one, per pair and per source. */
export const ATTEMPTS_MAX_WAITING = 10;

/** Maximum wait for a running attempt. */
export const ATTEMPT_WAIT_MS = 5_000;

/**
 * Maximum number of pairs, of sources, and of pairs known to be good; beyond it, the least recently used is dropped.
 */
export const THROTTLE_MAX_ENTRIES = 10_000;

/** A rejected attempt with its delay. */
export interface RefusedAttempt {
  /** 1–900 s. */
  readonly retryAfterSeconds: number;
  /** true: not because of failures, but because of too many simultaneous attempts or a slow verification. */
  readonly isOverloaded: boolean;
}

/** A verification takes less than a second. */
const OVERLOADED: RefusedAttempt = { retryAfterSeconds: 1, isOverloaded: true };

/**
 * Guards sign-in. Call `enter` before any verification; if it returns null, exactly one of `failed`, `succeeded` and
 * `abandoned` must follow with the same arguments.
 *
 * Parallel guesses get no more tries than sequential ones, and parallel sign-ins with the right password all succeed:
 * one attempt runs per pair, and per source as many as could all fail without a delay. The others wait for those
 * results.
 *
 * No account can be locked out from elsewhere: it waits for its own failures from the same source, and for the source's
 * failures over all accounts (password spraying), unless it has signed in from that source recently, so that a sprayer
 * behind the same NAT does not lock out other users there. Sign-ins do not reset a source's count; otherwise an
 * attacker could reset it with another account.
 *
 * `account` is the e-mail address as typed; it is folded at least as coarsely as in any lookup, so that a second
 * spelling is not counted separately. `source` is an IP address, possibly IPv4-mapped IPv6. An account's failures count
 * by exact address, since a whole LAN is one IPv6 /64 and neighbors must not lock each other out; a source's failures
 * over all accounts count per /64, since one attacker may have 2^64 addresses.
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
  /** Callbacks of attempts waiting for a pair or a source, in order of arrival. */
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock;
    this.timers = timers;
  }

  /**
   * Waits for running attempts if their failure would make the new one too early. A rejection here is not counted as a
   * failure.
   * @returns null if the attempt may proceed; it is then reserved
   */
  async enter(account: string, source: string): Promise<RefusedAttempt | null> {
    const keys = keysOf(account, source);
    const result = this.reserve(keys);
    return typeof result === "string" ? this.waitAndEnter(keys, result) : result;
  }

  /** Unknown or disabled account, or wrong password. */
  failed(account: string, source: string): void {
    const now = this.clock.now();
    const { pair, network } = keysOf(account, source);
    this.pairs.fail(pair, now);
    this.sources.fail(network, now);
    this.wake(pair, network);
  }

  /** Signed in: resets the pair and marks it as known to be good. */
  succeeded(account: string, source: string): void {
    const { pair, network } = keysOf(account, source);
    this.pairs.clear(pair);
    this.sources.release(network);
    touch(this.knownGood, pair, this.clock.now());
    this.wake(pair, network);
  }

  /** Nothing was verified (too busy, shutting down): the attempt does not count. */
  abandoned(account: string, source: string): void {
    const { pair, network } = keysOf(account, source);
    this.pairs.release(pair);
    this.sources.release(network);
    this.wake(pair, network);
  }

  /** Whether the account has signed in from this source recently. */
  hasSignedInRecently(account: string, source: string): boolean {
    return this.isKnownGood(keysOf(account, source).pair, this.clock.now());
  }

  /** @returns null if reserved; a key if the attempt must wait for that key's running attempts */
  private reserve({ pair, network }: Keys): RefusedAttempt | string | null {
    const now = this.clock.now();
    const isKnown = this.isKnownGood(pair, now);
    const waitMs = Math.max(this.pairs.waitMs(pair, now), isKnown ? 0 : this.sources.waitMs(network, now));
    if (waitMs > 0) return { retryAfterSeconds: Math.ceil(waitMs / 1000), isOverloaded: false };
    if (this.pairs.isBusy(pair, now)) return pair;
    if (!isKnown && this.sources.isBusy(network, now)) return network;
    this.pairs.reserve(pair, now);
    this.sources.reserve(network, now);
    return null;
  }

  /** @param busy the key to wait for first: the source may still be busy when the pair is free */
  private async waitAndEnter(keys: Keys, busy: string): Promise<RefusedAttempt | null> {
    const timeout = Promise.withResolvers<boolean>();
    const cancelTimer = this.timers.after(ATTEMPT_WAIT_MS, () => timeout.resolve(true));
    try {
      for (let key = busy; ; ) {
        const queue = this.waiting.get(key) ?? new Set();
        if (queue.size >= ATTEMPTS_MAX_WAITING) return OVERLOADED;
        const { promise, resolve } = Promise.withResolvers<boolean>();
        const wake = () => resolve(false);
        this.waiting.set(key, queue.add(wake));
        const hasTimedOut = await Promise.race([promise, timeout.promise]);
        if (queue.delete(wake) && queue.size === 0) this.waiting.delete(key);
        if (hasTimedOut) return OVERLOADED;
        const result = this.reserve(keys);
        if (typeof result !== "string") return result;
        key = result;
      }
    } finally {
      cancelTimer();
    }
  }

  /** In order of arrival: attempts that must wait again keep their place. */
  private wake(...keys: readonly string[]): void {
    for (const key of keys) {
      const queue = this.waiting.get(key);
      this.waiting.delete(key);
      for (const wake of queue ?? []) wake();
      queue?.clear();
    }
  }

  private isKnownGood(pair: string, now: Instant): boolean {
    const since = this.knownGood.get(pair);
    return since !== undefined && now - since < KNOWN_GOOD_MS;
  }
}

interface Count {
  failures: number;
  /** Attempts reserved without a reported result. */
  running: number;
  lastReservedAt: Instant;
  lastFailedAt: Instant;
  /** Failures are forgiven up to this time. */
  forgivenAt: Instant;
}

/** Failure counts by key, with the resulting delays. */
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

  /** Remaining delay due to known failures; 0 for none. */
  waitMs(key: string, now: Instant): number {
    const count = this.current(key, now);
    return count === null ? 0 : Math.max(0, count.lastFailedAt + this.delayMs(count.failures) - now);
  }

  /** Whether an attempt must wait for the running ones: it would be too early if all of them failed. */
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

  /** Resets the failures; running attempts keep their reservation. */
  clear(key: string): void {
    const count = this.counts.get(key);
    if (count) count.failures = 0;
    this.release(key);
  }

  /** The count as of now, after forgetting, forgiving and timeouts. */
  private current(key: string, now: Instant): Count | null {
    const count = this.counts.get(key);
    if (!count) return null;
    // The clock may step back; that must not extend a delay.
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

  /** 0 within the free failures, then 1 s, 2 s, 4 s … */
  private delayMs(failures: number): number {
    const excess = failures - this.freeFailures;
    return excess <= 0 ? 0 : Math.min(2 ** (excess - 1), MAX_WAIT_SECONDS) * 1000;
  }
}

function newCount(now: Instant): Count {
  return { failures: 0, running: 0, lastReservedAt: now, lastFailedAt: now, forgivenAt: now };
}

/**
 * Sets an entry as the most recently used one and drops the least recently used beyond the limit: a Map keeps insertion
 * order.
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
  readonly network: string;
}

/** Hashed, so that key sizes do not depend on the input. */
function keysOf(account: string, source: string): Keys {
  const { address, source: network } = peerSource(source);
  const folded = foldCase(account.normalize("NFKC")).trim();
  return { pair: Bun.SHA256.hash(`${address}\n${folded}`, "base64"), network: Bun.SHA256.hash(network, "base64") };
}
