// Schedule runner. Due times missed while the appliance was down cause a single scan at startup. A due time is
// skipped while the schedule's previous scan is queued or running. Independent of how a scan is run.

import type { CommandActor } from "../../access/actor.ts";
import type { Clock } from "../../base/clock.ts";
import { formatInstant, type Instant, parseInstant } from "../../base/instant.ts";
import type { Log } from "../../base/log.ts";
import type { Timers } from "../../base/timers.ts";
import type { CommitSource } from "../../db/commits.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { WriteQueue } from "../../db/writing/write-queue.ts";
import { nextDue } from "../../resources/schedules/cron.ts";
import type { ScheduleRecord } from "../../resources/schedules/schedule.ts";
import type { QueueScanInput, ScanCommands } from "./commands.ts";
import type { Scan } from "./scan.ts";

/** Maximum interval between clock checks: the clock may be set. Timers take at most 2^31 − 1 ms. */
const CHECK_INTERVAL_MS = 15 * 60 * 1000;

/** Interface to the scans that schedules request. */
export interface ScheduledScans {
  isScheduleActive(scheduleId: string): boolean;
  enqueue(scan: Scan, userId: null): void;
}

interface Due {
  readonly schedule: ScheduleRecord;
  readonly organizationId: string;
  /** Next unhandled due time. */
  readonly at: Instant;
}

export class ScheduleRunner {
  private readonly reader: Reader;
  private readonly writes: WriteQueue<ScanCommands>;
  private readonly commits: CommitSource;
  private readonly scans: ScheduledScans;
  private readonly clock: Clock;
  private readonly timers: Timers;
  private readonly log: Log;
  private stopListening: () => void = () => {};
  private cancelTimer: () => void = () => {};
  /** Due time by schedule, for requests in progress. */
  private readonly inProgress = new Map<string, Instant>();
  private fingerprint = "";
  private due: Due[] = [];
  /** Time of the last check for due schedules. */
  private checkedAt: Instant = Number.NEGATIVE_INFINITY;
  private isStopped = false;

  constructor(options: {
    reader: Reader;
    writes: WriteQueue<ScanCommands>;
    commits: CommitSource;
    scans: ScheduledScans;
    clock: Clock;
    timers: Timers;
    log: Log;
  }) {
    this.reader = options.reader;
    this.writes = options.writes;
    this.commits = options.commits;
    this.scans = options.scans;
    this.clock = options.clock;
    this.timers = options.timers;
    this.log = options.log;
  }

  /** Starts with missed due times. */
  start(): void {
    this.stopListening = this.commits.subscribe(() => this.check(), { isOwnOnly: true });
    this.check();
  }

  stop(): void {
    this.isStopped = true;
    this.stopListening();
    this.cancelTimer();
  }

  /** Reloads changed schedules, requests due scans and waits for the next. */
  private check(): void {
    if (this.isStopped) return;
    this.reader.snapshot(() => {
      const fingerprint = String(
        this.reader
          .statement(
            "SELECT count(*) || ' ' || coalesce(max(sequence), 0) || ' ' || coalesce(sum(n), 0) FROM schedules",
          )
          .values()[0],
      );
      if (fingerprint === this.fingerprint) return;
      this.fingerprint = fingerprint;
      this.due = this.read();
    });
    this.runDue();
  }

  private runDue(): void {
    this.cancelTimer();
    if (this.isStopped) return;
    const now = this.clock.now();
    if (isAhead(this.checkedAt, now)) this.due = this.reader.snapshot(() => this.read());
    this.checkedAt = now;
    let next = now + CHECK_INTERVAL_MS;
    this.due = this.due.flatMap((each) => {
      if (each.at > now) {
        next = Math.min(next, each.at);
        return [each];
      }
      const last = lastDue(each.schedule, each.at, now);
      void this.requestScan(each, last.at);
      if (last.next === null) return [];
      next = Math.min(next, last.next);
      return [{ ...each, at: last.next }];
    });
    if (this.due.length > 0) this.cancelTimer = this.timers.after(next - now, () => this.runDue());
  }

