// The single writer: runs named commands, each as one immediate transaction with one timestamp. Several commands may
// share a commit, with individual rollback on failure; none is acknowledged before it. Independent of resources.

import type { Clock } from "../../base/clock.ts";
import { DomainError, type ErrorCode } from "../../base/errors.ts";
import { ownValue } from "../../base/fields.ts";
import type { Instant } from "../../base/instant.ts";
import type { Random } from "../../base/random.ts";
import { pauseThread } from "../../base/timers.ts";
import { UuidSource } from "../../base/uuid.ts";
import type { Sql } from "../connection.ts";
import type { AnyKind } from "../kind.ts";
import { installRowSumTriggers } from "../row-sums.ts";
import { sqliteCode } from "../sqlite-code.ts";
import { storageFailureOf } from "../sqlite-failures.ts";
import { type Commands, DryRunResult } from "./command.ts";
import { type Box, type KnownOutcome, OutcomeStore, type Repeatable } from "./kept-outcomes.ts";
import type { Author } from "./ledger.ts";
import { ReadFence } from "./read-fence.ts";
import { Statements } from "./statements.ts";
import { type CommandOutcome, WriteTransaction } from "./transaction.ts";

export interface WriteRequest {
  readonly command: string;
  readonly input: unknown;
  /** Passed to the command; the ledger copies the author's fields from it. */
  readonly actor: Author;
  /** Set for idempotent requests: a repeat gets the stored outcome. */
  readonly repeatable?: Repeatable;
  /** Whether it skips the queue: then it runs only if it does nothing but lower permissions. */
  readonly isUrgent?: true | undefined;
}

export type WriteReply =
  | {
      readonly ok: true;
      readonly outcome: CommandOutcome<unknown>;
      /** A dry run. */
      readonly isDryRun?: true;
    }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly params: Record<string, unknown>;
      readonly cause: string | null;
      readonly isNotUrgent?: true;
    };

/** Requests of one commit. */
interface Requests {
  /** In order; grows during execution. */
  readonly taken: WriteRequest[];
  readonly arrivals: () => readonly WriteRequest[];
}

/** Current permissions of an author. Evaluated within the writing transaction. */
interface AuthorPermissions {
  /** @throws DomainError auth_… for missing or insufficient permissions */
  currentAuthor(author: Author, at: Instant): Author;
}

/** Policy for responding to repeated requests with the stored outcome. */
export interface ReplayPolicy {
  /** The permissions to store with an outcome: small, plain data. */
  permissionsOf(tx: WriteTransaction, author: Author): unknown;
  /** @throws DomainError if the author may no longer see it; the transaction names the command as its source */
  assertMayReplay(tx: WriteTransaction, known: KnownOutcome, author: Author): void;
}

/** Retries of a commit whose timestamp was passed by a completed read; after that, reads wait. */
const MAX_POSTPONEMENTS = 4;
/** A retried commit is dated ahead by the duration of the last attempt times this factor. */
const AHEAD_FACTOR = 1.25;
const AHEAD_MAX_MS = 60_000;

/** Time limit for starting commands of one commit; the remaining ones go into the next. */
export const GROUP_SLICE_MS = 20;

/** Maximum wait for readers at shutdown: the appliance has five seconds to stop. */
const CLOSE_WAIT_MS = 500;

/** Thrown if a command ahead of the queue does more than lower permissions. */
const NOT_URGENT = new Error("writer: an urgent command did more than lower permissions");

/** @typeParam C its commands */
export class Writer<C extends Commands = Commands> {
  readonly fence: ReadFence;
  private readonly onPostponed: () => void;
  private readonly pause: (ms: number) => void;
  private readonly leadMs: number;
  private readonly monotonicMs: () => number;
  private readonly db: Sql;
  private readonly kinds: readonly AnyKind[];
  private readonly commands: C;
  private readonly clock: Clock;
  private readonly statements: Statements;
  private readonly uuids: UuidSource;
  private readonly box: Box | undefined;
  private readonly outcomes: OutcomeStore | null;
  private readonly rights: AuthorPermissions | null;
  private readonly replayPolicy: ReplayPolicy | null;
  private readonly reducesPermissions: (tx: WriteTransaction) => boolean;
  private readonly missingReason: (tx: WriteTransaction) => DomainError | null;
  /** Transactions of the commit in progress. */
  private written: Array<{ readonly sequence: number; readonly instant: Instant }> = [];
  /** The last transaction of the last commit; null if it wrote none or failed. */
  private committed: number | null = null;

