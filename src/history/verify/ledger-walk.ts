// Ledger walk in short steps, with a snapshot per step, so that millions of versions can be read while an appliance is
// running. Passes on what it reads without judging it.

import type { Sql } from "../../db/connection.ts";
import type { AnyKind } from "../../db/kind.ts";
import { writtenSql } from "../../db/packing.ts";
import { byKindSql, membersSql, shapeOf, sortKeysSql } from "../../db/shape.ts";

/** A version joined with its record and transaction; their columns are null if missing. */
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
  /** Timestamp of its transaction. */
  readonly at: number | null;
  /** `members` and `sort_keys` in the current shape. */
  readonly currentMembers: string | null;
  readonly currentSortKeys: string | null;
}

/** A version as read: the current text only if it has an older shape. */
interface WalkedVersion extends LedgerVersion {
  readonly isOlderShape: number;
  currentMembers: string | null;
  currentSortKeys: string | null;
}

/** A version dropped by a prune, joined with its record and transaction. */
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
  readonly reason: string | null;
  readonly hash: Uint8Array;
}

/** Rows per step: some tens of milliseconds. */
export const STEP_ROWS = 500;

const COLUMNS = "operation shape valid_from composed changed sort_keys observed members hash".split(" ");
/** Including the packing column. */
const STORED = ["key", ...COLUMNS, "patch"];
/** Kinds by code. */
type Kinds = ReadonlyMap<number, AnyKind>;

const IN_STEP = "key > ((?1 << 31) | ?2) AND key < ((?3 + 1) << 31)";
const VERSIONS = (kinds: Kinds) => versionsFrom(kinds, "history_versions", `WHERE ${IN_STEP}`);
const VERSIONS_AND_DROPPED = (kinds: Kinds) =>
  versionsFrom(
    kinds,
    `(SELECT ${STORED.join(", ")} FROM history_versions WHERE ${IN_STEP}
    UNION ALL SELECT ${STORED.map((column) => (column === "key" || column === "hash" ? column : "NULL")).join(", ")}
      FROM history_thinned WHERE ${IN_STEP}
    ORDER BY key LIMIT ${STEP_ROWS})`,
    "",
  );

function versionsFrom(kinds: Kinds, source: string, where: string): string {
  // Most versions have the current shape: do not return them twice.
  const [currentMembers, currentSortKeys] = [membersSql, sortKeysSql].map(
    (sqlOf) => `CASE WHEN ${isOlderShape(kinds)} THEN ${byKindSql(kinds.values(), "r.kind", "v", sqlOf)} END`,
  );
  const columns = COLUMNS.map((column) => `${isPacked(column) ? writtenSql("v", column) : `v.${column}`} AS ${column}`);
  return `
  SELECT v.key >> 31 AS n, v.key & 2147483647 AS sequence, ${columns.join(", ")}, r.kind AS kind, r.id AS id,
    t.at AS at, ${isOlderShape(kinds)} AS isOlderShape, ${currentMembers} AS currentMembers,
    ${currentSortKeys} AS currentSortKeys
  FROM ${source} v
  LEFT JOIN history_records r ON r.n = v.key >> 31
  LEFT JOIN history_transactions t ON t.sequence = v.key & 2147483647
  ${where} ORDER BY v.key LIMIT ${STEP_ROWS}`;
}

function isPacked(column: string): column is "members" | "observed" | "sort_keys" {
  return column === "members" || column === "observed" || column === "sort_keys";
}

/** SQL that tests whether version `v` of record `r` has an earlier shape than its kind. */
function isOlderShape(kinds: Kinds): string {
  const arms = [...kinds.values()]
    .filter((kind) => shapeOf(kind) > 1)
    .map((kind) => `WHEN ${kind.code} THEN v.shape < ${shapeOf(kind)}`);
  return arms.length === 0 ? "0" : `(CASE r.kind ${arms.join(" ")} ELSE 0 END)`;
}

