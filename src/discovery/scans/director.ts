// Scan scheduler: one queue per network, a few networks in parallel, one scanning thread that writes through the
// writer. Independent of what a scan does.

import { type CommandActor, SYSTEM_AUTHOR, type TaskRequester } from "../../access/actor.ts";
import { PERMISSION_WITHDRAWN } from "../../access/current-permissions.ts";
import type { Counts } from "../../base/counters.ts";
import { DomainError, plainError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { StartThread, Thread } from "../../base/thread.ts";
import type { Timers } from "../../base/timers.ts";
import type { WaitOutcome } from "../../db/commit-watch.ts";
import type { CommitSource } from "../../db/commits.ts";
import type { WriteQueue } from "../../db/writing/write-queue.ts";
import type { TrialStep } from "../snmp/trial-steps.ts";
import { requiredRole, type ScanCommands, type ScanEnd } from "./commands.ts";
import { SCANS_RUNNING_MAX, type Scan, type ScanProgress, scanName } from "./scan.ts";
import type { ScanMessages, ScannerOptions } from "./scan-thread.ts";
import type { SightingCommands } from "./sighting-commands.ts";
import type { TrialRequest } from "./trial.ts";

/** Wait limit for a cancelled scan. */
export const CANCEL_TIMEOUT_MS = 2_000;
/** Wait limit for the thread at shutdown. */
const STOP_TIMEOUT_MS = 1_500;
/** Delay of the requesters' permission check after a commit, and its interval: an API key may expire. */
const [CHECK_SOON_MS, CHECK_MS] = [50, 1_000] as const;
/** Retry interval if the end of a scan could not be written (full disk). */
const END_RETRY_MS = 5_000;

/** State of a queued or running scan. */
interface LiveScan {
  /** Incremented by every change. */
  readonly version: number;
  /** Null before the scan starts. */
  readonly progress: ScanProgress | null;
  readonly findings: number;
}

export interface Scans {
  /**
   * Accepts a scan just written as Queued.
   * @param userId user whose queue it joins, also for an API key; null for a schedule
   */
  enqueue(scan: Scan, userId: string | null): void;
  /** Returns null if the scan is neither queued nor running. */
  live(id: string): LiveScan | null;
  /** Progress of running scans, by ID. */
  progress(): Record<string, ScanProgress>;
  /** Waits until a scan is past a version; resolves as changed if the scan has ended. */
  waitForChange(id: string, version: number, signal: AbortSignal): Promise<WaitOutcome>;
  /** Waits briefly for the scan to end. */
  cancel(id: string): Promise<void>;
  /**
   * Tries a credential at an address, independently of scans.
   * @param signal cancels when no client waits any longer
   * @param onStep called with each step as it ends
   * @throws DomainError auth_permission_denied once the requester loses the permission; shutting_down; internal_error
   */
  tryCredential(
    request: TrialRequest,
    requester: TaskRequester,
    signal: AbortSignal,
    onStep?: (step: TrialStep) => void,
  ): Promise<readonly TrialStep[]>;
}

/** For an appliance that serves a backup: nothing runs, and every write is rejected earlier. */
export const NO_SCANS: Scans = {
  enqueue: () => {},
  live: () => null,
  progress: () => ({}),
  waitForChange: async () => "closed",
  cancel: async () => {},
  tryCredential: async () => {
    throw shuttingDown();
  },
};

type ScanThread = Thread<ScanMessages>;

interface Entry {
  readonly scan: Scan;
  /** Entries of one queue run in order; queues take turns. */
  readonly queue: string;
  /** Author of writes while the requester has the permission. */
  readonly author: CommandActor;
  /** Author of the outcome, in any case. */
  readonly outcomeAuthor: CommandActor;
  state: "waiting" | "dispatching" | "running" | "ending";
  isCancelled: boolean;
  /** Cancelled because the requester lost the permission. */
  isWithdrawn: boolean;
  live: LiveScan;
  readonly waiters: Set<(outcome: WaitOutcome) => void>;
  readonly removed: PromiseWithResolvers<void>;
}

/** A running trial. */
interface Trial {
  readonly request: TrialRequest;
  readonly requester: TaskRequester;
  readonly outcome: PromiseWithResolvers<readonly TrialStep[]>;
  readonly onStep: ((step: TrialStep) => void) | undefined;
}

export interface ScanDirectorOptions {
  readonly writes: WriteQueue<ScanCommands & SightingCommands>;
  readonly commits: CommitSource;
  readonly startThread: StartThread<ScanMessages>;
  readonly scanner: ScannerOptions;
  readonly timers: Timers;
  readonly log: Log;
  readonly counts: Counts["scans"];
  /** Returns null for a deleted network. */
  readonly organizationIdOf: (networkId: string) => string | null;
  /** True if the previous run left unfinished scans. */
  readonly hasUnfinished: () => boolean;
  /** True if the requester still has the permission. */
  readonly mayRequest: (requester: TaskRequester) => boolean;
}

export class ScanDirector implements Scans {
  private readonly options: ScanDirectorOptions;
  /** In request order. */
  private readonly entries = new Map<string, Entry>();
  /** Queues of the entries, least recently added or served first. */
  private readonly turns = new Set<string>();
  private readonly trials = new Map<number, Trial>();
  private lastTrial = 0;
  private thread: ScanThread | null = null;
  private threadClosed: () => void = () => {};
  private cancelCheck: () => void = () => {};
  private isCheckSoon = false;
  private readonly stopListening: () => void;
  private isStopping = false;
  private stopped: Promise<void> | null = null;

  constructor(options: ScanDirectorOptions) {
    this.options = options;
    const own = { intervalMs: 0, isOwnOnly: true };
    this.stopListening = options.commits.subscribe(() => this.scheduleCheck(CHECK_SOON_MS), own);
  }

  /** Interrupts scans left by the previous run. Call before anything is queued. */
  async start(): Promise<void> {
    if (!this.options.hasUnfinished()) return;
    const { writes, log } = this.options;
    try {
      const input = { problem: "the appliance stopped while it waited or ran" };
      const { result } = await writes.run("discovery.interrupt", input, SYSTEM_AUTHOR);
      if (result > 0) log.warn("scans_interrupted", { count: result });
    } catch (error) {
      // Reading still works; the next start retries.
      if (!(error instanceof DomainError && error.code === "storage_full")) throw error;
      log.error("scans_not_interrupted", { cause: error });
    }
  }

  enqueue(scan: Scan, userId: string | null): void {
    if (this.isStopping) return;
    const { organizationIdOf, writes, log } = this.options;
    const organizationId = organizationIdOf(scan.network_id);
    if (organizationId === null) {
      writes
        .run("discovery.end", ended(scan, "Failed", "the network was deleted"), SYSTEM_AUTHOR)
        .catch((error: unknown) => log.error("scan_end_not_written", { scan_id: scan.id, cause: error }));
      return;
    }
    const outcomeAuthor = authorOf(scan, organizationId);
    const orderedBy = ordererOf(scan);
    const queue = userId ?? `schedules of ${organizationId}`;
    this.turns.add(queue);
    this.entries.set(scan.id, {
      scan,
      queue,
      author: orderedBy === null ? outcomeAuthor : { ...outcomeAuthor, requestedBy: orderedBy },
      outcomeAuthor,
      state: "waiting",
      isCancelled: false,
      isWithdrawn: false,
      live: { version: 0, progress: null, findings: 0 },
      waiters: new Set(),
      removed: Promise.withResolvers<void>(),
    });
    this.scheduleCheck(CHECK_SOON_MS);
    this.startNext();
  }

  get count(): number {
    return this.entries.size;
  }

  live(id: string): LiveScan | null {
    return this.entries.get(id)?.live ?? null;
  }

  progress(): Record<string, ScanProgress> {
    return Object.fromEntries(
      [...this.entries].flatMap(([id, { live }]) => (live.progress === null ? [] : [[id, live.progress]])),
    );
  }

  waitForChange(id: string, version: number, signal: AbortSignal): Promise<WaitOutcome> {
    const entry = this.entries.get(id);
    if (this.isStopping) return Promise.resolve("closed");
    if (entry === undefined || entry.live.version > version) return Promise.resolve("changed");
    if (signal.aborted) return Promise.resolve("elapsed");
    return new Promise((resolve) => {
      const aborted = () => settle("elapsed");
      const settle = (outcome: WaitOutcome) => {
        entry.waiters.delete(settle);
        signal.removeEventListener("abort", aborted);
        resolve(outcome);
      };
      signal.addEventListener("abort", aborted);
      entry.waiters.add(settle);
    });
  }

  async cancel(id: string): Promise<void> {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    entry.isCancelled = true;
    if (entry.state === "waiting") this.remove(entry);
    else if (entry.state === "running") this.thread?.post({ type: "cancel", id });
    const { promise: timedOut, resolve } = Promise.withResolvers<void>();
    const release = this.options.timers.after(CANCEL_TIMEOUT_MS, resolve);
    await Promise.race([entry.removed.promise, timedOut]);
    release();
  }

  async tryCredential(
    request: TrialRequest,
    requester: TaskRequester,
    signal: AbortSignal,
    onStep?: (step: TrialStep) => void,
  ): Promise<readonly TrialStep[]> {
    if (this.isStopping) throw shuttingDown();
    this.lastTrial += 1;
    const id = this.lastTrial;
    const outcome = Promise.withResolvers<readonly TrialStep[]>();
    const abandon = () => this.thread?.post({ type: "abandon", id });
    this.trials.set(id, { request, requester, outcome, onStep });
    try {
      this.running().post({ type: "try", id, request });
      this.scheduleCheck(CHECK_SOON_MS);
      if (signal.aborted) abandon();
      else signal.addEventListener("abort", abandon);
      return await outcome.promise;
    } finally {
      signal.removeEventListener("abort", abandon);
      this.trials.delete(id);
    }
  }

  isScheduleActive(scheduleId: string): boolean {
    return [...this.entries.values()].some(({ scan }) => scan.schedule_id === scheduleId);
  }

  /** Stops all scans and interrupts them in the store. Releases waiting clients immediately. */
  stop(): Promise<void> {
    this.stopped ??= this.stopAll();
    return this.stopped;
  }

  private async stopAll(): Promise<void> {
    this.isStopping = true;
    this.stopListening();
    this.cancelCheck();
    const { timers, writes, log } = this.options;
    for (const entry of this.entries.values()) notifyWaiters(entry, "closed");
    for (const { outcome } of this.trials.values()) outcome.reject(shuttingDown());
    if (this.thread !== null) {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      this.threadClosed = resolve;
      const release = timers.after(STOP_TIMEOUT_MS, resolve);
      this.thread.post({ type: "close" });
      await closed;
      release();
      this.thread?.terminate();
      this.thread = null;
    }
    if (this.entries.size === 0) return;
    await writes
      .run("discovery.interrupt", { problem: "the appliance was stopped" }, SYSTEM_AUTHOR)
      .catch((error: unknown) => log.error("scans_not_interrupted", { cause: error }));
    for (const entry of [...this.entries.values()]) this.remove(entry);
  }

  /** Checks the requesters' permissions within this time. */
  private scheduleCheck(inMs: number): void {
    if (this.isStopping || this.isCheckSoon) return;
    const requested = () => [
      ...[...this.entries.values()].flatMap((entry) =>
        entry.author.requestedBy === undefined
          ? []
          : [{ requester: entry.author.requestedBy, withdraw: () => this.withdraw(entry) }],
      ),
      ...[...this.trials].map(([id, { requester }]) => ({ requester, withdraw: () => this.withdrawTrial(id) })),
    ];
    this.cancelCheck();
    if (requested().length === 0) return;
    this.isCheckSoon = inMs <= CHECK_SOON_MS;
    this.cancelCheck = this.options.timers.after(inMs, () => {
      this.isCheckSoon = false;
      for (const { requester, withdraw } of requested()) if (!this.options.mayRequest(requester)) withdraw();
      this.scheduleCheck(CHECK_MS);
    });
  }

  private withdrawTrial(id: number): void {
    this.thread?.post({ type: "abandon", id });
    this.trials.get(id)?.outcome.reject(new DomainError("auth_permission_denied", ORDER_WITHDRAWN_SENTENCE, {}));
  }

  /** Its writes are already rejected. */
  private withdraw(entry: Entry): void {
    if (entry.isWithdrawn || this.entries.get(entry.scan.id) !== entry) return;
    entry.isWithdrawn = true;
    entry.isCancelled = true;
    if (entry.state === "waiting") void this.end(entry, ended(entry.scan, "Cancelled"));
    else if (entry.state === "running") this.thread?.post({ type: "cancel", id: entry.scan.id });
  }

  /** The organization with the fewest active scans comes first; within it, queues take turns. */
  private startNext(): void {
    if (this.isStopping) return;
    const busy = new Set<string>();
    const ofOrganization = new Map<string, number>();
    const count = ({ scan, author: { organizationId } }: Entry) => {
      busy.add(scan.network_id);
      ofOrganization.set(organizationId, (ofOrganization.get(organizationId) ?? 0) + 1);
    };
    for (const entry of this.entries.values()) if (entry.state !== "waiting") count(entry);
    const activeCount = (entry: Entry) => ofOrganization.get(entry.author.organizationId) ?? 0;
    while (busy.size < SCANS_RUNNING_MAX) {
      const turns = new Map([...this.turns].map((queue, turn) => [queue, turn]));
      const turnOf = ({ queue }: Entry) => turns.get(queue) as number;
      let next: Entry | null = null;
      for (const entry of this.entries.values()) {
        if (entry.state !== "waiting" || busy.has(entry.scan.network_id)) continue;
        const order = next === null ? -1 : activeCount(entry) - activeCount(next) || turnOf(entry) - turnOf(next);
        if (order < 0) next = entry;
      }
      if (next === null) return;
      count(next);
      this.turns.delete(next.queue);
      this.turns.add(next.queue);
      void this.dispatch(next);
    }
  }

  private async dispatch(entry: Entry): Promise<void> {
    const { scan, author } = entry;
    const { writes, log } = this.options;
    entry.state = "dispatching";
    try {
      const { result, sequence } = await writes.run("discovery.dispatch", { id: scan.id }, author);
      // Scans that are Running only in the store are interrupted with the rest.
      if (this.isStopping) return;
      if (result === null) {
        this.remove(entry);
        return;
      }
      if (entry.isCancelled) return await this.end(entry, ended(scan, "Cancelled"));
      const { id, network_id, kind, targets, commit, allow_large } = scan;
      const { type: by_type, id: by_id, name: by } = scan.requested_by;
      try {
        log.audit("scan_started", { scan_id: id, network_id, kind, commit, targets, by_type, by_id, by });
      } catch {
        return await this.fail(entry, "nothing was sent, because the log could not be written");
      }
      entry.state = "running";
      this.update(entry, {});
      const place = { network_id, organization_id: author.organizationId, dispatch_sequence: sequence };
      const order = { id, kind, targets, commit, allow_large, ...place, ...result };
      this.running().post({ type: "start", order });
    } catch (error) {
      if (isWithdrawal(error)) {
        entry.isWithdrawn = true;
        return await this.end(entry, ended(scan, "Cancelled"));
      }
      log.error("scan_not_started", { scan_id: scan.id, cause: error });
      await this.fail(entry, "it could not be started; see the appliance's log");
    }
  }

  private fail(entry: Entry, problem: string): Promise<void> {
    return this.end(entry, ended(entry.scan, "Failed", problem));
  }

  /** Started on first use and after a crash. */
  private running(): ScanThread {
    if (this.thread !== null) return this.thread;
    const thread = this.options.startThread(
      (message) => this.receive(thread, message),
      (reason) => this.crashed(thread, reason),
    );
    this.thread = thread;
    thread.post({ type: "open", options: this.options.scanner });
    return thread;
  }

  private receive(thread: ScanThread, message: ScanMessages["from"]): void {
    if (message.type === "closed") return this.threadClosed();
    if (message.type === "step") return this.trials.get(message.id)?.onStep?.(message.step);
    if (message.type === "write") return void this.write(thread, message);
    if (message.type === "tried") {
      const { outcome, request } = this.trials.get(message.id) ?? {};
      if (message.cause === null) outcome?.resolve(message.steps);
      else {
        this.options.log.error("trial_failed", { ...request, cause: message.cause });
        outcome?.reject(new Error("scans: a trial failed; its cause is in the log"));
      }
      return;
    }
    const entry = this.entries.get(message.type === "ended" ? message.end.id : message.scan_id);
    if (entry === undefined || thread !== this.thread) return;
    if (message.type === "progress") this.update(entry, { progress: message.progress, findings: message.findings });
    else {
      if (message.cause !== null && !entry.isWithdrawn)
        this.options.log.error("scan_failed", { scan_id: entry.scan.id, cause: message.cause });
      void this.end(entry, message.end);
    }
  }

  private async write(
    thread: ScanThread,
    { id, scan_id, command, bytes }: Extract<ScanMessages["from"], { type: "write" }>,
  ): Promise<void> {
    const entry = this.entries.get(scan_id);
    try {
      const params = { entity: "scan", id: scan_id };
      if (entry === undefined)
        throw new DomainError("entity_not_found", `The scan ${scan_id} is no longer running.`, params);
      // The outcome is written in any case.
      const author = command === "discovery.note" ? entry.outcomeAuthor : entry.author;
      const outcome = await this.options.writes.run(command, { bytes }, author, { bytes: bytes.length });
      thread.post({ type: "written", id, outcome });
    } catch (error) {
      if (entry !== undefined && isWithdrawal(error)) this.withdraw(entry);
      const refusal = plainError(error, String(error));
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      if (refusal.code === "internal_error") this.options.log.error("scan_not_written", { scan_id, command, cause });
      thread.post({ type: "refused", id, ...refusal });
    }
  }

  private crashed(thread: ScanThread, reason: string): void {
    if (thread !== this.thread) return;
    this.thread = null;
    this.threadClosed();
    if (this.isStopping) return;
    this.options.log.error("scanner_crashed", { reason });
    for (const { outcome } of this.trials.values())
      outcome.reject(new Error("scans: the scanning thread ended unexpectedly"));
    const problem = "the scanning thread ended unexpectedly; see the appliance's log";
    for (const entry of [...this.entries.values()]) {
      if (entry.state !== "running") continue;
      void this.end(entry, { ...ended(entry.scan, "Failed", problem), progress: entry.live.progress });
    }
  }

  private async end(entry: Entry, end: ScanEnd): Promise<void> {
    const { writes, log, timers } = this.options;
    entry.state = "ending";
    // A scan that completed by then was permitted.
    const isRevoked = entry.isWithdrawn && end.status !== "Completed";
    const reported: ScanEnd = isRevoked ? { ...end, status: "Cancelled", problem: PERMISSION_WITHDRAWN } : end;
    try {
      await writes.run("discovery.end", reported, entry.outcomeAuthor);
    } catch (error) {
      log.error("scan_end_not_written", { scan_id: end.id, cause: error });
      if (!this.isStopping) timers.after(END_RETRY_MS, () => void this.end(entry, end));
      return;
    }
    const { records, findings, problem } = reported.outcome ?? {};
    this.options.counts[reported.status] += 1;
    log.info("scan_ended", {
      scan_id: end.id,
      network_id: entry.scan.network_id,
      kind: entry.scan.kind,
      status: reported.status,
      records,
      findings,
      problem: reported.problem ?? problem,
    });
    this.remove(entry);
    this.startNext();
  }

  private update(entry: Entry, reported: Partial<LiveScan>): void {
    entry.live = { ...entry.live, ...reported, version: entry.live.version + 1 };
    notifyWaiters(entry, "changed");
  }

  private remove(entry: Entry): void {
    this.entries.delete(entry.scan.id);
    if (![...this.entries.values()].some(({ queue }) => queue === entry.queue)) this.turns.delete(entry.queue);
    if (this.entries.size === 0 && this.trials.size === 0) {
      this.cancelCheck();
      this.isCheckSoon = false;
    }
    entry.removed.resolve();
    notifyWaiters(entry, "changed");
    this.startNext();
  }
}

/** A full sentence, since it appears without the context of a scan. */
const ORDER_WITHDRAWN_SENTENCE = "You no longer have the rights to try a credential; the trial was ended.";

function shuttingDown(): DomainError {
  return new DomainError("shutting_down", "The appliance is stopping; try again when it is back.", {});
}

function ended({ id }: Scan, status: ScanEnd["status"], problem: string | null = null): ScanEnd {
  return { id, status, progress: null, outcome: null, problem };
}

function notifyWaiters(entry: Entry, outcome: WaitOutcome): void {
  for (const waiter of [...entry.waiters]) waiter(outcome);
}

function isWithdrawal(error: unknown): boolean {
  return error instanceof DomainError && error.code === "auth_permission_denied";
}

/** Returns null for a schedule, which belongs to the organization. */
function ordererOf(scan: Scan): TaskRequester | null {
  const { type, id } = scan.requested_by;
  return (type === "User" || type === "ApiKey") && id !== null
    ? { type, id, role: requiredRole(scan), networkId: scan.network_id }
    : null;
}

/** Limited to the scan's network. */
function authorOf(scan: Scan, organizationId: string): CommandActor {
  return {
    type: "Discovery",
    id: scan.id,
    name: scanName(scan.kind),
    organizationId,
    requestId: null,
    reason: scan.reason,
    userId: null,
    role: "Owner",
    networkIds: [scan.network_id],
  };
}
