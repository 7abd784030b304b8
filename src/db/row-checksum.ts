// Checksums for tables outside the ledger. No hash chain covers their rows, and no other data implies them. Applies to
// every table with a `checksum` column. How damaged rows are handled is decided elsewhere.

import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTableWithColumns } from "drizzle-orm/sqlite-core";
import { ownValue } from "../base/fields.ts";
import { runSteps } from "../base/steps.ts";
import type { Sql } from "./connection.ts";

/** SQLite storage types. */
type StoredValue = string | number | Uint8Array | null;

// biome-ignore lint/suspicious/noExplicitAny: Drizzle's table type is parameterised by every column of every table.
type CheckedDrizzleTable = SQLiteTableWithColumns<any> & { readonly checksum: SQLiteColumn };

/** Schema of a table with checksums. */
export interface CheckedTable {
  readonly name: string;
  /** In checksum order, without `checksum`. */
  readonly columns: readonly string[];
  /** Primary key columns. */
  readonly key: readonly string[];
}

export interface CheckedRow {
  /** In the order of the table's columns, followed by the checksum. */
  readonly values: readonly StoredValue[];
  /** Whether the checksum matches. */
  readonly isIntact: boolean;
}

/** Table for record values that do not create versions. */
export const OBSERVATIONS = "observations";

/** Adds the checksum to a row before writing. */
export function withChecksum<T extends CheckedDrizzleTable>(
  table: T,
  row: Omit<T["$inferInsert"], "checksum">,
): T["$inferInsert"] {
  return { ...row, checksum: checksumOfRow(table, row) };
}

/**
 * Applies changes to a stored row. Preserves a checksum mismatch, so that a damaged row stays detectable.
 * @param stored the entire row, as read by Drizzle
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
 * Checksum of observation values. A scan writes the same text to 100,000s of records in one statement, so the record
 * number is added, which SQL can do per row.
 * @param n 0 if the statement adds `n`
 */
export function observedChecksum(n: number, observed: string): number {
  return crc32(observed) + n;
}

/** Tables that have checksums. */
export function checkedTables(db: Sql): CheckedTable[] {
  const rows = db.$client
    .query(
      `SELECT t.name, c.name, c.pk FROM main.sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.sql LIKE '%${CHECKSUM}%' ORDER BY t.name, c.name`,
    )
    .values() as Array<[string, string, number]>;
  return [...Map.groupBy(rows, ([table]) => table)].flatMap(([name, all]) => {
    const columns = all.map(([, column]) => column).filter((column) => column !== CHECKSUM);
    const key = all.filter(([, , position]) => position > 0).sort((a, b) => a[2] - b[2]);
    return columns.length === all.length ? [] : [{ name, columns, key: key.map(([, column]) => column) }];
  });
}

/**
 * Walks all rows of a table with checksums in key order.
 * @param each called with the rows of each step
 * @returns the row count of each step
 * @throws Error if rows are not in key order
 */
export function* walkChecked(
  db: Sql,
  table: CheckedTable,
  each: (rows: readonly CheckedRow[]) => void,
): Generator<number> {
  const { name, columns, key } = table;
  const keyIndexes = key.map((column) => columns.indexOf(column));
  const [keys, placeholders] = [key.join(", "), key.map(() => "?").join(", ")];
  const select = (where: string) =>
    db.$client.prepare(
      `SELECT ${columns.join(", ")}, ${CHECKSUM} FROM ${name} ${where} ORDER BY ${keys} LIMIT ${STEP_ROWS}`,
    );
  const [first, next] = [select(""), select(`WHERE (${keys}) > (${placeholders})`)];
  const isAfter = db.$client.prepare(`SELECT (${placeholders}) > (${placeholders})`);
  let after: StoredValue[] | null = null;
  for (let count = STEP_ROWS; count === STEP_ROWS; ) {
    const rows = (after === null ? first.values() : next.values(...(after as never[]))) as StoredValue[][];
    each(rows.map((row) => ({ values: row, isIntact: checksumOf(table, row) === row[columns.length] })));
    const last = rows.at(-1);
    if (last !== undefined) {
      const lastKey = keyIndexes.map((index) => last[index] as StoredValue);
      // A damaged order could loop forever.
      if (after !== null && isAfter.values(...(lastKey as never[]), ...(after as never[]))[0]?.[0] !== 1)
        throw new Error(`the rows of ${name} are out of order`);
      after = lastKey;
    }
    count = rows.length;
    yield count;
  }
  for (const statement of [first, next, isAfter]) statement.finalize();
}

