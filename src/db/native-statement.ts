// Statements that Drizzle has written, run by SQLite's own binding: where one transaction runs the same statement tens of
// thousands of times, Drizzle's way from a row to its values costs more than the row.

import { Placeholder, type SQL } from "drizzle-orm";
import type { Sql } from "./connection.ts";

type Row = Readonly<Record<string, unknown>>;
type Value = string | number | Uint8Array | null;

/** What Drizzle makes of a query: its text, and a placeholder or a fixed value for each parameter. */
interface Written {
  toSQL(): { sql: string; params: unknown[] };
}

/** Rows of one INSERT at most: a trigger that guards a table costs each statement as much as several rows. */
export const ROWS_PER_INSERT = 64;

export class NativeStatement {
  private readonly statement: { run(...values: Value[]): unknown; values(...values: Value[]): unknown[][] };
  private readonly valuesOf: (row: Row) => Value[];

  constructor(db: Sql, query: Written) {
    const { sql, params } = query.toSQL();
    this.statement = db.$client.prepare(sql) as never;
    this.valuesOf = binder(params);
  }

  run(row: Row): void {
    this.statement.run(...this.valuesOf(row));
  }

  /** The first row's columns; undefined for none. */
  first(row: Row): unknown[] | undefined {
    return this.statement.values(...this.valuesOf(row))[0];
  }
}

/** An INSERT of many rows alike. */
export class NativeInsert {
  private readonly one: { run(...values: Value[]): unknown };
  private readonly many: { run(...values: Value[]): unknown };
  private readonly valuesOf: (row: Row) => Value[];

  /** @param query an insert of one row of placeholders */
  constructor(db: Sql, query: Written) {
    const { sql, params } = query.toSQL();
    const end = sql.lastIndexOf(" values ") + " values ".length;
    const row = sql.slice(end);
    this.one = db.$client.prepare(sql) as never;
    this.many = db.$client.prepare(sql.slice(0, end) + Array.from({ length: ROWS_PER_INSERT }, () => row).join(", ")) as never;
    this.valuesOf = binder(params);
  }

  run(rows: readonly Row[]): void {
    let start = 0;
    for (; rows.length - start >= ROWS_PER_INSERT; start += ROWS_PER_INSERT) {
      const values: Value[] = [];
      for (let place = start; place < start + ROWS_PER_INSERT; place += 1) for (const value of this.valuesOf(rows[place] as Row)) values.push(value);
      this.many.run(...values);
    }
    for (; start < rows.length; start += 1) this.one.run(...this.valuesOf(rows[start] as Row));
  }
}

function binder(params: readonly unknown[]): (row: Row) => Value[] {
  const names = params.map(nameOf);
  return (row) => names.map((name, place) => (name === null ? params[place] : row[name]) as Value);
}

/** The name of a placeholder, also of one that stands for a column's value; null for a fixed value. */
function nameOf(param: unknown): string | null {
  if (param instanceof Placeholder) return param.name as string;
  const inner = (param as SQL & { value?: unknown } | null)?.value;
  return inner instanceof Placeholder ? (inner.name as string) : null;
}