  /**
   * @param options.box passed to commands, and encrypts stored outcomes; default: no idempotent requests
   * @param options.rights checks the author's permissions when the command runs; default: no check
   * @param options.replayPolicy decides whether a repeat may get the stored outcome; default: always
   * @param options.reducesPermissions whether a transaction does nothing but lower permissions; default: nothing is
   * urgent
   * @param options.missingReason error for a transaction that lacks a required reason, if it makes changes; default:
   * none required
   * @param options.fence record of completed past reads; default: a private one, without other readers
   * @param options.onPostponed called when a commit is abandoned for a retry with a later timestamp
   * @param options.pause blocks the thread: a commit dated ahead is not made before its timestamp
   * @param options.leadMs lead of every commit over the clock, if another process answers reads without knowing of it:
   * no read may see a future timestamp as past
   */
  constructor(options: {
    db: Sql;
    kinds: readonly AnyKind[];
    commands: C;
    clock: Clock;
    random: Random;
    box?: Box;
    rights?: AuthorPermissions;
    replayPolicy?: ReplayPolicy;
    reducesPermissions?: (tx: WriteTransaction) => boolean;
    missingReason?: (tx: WriteTransaction) => DomainError | null;
    fence?: ReadFence;
    onPostponed?: () => void;
    pause?: (ms: number) => void;
    leadMs?: number;
    monotonicMs?: () => number;
  }) {
    this.db = options.db;
    this.kinds = options.kinds;
    this.commands = options.commands;
    this.clock = options.clock;
    installRowSumTriggers(options.db);
    this.statements = new Statements(options.db);
    this.uuids = new UuidSource(options.random);
    this.fence = options.fence ?? new ReadFence(options.clock);
    this.onPostponed = options.onPostponed ?? (() => {});
    this.pause = options.pause ?? pauseThread;
    this.leadMs = options.leadMs ?? 0;
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.rights = options.rights ?? null;
    this.reducesPermissions = options.reducesPermissions ?? (() => false);
    this.missingReason = options.missingReason ?? (() => null);
    this.replayPolicy = options.replayPolicy ?? null;
    this.box = options.box;
    this.outcomes = options.box === undefined ? null : new OutcomeStore(options.db, options.box);
  }

  /**
   * Runs the requests in order, in one commit, and replies in the same order.
   * @param sliceMs time limit for starting commands: those without a reply were not run
   * @param arrivals returns requests that arrived since, called before the commit; their replies follow
   */
  execute(
    first: readonly WriteRequest[],
    sliceMs = Number.POSITIVE_INFINITY,
    arrivals: () => readonly WriteRequest[] = () => [],
  ): WriteReply[] {
    const requests: Requests = { taken: [...first], arrivals };
    let notBefore = Math.max(this.fence.earliest(), this.clock.now() + this.leadMs);
    let aheadMs = 0;
    for (let postponements = 0; ; postponements += 1) {
      const start = this.clock.now();
      // On the last attempt, reads of later times wait; otherwise a commit could be postponed forever.
      const isLast = postponements === MAX_POSTPONEMENTS;
      if (isLast) notBefore = Math.max(this.closeFromNowOn(), this.clock.now() + this.leadMs);
      try {
        const replies = this.attempt(requests, sliceMs, notBefore, isLast, aheadMs);
        if (replies !== null) return replies;
      } finally {
        this.fence.open(this.committed);
      }
      this.onPostponed();
      const now = this.clock.now();
      aheadMs = Math.min(Math.ceil((now - start) * AHEAD_FACTOR), AHEAD_MAX_MS);
      notBefore = Math.max(this.fence.earliest(), now + aheadMs + this.leadMs);
    }
  }

