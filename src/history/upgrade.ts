// Row upgrade for a store, in addition to the migrations' SQL: live rows for new fields and columns, and the only list
// of additional steps. Runs in the migration's transaction, after all SQL.

import { getTableName } from "drizzle-orm";
import type { Sql } from "../db/connection.ts";
import type { AddedColumns } from "../db/files/migrate.ts";
import type { AnyKind } from "../db/kind.ts";
import { KINDS } from "../records/resources.ts";
import { rebuildLiveWithin } from "./verify/rebuild.ts";

interface UpgradeStep {
  /** Migration of this step: stores already past it skip the step. */
  readonly migration: number;
  readonly run: (db: Sql) => void;
}

/**
 * In the order of their migrations. Steps use the current kinds: all their tables exist, and live rows have the current
 * shape.
 */
const STEPS: readonly UpgradeStep[] = [];

/**
 * Upgrades the rows of a store: the last argument of `migrate`. Live rows are rewritten for a new upcaster, and for a
 * column that their table gained.
 * @param from the store's previous schema version
 */
export function upgradeStore(
  db: Sql,
  from: number,
  added: AddedColumns,
  kinds: readonly AnyKind[] = KINDS,
  steps = STEPS,
): void {
  rebuildLiveWithin(
    db,
    kinds.filter(
      ({ upcasters = [], table }) =>
        upcasters.some(({ migration }) => from < migration) || added.has(getTableName(table)),
    ),
  );
  for (const { migration, run } of steps) if (from < migration) run(db);
}
