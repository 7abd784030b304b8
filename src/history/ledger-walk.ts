// Goes through the whole ledger in steps that each hold a state of the database for a moment only: a store of millions
// of versions can be walked beside a running appliance. Must not judge what it finds.

import type { Sql } from "../db/connection.ts";

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

const VERSIONS = `
  SELECT v.key >> 31, v.key & 2147483647, v.operation, v.shape, v.valid_from, v.composed, v.changed, v.sort_keys, v.observed, v.members, v.hash,
         r.kind, r.id, t.at
  FROM history_versions v
  LEFT JOIN history_records r ON r.n = v.key >> 31
  LEFT JOIN history_transactions t ON t.sequence = v.key & 2147483647
  WHERE v.key > ((?1 << 31) | ?2) ORDER BY v.key LIMIT ?3`;

const TRANSACTIONS = `
  SELECT sequence, at, wall_at, organization_id, actor_type, actor_id, actor_name, request_id, source, last_n, hash
  FROM history_transactions WHERE sequence > ?1 ORDER BY sequence LIMIT ?2`;

/**
 * Every version, the versions of a record in the order of time, one record after the other.
 * @param each called for a step's versions on one state of the database, and with an empty step at the end
 * @returns the record numbers that the steps came to
 */
export function* walkVersions(db: Sql, each: (versions: LedgerVersion[]) => void): Generator<number> {
  const client = db.$client;
  const statement = client.prepare(VERSIONS);
  // Below every key, also one that was made up. Keys stay in SQL: they have more bits than a JavaScript number.
  let n = -(2 ** 32);
  let sequence = 0;
  for (let count = 1; count > 0; ) {
    count = inSnapshot(db, () => {
      const versions = (statement.values(n, sequence, STEP_ROWS) as unknown[][]).map(toVersion);
      each(versions);
      const last = versions.at(-1);
      if (last !== undefined) [n, sequence] = [last.n, last.sequence];
      return versions.length;
    });
    yield n;
  }
  statement.finalize();
}

/** Every transaction in order, in steps. @returns the sequences that the steps came to */
export function* walkTransactions(db: Sql, each: (transactions: LedgerTransaction[]) => void): Generator<number> {
  const statement = db.$client.prepare(TRANSACTIONS);
  let after = -(2 ** 53 - 1);
  for (let count = 1; count > 0; ) {
    const transactions = (statement.values(after, STEP_ROWS) as unknown[][]).map(toTransaction);
    each(transactions);
    after = transactions.at(-1)?.sequence ?? after;
    count = transactions.length;
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
