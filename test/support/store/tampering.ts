// Writes that damage a store, without the triggers that guard its ledger. The triggers are restored afterwards, so that
// the damage is the only fault.

import { copyFileSync, mkdirSync } from "node:fs";
import type { SQLiteTableWithColumns } from "drizzle-orm/sqlite-core";
import { openWritable, type Sql } from "../../../src/db/connection.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { withChecksum } from "../../../src/db/row-checksum.ts";

/** Opens a copy of a database, in a new directory, for writes without checks. */
export function withCopy<T>(database: string, folder: string, action: (db: Sql, path: string) => T): T {
  mkdirSync(folder);
  const path = dataFiles(folder).database;
  copyFileSync(database, path);
  const db = openWritable(path);
  for (const pragma of ["foreign_keys = OFF", "ignore_check_constraints = ON", "synchronous = OFF"])
    db.$client.run(`PRAGMA ${pragma}`);
  try {
    return action(db, path);
  } finally {
    db.$client.close();
  }
}

/** Recomputes the checksums of a table, so that they do not reveal changed rows. */
export function recomputeChecksums(db: Sql, table: SQLiteTableWithColumns<any>): void {
  const rows = db.select().from(table).all();
  db.delete(table).run();
  for (const row of rows)
    db.insert(table)
      .values(withChecksum(table as never, row as never))
      .run();
}

/** Runs statements without the triggers. @returns the number of rows changed by each statement */
export function runUnguarded(db: Pick<Sql, "$client">, statements: readonly string[]): number[] {
  return withoutTriggers(db, () => statements.map((sql) => db.$client.run(sql).changes));
}

/** Runs an action without the triggers. */
export function withoutTriggers<T>(db: Pick<Sql, "$client">, action: () => T): T {
  const triggers = db.$client.query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as Array<{
    name: string;
    sql: string;
  }>;
  for (const { name } of triggers) db.$client.run(`DROP TRIGGER ${name}`);
  const result = action();
  for (const { sql } of triggers) db.$client.run(sql);
  return result;
}