  /** One attempt at a commit; null if its timestamps were passed by a completed read. */
  private attempt(
    requests: Requests,
    sliceMs: number,
    notBefore: Instant,
    isLast: boolean,
    aheadMs: number,
  ): WriteReply[] | null {
    const client = this.db.$client;
    this.committed = null;
    const replies =
      this.runAll(requests, sliceMs, notBefore, false) ?? this.runAll(requests, sliceMs, notBefore, true) ?? [];
    if (!client.inTransaction) return replies;
    // An acknowledged write must not be ahead of the clock, or it would appear, vanish and reappear.
    this.awaitInstant(this.leadMs, aheadMs);
    const first = this.written[0];
    if (first !== undefined && !isLast && !(this.fence.close(first.instant) && this.isStillAhead(first.instant))) {
      client.run("ROLLBACK");
      return null;
    }
    try {
      client.run("COMMIT");
    } catch (error) {
      if (client.inTransaction) client.run("ROLLBACK");
      const reply = failure(error);
      return replies.map(() => reply);
    }
    this.committed = this.written.at(-1)?.sequence ?? null;
    this.awaitInstant(0, this.leadMs);
    return replies;
  }

  /**
   * Runs the requests in one transaction, left open if there is something to commit. Savepoints make SQLite copy every
   * page that a command changes, and few commands fail after starting to write, so savepoints are set only after such a
   * failure.
   * @returns null if a failure without savepoints rolled back the whole group: nothing is written, and all must run
   * again
   */
  private runAll(
    { taken, arrivals }: Requests,
    sliceMs: number,
    notBefore: Instant,
    withSavepoints: boolean,
  ): WriteReply[] | null {
    const client = this.db.$client;
    this.written = [];
    try {
      client.run("BEGIN IMMEDIATE");
    } catch (error) {
      return taken.map(() => failure(error));
    }
    const replies: WriteReply[] = [];
    const start = this.monotonicMs();
    const isLate = () => replies.length > 0 && this.monotonicMs() - start > sliceMs;
    for (;;) {
      if (isLate()) break;
      if (replies.length === taken.length) taken.push(...arrivals());
      const request = taken[replies.length];
      if (request === undefined) break;
      const before = this.statements.changes();
      const reply = this.executeOne(request, notBefore, withSavepoints);
      replies.push(reply);
      // A full disk or I/O error may have rolled back the whole group: then none of it was written.
      if (!client.inTransaction) return taken.map(() => lost(reply));
      const isCommittable = reply.ok && reply.isDryRun !== true;
      if (isCommittable || withSavepoints || this.statements.changes() === before) continue;
      client.run("ROLLBACK");
      return taken.length === 1 ? replies : null;
    }
    return replies;
  }

  /**
   * Blocks until the last transaction leads the clock by at most `leadMs`. Does not block if it would take longer than
   * `atMostMs`.
   */
  private awaitInstant(leadMs: number, atMostMs: number): void {
    const waitMs = (this.written.at(-1)?.instant ?? 0) - this.clock.now() - leadMs;
    if (waitMs > 0 && waitMs <= atMostMs) this.pause(waitMs);
  }

  /** Whether enough of the lead, if required, remains for the commit itself. */
  private isStillAhead(instant: Instant): boolean {
    return this.leadMs === 0 || instant - this.clock.now() >= this.leadMs / 2;
  }

  /** Makes reads from now on wait for the commit. @returns the first affected timestamp */
  private closeFromNowOn(): Instant {
    let from = this.fence.earliest();
    while (!this.fence.close(from)) from = this.fence.earliest();
    return from;
  }

