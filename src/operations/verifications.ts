// Data verifications of an appliance: the running one, on its own thread, and past ones. Verifies nothing itself.

import type { Clock } from "../base/clock.ts";
import { DomainError, refuseWrite, storageFull } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import type { Log } from "../base/log.ts";
import type { StartThread, Thread } from "../base/thread.ts";
import type { Timers } from "../base/timers.ts";
import type { ListedDamage } from "../history/verify/findings.ts";
import { assertRunning } from "./assert-running.ts";
import { FINDING_TEXT_MAX_LENGTH, FINDINGS_LISTED, VERIFICATIONS_KEPT, type Verification } from "./verification.ts";
import { readVerifications, writeVerifications } from "./verification-file.ts";
import type { VerifyMessages, VerifyOutcome } from "./verify-thread.ts";

/** A complete backup. */
export interface VerifiedBackup {
  readonly name: string;
  readonly path: string;
}

/** Past and running verifications of an appliance. */
export interface Verifications {
  /** Newest first. */
  list(): readonly Verification[];
  /** Null for an unknown id. */
  find(id: string): Verification | null;
  /** An unused id. @throws DomainError store_read_only */
  newId(): string;
  /**
   * Starts one, of the appliance's own data unless a backup is named.
   * @throws DomainError entity_already_exists while one is running, storage_full if it cannot be stored,
   * rate_limit_exceeded if no thread can be started, shutting_down, store_read_only
   */
  start(id: string, requestedBy: Verification["requested_by"], backup?: VerifiedBackup): Promise<Verification>;
  /**
   * Stops one after its current step, and waits for that up to a limit.
   * @throws DomainError entity_not_found; entity_stale for one that has ended; store_read_only
   */
  cancel(id: string): Promise<Verification>;
  /** Stops the running one, within CLOSE_MAX_MS. */
  close(): Promise<void>;
}

/** For an appliance that serves a backup: there is no place to store verifications. */
export const NO_VERIFICATIONS: Verifications = {
  list: () => [],
  find: () => null,
  newId: refuseWrite,
  start: async () => refuseWrite(),
  cancel: async () => refuseWrite(),
  close: async () => {},
};

export interface VerificationsOptions {
  /** Storage file; absolute. */
  readonly file: string;
  readonly database: string;
  readonly startThread: StartThread<VerifyMessages>;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

/** Maximum wait of a cancel for the running step. */
const CANCEL_TIMEOUT_MS = 2_000;
/** Maximum wait of the appliance's shutdown. A SQLite check of a large table may take longer. */
const CLOSE_MAX_MS = 1_000;

const INTERRUPTED = "The appliance stopped before it was complete.";
const FAULT = "Something went wrong inside the appliance; see its log.";

interface Running {
  readonly id: string;
  readonly thread: Thread<VerifyMessages>;
  readonly finished: Promise<void>;
  isCancelled: boolean;
  /** Whether only its end still has to be stored. */
  isEnding: boolean;
  progress: Verification["progress"];
  found: number;
}

/** Verifications of an appliance that serves its own data. */
export class StoredVerifications implements Verifications {
  private readonly options: VerificationsOptions;
  /** Newest first. */
  private stored: readonly Verification[];
  private running: Running | null = null;
  private written: Promise<void> = Promise.resolve();
  private closed: Promise<void> | null = null;

  /** An unreadable file is logged and does not prevent the start. */
  constructor(options: VerificationsOptions) {
    this.options = options;
    this.stored = readStored(options).map((each) =>
      each.status === "Running" ? { ...each, status: "Interrupted", problem: INTERRUPTED } : each,
    );
  }

  list(): readonly Verification[] {
    return this.stored.map((each) => this.withProgress(each));
  }

  find(id: string): Verification | null {
    const found = this.stored.find((each) => each.id === id);
    return found === undefined ? null : this.withProgress(found);
  }

  newId(): string {
    return this.options.newId();
  }

  async start(
    id: string,
    requestedBy: Verification["requested_by"],
    backup: VerifiedBackup | null = null,
  ): Promise<Verification> {
    if (this.closed !== null)
      throw new DomainError("shutting_down", "The appliance is shutting down: no verification was started.");
    if (this.running !== null)
      throw new DomainError("entity_already_exists", `A verification is already running: ${this.running.id}.`, {
        entity: "verification",
        field: "status",
        value: "Running",
        id: this.running.id,
      });
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    const thread = this.options.startThread(
      (message) => {
        if (message.type === "ended") void this.end(running, message, message.found).then(resolve);
        else [running.progress, running.found] = [message.progress, message.found];
      },
      (reason) => void this.end(running, { outcome: "failed", problem: null, cause: reason }, null).then(resolve),
    );
    const running: Running = { id, thread, finished, isCancelled: false, isEnding: false, progress: null, found: 0 };
    const before = this.stored;
    this.running = running;
    this.stored = [newVerification(id, requestedBy, this.now(), backup), ...before].slice(0, VERIFICATIONS_KEPT);
    try {
      await this.write(this.stored);
    } catch (cause) {
      thread.terminate();
      this.running = null;
      this.stored = before;
      throw storageFull("The disk is full, failing or not writable: no verification was started.", cause);
    }
    // The appliance may be stopping by now.
    if (!running.isEnding)
      thread.post({ type: "start", database: backup?.path ?? this.options.database, isBackup: backup !== null });
    return this.find(id) as Verification;
  }

