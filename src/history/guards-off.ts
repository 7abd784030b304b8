// Temporary removal of the ledger's guard triggers, for an operator's command on offline data. Always within one
// transaction, so that no other connection can see the ledger without them.

import type { Sql } from "../db/connection.ts";

/** @returns the SQL that restores them */
export function dropGuards({ $client }: Sql, tables: readonly string[]): string[] {
  const triggers = $client
    .query(
      `SELECT name, sql FROM sqlite_schema
        WHERE type = 'trigger' AND tbl_name IN (${tables.map((table) => `'${table}'`).join(", ")})`,
    )
    .all() as Array<{ name: string; sql: string }>;
  for (const { name } of triggers) $client.run(`DROP TRIGGER ${name}`);
  return triggers.map((trigger) => trigger.sql);
}

/** Call within a transaction: its rollback restores the guards if `act` fails. */
export function withoutGuards<T>(db: Sql, tables: readonly string[], act: () => T): T {
  const guards = dropGuards(db, tables);
  const result = act();
  for (const sql of guards) db.$client.run(sql);
  return result;
}
