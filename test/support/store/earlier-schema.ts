// Database of an earlier schema: the current one without its last migration.

import type { Database } from "bun:sqlite";
import { SCHEMA_VERSION } from "../../../src/db/files/migrate.ts";

export const EARLIER_SCHEMA = SCHEMA_VERSION - 1;

/** Tables of the last migration. */
const LAST_TABLES = ["appliance_settings", "idempotency_keys"];

/** Drops the last migration's tables, with their rows. */
export function toEarlierSchema(db: Pick<Database, "run">): void {
  for (const table of LAST_TABLES) {
    db.run(`DROP TABLE ${table}`);
    db.run(`DELETE FROM row_sums WHERE name = '${table}'`);
  }
  db.run(`PRAGMA user_version = ${EARLIER_SCHEMA}`);
}