  /** Checkpoints the WAL into the database file and truncates it. */
  checkpoint(): void {
    this.db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /**
   * Frames that the checkpoint cannot transfer (full or read-only disk, a reader on an older snapshot) stay in the WAL
   * for the next start.
   */
  close(): void {
    try {
      // Do not wait for long readers, such as a verification.
      this.db.$client.run(`PRAGMA busy_timeout = ${CLOSE_WAIT_MS}`);
      this.checkpoint();
    } catch (error) {
      if (sqliteCode(error) === "") throw error;
    } finally {
      this.db.$client.close();
    }
  }

  /** A dry run's outcome is not stored: a repeat may have another result. */
  private dryRunReply({ result }: DryRunResult): WriteReply {
    return { ok: true, outcome: { sequence: null, result, head: this.statements.head().sequence }, isDryRun: true };
  }

  private executeOne(request: WriteRequest, notBefore: Instant, withSavepoint: boolean): WriteReply {
    const client = this.db.$client;
    const command = ownValue(this.commands, request.command);
    if (command === undefined) return failure(new Error(`writer: unknown command ${request.command}`));
    try {
      if (withSavepoint) client.run("SAVEPOINT command");
      const now = this.clock.now();
      // Checked for repeats too: an author without current permissions must not see an old outcome.
      const actor = this.rights === null ? request.actor : this.rights.currentAuthor(request.actor, now);
      const { repeatable } = request;
      if (repeatable !== undefined && this.outcomes === null)
        throw new Error("writer: idempotent requests require a box");
      const known = repeatable === undefined ? null : (this.outcomes?.find(repeatable, now) ?? null);
      const tx = new WriteTransaction({
        statements: this.statements,
        kinds: this.kinds,
        author: actor,
        source: request.command,
        wallAt: now,
        uuids: this.uuids,
        notBefore,
      });
      if (known !== null) {
        this.replayPolicy?.assertMayReplay(tx, known, actor);
        if (withSavepoint) client.run("RELEASE command");
        const { rights: _storedPermissions, ...outcome } = known;
        return { ok: true, outcome };
      }
      // Evaluated before the command: a change that lifts the requirement is itself subject to it.
      const refusal = command.needsNoReason === true ? null : this.missingReason(tx);
      const result = command(tx, request.input, actor, this.box);
      if (request.isUrgent === true && !this.reducesPermissions(tx)) throw NOT_URGENT;
      const sequence = tx.finish(refusal);
      const outcome = sequence === null ? { sequence, result, head: tx.sequence - 1 } : { sequence, result };
      if (repeatable !== undefined)
        this.outcomes?.store(repeatable, outcome, this.clock.now(), this.replayPolicy?.permissionsOf(tx, actor));
      if (withSavepoint) client.run("RELEASE command");
      if (outcome.sequence !== null) this.written.push({ sequence: outcome.sequence, instant: tx.instant });
      return { ok: true, outcome };
    } catch (error) {
      const reply = error instanceof DryRunResult ? this.dryRunReply(error) : failure(error);
      if (withSavepoint && client.inTransaction) {
        try {
          client.run("ROLLBACK TO command");
          client.run("RELEASE command");
        } catch (rollbackError) {
          // The command's changes can no longer be separated from the rest of the group.
          client.run("ROLLBACK");
          return failure(rollbackError);
        }
      }
      return reply;
    }
  }
}

/** Converts a reply into the outcome or the thrown error. */
export function outcomeOf<T>(reply: WriteReply): CommandOutcome<T> {
  if (reply.ok) return reply.outcome as CommandOutcome<T>;
  const error = new DomainError(reply.code, reply.message, reply.params);
  if (reply.cause !== null) error.cause = reply.cause;
  throw error;
}

/** Reply to every request in a lost commit, including refused ones: their refusal may rest on a lost change. */
function lost(reply: WriteReply): WriteReply {
  return reply.ok ? failure(new Error("writer: the commit was lost")) : reply;
}

function failure(error: unknown): WriteReply {
  if (error === NOT_URGENT) return { ...refusalReply("internal_error", NOT_URGENT.message), isNotUrgent: true };
  if (error instanceof DomainError) {
    const cause = error.cause === undefined ? null : String(error.cause);
    return refusalReply(error.code, error.message, cause, error.params);
  }
  const storageFailure = storageFailureOf(error, "nothing was written");
  if (storageFailure !== null)
    return refusalReply(storageFailure.code, storageFailure.message, String(storageFailure.cause));
  if (sqliteCode(error).startsWith("SQLITE_BUSY")) {
    const message = "Another process is writing to the database; try again in a second.";
    return refusalReply("rate_limit_exceeded", message, null, { retry_after_seconds: 1 });
  }
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return refusalReply("internal_error", "Something went wrong inside the appliance; nothing was written.", cause);
}

/** Reply to a request that was not carried out. */
export function refusalReply(
  code: ErrorCode,
  message: string,
  cause: string | null = null,
  params: Record<string, unknown> = {},
): Extract<WriteReply, { ok: false }> {
  return { ok: false, code, message, params, cause };
}
