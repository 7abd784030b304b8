// Watcher for the certificate in use: applies a changed one without a restart, and warns before it expires. Never
// breaks a working setup: an unusable pair is logged and not applied.

import type { Clock } from "../base/clock.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";
import type { TlsPair } from "./pair.ts";

/** Interval between checks of the files. */
export const CHECK_INTERVAL_MS = 60_000;
/** Remaining validity below which a daily warning is logged. */
export const WARN_DAYS = 14;

export interface RenewalOptions {
  /** Reads the pair from its files. @throws TlsRefused */
  readonly read: () => Promise<TlsPair>;
  /** The pair in use at the start. */
  readonly pair: TlsPair;
  /** Applies another pair. */
  readonly apply: (pair: TlsPair) => void;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
}

export class CertificateRenewal {
  private readonly options: RenewalOptions;
  /** The pair for new connections. */
  inUse: TlsPair;
  private lastProblem: string | null = null;
  private warnedAt: Instant | null = null;
  private pendingCheck: Promise<void> = Promise.resolve();
  private isClosed = false;
  private cancelTimer: () => void = () => {};

  constructor(options: RenewalOptions) {
    this.options = options;
    this.inUse = options.pair;
    this.warnOfExpiry();
    this.scheduleCheck();
  }

  /** Checks now: a changed pair is in use when this resolves. Checks never overlap. */
  checkNow(): Promise<void> {
    this.pendingCheck = this.pendingCheck.then(() => this.checkOnce());
    return this.pendingCheck;
  }

  close(): void {
    this.isClosed = true;
    this.cancelTimer();
  }

  private scheduleCheck(): void {
    this.cancelTimer = this.options.timers.after(CHECK_INTERVAL_MS, () => {
      void this.checkNow().then(() => {
        if (!this.isClosed) this.scheduleCheck();
      });
    });
  }

  private async checkOnce(): Promise<void> {
    const { read, apply, log } = this.options;
    if (this.isClosed) return;
    try {
      const pair = await read();
      this.lastProblem = null;
      if (
        !this.isClosed &&
        (pair.certificate !== this.inUse.certificate || pair.privateKey !== this.inUse.privateKey)
      ) {
        apply(pair);
        this.inUse = pair;
        this.warnedAt = null;
        log.info("certificate_taken_over", {
          fingerprint: pair.fingerprint,
          names: pair.names,
          valid_to: formatInstant(pair.validTo),
        });
      }
    } catch (error) {
      // Possibly only one of the two files has been replaced yet. Logs the same error only once.
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.lastProblem)
        log.warn("certificate_not_taken_over", { reason, in_use: this.inUse.fingerprint });
      this.lastProblem = reason;
    }
    this.warnOfExpiry();
  }

  private warnOfExpiry(): void {
    const { clock, log } = this.options;
    const now = clock.now();
    const { validFrom, validTo, fingerprint } = this.inUse;
    if (now >= validFrom && validTo - now > WARN_DAYS * DAY_MS) return;
    if (this.warnedAt !== null && now - this.warnedAt < DAY_MS) return;
    this.warnedAt = now;
    if (now < validFrom) log.warn("certificate_not_yet_valid", { valid_from: formatInstant(validFrom), fingerprint });
    else
      log.warn(now >= validTo ? "certificate_expired" : "certificate_expires", {
        valid_to: formatInstant(validTo),
        fingerprint,
      });
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;
