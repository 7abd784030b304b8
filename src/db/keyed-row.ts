// Single-row reads and upserts by key. Drizzle renders the SQL on every call, which costs more than the statement
// itself when a transaction runs it for thousands of devices. Here the SQL is built once per table.

import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTableWithColumns } from "drizzle-orm/sqlite-core";
import { ownValue } from "../base/fields.ts";
import type { Sql } from "./connection.ts";

// biome-ignore lint/suspicious/noExplicitAny: Drizzle's table type is parameterised by every column of every table.
type Table = SQLiteTableWithColumns<any>;
type Value = string | number | null;

interface Statements {
  readonly columns: readonly string[];
  readonly find: string;
  readonly upsert: string;
}

/** @param T a table of numbers and strings whose columns have the same names in code and database */
export class KeyedRows<T extends Table> {
  private readonly statements: Statements;

  /** @param key the primary key columns */
  constructor(table: T, key: ReadonlyArray<keyof T["$inferSelect"] & string>) {
    const columns = Object.values(getTableColumns(table) as Record<string, SQLiteColumn>).map(({ name }) => name);
    const name = getTableName(table);
    const others = columns.filter((column) => !key.includes(column as never));
    this.statements = {
      columns,
      // For the plus, see withUnaryPlus in native-statement.ts.
      find: `SELECT ${columns.join(", ")} FROM ${name} WHERE ${key.map((column) => `${column} = +?`).join(" AND ")}`,
      upsert: `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
        ON CONFLICT (${key.join(", ")}) DO UPDATE
          SET ${others.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    };
  }

  /** @param key values in the order of the key columns */
  find(db: Sql, ...key: readonly Value[]): T["$inferSelect"] | undefined {
    return (db.$client.query(this.statements.find).get(...key) as T["$inferSelect"] | null) ?? undefined;
  }

  /** Inserts the row, or replaces the row with the same key. */
  upsert(db: Sql, row: T["$inferInsert"]): void {
    const values = row as Readonly<Record<string, Value | undefined>>;
    db.$client
      .query(this.statements.upsert)
      .run(...this.statements.columns.map((column) => ownValue(values, column) ?? null));
  }
}
