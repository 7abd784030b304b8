// Checksums of the rows that stand beside the ledger: no hash chain proves them, and nothing that they could be
// compared with implies them. Every table with a column `checksum` has them. Must not decide what is done about a row
// that is damaged.

import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTableWithColumns } from "drizzle-orm/sqlite-core";
import { ownValue } from "../base/fields.ts";
import type { Sql } from "./connection.ts";

/** What SQLite stores. */
type StoredValue = string | number | Uint8Array | null;

// biome-ignore lint/suspicious/noExplicitAny: Drizzle's table type is parameterised by every column of every table.
type CheckedDrizzleTable = SQLiteTableWithColumns<any> & { readonly checksum: SQLiteColumn };

/** A table with checksums, as it is in a database. */
export interface CheckedTable {
  readonly name: string;
  /** In the order in which they are checked; `checksum` is not among them. */
  readonly columns: readonly string[];
  /** The columns of its primary key. */
  readonly key: readonly string[];
}

export interface CheckedRow {
  /** In the order of the table's columns, and then the checksum. */
  readonly values: readonly StoredValue[];
  /** Whether it is what was written. */
  readonly isWhole: boolean;
}

/** Where the values of records are kept that make no version. */
export const OBSERVATIONS = "observations";

/** A row to be written, with its checksum. */
export function withChecksum<T extends CheckedDrizzleTable>(
  table: T,
  row: Omit<T["$inferInsert"], "checksum">,
): T["$inferInsert"] {
  return { ...row, checksum: checksumOfRow(table, row) };
}

/**
 * A stored row with some values changed. One that was damaged is not made to look whole: its checksum stays wrong.
 * @param stored all of the row, as Drizzle read it
 */
export function withChanges<T extends CheckedDrizzleTable>(
  table: T,
  stored: T["$inferSelect"],
  changes: Partial<Omit<T["$inferInsert"], "checksum">>,
): T["$inferSelect"] {
  const changed = { ...stored, ...changes };
  return { ...changed, checksum: stored.checksum ^ checksumOfRow(table, stored) ^ checksumOfRow(table, changed) };
}

/**
 * The checksum of observation values. A scan marks 100,000s of records with the same text in one statement: what tells
 * their rows apart is added to it, which SQL does by itself.
 * @param n 0 for what that statement adds `n` to
 */
export function observedChecksum(n: number, observed: string): number {
  return crc32(observed) + n;
}

/** The tables that have checksums. */
export function checkedTables(db: Sql): CheckedTable[] {
  const rows = db.$client
    .query(
      `SELECT t.name, c.name, c.pk FROM main.sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) x WHERE x.name = 'checksum')
       ORDER BY t.name, c.name`,
    )
    .values() as Array<[string, string, number]>;
  return [...Map.groupBy(rows, ([table]) => table)].map(([name, columns]) => ({
    name,
    columns: columns.map(([, column]) => column).filter((column) => column !== CHECKSUM),
    key: columns
      .filter(([, , place]) => place > 0)
      .sort((a, b) => a[2] - b[2])
      .map(([, column]) => column),
  }));
}

/**
 * Every row of a table with checksums, in the order of its key.
 * @param each called with the rows of a step
 * @returns how many rows each step took
 * @throws Error where the rows are not in the order of their key
 */
export function* walkChecked(
  db: Sql,
  table: CheckedTable,
  each: (rows: readonly CheckedRow[]) => void,
): Generator<number> {
  const { name, columns, key } = table;
  const places = key.map((column) => columns.indexOf(column));
  const [keys, marks] = [key.join(", "), key.map(() => "?").join(", ")];
  const select = (where: string) =>
    db.$client.prepare(
      `SELECT ${columns.join(", ")}, ${CHECKSUM} FROM ${name} ${where} ORDER BY ${keys} LIMIT ${STEP_ROWS}`,
    );
  const [first, next] = [select(""), select(`WHERE (${keys}) > (${marks})`)];
  const isBeyond = db.$client.prepare(`SELECT (${marks}) > (${marks})`);
  let after: StoredValue[] | null = null;
  for (let count = STEP_ROWS; count === STEP_ROWS; ) {
    const rows = (after === null ? first.values() : next.values(...(after as never[]))) as StoredValue[][];
    each(rows.map((row) => ({ values: row, isWhole: checksumOf(table, row) === row[columns.length] })));
    const last = rows.at(-1);
    if (last !== undefined) {
      const reached = places.map((place) => last[place] as StoredValue);
      // Whose order is damaged might be gone through for ever.
      if (after !== null && isBeyond.values(...(reached as never[]), ...(after as never[]))[0]?.[0] !== 1)
        throw new Error(`the rows of ${name} are not in their order`);
      after = reached;
    }
    count = rows.length;
    yield count;
  }
  for (const statement of [first, next, isBeyond]) statement.finalize();
}

