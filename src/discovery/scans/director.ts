// Which scan runs when: a queue for each network, a few networks at a time, on a thread of its own whose writes go through the
// writer like everybody's. Must not know what a scan does.

import type { CommandActor, Orderer } from "../../access/actor.ts";
import { ORDER_WITHDRAWN } from "../../access/rights-now.ts";
import { SYSTEM_AUTHOR } from "../../access/usage.ts";
import { DomainError, type ErrorCode } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Timers } from "../../base/timers.ts";
import type { WriteQueue } from "../../db/write-queue.ts";
import type { WaitOutcome } from "../../history/commit-watch.ts";
import { roleToOrder, type Dispatched, type ScanEnd } from "./commands.ts";
import type { FromScanner, ScanThread, StartScanThread } from "./scan-thread.ts";
import { SCANS_RUNNING_MAX, scanName, type Scan, type ScanProgress } from "./scan.ts";

/** A scan that was told to stop is waited for no longer than this. */
export const CANCEL_PATIENCE_MS = 2_000;
/** At the end of the appliance, the thread is waited for no longer than this. */
export const STOP_PATIENCE_MS = 1_500;
/** Whoever ordered a scan is looked at so soon after a commit, and so often besides: a key may expire. */
const [LOOK_SOON_MS, LOOK_MS] = [50, 1_000] as const;
/** The end of a scan that could not be written (a full disk) is written again after this. */
const END_AGAIN_MS = 5_000;

/** How far a scan is that waits or runs. */
export interface LiveScan {
  /** Goes up with everything that is told of it. */
  readonly version: number;
  /** Null before its start. */
  readonly progress: ScanProgress | null;
  /** So far. */
  readonly findings: number;
}

/** The scans that wait and run. */
export interface Scans {
  /** Puts a scan, which was just written down as Queued, in its place. */
  take(scan: Scan): void;
  /** Null for one that neither waits nor runs. */
  live(id: string): LiveScan | null;
  /** Waits until more is to be told of a scan than a version of it; changed, also, for one that has ended. */
  beyond(id: string, version: number, signal: AbortSignal): Promise<WaitOutcome>;
  /** Stops a scan, and waits for its end for a moment. */
  cancel(id: string): Promise<void>;
}

/** Of an appliance that serves a backup: nothing runs, and every write is refused before it comes to this. */
export const NO_SCANS: Scans = {
  take: () => {},
  live: () => null,
  beyond: async () => "closed",
  cancel: async () => {},
};

interface Entry {
  readonly scan: Scan;
  /** Writes as long as whoever ordered the scan may order it. */
  readonly author: CommandActor;
  /** Says what became of the scan, whatever became of them. */
  readonly teller: CommandActor;
  state: "waiting" | "dispatching" | "running" | "ending";
  isCancelled: boolean;
  /** Whether it was cancelled because whoever ordered it lost the right to. */
  isWithdrawn: boolean;
  live: LiveScan;
  readonly waiters: Set<(outcome: WaitOutcome) => void>;
  readonly gone: PromiseWithResolvers<void>;
}

export interface ScanDirectorOptions {
  readonly writes: WriteQueue;
  readonly startThread: StartScanThread;
  /** Handed to the thread as they are. */
  readonly threadOptions: unknown;
  readonly timers: Timers;
  readonly log: Log;
  /** Of the organization of a network; null for a network that is not there. */
  readonly organizationIdOf: (networkId: string) => string | null;
  /** Whether a former run has left scans behind that wait or run. */
  readonly hasLeftBehind: () => boolean;
  /** Whether whoever ordered a scan may still order it. */
  readonly mayOrder: (orderer: Orderer) => boolean;
}

export class ScanDirector implements Scans {
  private readonly options: ScanDirectorOptions;
  /** In the order of their requests. */
  private readonly entries = new Map<string, Entry>();
  private thread: ScanThread | null = null;
  private threadClosed: () => void = () => {};
  /** Calls off the next look at who ordered what. */
  private cancelLook: () => void = () => {};
  private isLookSoon = false;
  private readonly stopListening: () => void;
  private isStopping = false;
  private stopped: Promise<void> | null = null;

