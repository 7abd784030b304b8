// The one writer: runs named commands, each as one immediate transaction with one instant. Several commands may share
// one commit, each undone alone when it fails, and none is acknowledged before the commit. Knows no resource.

import type { Clock } from "../../base/clock.ts";
import { DomainError, type ErrorCode } from "../../base/errors.ts";
import { ownValue } from "../../base/fields.ts";
import type { Instant } from "../../base/instant.ts";
import type { Random } from "../../base/random.ts";
import { pauseThread } from "../../base/timers.ts";
import { UuidSource } from "../../base/uuid.ts";
import type { Sql } from "../connection.ts";
import type { AnyKind } from "../kind.ts";
import { keepRowSums } from "../row-sums.ts";
import { sqliteCode } from "../sqlite-code.ts";
import { troubleOf } from "../trouble.ts";
import { type Commands, Tried } from "./command.ts";
import { type Box, KeptOutcomes, type KnownOutcome, type Repeatable } from "./kept-outcomes.ts";
import type { Author } from "./ledger.ts";
import { ReadFence } from "./read-fence.ts";
import { Statements } from "./statements.ts";
import { type CommandOutcome, WriteTransaction } from "./transaction.ts";

export interface WriteRequest {
  readonly command: string;
  readonly input: unknown;
  /** Handed to the command as its actor; the ledger takes the author's fields from it. */
  readonly actor: Author;
  /** Of a request whose repetition is answered as the first time. */
  readonly repeatable?: Repeatable;
  /** Whether it was let past others: then it is done only where it comes to nothing but less rights. */
  readonly isUrgent?: true | undefined;
}

export type WriteReply =
  | {
      readonly ok: true;
      readonly outcome: CommandOutcome<unknown>;
      /** It was only tried. */
      readonly isUndone?: true;
    }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly params: Record<string, unknown>;
      readonly cause: string | null;
      readonly isNotUrgent?: true;
    };

/** Those of one commit. */
interface Requests {
  /** In their order; grows while they are run. */
  readonly taken: WriteRequest[];
  readonly further: () => readonly WriteRequest[];
}

/** What says which rights an author has at this moment. Asked within the transaction that is to write. */
interface RightsNow {
  /** @throws DomainError auth_… where there are none, or too few */
  of(author: Author, at: Instant): Author;
}

/** What says who is answered as the first time when a request is repeated. */
export interface ReplayPolicy {
  /** What is kept of the rights with which something is done: plain data, and little. */
  rightsOf(tx: WriteTransaction, author: Author): unknown;
  /** @throws DomainError for an author who may not be told any more; the transaction names the command as its source */
  assertMayReplay(tx: WriteTransaction, known: KnownOutcome, author: Author): void;
}

/**
 * How often a commit is made again at a later instant because its own was answered meanwhile; then answers wait for it.
 */
const MAX_POSTPONEMENTS = 4;
/** A commit that is made again is dated ahead by what it took the last time, and this much more. */
const AHEAD = 1.25;
const AHEAD_MAX_MS = 60_000;

/**
 * Commands that were taken for one commit share it only as long as this: what has not begun by then is left for the
 * next one.
 */
export const GROUP_SLICE_MS = 20;

/** How long a reader may hold up the end: an appliance has five seconds for all of its stop. */
const CLOSE_WAIT_MS = 500;

/** What a command that was let past others comes to where it is not what it was taken for. */
const NOT_URGENT = new Error("writer: more than less rights");

/** @typeParam C the commands that it runs */
export class Writer<C extends Commands = Commands> {
  readonly past: ReadFence;
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
  private readonly outcomes: KeptOutcomes | null;
  private readonly rights: RightsNow | null;
  private readonly replayPolicy: ReplayPolicy | null;
  private readonly lowersRights: (tx: WriteTransaction) => boolean;
  private readonly lackingReason: (tx: WriteTransaction) => DomainError | null;
  /** The transactions of the commit under way. */
  private written: Array<{ readonly sequence: number; readonly instant: Instant }> = [];
  /** The last transaction of the last commit; null where it made none or failed. */
  private committed: number | null = null;

