// Row counts and checksum totals for tables outside the ledger. Writing connections maintain them with temporary
// triggers, which exposes deletions by anything else. How differences are handled is decided elsewhere.

import type { Sql } from "./connection.ts";
import { checkedTables, OBSERVATIONS } from "./row-checksum.ts";

/** Expected and actual rows of a table. */
export interface RowSum {
  readonly name: string;
  /** Actual row count. */
  readonly rows: number;
  /** Expected row count; null if unknown. */
  readonly written: number | null;
  /** Whether row count and checksum total match the expected ones. */
  readonly isMatching: boolean;
}

/** Tables with row sums: those with checksums, except observations, which the ledger implies. */
export function summedTables(db: Sql): string[] {
  return checkedTables(db).flatMap(({ name }) => (name === OBSERVATIONS ? [] : [name]));
}

/**
 * Installs triggers that update the sums with every row written, in the same transaction, including cascaded deletions.
 * Call on every connection that writes to these tables. Idempotent.
 */
export function installRowSumTriggers(db: Sql): void {
  const triggers = summedTables(db).flatMap((name) => {
    const after = (event: string, changes: string, when = "") =>
      `CREATE TEMP TRIGGER IF NOT EXISTS row_sums_of_${name}_${event.toLowerCase()}
       AFTER ${event} ON main.${name} ${when}
       BEGIN UPDATE row_sums SET ${changes} WHERE name = '${name}'; END`;
    return [
      after("INSERT", "rows = rows + 1, sum = sum + NEW.checksum"),
      after("DELETE", "rows = rows - 1, sum = sum - OLD.checksum"),
      after("UPDATE", "sum = sum + NEW.checksum - OLD.checksum", "WHEN NEW.checksum <> OLD.checksum"),
    ];
  });
  // One by one: a file that lacks the tables gets no triggers, and Bun rejects an empty statement. Readers report the
  // missing tables.
  for (const trigger of triggers) db.$client.run(trigger);
}

/** Compares a table's rows with its row sum in one statement, so from one snapshot. */
export function rowSumOf(db: Sql, name: string): RowSum {
  const [rows, written, isMatching] = db.$client
    .prepare(
      `SELECT t.rows, s.rows, t.rows IS s.rows AND t.sum IS s.sum
       FROM (SELECT count(*) AS rows, coalesce(sum(checksum), 0) AS sum FROM ${name} NOT INDEXED) t
       LEFT JOIN row_sums s ON s.name = '${name}'`,
    )
    .values()[0] as [number, number | null, number];
  return { name, rows, written, isMatching: isMatching === 1 };
}

/** Names in row_sums without a counted table. */
export function unexpectedRowSums(db: Sql): string[] {
  const known = new Set(summedTables(db));
  const names = db.$client.query("SELECT name FROM row_sums ORDER BY name").values() as Array<[string]>;
  return names.flatMap(([name]) => (known.has(name) ? [] : [name]));
}

/** Starts counting new tables, including their existing rows. @param names tables that are not counted are ignored */
export function startRowSums(db: Sql, names: readonly string[]): void {
  for (const name of summedTables(db)) if (names.includes(name)) acceptRows(db, name, 0);
}

/** Rows that repairs could not recover, by table; only tables with losses. */
export function lostRows(db: Sql): ReadonlyMap<string, number> {
  const rows = db.$client.query("SELECT name, lost FROM row_sums WHERE lost <> 0 ORDER BY name").values();
  return new Map(rows as Array<[string, number]>);
}

/**
 * Accepts the current rows as expected, and adds up the losses.
 * @param lost by table
 */
export function acceptRowSums(db: Sql, lost: ReadonlyMap<string, number>): void {
  for (const name of unexpectedRowSums(db)) db.$client.query("DELETE FROM row_sums WHERE name = ?").run(name);
  for (const name of summedTables(db)) acceptRows(db, name, lost.get(name) ?? 0);
}

function acceptRows(db: Sql, name: string, lost: number): void {
  db.$client
    .query(
      `INSERT INTO row_sums (name, rows, sum, lost)
       SELECT '${name}', count(*), coalesce(sum(checksum), 0), ?1 FROM ${name} NOT INDEXED WHERE true
       ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, sum = excluded.sum, lost = lost + excluded.lost`,
    )
    .run(lost);
}
