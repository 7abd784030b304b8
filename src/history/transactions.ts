// The transactions of an organization, newest first, each with what it changed as far as the caller sees it.

import type { Actor } from "../access/actor.ts";
import { ChangeLog, type ChangeQuery, type Cursor, type LedgerEntry, type Operation } from "../db/change-log.ts";
import type { LongRead } from "../db/long-reads.ts";
import type { Reader } from "../db/reader.ts";
import type { Thinned } from "../db/thinned-past.ts";
import { LIST_HEAD, listMeta, listTail, metaAt, resolvedMembers, successBody, thinnedUntilMember } from "../http/envelope.ts";
import { CHANGE_KINDS, transactionText } from "./change-view.ts";

export interface TransactionsInput {
  readonly actor: Actor;
  /** Transactions up to this one. */
  readonly until: number;
  /** Rows; 0 for all. */
  readonly limit: number;
  readonly offset: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly asked: string | null;
  /** Where that lies in thinned history. */
  readonly thinned?: Thinned;
}

const STEP_TRANSACTIONS = 50;
/** Versions that are counted in one step. */
const STEP_VERSIONS = 2_000;
const PAUSE = new Uint8Array(0);

/** The page as an envelope. */
export const transactions: LongRead = function* (reader: Reader, input: TransactionsInput) {
  const { until, limit, offset, asked, actor } = input;
  const log = new ChangeLog(reader);
  const query: ChangeQuery = { reach: actor, kinds: CHANGE_KINDS };
  const scopes = log.scopes(query);
  yield encoder.encode(LIST_HEAD);
  let isFirst = true;
  const total = log.total(scopes, until);
  const end = limit === 0 ? total : Math.min(total, offset + limit);
  for (let place = offset; place < end; place += STEP_TRANSACTIONS) {
    const sequences = log.latest(scopes, until, Math.min(STEP_TRANSACTIONS, end - place), place);
    const entries = log.entries(sequences);
    for (const sequence of sequences) {
      const text = yield* described(log, query, entries.get(sequence) as LedgerEntry);
      yield encoder.encode(isFirst ? text : `,${text}`);
      isFirst = false;
    }
  }
  yield encoder.encode(listTail(listMeta({ limit, offset, total }, asked, resolvedMembers(input.thinned) + thinnedUntilMember(reader.thinnedPast.incompleteUntil(0)))));
};

export interface TransactionInput {
  readonly actor: Actor;
  readonly sequence: number;
}

/** One transaction as an envelope. */
export const transaction: LongRead = function* (reader: Reader, input: TransactionInput) {
  const log = new ChangeLog(reader);
  const entry = log.entries([input.sequence]).get(input.sequence) as LedgerEntry;
  const text = yield* described(log, { reach: input.actor, kinds: CHANGE_KINDS }, entry);
  yield encoder.encode(successBody(text, metaAt(null, thinnedUntilMember(reader.thinnedPast.incompleteUntil(input.sequence - 1)))));
};

/** A transaction as a JSON object. */
function* described(log: ChangeLog, query: ChangeQuery, entry: LedgerEntry): Generator<Uint8Array, string> {
  const counts: Record<string, Partial<Record<Operation, number>>> = {};
  let cursor: Cursor = { sequence: entry.sequence - 1, n: 0 };
  for (;;) {
    const changes = log.changes(query, cursor, entry.sequence, STEP_VERSIONS);
    for (const { kind, operation } of changes) {
      const byOperation = (counts[kind.name] ??= {});
      byOperation[operation] = (byOperation[operation] ?? 0) + 1;
    }
    const last = changes.at(-1);
    if (last === undefined || changes.length < STEP_VERSIONS) break;
    cursor = { sequence: entry.sequence, n: last.n };
    yield PAUSE;
  }
  return `${transactionText(entry).slice(0, -1)},"command":${JSON.stringify(entry.source)},"changes":${JSON.stringify(counts)}}`;
}

const encoder = new TextEncoder();