const TRANSACTIONS = `
  SELECT sequence, at, wall_at, organization_id, actor_type, actor_id, actor_name, request_id, source, last_n, reason,
    hash
  FROM history_transactions WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence LIMIT ${STEP_ROWS}`;

/**
 * Every version of the records up to `lastN`, record by record, in chronological order. Bounded, since a busy writer
 * could otherwise keep it running forever.
 * @param onStep called with a step's versions, from one snapshot; `isLast` on the last call, possibly without versions
 * @returns the record number reached, per step
 */
export function walkVersions(
  db: Sql,
  kinds: Kinds,
  lastN: number,
  onStep: (versions: LedgerVersion[], isLast: boolean) => void,
): Generator<number> {
  return walk(db, VERSIONS(kinds), lastN, onStep);
}

/** Like walkVersions, including dropped versions. */
export function walkAllVersions(
  db: Sql,
  kinds: Kinds,
  lastN: number,
  onStep: (versions: Array<LedgerVersion | DroppedVersion>, isLast: boolean) => void,
): Generator<number> {
  const isThinned = db.$client.query("SELECT 1 FROM history_thinned LIMIT 1").get() !== null;
  return walk(db, isThinned ? VERSIONS_AND_DROPPED(kinds) : VERSIONS(kinds), lastN, onStep);
}

function* walk(
  db: Sql,
  sql: string,
  lastN: number,
  onStep: (versions: LedgerVersion[], isLast: boolean) => void,
): Generator<number> {
  const statement = db.$client.prepare(sql);
  // Below every key, even a forged one. Keys stay in SQL: they exceed JavaScript's integer precision.
  let n = -(2 ** 32);
  let sequence = 0;
  for (let isLast = false; !isLast; ) {
    inSnapshot(db, () => {
      const versions = statement.all(n, sequence, lastN) as WalkedVersion[];
      for (const version of versions)
        if (version.isOlderShape !== 1) {
          version.currentMembers = version.members;
          version.currentSortKeys = version.sort_keys;
        }
      isLast = versions.length < STEP_ROWS;
      onStep(versions, isLast);
      const last = versions.at(-1);
      if (last !== undefined) [n, sequence] = advance("history_versions", [n, sequence], [last.n, last.sequence]);
    });
    yield n;
  }
  statement.finalize();
}

/** Every transaction up to a sequence, in order, in steps. @returns the sequence reached, per step */
export function* walkTransactions(
  db: Sql,
  until: number,
  onStep: (transactions: LedgerTransaction[]) => void,
): Generator<number> {
  const statement = db.$client.prepare(TRANSACTIONS);
  let after = Number.MIN_SAFE_INTEGER;
  for (let isLast = false; !isLast; ) {
    const transactions = statement.all(after, until) as LedgerTransaction[];
    onStep(transactions);
    const last = transactions.at(-1);
    if (last !== undefined) [after] = advance("history_transactions", [after], [last.sequence]);
    isLast = transactions.length < STEP_ROWS;
    yield after;
  }
  statement.finalize();
}

/**
 * Position for the next step of a table. Rows out of order, due to a damaged key, could loop forever.
 * @returns `reached`
 * @throws Error if `reached` is not beyond `before`
 */
export function advance<Key extends ReadonlyArray<number | string>>(table: string, before: Key, reached: Key): Key {
  const index = reached.findIndex((value, at) => value !== before[at]);
  const [from, to] = [before[index], reached[index]];
  // SQLite orders strings by their bytes.
  const isBeyond =
    typeof to === "string" ? Buffer.compare(Buffer.from(String(from)), Buffer.from(to)) < 0 : Number(from) < Number(to);
  if (index < 0 || !isBeyond) throw new Error(`the rows of ${table} are out of order`);
  return reached;
}

/** Runs several reads on one snapshot; within a transaction, on its snapshot. */
export function inSnapshot<T>(db: Sql, read: () => T): T {
  const client = db.$client;
  return client.inTransaction ? read() : client.transaction(read).deferred();
}
