// List of an organization's transactions, newest first, each with its changes as visible to the caller.

import type { Actor } from "../access/actor.ts";
import { ownValue } from "../base/fields.ts";
import { foldCase } from "../base/text.ts";
import type { VersionOperation } from "../db/change-counts.ts";
import type { Activity, TransactionRange } from "../db/reading/activity.ts";
import { ChangeLog, type ChangeQuery, type LedgerEntry, type RecordChange } from "../db/reading/change-log.ts";
import { rowConditionSql } from "../db/reading/condition-sql.ts";
import { CountedChanges } from "../db/reading/counted-changes.ts";
import type { Moment } from "../db/reading/list-query.ts";
import { longRead, PAUSE, pausing, utf8 } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { hasReason, ReasonSearch } from "../db/reading/reason-search.ts";
import type { ResolvedCondition } from "../db/reading/resolved-condition.ts";
import { SqlBuilder } from "../db/reading/sql-builder.ts";
import type { RequestFilter } from "../records/list-filter.ts";
import { holdsForRow, RowFilter } from "../records/row-filter.ts";
import { LIST_HEAD, listMeta, listTail, metaAt, successBody, thinnedUntilMember } from "../schemas/envelope.ts";
import { CHANGE_KINDS, transactionText } from "./change-view.ts";
import { highlightsOf } from "./highlights.ts";
import { isNarrowed, type Narrowing, narrowedChanges } from "./narrowing.ts";
import { TRANSACTION_FIELDS, transactionObjectSql } from "./transaction-rows.ts";

export interface TransactionsInput {
  readonly actor: Actor;
  /** Transactions after this sequence; default: all. */
  readonly after?: number;
  /** Transactions up to this sequence. */
  readonly until: number;
  /** Default: newest first. */
  readonly direction?: "asc" | "desc";
  /** Only transactions with matching changes. */
  readonly narrowing?: Narrowing;
  readonly madeBy?: AuthorFilter;
  readonly filter?: RequestFilter;
  /** Only transactions whose reason contains this string; default: all. */
  readonly reason?: string;
  /** Adds highlights to each transaction. */
  readonly hasHighlights?: true;
  /** Number of rows; 0 for all. */
  readonly limit: number;
  readonly offset: number;
  readonly moment: Moment;
}

/** Author filter. */
export interface AuthorFilter {
  readonly types?: readonly string[];
  readonly id?: string;
  /** Name at that time, case-insensitive. */
  readonly name?: string;
}

/** Transactions looked up per step. */
const STEP_TRANSACTIONS = 50;

/** One page as a response envelope. */
export const transactions = longRead("transactions", function* (reader: Reader, input: TransactionsInput) {
  const { after = 0, limit, offset, moment, actor } = input;
  const log = new ChangeLog(reader);
  const filter = RowFilter.of(reader, TRANSACTION_FIELDS, actor, input.filter);
  const listed = yield* selectTransactions(reader, log, input);
  const list = filter === null ? listed : matching(reader, actor, filter, listed);
  yield utf8(LIST_HEAD);
  const highlighted = input.hasHighlights === true ? (input.narrowing ?? {}) : null;
  let isFirst = true;
  for (const sequences of page(list.from(offset), limit)) {
    const entries = log.entries(sequences);
    for (const sequence of sequences) {
      const text = yield* renderTransaction(reader, actor, entries.get(sequence) as LedgerEntry, highlighted);
      yield utf8(isFirst ? text : `,${text}`);
      isFirst = false;
    }
    yield PAUSE;
  }
  const total = yield* pausing(list.count());
  const thinned = thinnedUntilMember(reader.thinnedHistory.incompleteUntil(after));
  yield utf8(listTail(listMeta({ limit, offset, total }, moment, thinned)));
});

/** Transactions in order, in steps of any length. */
interface TransactionList {
  /** Skips the first `offset` transactions. */
  from(offset: number): Iterable<readonly number[]>;
  count(): Generator<void, number>;
}

