// Database of an earlier schema, made from the current one by undoing its last migration.

import type { Database } from "bun:sqlite";
import { openWritable } from "../../../src/db/connection.ts";
import { makeSchema, SCHEMA_VERSION } from "../../../src/db/files/migrate.ts";

export const EARLIER_SCHEMA = SCHEMA_VERSION - 1;

type Schema = Pick<Database, "run" | "query">;

/** Drops the tables, columns and indexes of the last migration, with their data. */
export function toEarlierSchema(db: Schema): void {
  const earlier = openWritable(":memory:");
  makeSchema(earlier, EARLIER_SCHEMA);
  const added = (type: string) => {
    const existing = new Set(namesIn(earlier.$client, type));
    return namesIn(db, type).filter((name) => !existing.has(name));
  };
  for (const index of added("index")) db.run(`DROP INDEX ${index}`);
  for (const table of added("table")) {
    db.run(`DROP TABLE ${table}`);
    db.run(`DELETE FROM row_sums WHERE name = '${table}'`);
  }
  for (const table of namesIn(db, "table")) {
    const existing = new Set(columnsOf(earlier.$client, table));
    for (const column of columnsOf(db, table))
      if (!existing.has(column)) db.run(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  }
  earlier.$client.close();
  db.run(`PRAGMA user_version = ${EARLIER_SCHEMA}`);
}

function namesIn(db: Schema, type: string): string[] {
  const sql = "SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL";
  return (db.query(sql).values(type) as Array<[string]>).map(([name]) => name);
}

function columnsOf(db: Schema, table: string): string[] {
  return (db.query("SELECT name FROM pragma_table_info(?)").values(table) as Array<[string]>).map(([name]) => name);
}