  /**
   * @param options.box handed to commands, and seals what is kept of repeatable requests; without it there are none
   * @param options.rights says what an author may do when it is the command's turn; without it everything is written
   * that is asked for
   * @param options.retelling says whether a repetition may be answered as the first time; without it every one is
   * @param options.lowersRights whether a transaction comes to nothing but less rights; without it nothing is urgent
   * @param options.lackingReason what a transaction is refused with that has begun without the reason that is demanded of
   * it, should it come to a change; without it none is demanded
   * @param options.past what this process has answered of the past; of its own where nobody else is told
   * @param options.onPostponed told when a commit was given up, to be made at a later instant
   * @param options.pause lets the thread stand still: a commit that was dated ahead is not made before its own instant
   * @param options.leadMs how far every commit is dated ahead of the clock, where another process answers that does not
   * know of it: nobody is answered about what is still to come as if it had passed
   */
  constructor(options: {
    db: Sql;
    kinds: readonly AnyKind[];
    commands: C;
    clock: Clock;
    random: Random;
    box?: Box;
    rights?: RightsNow;
    replayPolicy?: ReplayPolicy;
    lowersRights?: (tx: WriteTransaction) => boolean;
    lackingReason?: (tx: WriteTransaction) => DomainError | null;
    past?: ReadFence;
    onPostponed?: () => void;
    pause?: (ms: number) => void;
    leadMs?: number;
    monotonicMs?: () => number;
  }) {
    this.db = options.db;
    this.kinds = options.kinds;
    this.commands = options.commands;
    this.clock = options.clock;
    keepRowSums(options.db);
    this.statements = new Statements(options.db);
    this.uuids = new UuidSource(options.random);
    this.past = options.past ?? new ReadFence(options.clock);
    this.onPostponed = options.onPostponed ?? (() => {});
    this.pause = options.pause ?? pauseThread;
    this.leadMs = options.leadMs ?? 0;
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.rights = options.rights ?? null;
    this.lowersRights = options.lowersRights ?? (() => false);
    this.lackingReason = options.lackingReason ?? (() => null);
    this.replayPolicy = options.replayPolicy ?? null;
    this.box = options.box;
    this.outcomes = options.box === undefined ? null : new KeptOutcomes(options.db, options.box);
  }

  /**
   * Runs the requests in order, in one commit, and replies in the same order.
   * @param sliceMs after which no further one is begun: there are fewer replies then, and what has none was not done
   * @param further asked for what has come meanwhile, before the commit is made; its replies follow
   */
  execute(
    first: readonly WriteRequest[],
    sliceMs = Number.POSITIVE_INFINITY,
    further: () => readonly WriteRequest[] = () => [],
  ): WriteReply[] {
    const requests: Requests = { taken: [...first], further };
    let notBefore = Math.max(this.past.earliest(), this.clock.now() + this.leadMs);
    let aheadMs = 0;
    for (let postponements = 0; ; postponements += 1) {
      const began = this.clock.now();
      // In the end whoever asks for what comes after now waits, or a commit could be put off for ever.
      const isLast = postponements === MAX_POSTPONEMENTS;
      if (isLast) notBefore = Math.max(this.closeFromNowOn(), this.clock.now() + this.leadMs);
      try {
        const replies = this.attempt(requests, sliceMs, notBefore, isLast, aheadMs);
        if (replies !== null) return replies;
      } finally {
        this.past.open(this.committed);
      }
      this.onPostponed();
      const now = this.clock.now();
      aheadMs = Math.min(Math.ceil((now - began) * AHEAD), AHEAD_MAX_MS);
      notBefore = Math.max(this.past.earliest(), now + aheadMs + this.leadMs);
    }
  }