function* selectTransactions(
  reader: Reader,
  log: ChangeLog,
  input: TransactionsInput,
): Generator<Uint8Array, TransactionList> {
  const { actor, narrowing = {}, madeBy, reason, after = 0, until, direction = "desc" } = input;
  const range = { after, until };
  let list: TransactionList;
  if (isNarrowed(narrowing)) {
    const changes = new CountedChanges(reader, narrowedChanges(actor, narrowing));
    list = changes.hasStoredCounts
      ? fromActivity(withReason(reader, changes.transactions(), reason), range, direction)
      : fromArray(yield* transactionsOf(changes, range), direction);
    if (!changes.hasStoredCounts && reason !== undefined)
      list = filtered(list, (sequences) => filterByReason(log, sequences, reason));
  } else {
    const { networkN } = narrowing;
    const query = { reach: actor, ...(networkN === undefined ? {} : { networkN }) };
    list =
      networkN === 0
        ? fromArray([], direction)
        : fromActivity(withReason(reader, log.activity(query), reason), range, direction);
  }
  return madeBy === undefined ? list : filtered(list, (sequences) => filterByAuthor(log, sequences, madeBy));
}

function withReason(reader: Reader, activity: Activity, reason: string | undefined): Activity | ReasonSearch {
  return reason === undefined ? activity : new ReasonSearch(reader, activity, reason);
}

function fromActivity(
  activity: Activity | ReasonSearch,
  range: TransactionRange,
  direction: "asc" | "desc",
): TransactionList {
  return {
    from: (offset) => (direction === "asc" ? activity.oldestFirst(range, offset) : activity.newestFirst(range, offset)),
    count: () => activity.count(range),
  };
}

function fromArray(ascending: readonly number[], direction: "asc" | "desc"): TransactionList {
  const all = direction === "asc" ? ascending : ascending.toReversed();
  return {
    from: (offset) => [all.slice(offset)],
    // biome-ignore lint/correctness/useYield: other lists are counted in steps.
    *count() {
      return all.length;
    },
  };
}

/** The subset of a list that passes a per-step filter. */
function filtered(list: TransactionList, filter: (sequences: readonly number[]) => readonly number[]): TransactionList {
  return fromSteps(function* () {
    for (const step of list.from(0)) yield filter(step);
  });
}

/** @param all all of its transactions, in steps */
function fromSteps(all: () => Iterable<readonly number[]>): TransactionList {
  return {
    *from(offset) {
      let skipped = 0;
      for (const step of all()) {
        yield step.slice(offset - skipped);
        skipped = Math.min(offset, skipped + step.length);
      }
    },
    *count() {
      let count = 0;
      for (const step of all()) {
        count += step.length;
        yield;
      }
      return count;
    },
  };
}

/** Transactions filtered per step. */
const STEP_FILTERED = 1_000;

/** The subset of a list that passes a row filter. */
function matching(reader: Reader, actor: Actor, filter: RowFilter, list: TransactionList): TransactionList {
  const log = new ChangeLog(reader);
  const settled = filter.alone;
  const changes: ChangeQuery | null = filter.usesField("changes") ? { reach: actor, kinds: CHANGE_KINDS } : null;
  // In bounded steps, each with its matches.
  return fromSteps(function* () {
    for (const step of list.from(0))
      for (let start = 0; start < step.length; start += STEP_FILTERED) {
        const batch = step.slice(start, start + STEP_FILTERED);
        const matched = new Set<number>();
        const undecided: number[] = [];
        for (const [sequence, verdict] of evaluate(reader, settled, batch)) {
          if (verdict === 1) matched.add(sequence);
          else if (verdict === null) undecided.push(sequence);
        }
        const entries = log.entries(undecided);
        for (const sequence of undecided) {
          const reading = transactionObject(log, changes, entries.get(sequence) as LedgerEntry);
          let row = reading.next();
          for (; row.done !== true; row = reading.next()) yield [];
          if (holdsForRow(settled, row.value)) matched.add(sequence);
        }
        yield batch.filter((sequence) => matched.has(sequence));
      }
  });
}

/** SQL verdict per transaction: 1, 0, or null if undecided. */
function evaluate(
  reader: Reader,
  condition: ResolvedCondition,
  sequences: readonly number[],
): Array<[number, number | null]> {
  const sql = new SqlBuilder(null);
  const verdict = rowConditionSql(condition, transactionObjectSql, (value) => sql.bind(value));
  return reader
    .statement(
      `SELECT t.sequence, ${verdict} FROM json_each(${sql.bind(JSON.stringify(sequences))}) j
        CROSS JOIN history_transactions t ON t.sequence = j.value`,
    )
    .values(...sql.values) as Array<[number, number | null]>;
}

/** Distinct, in order. */
function* transactionsOf(changes: CountedChanges, range: TransactionRange): Generator<Uint8Array, number[]> {
  const sequences: number[] = [];
  for (const step of changes.changes(range)) {
    for (const { sequence } of step.changes) if (sequences.at(-1) !== sequence) sequences.push(sequence);
    yield PAUSE;
  }
  return sequences;
}