  constructor(options: ScanDirectorOptions) {
    this.options = options;
    this.stopListening = options.writes.commits.listen(() => this.look(LOOK_SOON_MS));
  }

  /** Says of what a former run has left behind that nobody does it any more. To be called before anything is queued. */
  async start(): Promise<void> {
    if (!this.options.hasLeftBehind()) return;
    const { writes, log } = this.options;
    try {
      const { result } = await writes.run<number>(
        "discovery.interrupt",
        { problem: "the appliance ended while it waited or ran" },
        SYSTEM_AUTHOR,
      );
      if (result > 0) log.warn("scans_interrupted", { count: result });
    } catch (error) {
      // What is stored can be read all the same. The next start says it of them.
      if (!(error instanceof DomainError && error.code === "storage_full")) throw error;
      log.error("scans_not_interrupted", { cause: error });
    }
  }

  take(scan: Scan): void {
    if (this.isStopping) return;
    const { organizationIdOf, writes, log } = this.options;
    const organizationId = organizationIdOf(scan.network_id);
    if (organizationId === null) {
      const end: ScanEnd = {
        id: scan.id,
        status: "Failed",
        progress: null,
        outcome: null,
        problem: "the network was deleted",
      };
      writes
        .run("discovery.end", end, SYSTEM_AUTHOR)
        .catch((error: unknown) => log.error("scan_end_not_written", { scan_id: scan.id, cause: error }));
      return;
    }
    const teller = authorOf(scan, organizationId);
    const orderedBy = ordererOf(scan);
    this.entries.set(scan.id, {
      scan,
      author: orderedBy === null ? teller : { ...teller, orderedBy },
      teller,
      state: "waiting",
      isCancelled: false,
      isWithdrawn: false,
      live: { version: 0, progress: null, findings: 0 },
      waiters: new Set(),
      gone: Promise.withResolvers<void>(),
    });
    this.look(LOOK_SOON_MS);
    this.pump();
  }

  live(id: string): LiveScan | null {
    return this.entries.get(id)?.live ?? null;
  }

  beyond(id: string, version: number, signal: AbortSignal): Promise<WaitOutcome> {
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
    if (entry.state === "waiting") this.forget(entry);
    else if (entry.state === "running") this.thread?.post({ type: "cancel", id });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const release = this.options.timers.after(CANCEL_PATIENCE_MS, resolve);
    await Promise.race([entry.gone.promise, late]);
    release();
  }

  /** Whether a scan of a schedule waits or runs. */
  isUnderWay(scheduleId: string): boolean {
    return [...this.entries.values()].some(({ scan }) => scan.schedule_id === scheduleId);
  }

  /** Stops what runs, and says so of all that waits and runs. Who follows a scan is let go at once. */
  stop(): Promise<void> {
    this.stopped ??= this.stopAll();
    return this.stopped;
  }