/** Key values of a row, in the order of the key columns. */
export function keyOf({ columns, key }: CheckedTable, { values }: CheckedRow): StoredValue[] {
  return key.map((column) => values[columns.indexOf(column)] as StoredValue);
}

/**
 * Updates a table's checksums for added columns. Preserves a mismatch, as withChanges does, so that a damaged row stays
 * detectable.
 */
export function includeColumns(db: Sql, name: string, added: readonly string[]): void {
  const table = checkedTables(db).find((each) => each.name === name);
  if (table === undefined) throw new Error(`checksums: the table ${name} has no checksum column`);
  const { columns, key } = table;
  const before = { name, key, columns: columns.filter((column) => !added.includes(column)) };
  const update = db.$client.prepare(
    `UPDATE ${name} SET ${CHECKSUM} = ? WHERE (${key.join(", ")}) = (${key.map(() => "?").join(", ")})`,
  );
  const count = (row: CheckedRow) => {
    const stored = row.values[columns.length] as number;
    const oldValues = before.columns.map((column) => row.values[columns.indexOf(column)] ?? null);
    const checksum = stored ^ checksumOf(before, oldValues) ^ checksumOf(table, row.values);
    update.run(checksum, ...(keyOf(table, row) as never[]));
  };
  runSteps(walkChecked(db, table, (rows) => rows.forEach(count)));
  update.finalize();
}

/** Rows per step: a few milliseconds. */
const STEP_ROWS = 2_000;
const CHECKSUM = "checksum";

/** Numeric column per table that SQL updates in place. It is added to the checksum, so SQL can update that as well. */
const ADDED: Readonly<Record<string, string>> = { credential_coverage: "until" };

/** The value is a transaction number, at least 1. NULL adds nothing; 0 is invalid and adds -1. */
function addend(value: unknown): number {
  return value === null || value === undefined ? 0 : Number(value) || -1;
}

function checksumOf(table: CheckedTable, values: readonly StoredValue[]): number {
  const value = (column: string) => values[table.columns.indexOf(column)];
  const added = ownValue(ADDED, table.name);
  if (added !== undefined) {
    const others = table.columns.flatMap((column, index) => (column === added ? [] : [values[index] ?? null]));
    return crc32(frame(others)) + addend(value(added));
  }
  if (table.name !== OBSERVATIONS) return crc32(frame(values.slice(0, table.columns.length)));
  return observedChecksum(value("n") as number, String(value("observed")));
}

function checksumOfRow(table: CheckedDrizzleTable, row: Readonly<Record<string, unknown>>): number {
  const { columns, added } = framedOf(table);
  let text = "";
  for (const [name, column] of columns) {
    const value = ownValue(row, name) ?? null;
    text += framed(value === null ? null : (column.mapToDriverValue(value) as StoredValue));
  }
  return crc32(text) + (added === undefined ? 0 : addend(ownValue(row, added)));
}

interface FramedColumns {
  /** Sorted by name: databases differ in column order. */
  readonly columns: ReadonlyArray<readonly [string, SQLiteColumn]>;
  /** The column that is added instead, if any. */
  readonly added: string | undefined;
}

const COLUMNS = new WeakMap<CheckedDrizzleTable, FramedColumns>();

function framedOf(table: CheckedDrizzleTable): FramedColumns {
  let framedColumns = COLUMNS.get(table);
  if (framedColumns === undefined) {
    const added = ownValue(ADDED, getTableName(table));
    const columns = Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>)
      .filter(([name]) => name !== CHECKSUM && name !== added)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    framedColumns = { columns, added };
    COLUMNS.set(table, framedColumns);
  }
  return framedColumns;
}

function frame(values: readonly StoredValue[]): string {
  return values.map(framed).join("");
}

/** Prefixes a value with its length, so that different rows never produce the same text. */
function framed(value: StoredValue): string {
  if (value === null) return "-;";
  if (typeof value === "number") return `${value};`;
  // UTF-8 storage has no lone surrogates.
  const part = typeof value === "string" ? value.toWellFormed() : Buffer.from(value).toString("base64");
  return `${part.length}:${part};`;
}

/**
 * CRC-32 (ISO/IEC 8802-3), which detects any burst error of up to 32 bits. Signed, so that SQLite stores it in four
 * bytes.
 */
function crc32(text: string): number {
  return Bun.hash.crc32(text) | 0;
}
