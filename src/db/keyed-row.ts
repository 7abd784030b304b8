// One row found, or written, by its key. Drizzle makes the text of such a statement anew each time, which costs more
// than the statement where a transaction runs it for each of thousands of devices: here it is made once for a table.

import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTableWithColumns } from "drizzle-orm/sqlite-core";
import { ownValue } from "../base/fields.ts";
import type { Sql } from "./connection.ts";

// biome-ignore lint/suspicious/noExplicitAny: Drizzle's table type is parameterised by every column of every table.
type Table = SQLiteTableWithColumns<any>;
type Value = string | number | null;

interface Texts {
  readonly columns: readonly string[];
  readonly find: string;
  readonly put: string;
}

/** @param T a table whose columns are numbers and texts, named in the code as in the database */
export class KeyedRows<T extends Table> {
  private readonly texts: Texts;

  /** @param key the columns of its primary key */
  constructor(table: T, key: ReadonlyArray<keyof T["$inferSelect"] & string>) {
    const columns = Object.values(getTableColumns(table) as Record<string, SQLiteColumn>).map(({ name }) => name);
    const name = getTableName(table);
    const others = columns.filter((column) => !key.includes(column as never));
    this.texts = {
      columns,
      // The plus: see preparedOnce in native-statement.ts.
      find: `SELECT ${columns.join(", ")} FROM ${name} WHERE ${key.map((column) => `${column} = +?`).join(" AND ")}`,
      put: `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
        ON CONFLICT (${key.join(", ")}) DO UPDATE
          SET ${others.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    };
  }

  /** @param key in the order in which its columns were given */
  find(db: Sql, ...key: readonly Value[]): T["$inferSelect"] | undefined {
    return (db.$client.query(this.texts.find).get(...key) as T["$inferSelect"] | null) ?? undefined;
  }

  /** Writes a row in place of the one with its key. */
  put(db: Sql, row: T["$inferInsert"]): void {
    const values = row as Readonly<Record<string, Value | undefined>>;
    db.$client.query(this.texts.put).run(...this.texts.columns.map((column) => ownValue(values, column) ?? null));
  }
}
