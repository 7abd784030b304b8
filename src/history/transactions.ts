// The transactions of an organization, newest first, each with what it changed as far as the caller sees it.

import type { Actor } from "../access/actor.ts";
import type { Thinned } from "../db/pruned-history.ts";
import { ChangeLog, type ChangeQuery, type LedgerEntry, type VersionOperation } from "../db/reading/change-log.ts";
import { longRead } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { ReasonSearch } from "../db/reading/reason-search.ts";
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

export interface TransactionsInput {
  readonly actor: Actor;
  /** Transactions up to this one. */
  readonly until: number;
  /** Only those whose reason has this text in it; null for all. */
  readonly reason: string | null;
  /** Rows; 0 for all. */
  readonly limit: number;
  readonly offset: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly asked: string | null;
  /** Where that lies in thinned history. */
  readonly thinned?: Thinned;
}

/** Transactions that are looked up together. */
const STEP_TRANSACTIONS = 50;
/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);

/** The page as an envelope. */
export const transactions = longRead("transactions", function* (reader: Reader, input: TransactionsInput) {
  const { until, reason, limit, offset, asked, actor } = input;
  const log = new ChangeLog(reader);
  const query: ChangeQuery = { reach: actor, kinds: CHANGE_KINDS };
  const activity = log.activity(query);
  const found = reason === null ? activity : new ReasonSearch(reader, activity, reason);
  yield encoder.encode(LIST_HEAD);
  let isFirst = true;
  for (const sequences of page(found.newestFirst(until, offset), limit)) {
    const entries = log.entries(sequences);
    for (const sequence of sequences) {
      const text = yield* described(log, query, entries.get(sequence) as LedgerEntry);
      yield encoder.encode(isFirst ? text : `,${text}`);
      isFirst = false;
    }
    yield PAUSE;
  }
  const count = found.count(until);
  let counted = count.next();
  for (; counted.done !== true; counted = count.next()) yield PAUSE;
  yield encoder.encode(
    listTail(
      listMeta(
        { limit, offset, total: counted.value },
        asked,
        resolvedMembers(input.thinned) + thinnedUntilMember(reader.thinnedPast.incompleteUntil(0)),
      ),
    ),
  );
});

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
