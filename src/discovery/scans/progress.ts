// Progress of a running scan, reported a few times per second, with an estimate of the remaining time.

import type { Clock } from "../../base/clock.ts";
import type { Instant } from "../../base/instant.ts";
import type { Timers } from "../../base/timers.ts";
import type { SweepProgress } from "./probes.ts";
import { NO_PROGRESS, PROGRESS_INTERVAL_MS, type ScanPhase, type ScanProgress } from "./scan.ts";

/** Minimum elapsed time for an estimate. */
const ESTIMATE_AFTER_MS = 2_000;

interface SliceBegin {
  readonly addressesDone: number;
  readonly requests: number;
  readonly errors: ReadonlyMap<string, number>;
}

export class ProgressMeter {
  addressesTotal = 0;
  addressesDone = 0;
  hostsFound = 0;
  devicesPolled = 0;
  devicesAnswered = 0;
  requests = 0;
  private phase: ScanPhase = "dispatch";
  private errors = new Map<string, number>();
  private readonly clock: Clock;
  private readonly timers: Timers;
  private readonly report: (progress: ScanProgress) => void;
  private cancelTimer: () => void = () => {};
  private reportedAt: Instant = Number.NEGATIVE_INFINITY;
  private sweepStartedAt: Instant | null = null;
  private polling: { readonly startedAt: Instant; readonly total: number | null; done: number } | null = null;
  private hasEnded = false;

  constructor(options: { clock: Clock; timers: Timers; report: (progress: ScanProgress) => void }) {
    this.clock = options.clock;
    this.timers = options.timers;
    this.report = options.report;
    this.tick();
  }

  enter(phase: ScanPhase): void {
    this.phase = phase;
    if (phase === "sweep") this.sweepStartedAt ??= this.clock.now();
    if (phase !== "snmp" && phase !== "follow" && phase !== "target_ips") this.polling = null;
    // Report new phases immediately, within the documented rate.
    if (this.clock.now() - this.reportedAt >= PROGRESS_INTERVAL_MS) this.emit();
  }

  /** Null for an unknown number. */
  beginPolling(total: number | null): void {
    this.polling = { startedAt: this.clock.now(), total, done: 0 };
  }

  countPolled(): void {
    if (this.polling !== null) this.polling.done += 1;
  }

  beginSlice(): SliceBegin {
    return { addressesDone: this.addressesDone, requests: this.requests, errors: new Map(this.errors) };
  }

  /** Counts since the start of the slice. */
  updateSweep(begin: SliceBegin, { done, requests, errors }: SweepProgress): void {
    this.addressesDone = begin.addressesDone + done;
    this.requests = begin.requests + requests;
    this.errors = new Map(begin.errors);
    for (const [kind, count] of Object.entries(errors)) this.errors.set(kind, (begin.errors.get(kind) ?? 0) + count);
  }

  failed(reason: string): void {
    this.errors.set(reason, (this.errors.get(reason) ?? 0) + 1);
  }

  now(): ScanProgress {
    return {
      ...NO_PROGRESS,
      phase: this.phase,
      addresses_total: this.addressesTotal,
      addresses_done: this.addressesDone,
      hosts_found: this.hostsFound,
      devices_asked: this.devicesPolled,
      devices_answered: this.devicesAnswered,
      requests: this.requests,
      errors: Object.fromEntries(this.errors),
      seconds_left: this.phase === "done" ? 0 : this.secondsLeft(),
    };
  }

  end(): void {
    this.hasEnded = true;
    this.cancelTimer();
  }

  private secondsLeft(): number | null {
    const now = this.clock.now();
    const sweepMs =
      this.sweepStartedAt === null
        ? 0
        : remainingMs(now - this.sweepStartedAt, this.addressesDone, this.addressesTotal);
    const { startedAt, total, done } = this.polling ?? { startedAt: now, total: 0, done: 0 };
    const polling = total === null ? null : remainingMs(now - startedAt, done, total);
    if (this.phase === "dispatch" || sweepMs === null || polling === null) return null;
    return Math.ceil((sweepMs + polling) / 1_000);
  }

  private tick(): void {
    this.cancelTimer = this.timers.after(PROGRESS_INTERVAL_MS, () => {
      this.emit();
      if (!this.hasEnded) this.tick();
    });
  }

  private emit(): void {
    if (this.hasEnded) return;
    this.reportedAt = this.clock.now();
    this.report(this.now());
  }
}

/** Milliseconds at the rate so far; null if unknown. */
function remainingMs(elapsedMs: number, done: number, total: number): number | null {
  if (done >= total) return 0;
  return done === 0 || elapsedMs < ESTIMATE_AFTER_MS ? null : (elapsedMs / done) * (total - done);
}
