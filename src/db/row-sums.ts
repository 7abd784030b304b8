// How many rows each table beside the ledger has, and the sum of their checksums. The connections that write keep them,
// by triggers of their own: what is deleted by anybody else is missed. Must not decide what is done about it.

import type { Sql } from "./connection.ts";
import { checkedTables, OBSERVATIONS } from "./row-checksum.ts";

/** What is known of a table's rows. */
export interface RowSum {
  readonly name: string;
  /** How many there are. */
  readonly rows: number;
  /** How many were written; null where that is not known. */
  readonly written: number | null;
  /** Whether they are those that were written, as far as their number and the sum of their checksums tell. */
  readonly isRight: boolean;
}

/** The tables whose rows are counted: those with checksums, but for observations, which the ledger implies. */
export function summedTables(db: Sql): string[] {
  return checkedTables(db).flatMap(({ name }) => (name === OBSERVATIONS ? [] : [name]));
}

/**
 * Makes a connection keep the sums with every row that it writes, in the same transaction: also with rows that go
 * because of others. To be called on every connection that writes to these tables; again it does nothing.
 */
export function keepRowSums(db: Sql): void {
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
  // One by one: a file that lacks the tables has none, and Bun refuses an empty text. Whatever reads them tells so.
  for (const trigger of triggers) db.$client.run(trigger);
}

/** A table's rows against what is kept of them: of one statement, so of one moment. */
export function rowSumOf(db: Sql, name: string): RowSum {
  const [rows, written, isRight] = db.$client
    .prepare(
      `SELECT t.rows, s.rows, t.rows IS s.rows AND t.sum IS s.sum
       FROM (SELECT count(*) AS rows, coalesce(sum(checksum), 0) AS sum FROM ${name} NOT INDEXED) t
       LEFT JOIN row_sums s ON s.name = '${name}'`,
    )
    .values()[0] as [number, number | null, number];
  return { name, rows, written, isRight: isRight === 1 };
}

/** Tables that are counted and not there, or not to be counted; what such a one had lost is still known. */
export function strangeRowSums(db: Sql): string[] {
  const known = new Set(summedTables(db));
  return (
    db.$client.query("SELECT name FROM row_sums WHERE rows <> 0 OR lost = 0 ORDER BY name").values() as Array<[string]>
  ).flatMap(([name]) => (known.has(name) ? [] : [name]));
}

/** Counts a table no more that is none beside the ledger from now on. @param lost rows that were lost with that */
export function endRowSum(db: Sql, name: string, lost: number): void {
  db.$client.query("UPDATE row_sums SET rows = 0, sum = 0, lost = lost + ? WHERE name = ?").run(lost, name);
  db.$client.query("DELETE FROM row_sums WHERE name = ? AND lost = 0").run(name);
}

/** By table, how many rows repairs have gone on without, where there are any. */
export function lostRows(db: Sql): ReadonlyMap<string, number> {
  return new Map(
    db.$client.query("SELECT name, lost FROM row_sums WHERE lost <> 0 ORDER BY name").values() as Array<
      [string, number]
    >,
  );
}

/**
 * Takes the rows that there are for those that were written, and keeps how many are lost with that.
 * @param lost by table
 */
export function settleRowSums(db: Sql, lost: ReadonlyMap<string, number>): void {
  for (const name of strangeRowSums(db)) db.$client.query("DELETE FROM row_sums WHERE name = ?").run(name);
  for (const name of summedTables(db))
    db.$client
      .query(
        `INSERT INTO row_sums (name, rows, sum, lost)
         SELECT '${name}', count(*), coalesce(sum(checksum), 0), ?1 FROM ${name} NOT INDEXED WHERE true
         ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, sum = excluded.sum, lost = lost + excluded.lost`,
      )
      .run(lost.get(name) ?? 0);
}