  async cancel(id: string): Promise<Verification> {
    const { running } = this;
    if (running === null || running.id !== id) {
      assertRunning(id, this.find(id)?.status ?? null);
      throw new Error(`verifications: ${id} is not running`);
    }
    running.isCancelled = true;
    running.thread.post({ type: "stop" });
    await this.within(CANCEL_TIMEOUT_MS, running.finished);
    return this.find(id) as Verification;
  }

  close(): Promise<void> {
    this.closed ??= this.stop();
    return this.closed;
  }

  private async stop(): Promise<void> {
    const { running } = this;
    if (running !== null) {
      running.thread.post({ type: "stop" });
      // Its connection must be closed by then, or the writer cannot checkpoint the whole log.
      await this.within(CLOSE_MAX_MS, running.finished);
      // A step takes longer. Nothing needs to wait for it: it only reads.
      await this.within(CLOSE_MAX_MS, this.end(running, { outcome: "stopped" }, null));
    }
  }

  private async within(ms: number, done: Promise<void>): Promise<void> {
    const { promise: timedOut, resolve } = Promise.withResolvers<void>();
    const release = this.options.timers.after(ms, resolve);
    await Promise.race([done, timedOut]);
    release();
  }

  private withProgress(verification: Verification): Verification {
    const { running } = this;
    if (running === null || running.id !== verification.id) return verification;
    return { ...verification, progress: running.progress, findings_total: running.found };
  }

  /**
   * Resolves once the end is stored, or storing it failed.
   * @param found null if no results arrived
   */
  private async end(running: Running, outcome: VerifyOutcome, found: ListedDamage | null): Promise<void> {
    if (running.isEnding) return;
    running.isEnding = true;
    const { log } = this.options;
    const ended: Verification = {
      ...(this.find(running.id) as Verification),
      ...(found === null ? {} : listedFindings(found)),
      ...outcomeFields(outcome, running.isCancelled),
      ended_at: this.now(),
    };
    if (ended.status === "Completed") ended.is_sound = ended.findings_total === 0;
    running.thread.terminate();
    logEnd(log, ended, outcome);
    const stored = this.stored.map((each) => (each.id === ended.id ? ended : each));
    // Reported as ended only once stored durably.
    await this.write(stored).catch((cause: unknown) => log.error("verification_not_kept", { id: ended.id, cause }));
    // It may have been rejected by now, because its start could not be stored.
    if (this.running !== running) return;
    this.stored = stored;
    this.running = null;
  }

  /** Serializes the writes. */
  private write(stored: readonly Verification[]): Promise<void> {
    const written = this.written.then(() => writeVerifications(this.options.file, stored));
    this.written = written.catch(() => {});
    return written;
  }

  private now(): string {
    return formatInstant(this.options.clock.now());
  }
}

function readStored({ file, log }: VerificationsOptions): Verification[] {
  try {
    return readVerifications(file);
  } catch (error) {
    log.warn("verifications_not_read", { reason: error instanceof Error ? error.message : String(error) });
    return [];
  }
}

function newVerification(
  id: string,
  requestedBy: Verification["requested_by"],
  startedAt: string,
  backup: VerifiedBackup | null,
): Verification {
  return {
    id,
    status: "Running",
    backup: backup?.name ?? null,
    requested_by: requestedBy,
    started_at: startedAt,
    ended_at: null,
    progress: null,
    is_sound: null,
    findings_total: 0,
    findings: [],
    head: null,
    verified: null,
    not_checked: [],
    problem: null,
  };
}

function listedFindings({ findings, more }: ListedDamage): Partial<Verification> {
  return {
    findings_total: findings.length + more,
    findings: findings.slice(0, FINDINGS_LISTED).map(({ check, where, message }) => ({
      check,
      where: truncate(where),
      message: truncate(message),
    })),
  };
}

function outcomeFields(outcome: VerifyOutcome, isCancelled: boolean): Partial<Verification> {
  if (outcome.outcome === "failed") return { status: "Failed", problem: outcome.problem ?? FAULT };
  if (outcome.outcome === "stopped")
    return isCancelled ? { status: "Cancelled" } : { status: "Interrupted", problem: INTERRUPTED };
  const { head, count, dropped, unchecked } = outcome.report;
  return {
    status: "Completed",
    head: head === null ? null : { ...head, at: formatInstant(head.at) },
    verified: { ...count, dropped_versions: dropped },
    not_checked: [...unchecked],
  };
}

function truncate(text: string): string {
  return text.length <= FINDING_TEXT_MAX_LENGTH ? text : `${text.slice(0, FINDING_TEXT_MAX_LENGTH - 1)}…`;
}

function logEnd(
  log: Log,
  { id, backup, status, findings, findings_total, head, problem }: Verification,
  outcome: VerifyOutcome,
) {
  const [first] = findings;
  const found = {
    ...(backup === null ? {} : { backup }),
    findings: findings_total,
    ...(first === undefined ? {} : { first: `${first.check}: ${first.where}: ${first.message}` }),
  };
  if (outcome.outcome === "failed")
    return log.error("verification_failed", { id, reason: problem, cause: outcome.cause, ...found });
  const level = findings_total === 0 ? "info" : "error";
  log[level]("verification_ended", {
    id,
    status,
    sequence: head?.sequence ?? null,
    hash: head?.hash ?? null,
    ...found,
  });
}
