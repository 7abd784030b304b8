// Goes through the whole ledger in steps that each hold a state of the database for a moment only: a store of millions
// of versions can be walked beside a running appliance. Must not judge what it finds.

import type { Sql } from "../../db/connection.ts";

/** A version with the rows that it belongs to; their columns are null where there is none. */
export interface LedgerVersion {
  readonly n: number;
  readonly sequence: number;
  readonly operation: number;
  readonly shape: number;
  readonly valid_from: string;
  readonly composed: number;
  readonly changed: string | null;
  readonly sort_keys: string | null;
  readonly observed: string;
  readonly members: string | null;
  readonly hash: Uint8Array;
  readonly kind: number | null;
  readonly id: string | null;
  /** The instant of its transaction. */
  readonly at: number | null;
}

/** A version that a prune dropped, with the rows that it belongs to. */
export interface DroppedVersion {
  readonly n: number;
  readonly sequence: number;
  readonly operation: null;
  readonly hash: Uint8Array;
  readonly kind: number | null;
  readonly id: string | null;
  readonly at: number | null;
}

export interface LedgerTransaction {
  readonly sequence: number;
  readonly at: number;
  readonly wall_at: number;
  readonly organization_id: string | null;
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly actor_name: string;
  readonly request_id: string | null;
  readonly source: string;
  readonly last_n: number;
  readonly hash: Uint8Array;
}

/** Rows per step: some tens of milliseconds. */
export const STEP_ROWS = 500;

const COLUMNS = ["key", "operation", "shape", "valid_from", "composed", "changed", "sort_keys", "observed", "members", "hash"];
const IN_STEP = "key > ((?1 << 31) | ?2) AND key < ((?3 + 1) << 31)";
const VERSIONS = versionsFrom("history_versions", `WHERE ${IN_STEP}`);
const VERSIONS_AND_DROPPED = versionsFrom(
  `(SELECT ${COLUMNS.join(", ")} FROM history_versions WHERE ${IN_STEP}
    UNION ALL SELECT ${COLUMNS.map((column) => (column === "key" || column === "hash" ? column : "NULL")).join(", ")} FROM history_thinned WHERE ${IN_STEP}
    ORDER BY key LIMIT ${STEP_ROWS})`,
  "",
);

function versionsFrom(source: string, where: string): string {
  return `
  SELECT v.key >> 31, v.key & 2147483647, ${COLUMNS.slice(1).map((column) => `v.${column}`).join(", ")}, r.kind, r.id, t.at
  FROM ${source} v
  LEFT JOIN history_records r ON r.n = v.key >> 31
  LEFT JOIN history_transactions t ON t.sequence = v.key & 2147483647
  ${where} ORDER BY v.key LIMIT ${STEP_ROWS}`;
}

const TRANSACTIONS = `
  SELECT sequence, at, wall_at, organization_id, actor_type, actor_id, actor_name, request_id, source, last_n, hash
  FROM history_transactions WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence LIMIT ${STEP_ROWS}`;

/**
 * Every version of the records up to `lastN`, the versions of a record in the order of time, one record after the other.
 * Bounded, or a busy writer would keep it going for ever.
 * @param each called for a step's versions on one state of the database; `isLast` with the last of them, maybe none
 * @returns the record numbers that the steps came to
 */
export function walkVersions(db: Sql, lastN: number, each: (versions: LedgerVersion[], isLast: boolean) => void): Generator<number> {
  return walk(db, VERSIONS, lastN, each);
}

/** As walkVersions, with the versions that were dropped in their places. */
export function walkAllVersions(db: Sql, lastN: number, each: (versions: Array<LedgerVersion | DroppedVersion>, isLast: boolean) => void): Generator<number> {
  const isThinned = db.$client.query("SELECT 1 FROM history_thinned LIMIT 1").get() !== null;
  return walk(db, isThinned ? VERSIONS_AND_DROPPED : VERSIONS, lastN, each);
}

function* walk(db: Sql, sql: string, lastN: number, each: (versions: LedgerVersion[], isLast: boolean) => void): Generator<number> {
  const statement = db.$client.prepare(sql);
  // Below every key, also one that was made up. Keys stay in SQL: they have more bits than a JavaScript number.
  let n = -(2 ** 32);
  let sequence = 0;
  for (let isLast = false; !isLast; ) {
    inSnapshot(db, () => {
      const versions = (statement.values(n, sequence, lastN) as unknown[][]).map(toVersion);
      isLast = versions.length < STEP_ROWS;
      each(versions, isLast);
      const last = versions.at(-1);
      if (last !== undefined) [n, sequence] = [last.n, last.sequence];
    });
    yield n;
  }
  statement.finalize();
}

/** Every transaction up to a sequence, in order, in steps. @returns the sequences that the steps came to */
export function* walkTransactions(db: Sql, until: number, each: (transactions: LedgerTransaction[]) => void): Generator<number> {
  const statement = db.$client.prepare(TRANSACTIONS);
  let after = Number.MIN_SAFE_INTEGER;
  for (let isLast = false; !isLast; ) {
    const transactions = (statement.values(after, until) as unknown[][]).map(toTransaction);
    each(transactions);
    after = transactions.at(-1)?.sequence ?? after;
    isLast = transactions.length < STEP_ROWS;
    yield after;
  }
  statement.finalize();
}

/** Several reads on one state of the database; within a transaction, on that transaction's. */
export function inSnapshot<T>(db: Sql, read: () => T): T {
  const client = db.$client;
  return client.inTransaction ? read() : client.transaction(read).deferred();
}

function toVersion(row: unknown[]): LedgerVersion {
  const [n, sequence, operation, shape, valid_from, composed, changed, sort_keys, observed, members, hash, kind, id, at] = row;
  return { n, sequence, operation, shape, valid_from, composed, changed, sort_keys, observed, members, hash, kind, id, at } as LedgerVersion;
}

function toTransaction(row: unknown[]): LedgerTransaction {
  const [sequence, at, wall_at, organization_id, actor_type, actor_id, actor_name, request_id, source, last_n, hash] = row;
  return { sequence, at, wall_at, organization_id, actor_type, actor_id, actor_name, request_id, source, last_n, hash } as LedgerTransaction;
}