  /** One try at a commit; null where an instant from its first one on was answered meanwhile. */
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
    // What is acknowledged must not lie ahead of the clock, or it would be there, then not, then there again.
    this.awaitInstant(this.leadMs, aheadMs);
    const first = this.written[0];
    if (first !== undefined && !isLast && !(this.past.close(first.instant) && this.isStillAhead(first.instant))) {
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
   * Runs the requests in one transaction, which stays open where there is something to commit. Savepoints cost SQLite a
   * copy of every page that a command changes, and hardly any command fails after it has begun to write: they are set
   * only where one did.
   * @returns null where one that failed so, without savepoints, took its neighbours with it: nothing is written, and
   * all are to be run again
   */
  private runAll(
    { taken, further }: Requests,
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
    const began = this.monotonicMs();
    const isLate = () => replies.length > 0 && this.monotonicMs() - began > sliceMs;
    for (;;) {
      if (isLate()) break;
      if (replies.length === taken.length) taken.push(...further());
      const request = taken[replies.length];
      if (request === undefined) break;
      const before = this.statements.changes();
      const reply = this.executeOne(request, notBefore, withSavepoints);
      replies.push(reply);
      // A full disk or an I/O error may have rolled back the neighbours too: then none of them was written.
      if (!client.inTransaction) return taken.map(() => lost(reply));
      const isToStay = reply.ok && reply.isUndone !== true;
      if (isToStay || withSavepoints || this.statements.changes() === before) continue;
      client.run("ROLLBACK");
      return taken.length === 1 ? replies : null;
    }
    return replies;
  }

  /**
   * Stands still until the last transaction leads the clock by `leadMs` at most; not where the ledger leads it by more
   * than `atMostMs` beyond that.
   */
  private awaitInstant(leadMs: number, atMostMs: number): void {
    const waitMs = (this.written.at(-1)?.instant ?? 0) - this.clock.now() - leadMs;
    if (waitMs > 0 && waitMs <= atMostMs) this.pause(waitMs);
  }

  /** Whether enough is left of the lead, where there is to be one, for the commit itself. */
  private isStillAhead(instant: Instant): boolean {
    return this.leadMs === 0 || instant - this.clock.now() >= this.leadMs / 2;
  }

  /** Makes answers about what comes from now on wait. @returns from which instant on */
  private closeFromNowOn(): Instant {
    let from = this.past.earliest();
    while (!this.past.close(from)) from = this.past.earliest();
    return from;
  }

  /** Folds the log into the database file and empties it. */
  checkpoint(): void {
    this.db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /**
   * What the checkpoint cannot fold in (a disk that is full or cannot be written to, a state of the database that
   * someone still reads) stays in the log and is read from there at the next start.
   */
  close(): void {
    try {
      // Someone may be reading for long, such as a verification: its end is not waited for.
      this.db.$client.run(`PRAGMA busy_timeout = ${CLOSE_WAIT_MS}`);
      this.checkpoint();
    } catch (error) {
      if (sqliteCode(error) === "") throw error;
    } finally {
      this.db.$client.close();
    }
  }

  /** What is kept of no repeatable request: tried again, it may come to something else. */
  private tried({ result }: Tried): WriteReply {
    return { ok: true, outcome: { sequence: null, result, head: this.statements.head().sequence }, isUndone: true };
  }

  private executeOne(request: WriteRequest, notBefore: Instant, withSavepoint: boolean): WriteReply {
    const client = this.db.$client;
    const command = ownValue(this.commands, request.command);
    if (command === undefined) return failure(new Error(`writer: there is no command ${request.command}`));
    try {
      if (withSavepoint) client.run("SAVEPOINT command");
      const now = this.clock.now();
      // A repetition as well: what was done for someone is not told to who may not do it any more.
      const actor = this.rights === null ? request.actor : this.rights.of(request.actor, now);
      const { repeatable } = request;
      if (repeatable !== undefined && this.outcomes === null)
        throw new Error("writer: nothing is kept here of repeatable requests");
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
        const { rights: _ofTheFirstTime, ...outcome } = known;
        return { ok: true, outcome };
      }
      // As it is demanded before the command: what ends the demand is a change like any other.
      const unreasoned = command.needsNoReason === true ? null : this.lackingReason(tx);
      const result = command(tx, request.input, actor, this.box);
      if (request.isUrgent === true && !this.lowersRights(tx)) throw NOT_URGENT;
      const sequence = tx.finish(unreasoned);
      const outcome = sequence === null ? { sequence, result, head: tx.sequence - 1 } : { sequence, result };
      if (repeatable !== undefined)
        this.outcomes?.keep(repeatable, outcome, this.clock.now(), this.replayPolicy?.rightsOf(tx, actor));
      if (withSavepoint) client.run("RELEASE command");
      if (outcome.sequence !== null) this.written.push({ sequence: outcome.sequence, instant: tx.instant });
      return { ok: true, outcome };
    } catch (error) {
      const reply = error instanceof Tried ? this.tried(error) : failure(error);
      if (withSavepoint && client.inTransaction) {
        try {
          client.run("ROLLBACK TO command");
          client.run("RELEASE command");
        } catch (second) {
          // What the command did can't be told from its neighbours' any more.
          client.run("ROLLBACK");
          return failure(second);
        }
      }
      return reply;
    }
  }
}

/** What a reply means to the caller: the outcome, or the error thrown. */
export function outcomeOf<T>(reply: WriteReply): CommandOutcome<T> {
  if (reply.ok) return reply.outcome as CommandOutcome<T>;
  const error = new DomainError(reply.code, reply.message, reply.params);
  if (reply.cause !== null) error.cause = reply.cause;
  throw error;
}

/**
 * What everyone in a lost commit is told: also who was refused, since the refusal may rest on a neighbour that is gone.
 */
function lost(reply: WriteReply): WriteReply {
  return reply.ok ? failure(new Error("writer: the commit was lost")) : reply;
}

function failure(error: unknown): WriteReply {
  if (error === NOT_URGENT)
    return {
      ok: false,
      code: "internal_error",
      message: NOT_URGENT.message,
      params: {},
      cause: null,
      isNotUrgent: true,
    };
  if (error instanceof DomainError)
    return {
      ok: false,
      code: error.code,
      message: error.message,
      params: error.params,
      cause: error.cause === undefined ? null : String(error.cause),
    };
  const trouble = troubleOf(error, "nothing was written");
  if (trouble !== null)
    return { ok: false, code: trouble.code, message: trouble.message, params: {}, cause: String(trouble.cause) };
  if (sqliteCode(error).startsWith("SQLITE_BUSY")) {
    return {
      ok: false,
      code: "rate_limit_exceeded",
      message: "Another process is writing to the database; try again in a second.",
      params: { retry_after_seconds: 1 },
      cause: null,
    };
  }
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    ok: false,
    code: "internal_error",
    message: "Something went wrong inside the appliance; nothing was written.",
    params: {},
    cause,
  };
}
