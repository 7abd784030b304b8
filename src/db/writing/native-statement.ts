// Drizzle-built SQL run through SQLite's own binding: for statements that one transaction runs tens of thousands of
// times, Drizzle's parameter mapping costs more than the row.

import { Placeholder, type SQL } from "drizzle-orm";
import { ownValue } from "../../base/fields.ts";
import type { Sql } from "../connection.ts";

type Row = Readonly<Record<string, unknown>>;
type Value = string | number | bigint | Uint8Array | null;

/** Drizzle's rendering of a query: SQL, and a placeholder or fixed value per parameter. */
export interface RenderedQuery {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** Rows per INSERT, largest first: a trigger on a table costs each statement as much as several rows. */
const BATCH_SIZES = [256, 16] as const;
export const ROWS_PER_INSERT = BATCH_SIZES[0];

export class NativeStatement {
  private readonly statement: { run(...values: Value[]): unknown; values(...values: Value[]): unknown[][] };
  private readonly valuesOf: (row: Row) => Value[];

  constructor(db: Sql, { sql, params }: RenderedQuery) {
    this.statement = db.$client.prepare(withUnaryPlus(sql)) as never;
    this.valuesOf = binder(params);
  }

  run(row: Row): void {
    this.statement.run(...this.valuesOf(row));
  }

  /** All rows, as arrays of columns. */
  all(row: Row): unknown[][] {
    return this.statement.values(...this.valuesOf(row));
  }

  /** Columns of the first row; undefined if none. */
  first(row: Row = {}): unknown[] | undefined {
    return this.statement.values(...this.valuesOf(row))[0];
  }
}

/**
 * Multi-row INSERT. Uses OR FAIL, since the command's savepoint handles rollback: otherwise SQLite would journal every
 * overwritten page for the statement, which outweighs the gain. Tables with triggers or foreign keys are journaled
 * anyway.
 */
export class NativeInsert {
  private readonly db: Sql;
  private readonly sql: string;
  private readonly singleRow: { run(...values: Value[]): unknown };
  private readonly multiRow = new Map<number, { run(...values: Value[]): unknown }>();
  private readonly valuesOf: (row: Row, values?: Value[]) => Value[];

  /** @param query an insert of one row of placeholders, with nothing after its values */
  constructor(db: Sql, { sql, params }: RenderedQuery) {
    this.db = db;
    this.sql = sql;
    this.singleRow = db.$client.prepare(sql) as never;
    this.valuesOf = binder(params);
  }

  run(rows: readonly Row[]): void {
    let start = 0;
    for (const count of BATCH_SIZES) {
      for (; rows.length - start >= count; start += count) {
        const values: Value[] = [];
        for (let index = start; index < start + count; index += 1) this.valuesOf(rows[index] as Row, values);
        this.multiRowInsert(count).run(...values);
      }
    }
    for (; start < rows.length; start += 1) this.singleRow.run(...this.valuesOf(rows[start] as Row));
  }

  /** Prepared on first use: most tables never get that many rows at once. */
  private multiRowInsert(count: number): { run(...values: Value[]): unknown } {
    let statement = this.multiRow.get(count);
    if (statement === undefined) {
      const end = this.sql.lastIndexOf(" values ") + " values ".length;
      const row = this.sql.slice(end);
      statement = this.db.$client.prepare(
        this.sql.slice(0, end).replace(/^insert into/i, "INSERT OR FAIL INTO") +
          Array.from({ length: count }, () => row).join(", "),
      ) as never as { run(...values: Value[]): unknown };
      this.multiRow.set(count, statement);
    }
    return statement;
  }
}

/**
 * As SqlBuilder.bind: without the plus, SQLite re-prepares the statement for every new value, which takes several times
 * as long as running it.
 */
function withUnaryPlus(sql: string): string {
  return sql.replaceAll(/(=|<|>|limit) \?/g, "$1 +?");
}

/** Returns a function that appends a row's values in parameter order. */
function binder(params: readonly unknown[]): (row: Row, values?: Value[]) => Value[] {
  const names = params.map(nameOf);
  return (row, values = []) => {
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string | null;
      values.push((name === null ? params[index] : ownValue(row, name)) as Value);
    }
    return values;
  };
}

/** Name of a placeholder, even if wrapped in a column value; null for a fixed value. */
function nameOf(param: unknown): string | null {
  if (param instanceof Placeholder) return param.name as string;
  const inner = (param as (SQL & { value?: unknown }) | null)?.value;
  return inner instanceof Placeholder ? (inner.name as string) : null;
}