function filterByReason(log: ChangeLog, sequences: readonly number[], text: string): readonly number[] {
  const entries = log.entries(sequences);
  const folded = foldCase(text);
  return sequences.filter((sequence) => hasReason((entries.get(sequence) as LedgerEntry).reason, folded));
}

function filterByAuthor(
  log: ChangeLog,
  sequences: readonly number[],
  { types, id, name }: AuthorFilter,
): readonly number[] {
  const entries = log.entries(sequences);
  const folded = name === undefined ? undefined : foldCase(name);
  return sequences.filter((sequence) => {
    const { actorType, actorId, actorName } = entries.get(sequence) as LedgerEntry;
    return (
      (types === undefined || types.includes(actorType)) &&
      (id === undefined || actorId === id) &&
      (folded === undefined || foldCase(actorName) === folded)
    );
  });
}

/**
 * Splits steps of any length into small ones, up to `limit` in total; empty ones yield to other reads.
 * @param limit 0 for all
 */
function* page(steps: Iterable<readonly number[]>, limit: number): Generator<readonly number[]> {
  let remaining = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  for (const step of steps) {
    const wanted = step.slice(0, remaining);
    if (wanted.length === 0) yield wanted;
    for (let start = 0; start < wanted.length; start += STEP_TRANSACTIONS)
      yield wanted.slice(start, start + STEP_TRANSACTIONS);
    remaining -= wanted.length;
    if (remaining === 0) return;
  }
}

interface TransactionInput {
  readonly actor: Actor;
  readonly sequence: number;
  readonly hasHighlights: boolean;
}

/** One transaction as a response envelope. */
export const transaction = longRead("transaction", function* (reader: Reader, input: TransactionInput) {
  const log = new ChangeLog(reader);
  const entry = log.entries([input.sequence]).get(input.sequence) as LedgerEntry;
  const text = yield* renderTransaction(reader, input.actor, entry, input.hasHighlights ? {} : null);
  const thinned = thinnedUntilMember(reader.thinnedHistory.incompleteUntil(input.sequence - 1));
  yield utf8(successBody(text, metaAt(null, thinned)));
});

/**
 * Renders a transaction as a JSON object.
 * @param highlighted restricts its highlights; null without highlights
 */
function* renderTransaction(
  reader: Reader,
  actor: Actor,
  entry: LedgerEntry,
  highlighted: Narrowing | null,
): Generator<Uint8Array, string> {
  const query = { reach: actor, kinds: CHANGE_KINDS };
  const included: { changes?: ChangesByKind; highlights?: object } = {};
  if (highlighted !== null) {
    const counts: ChangesByKind = {};
    included.highlights = yield* pausing(
      highlightsOf(reader, actor, entry, highlighted, (change) => countIn(counts, change)),
    );
    // Unrestricted highlights already pass over all changes, so count them there.
    if (Object.keys(highlighted).length === 0) included.changes = counts;
  }
  const changes = included.changes ?? (yield* pausing(countedIn(new ChangeLog(reader), query, entry.sequence)));
  const members = [`"command":${JSON.stringify(entry.source)}`, `"changes":${JSON.stringify(changes)}`];
  if (included.highlights !== undefined) members.push(`"highlights":${JSON.stringify(included.highlights)}`);
  return `${transactionText(entry).slice(0, -1)},${members.join(",")}}`;
}

/** A transaction as an object. @param query for its changes; null to omit them */
function* transactionObject(log: ChangeLog, query: ChangeQuery | null, entry: LedgerEntry): Generator<void, object> {
  const changes = query === null ? {} : yield* countedIn(log, query, entry.sequence);
  return { ...(JSON.parse(transactionText(entry)) as object), command: entry.source, changes };
}

/** Number of versions in a transaction, by kind and operation. */
type ChangesByKind = Record<string, Partial<Record<VersionOperation, number>>>;

function* countedIn(log: ChangeLog, query: ChangeQuery, sequence: number): Generator<void, ChangesByKind> {
  const counts: ChangesByKind = {};
  for (const { changes, through } of log.changesIn(query, { sequences: [sequence], through: sequence })) {
    for (const change of changes) countIn(counts, change);
    if (through < sequence) yield;
  }
  return counts;
}

function countIn(counts: ChangesByKind, { kind, operation }: Pick<RecordChange, "kind" | "operation">): void {
  const byOperation = ownValue(counts, kind.name) ?? {};
  counts[kind.name] = byOperation;
  byOperation[operation] = (byOperation[operation] ?? 0) + 1;
}
