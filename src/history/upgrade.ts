// Upgrade steps besides the migrations' SQL, for stores written by an earlier version: the only list of them. Each runs
// in the migration's transaction, after all SQL.

import type { Sql } from "../db/connection.ts";
import {
  ADDS_CHANGE_COUNTS,
  ADDS_CHECKSUMS,
  ADDS_GROUPS,
  ADDS_LASTING_RECORDS,
  ADDS_MAP_POSITIONS,
  ADDS_ROW_SUMS,
  ADDS_SESSION_ORIGINS,
  ADDS_WORDS,
  HASHES_IDEMPOTENCY_KEYS,
} from "../db/files/migrate.ts";
import { countIn, stampChecksums } from "../db/row-checksum.ts";
import { hashKeys } from "../db/writing/kept-outcomes.ts";
import { KINDS } from "../records/resources.ts";
import { takeForDropped } from "../resources/credentials/sealed-secrets.ts";
import { placeAllLinked } from "../resources/map-positions/placing.ts";
import { recordEarlierNotes } from "./earlier-notes.ts";
import {
  deriveChangeCounts,
  deriveChangesAndTexts,
  deriveGroups,
  deriveWords,
  rebuildLiveWithin,
} from "./verify/rebuild.ts";

interface UpgradeStep {
  /** Migration of this step: stores already past it skip the step. */
  readonly migration: number;
  /** @param from the store's previous schema version */
  readonly run: (db: Sql, from: number) => void;
}

/**
 * In the order of their migrations. Steps use the current kinds: all their tables exist, and live rows have the current
 * shape.
 */
const STEPS: readonly UpgradeStep[] = [
  { migration: 4, run: (db) => deriveChangesAndTexts(db, KINDS) },
  { migration: ADDS_CHECKSUMS, run: stampChecksums },
  { migration: ADDS_WORDS, run: (db) => deriveWords(db, KINDS) },
  { migration: ADDS_CHANGE_COUNTS, run: (db) => deriveChangeCounts(db, KINDS) },
  { migration: ADDS_GROUPS, run: (db) => deriveGroups(db, KINDS) },
  { migration: ADDS_MAP_POSITIONS, run: placeAllLinked },
  {
    migration: ADDS_SESSION_ORIGINS,
    // Stores without checksums got complete ones in the step above.
    run: (db, from) => {
      if (from >= ADDS_CHECKSUMS) countIn(db, "sessions", ["last_used_from", "user_agent"]);
    },
  },
  { migration: HASHES_IDEMPOTENCY_KEYS, run: hashKeys },
  { migration: ADDS_ROW_SUMS, run: takeForDropped },
  { migration: ADDS_LASTING_RECORDS, run: recordEarlierNotes },
];

/**
 * Runs the upgrade steps of a store: the last argument of `migrate`.
 * @param from the store's previous schema version, at least 1
 */
export function upgradeStore(db: Sql, from: number): void {
  rebuildLiveWithin(
    db,
    KINDS.filter(({ upcasters = [] }) => upcasters.some(({ migration }) => from < migration)),
  );
  for (const { migration, run } of STEPS) if (from < migration) run(db, from);
}
