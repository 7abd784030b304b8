// The transactions of an organization, newest first, each with what it changed as far as the caller sees it.

import type { Actor } from "../access/actor.ts";
import { foldCase } from "../base/text.ts";
import type { VersionOperation } from "../db/change-counts.ts";
import type { Thinned } from "../db/pruned-history.ts";
import type { Activity, TransactionRange } from "../db/reading/activity.ts";
import { ChangeLog, type ChangeQuery, type LedgerEntry } from "../db/reading/change-log.ts";
import { CountedChanges } from "../db/reading/counted-changes.ts";
import { longRead } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { hasReason, ReasonSearch } from "../db/reading/reason-search.ts";
import {
  LIST_HEAD,
  listMeta,
  listTail,
  metaAt,
  resolvedMembers,
  successBody,
  thinnedUntilMember,
} from "../wire/envelope.ts";
import { CHANGE_KINDS, transactionText } from "./change-view.ts";
import { isNarrowed, type Narrowing, narrowedChanges } from "./narrowing.ts";

export interface TransactionsInput {
  readonly actor: Actor;
  /** Transactions after this one; all where absent. */
  readonly after?: number;
  /** Transactions up to this one. */
  readonly until: number;
  /** Newest first where absent. */
  readonly direction?: "asc" | "desc";
  /** Only those with changes of this. */
  readonly narrowing?: Narrowing;
  readonly madeBy?: MadeBy;
  /** Only those whose reason has this text in it; all where absent. */
  readonly reason?: string;
  /** Rows; 0 for all. */
  readonly limit: number;
  readonly offset: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly asked: string | null;
  /** Where that lies in thinned history. */
  readonly thinned?: Thinned;
}

/** Who made a transaction. */
export interface MadeBy {
  readonly types?: readonly string[];
  readonly id?: string;
  /** As it was called then, in whatever case. */
  readonly name?: string;
}

/** Transactions that are looked up together. */
const STEP_TRANSACTIONS = 50;
/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);

/** The page as an envelope. */
export const transactions = longRead("transactions", function* (reader: Reader, input: TransactionsInput) {
  const { after = 0, limit, offset, asked, actor } = input;
  const log = new ChangeLog(reader);
  const list = yield* listOf(reader, log, input);
  yield encoder.encode(LIST_HEAD);
  let isFirst = true;
  for (const sequences of page(list.from(offset), limit)) {
    const entries = log.entries(sequences);
    for (const sequence of sequences) {
      const text = yield* described(log, { reach: actor, kinds: CHANGE_KINDS }, entries.get(sequence) as LedgerEntry);
      yield encoder.encode(isFirst ? text : `,${text}`);
      isFirst = false;
    }
    yield PAUSE;
  }
  const count = list.count();
  let counted = count.next();
  for (; counted.done !== true; counted = count.next()) yield PAUSE;
  yield encoder.encode(
    listTail(
      listMeta(
        { limit, offset, total: counted.value },
        asked,
        resolvedMembers(input.thinned) + thinnedUntilMember(reader.thinnedPast.incompleteUntil(after)),
      ),
    ),
  );
});

/** Transactions in order, in steps of any length. */
interface TransactionList {
  /** Without the first `offset`. */
  from(offset: number): Iterable<readonly number[]>;
  count(): Generator<void, number>;
}

function* listOf(reader: Reader, log: ChangeLog, input: TransactionsInput): Generator<Uint8Array, TransactionList> {
  const { actor, narrowing = {}, madeBy, reason, after = 0, until, direction = "desc" } = input;
  const range = { after, until };
  let list: TransactionList;
  if (isNarrowed(narrowing)) {
    const changes = new CountedChanges(reader, narrowedChanges(actor, narrowing));
    list = changes.isKept
      ? touched(withReason(reader, changes.transactions(), reason), range, direction)
      : foundAll(yield* transactionsOf(changes, range), direction);
    if (!changes.isKept && reason !== undefined)
      list = only(list, (sequences) => withReasonOnly(log, sequences, reason));
  } else {
    const { networkN } = narrowing;
    const query = { reach: actor, ...(networkN === undefined ? {} : { networkN }) };
    list =
      networkN === 0
        ? foundAll([], direction)
        : touched(withReason(reader, log.activity(query), reason), range, direction);
  }
  return madeBy === undefined ? list : only(list, (sequences) => madeByOnly(log, sequences, madeBy));
}

