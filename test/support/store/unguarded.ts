// Damage to a store, past the triggers that guard its ledger: they are put back, so that what was damaged is all that
// is wrong.

import type { Sql } from "../../../src/db/connection.ts";

/** @returns how many rows each statement changed */
export function unguarded(db: Sql, statements: readonly string[]): number[] {
  const triggers = db.$client.query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as Array<{
    name: string;
    sql: string;
  }>;
  for (const { name } of triggers) db.$client.run(`DROP TRIGGER ${name}`);
  const counts = statements.map((sql) => db.$client.run(sql).changes);
  for (const { sql } of triggers) db.$client.run(sql);
  return counts;
}
