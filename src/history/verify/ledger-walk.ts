// Goes through the whole ledger in steps that each hold a state of the database for a moment only: a store of millions
// of versions can be walked beside a running appliance. Must not judge what it finds.

import type { Sql } from "../../db/connection.ts";
import type { AnyKind } from "../../db/kind.ts";
import { writtenSql } from "../../db/packing.ts";
import { membersSql, ofKindSql, shapeOf, sortKeysSql } from "../../db/shape.ts";

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
  /** `members` and `sort_keys` in today's shape. */
  readonly membersToday: string | null;
  readonly sortKeysToday: string | null;
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
  readonly reason: string | null;
  readonly hash: Uint8Array;
}

/** Rows per step: some tens of milliseconds. */
export const STEP_ROWS = 500;

const COLUMNS = [
  "key",
  "operation",
  "shape",
  "valid_from",
  "composed",
  "changed",
  "sort_keys",
  "observed",
  "members",
  "hash",
];
/** With what tells how they are packed. */
const STORED = [...COLUMNS, "patch"];
/** The kinds that versions may be of. */
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
  // Most are of today's shape: they need not be told twice.
  const today = [membersSql, sortKeysSql].map(
    (sqlOf) => `CASE WHEN ${isOlder(kinds)} THEN ${ofKindSql(kinds.values(), "r.kind", "v", sqlOf)} END`,
  );
  return `
  SELECT v.key >> 31, v.key & 2147483647, ${COLUMNS.slice(1)
    .map((column) => (isPacked(column) ? writtenSql("v", column) : `v.${column}`))
    .join(", ")}, r.kind, r.id, t.at, ${isOlder(kinds)}, ${today.join(", ")}
  FROM ${source} v
  LEFT JOIN history_records r ON r.n = v.key >> 31
  LEFT JOIN history_transactions t ON t.sequence = v.key & 2147483647
  ${where} ORDER BY v.key LIMIT ${STEP_ROWS}`;
}

function isPacked(column: string): column is "members" | "observed" | "sort_keys" {
  return column === "members" || column === "observed" || column === "sort_keys";
}

/** Whether the version `v` of the record `r` is of an earlier shape than its kind's. */
function isOlder(kinds: Kinds): string {
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
 * Every version of the records up to `lastN`, the versions of a record in the order of time, one record after the
 * other. Bounded, or a busy writer would keep it going for ever.
 * @param each called for a step's versions on one state of the database; `isLast` with the last of them, maybe none
 * @returns the record numbers that the steps came to
 */
export function walkVersions(
  db: Sql,
  kinds: Kinds,
  lastN: number,
  each: (versions: LedgerVersion[], isLast: boolean) => void,
): Generator<number> {
  return walk(db, VERSIONS(kinds), lastN, each);
}

/** As walkVersions, with the versions that were dropped in their places. */
export function walkAllVersions(
  db: Sql,
  kinds: Kinds,
  lastN: number,
  each: (versions: Array<LedgerVersion | DroppedVersion>, isLast: boolean) => void,
): Generator<number> {
  const isThinned = db.$client.query("SELECT 1 FROM history_thinned LIMIT 1").get() !== null;
  return walk(db, isThinned ? VERSIONS_AND_DROPPED(kinds) : VERSIONS(kinds), lastN, each);
}

function* walk(
  db: Sql,
  sql: string,
  lastN: number,
  each: (versions: LedgerVersion[], isLast: boolean) => void,
): Generator<number> {
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
      if (last !== undefined) [n, sequence] = onward("history_versions", [n, sequence], [last.n, last.sequence]);
    });
    yield n;
  }
  statement.finalize();
}

/** Every transaction up to a sequence, in order, in steps. @returns the sequences that the steps came to */
export function* walkTransactions(
  db: Sql,
  until: number,
  each: (transactions: LedgerTransaction[]) => void,
): Generator<number> {
  const statement = db.$client.prepare(TRANSACTIONS);
  let after = Number.MIN_SAFE_INTEGER;
  for (let isLast = false; !isLast; ) {
    const transactions = (statement.values(after, until) as unknown[][]).map(toTransaction);
    each(transactions);
    const last = transactions.at(-1);
    if (last !== undefined) [after] = onward("history_transactions", [after], [last.sequence]);
    isLast = transactions.length < STEP_ROWS;
    yield after;
  }
  statement.finalize();
}

/**
 * Where the next step of a table goes on. Rows that a damaged key has put out of their order would be gone through for
 * ever.
 * @returns `reached`
 * @throws Error where that is not beyond `before`
 */
export function onward<Key extends ReadonlyArray<number | string>>(table: string, before: Key, reached: Key): Key {
  const place = reached.findIndex((value, at) => value !== before[at]);
  const [from, to] = [before[place], reached[place]];
  // As SQLite orders texts: by their bytes.
  const isBeyond =
    typeof to === "string" ? Buffer.compare(Buffer.from(String(from)), Buffer.from(to)) < 0 : Number(from) < Number(to);
  if (place < 0 || !isBeyond) throw new Error(`the rows of ${table} are not in their order`);
  return reached;
}

/** Several reads on one state of the database; within a transaction, on that transaction's. */
export function inSnapshot<T>(db: Sql, read: () => T): T {
  const client = db.$client;
  return client.inTransaction ? read() : client.transaction(read).deferred();
}

function toVersion(row: unknown[]): LedgerVersion {
  const [
    n,
    sequence,
    operation,
    shape,
    valid_from,
    composed,
    changed,
    sort_keys,
    observed,
    members,
    hash,
    kind,
    id,
    at,
    isOlder,
    older,
    olderKeys,
  ] = row;
  const today =
    isOlder === 1
      ? { membersToday: older, sortKeysToday: olderKeys }
      : { membersToday: members, sortKeysToday: sort_keys };
  return {
    n,
    sequence,
    operation,
    shape,
    valid_from,
    composed,
    changed,
    sort_keys,
    observed,
    members,
    hash,
    kind,
    id,
    at,
    ...today,
  } as LedgerVersion;
}

function toTransaction(row: unknown[]): LedgerTransaction {
  const [
    sequence,
    at,
    wall_at,
    organization_id,
    actor_type,
    actor_id,
    actor_name,
    request_id,
    source,
    last_n,
    reason,
    hash,
  ] = row;
  return {
    sequence,
    at,
    wall_at,
    organization_id,
    actor_type,
    actor_id,
    actor_name,
    request_id,
    source,
    last_n,
    reason,
    hash,
  } as LedgerTransaction;
}