/** The values of a row's key, in the order of the key's columns. */
export function keyOf({ columns, key }: CheckedTable, { values }: CheckedRow): StoredValue[] {
  return key.map((column) => values[columns.indexOf(column)] as StoredValue);
}

/**
 * Gives every row the checksum of what is in it: for a store from before there were any, within a transaction of the
 * caller's.
 */
export function stampChecksums(db: Sql): void {
  for (const table of checkedTables(db)) {
    const update = db.$client.prepare(
      `UPDATE ${table.name} SET ${CHECKSUM} = ?
       WHERE (${table.key.join(", ")}) = (${table.key.map(() => "?").join(", ")})`,
    );
    const stamp = (row: CheckedRow) => update.run(checksumOf(table, row.values), ...(keyOf(table, row) as never[]));
    for (const _ of walkChecked(db, table, (rows) => rows.forEach(stamp)));
    update.finalize();
  }
}

/**
 * Counts columns into the checksums of a table's rows that were added to it, as withChanges does: a row that was damaged
 * is not made to look whole.
 */
export function countIn(db: Sql, name: string, added: readonly string[]): void {
  const table = checkedTables(db).find((each) => each.name === name);
  if (table === undefined) throw new Error(`checksums: the table ${name} has none`);
  const { columns, key } = table;
  const before = { name, key, columns: columns.filter((column) => !added.includes(column)) };
  const update = db.$client.prepare(
    `UPDATE ${name} SET ${CHECKSUM} = ? WHERE (${key.join(", ")}) = (${key.map(() => "?").join(", ")})`,
  );
  const count = (row: CheckedRow) => {
    const stored = row.values[columns.length] as number;
    const then = before.columns.map((column) => row.values[columns.indexOf(column)] ?? null);
    const checksum = stored ^ checksumOf(before, then) ^ checksumOf(table, row.values);
    update.run(checksum, ...(keyOf(table, row) as never[]));
  };
  for (const _ of walkChecked(db, table, (rows) => rows.forEach(count)));
  update.finalize();
}

/** Rows per step: some milliseconds. */
const STEP_ROWS = 2_000;
const CHECKSUM = "checksum";

/**
 * By table, the number that SQL sets by itself when a row has long been written: it is added, which SQL does as well.
 */
const ADDED: Readonly<Record<string, string>> = { credential_coverage: "until" };

/** The number is a transaction's, 1 at least: where it is NULL nothing is added, and 0 is no such number. */
function addend(value: unknown): number {
  return value === null || value === undefined ? 0 : Number(value) || -1;
}

function checksumOf(table: CheckedTable, values: readonly StoredValue[]): number {
  const value = (column: string) => values[table.columns.indexOf(column)];
  const added = ownValue(ADDED, table.name);
  if (added !== undefined) {
    const others = table.columns.flatMap((column, place) => (column === added ? [] : [values[place] ?? null]));
    return crc32(frame(others)) + addend(value(added));
  }
  if (table.name !== OBSERVATIONS) return crc32(frame(values.slice(0, table.columns.length)));
  return observedChecksum(value("n") as number, String(value("observed")));
}

function checksumOfRow(table: CheckedDrizzleTable, row: Readonly<Record<string, unknown>>): number {
  const added = ownValue(ADDED, getTableName(table));
  const values = columnsOf(table).flatMap(([name, column]): StoredValue[] => {
    if (name === added) return [];
    const value = ownValue(row, name) ?? null;
    return [value === null ? null : (column.mapToDriverValue(value) as StoredValue)];
  });
  return crc32(frame(values)) + (added === undefined ? 0 : addend(ownValue(row, added)));
}

/**
 * By table, the columns that are checked, in the order of their names: the order in which a database has them is its
 * own.
 */
const COLUMNS = new WeakMap<CheckedDrizzleTable, ReadonlyArray<readonly [string, SQLiteColumn]>>();

function columnsOf(table: CheckedDrizzleTable): ReadonlyArray<readonly [string, SQLiteColumn]> {
  let columns = COLUMNS.get(table);
  if (columns === undefined) {
    columns = Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>)
      .filter(([name]) => name !== CHECKSUM)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    COLUMNS.set(table, columns);
  }
  return columns;
}

/** Every value after its length, so that no two different rows read alike. */
function frame(values: readonly StoredValue[]): string {
  let text = "";
  for (const value of values) {
    if (value === null) text += "-;";
    else if (typeof value === "number") text += `${value};`;
    else {
      // What is stored as UTF-8 has no half of a surrogate pair.
      const part = typeof value === "string" ? value.toWellFormed() : Buffer.from(value).toString("base64");
      text += `${part.length}:${part};`;
    }
  }
  return text;
}

/**
 * CRC-32 (ISO/IEC 8802-3), which misses no change of up to 32 neighbouring bits. Signed: SQLite stores that in four
 * bytes.
 */
function crc32(text: string): number {
  return Bun.hash.crc32(text) | 0;
}