  /** @param dueAt the last of several missed ones */
  private async requestScan({ schedule, organizationId }: Due, dueAt: Instant): Promise<void> {
    const { id, network_id, name, kind, targets } = schedule;
    const reported = { schedule_id: id, name, network_id, due_at: formatInstant(dueAt) };
    const author: CommandActor = {
      type: "System",
      id: null,
      name: `schedule ${name}`,
      organizationId,
      requestId: null,
      userId: null,
      role: "Owner",
      networkIds: [network_id],
    };
    const isOverlapping = this.inProgress.has(id) || this.scans.isScheduleActive(id);
    this.inProgress.set(id, dueAt);
    try {
      if (isOverlapping) {
        this.log.warn("scheduled_scan_passed_over", {
          ...reported,
          reason: "its previous scan is still waiting or running",
        });
        await this.markHandled(id, dueAt, author);
        return;
      }
      const input: QueueScanInput = {
        network_id,
        kind,
        targets,
        commit: true,
        allow_large: false,
        schedule: { id, due_at: dueAt },
      };
      const { result } = await this.writes.run("discovery.queue", input, author);
      this.log.info("scheduled_scan_queued", { ...reported, scan_id: result.id });
      this.scans.enqueue(result, null);
    } catch (error) {
      this.log.error("scheduled_scan_not_queued", {
        ...reported,
        reason: error instanceof Error ? error.message : String(error),
      });
    } finally {
      if (this.inProgress.get(id) === dueAt) this.inProgress.delete(id);
    }
  }

  /** Marks a due time as handled. */
  private async markHandled(scheduleId: string, dueAt: Instant, author: CommandActor): Promise<void> {
    await this.writes
      .run("discovery.schedule_pass", { schedule_id: scheduleId, due_at: dueAt }, author)
      .catch((error: unknown) => this.log.error("schedule_not_passed", { schedule_id: scheduleId, cause: error }));
  }

  private read(): Due[] {
    const rows = this.reader
      .statement(
        `SELECT '{' || s.members || '}', o.id, d.due_at FROM schedules s
          JOIN history_records o ON o.n = s.organization_n LEFT JOIN discovery_schedule_runs d ON d.schedule_n = s.n
          WHERE s.is_enabled = 1 ORDER BY s.n`,
      )
      .values() as Array<[string, string, Instant | null]>;
    const now = this.clock.now();
    return rows.flatMap(([members, organizationId, lastHandled]) => {
      const schedule = JSON.parse(members) as ScheduleRecord;
      // Due times before the schedule's last edit or while it was disabled do not count.
      const since = Math.max(
        lastHandled ?? 0,
        parseInstant(schedule.valid_from) ?? 0,
        this.inProgress.get(schedule.id) ?? 0,
      );
      const at = nextDue(schedule.cron, schedule.timezone, isAhead(since, now) ? now : since);
      return at === null ? [] : [{ schedule, organizationId, at }];
    });
  }
}

/** True if a timestamp comes from a wrong clock that was since set back: waiting for it could take months. */
function isAhead(instant: Instant, now: Instant): boolean {
  // A smaller difference is a clock correction, after which no scan must repeat.
  return instant > now + CHECK_INTERVAL_MS;
}

/** Due times stepped through one by one; after a longer absence, the last one before now is found directly. */
const DUE_STEPS_MAX = 1_000;

/** Returns the last due time not later than now, and the next. @param from a due time not later than now */
function lastDue(
  { cron, timezone }: ScheduleRecord,
  from: Instant,
  now: Instant,
): { readonly at: Instant; readonly next: Instant | null } {
  let at = from;
  for (let steps = 0; steps < DUE_STEPS_MAX; steps += 1) {
    const next = nextDue(cron, timezone, at);
    if (next === null || next > now) return { at, next };
    at = next;
  }
  return { at: now, next: nextDue(cron, timezone, now) };
}