function withReason(reader: Reader, activity: Activity, reason: string | undefined): Activity | ReasonSearch {
  return reason === undefined ? activity : new ReasonSearch(reader, activity, reason);
}

function touched(
  activity: Activity | ReasonSearch,
  range: TransactionRange,
  direction: "asc" | "desc",
): TransactionList {
  return {
    from: (offset) => (direction === "asc" ? activity.oldestFirst(range, offset) : activity.newestFirst(range, offset)),
    count: () => activity.count(range),
  };
}

function foundAll(ascending: readonly number[], direction: "asc" | "desc"): TransactionList {
  const all = direction === "asc" ? ascending : ascending.toReversed();
  return {
    from: (offset) => [all.slice(offset)],
    // biome-ignore lint/correctness/useYield: others are counted in steps.
    *count() {
      return all.length;
    },
  };
}

/** Those of a list that a step's filter leaves. */
function only(list: TransactionList, filter: (sequences: readonly number[]) => readonly number[]): TransactionList {
  return {
    *from(offset) {
      let skipped = 0;
      for (const step of list.from(0)) {
        const left = filter(step);
        yield left.slice(offset - skipped);
        skipped = Math.min(offset, skipped + left.length);
      }
    },
    *count() {
      let count = 0;
      for (const step of list.from(0)) {
        count += filter(step).length;
        yield;
      }
      return count;
    },
  };
}

/** Each once, in order. */
function* transactionsOf(changes: CountedChanges, range: TransactionRange): Generator<Uint8Array, number[]> {
  const sequences: number[] = [];
  for (const step of changes.changes(range)) {
    for (const { sequence } of step.changes) if (sequences.at(-1) !== sequence) sequences.push(sequence);
    yield PAUSE;
  }
  return sequences;
}

function withReasonOnly(log: ChangeLog, sequences: readonly number[], text: string): readonly number[] {
  const entries = log.entries(sequences);
  const folded = foldCase(text);
  return sequences.filter((sequence) => hasReason((entries.get(sequence) as LedgerEntry).reason, folded));
}

function madeByOnly(log: ChangeLog, sequences: readonly number[], { types, id, name }: MadeBy): readonly number[] {
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
 * Of what comes in steps of any length, so many, a few at a time; also none, to hand the turn on.
 * @param limit 0 for all
 */
function* page(steps: Iterable<readonly number[]>, limit: number): Generator<readonly number[]> {
  let left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  for (const step of steps) {
    const wanted = step.slice(0, left);
    if (wanted.length === 0) yield wanted;
    for (let start = 0; start < wanted.length; start += STEP_TRANSACTIONS)
      yield wanted.slice(start, start + STEP_TRANSACTIONS);
    left -= wanted.length;
    if (left === 0) return;
  }
}

interface TransactionInput {
  readonly actor: Actor;
  readonly sequence: number;
}

/** One transaction as an envelope. */
export const transaction = longRead("transaction", function* (reader: Reader, input: TransactionInput) {
  const log = new ChangeLog(reader);
  const entry = log.entries([input.sequence]).get(input.sequence) as LedgerEntry;
  const text = yield* described(log, { reach: input.actor, kinds: CHANGE_KINDS }, entry);
  yield encoder.encode(
    successBody(text, metaAt(null, thinnedUntilMember(reader.thinnedPast.incompleteUntil(input.sequence - 1)))),
  );
});

/** A transaction as a JSON object. */
function* described(log: ChangeLog, query: ChangeQuery, entry: LedgerEntry): Generator<Uint8Array, string> {
  const { sequence } = entry;
  const counts: Record<string, Partial<Record<VersionOperation, number>>> = {};
  for (const { changes, through } of log.changesIn(query, { sequences: [sequence], through: sequence })) {
    for (const { kind, operation } of changes) {
      const byOperation = (counts[kind.name] ??= {});
      byOperation[operation] = (byOperation[operation] ?? 0) + 1;
    }
    if (through < sequence) yield PAUSE;
  }
  return `${transactionText(entry).slice(0, -1)},"command":${JSON.stringify(entry.source)},"changes":${JSON.stringify(counts)}}`;
}

const encoder = new TextEncoder();