  private async stopAll(): Promise<void> {
    this.isStopping = true;
    this.stopListening();
    this.cancelLook();
    const { timers, writes, log } = this.options;
    for (const entry of this.entries.values()) tell(entry, "closed");
    if (this.thread !== null) {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      this.threadClosed = resolve;
      const release = timers.after(STOP_PATIENCE_MS, resolve);
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
    for (const entry of [...this.entries.values()]) this.forget(entry);
  }

  /** Looks after so much time, or sooner, whether those who ordered what waits and runs still may. */
  private look(inMs: number): void {
    if (this.isStopping || this.isLookSoon) return;
    const ordered = () =>
      [...this.entries.values()].flatMap((entry) =>
        entry.author.orderedBy === undefined ? [] : [{ entry, orderer: entry.author.orderedBy }],
      );
    this.cancelLook();
    if (ordered().length === 0) return;
    this.isLookSoon = inMs <= LOOK_SOON_MS;
    this.cancelLook = this.options.timers.after(inMs, () => {
      this.isLookSoon = false;
      for (const { entry, orderer } of ordered()) if (!this.options.mayOrder(orderer)) this.withdraw(entry);
      this.look(LOOK_MS);
    });
  }

  /** Cancels a scan that nobody may order any more. Its writes are refused already. */
  private withdraw(entry: Entry): void {
    if (entry.isWithdrawn || this.entries.get(entry.scan.id) !== entry) return;
    entry.isWithdrawn = true;
    entry.isCancelled = true;
    if (entry.state === "waiting")
      void this.end(entry, { id: entry.scan.id, status: "Cancelled", progress: null, outcome: null, problem: null });
    else if (entry.state === "running") this.thread?.post({ type: "cancel", id: entry.scan.id });
  }

  /** Who has the fewest scans under way comes first: no organization's queue holds up another one. */
  private pump(): void {
    if (this.isStopping) return;
    const busy = new Set<string>();
    const ofOrganization = new Map<string, number>();
    const count = ({ scan, author: { organizationId } }: Entry) => {
      busy.add(scan.network_id);
      ofOrganization.set(organizationId, (ofOrganization.get(organizationId) ?? 0) + 1);
    };
    for (const entry of this.entries.values()) if (entry.state !== "waiting") count(entry);
    while (busy.size < SCANS_RUNNING_MAX) {
      let next: Entry | null = null;
      const underWay = (entry: Entry) => ofOrganization.get(entry.author.organizationId) ?? 0;
      for (const entry of this.entries.values()) {
        if (
          entry.state === "waiting" &&
          !busy.has(entry.scan.network_id) &&
          (next === null || underWay(entry) < underWay(next))
        )
          next = entry;
      }
      if (next === null) return;
      count(next);
      void this.dispatch(next);
    }
  }

  private async dispatch(entry: Entry): Promise<void> {
    const { scan, author } = entry;
    const { writes, log } = this.options;
    entry.state = "dispatching";
    try {
      const { result, sequence } = await writes.run<Dispatched | null>("discovery.dispatch", { id: scan.id }, author);
      // Stopped or not: what is Running in the store and nowhere else is interrupted with the rest.
      if (this.isStopping) return;
      if (result === null) {
        this.forget(entry);
        return;
      }
      if (entry.isCancelled) {
        await this.end(entry, { id: scan.id, status: "Cancelled", progress: null, outcome: null, problem: null });
        return;
      }
      const { id, network_id, kind, targets, commit, allow_large } = scan;
      entry.state = "running";
      log.info("scan_started", { scan_id: id, network_id, kind, commit });
      this.update(entry, {});
      this.running().post({
        type: "start",
        order: {
          id,
          network_id,
          organization_id: author.organizationId,
          kind,
          targets,
          commit,
          allow_large,
          dispatch_sequence: sequence,
          ...result,
        },
      });
    } catch (error) {
      if (isWithdrawal(error)) {
        entry.isWithdrawn = true;
        await this.end(entry, { id: scan.id, status: "Cancelled", progress: null, outcome: null, problem: null });
        return;
      }
      log.error("scan_not_started", { scan_id: scan.id, cause: error });
      await this.end(entry, {
        id: scan.id,
        status: "Failed",
        progress: null,
        outcome: null,
        problem: "it could not be started; the appliance's log tells why",
      });
    }
  }

  /** The thread, started when it is first needed and again after a crash. */
  private running(): ScanThread {
    if (this.thread !== null) return this.thread;
    const thread = this.options.startThread(
      (message) => this.receive(thread, message),
      (reason) => this.crashed(thread, reason),
    );
    this.thread = thread;
    thread.post({ type: "open", options: this.options.threadOptions });
    return thread;
  }

  private receive(thread: ScanThread, message: FromScanner): void {
    if (message.type === "closed") {
      this.threadClosed();
      return;
    }
    if (message.type === "write") {
      void this.write(thread, message);
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
    { id, scan_id, command, bytes }: Extract<FromScanner, { type: "write" }>,
  ): Promise<void> {
    const entry = this.entries.get(scan_id);
    try {
      if (entry === undefined)
        throw new DomainError("entity_not_found", `The scan ${scan_id} does not run any more.`, {
          entity: "scan",
          id: scan_id,
        });
      // What came of it so far is told in any case.
      const author = command === "discovery.note" ? entry.teller : entry.author;
      const outcome = await this.options.writes.run(command, { bytes }, author, { bytes: bytes.length });
      thread.post({ type: "written", id, outcome });
    } catch (error) {
      if (entry !== undefined && isWithdrawal(error)) this.withdraw(entry);
      const { code, message, params } =
        error instanceof DomainError
          ? error
          : { code: "internal_error" as ErrorCode, message: String(error), params: {} };
      if (code === "internal_error")
        this.options.log.error("scan_not_written", {
          scan_id,
          command,
          cause: error instanceof Error ? (error.cause ?? error) : error,
        });
      thread.post({ type: "refused", id, code, message, params });
    }
  }

  private crashed(thread: ScanThread, reason: string): void {
    if (thread !== this.thread) return;
    this.thread = null;
    this.threadClosed();
    if (this.isStopping) return;
    this.options.log.error("scanner_crashed", { reason });
    for (const entry of [...this.entries.values()]) {
      if (entry.state === "running")
        void this.end(entry, {
          id: entry.scan.id,
          status: "Failed",
          progress: entry.live.progress,
          outcome: null,
          problem: "the scanning thread ended unexpectedly; the appliance's log tells why",
        });
    }
  }

  private async end(entry: Entry, end: ScanEnd): Promise<void> {
    const { writes, log, timers } = this.options;
    entry.state = "ending";
    // What it had done by then was done with the right to.
    const isCut = entry.isWithdrawn && end.status !== "Completed";
    const told: ScanEnd = isCut ? { ...end, status: "Cancelled", problem: ORDER_WITHDRAWN } : end;
    try {
      await writes.run("discovery.end", told, entry.teller);
    } catch (error) {
      log.error("scan_end_not_written", { scan_id: end.id, cause: error });
      if (!this.isStopping) timers.after(END_AGAIN_MS, () => void this.end(entry, end));
      return;
    }
    const { records, findings, problem } = told.outcome ?? {};
    log.info("scan_ended", {
      scan_id: end.id,
      network_id: entry.scan.network_id,
      kind: entry.scan.kind,
      status: told.status,
      records,
      findings,
      problem: told.problem ?? problem,
    });
    this.forget(entry);
    this.pump();
  }

  private update(entry: Entry, told: Partial<LiveScan>): void {
    entry.live = { ...entry.live, ...told, version: entry.live.version + 1 };
    tell(entry, "changed");
  }

  private forget(entry: Entry): void {
    this.entries.delete(entry.scan.id);
    if (this.entries.size === 0) {
      this.cancelLook();
      this.isLookSoon = false;
    }
    entry.gone.resolve();
    tell(entry, "changed");
    this.pump();
  }
}

function tell(entry: Entry, outcome: WaitOutcome): void {
  for (const waiter of [...entry.waiters]) waiter(outcome);
}

/** Whether a write was refused because whoever ordered the scan may not any more. */
function isWithdrawal(error: unknown): boolean {
  return error instanceof DomainError && error.code === "auth_permission_denied";
}

/** Who ordered a scan; null for a schedule, which is the organization's as hosts are, and nobody's. */
function ordererOf({ requested_by: { type, id }, targets, network_id: networkId }: Scan): Orderer | null {
  return (type === "User" || type === "ApiKey") && id !== null
    ? { type, id, role: roleToOrder(targets), networkId }
    : null;
}

/** A scan may do to its network what discovery does, and nothing elsewhere. */
function authorOf(scan: Scan, organizationId: string): CommandActor {
  return {
    type: "Discovery",
    id: scan.id,
    name: scanName(scan.kind),
    organizationId,
    requestId: null,
    userId: null,
    role: "Owner",
    networkIds: [scan.network_id],
  };
}
