// What a migration does beside its SQL, for every store that was written by an earlier version: the one list of these
// steps. Each runs in the migration's transaction, when all of its SQL has run.

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
  /** The migration that the step belongs to: stores that have been through it need no more of it. */
  readonly migration: number;
  /** @param from the schema that the store had */
  readonly run: (db: Sql, from: number) => void;
}

/**
 * In the order of their migrations. What a step reads is of today's kinds: all of their tables are there, and live rows
 * have today's shape.
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
    // What had no checksums got them above, of all that there is.
    run: (db, from) => {
      if (from >= ADDS_CHECKSUMS) countIn(db, "sessions", ["last_used_from", "user_agent"]);
    },
  },
  { migration: HASHES_IDEMPOTENCY_KEYS, run: hashKeys },
  { migration: ADDS_ROW_SUMS, run: takeForDropped },
  { migration: ADDS_LASTING_RECORDS, run: recordEarlierNotes },
];

/**
 * Does what SQL can't to a store that is brought up to date: the last argument of `migrate`.
 * @param from the schema that the store had, 1 at least
 */
export function upgradeStore(db: Sql, from: number): void {
  rebuildLiveWithin(
    db,
    KINDS.filter(({ upcasters = [] }) => upcasters.some(({ migration }) => from < migration)),
  );
  for (const { migration, run } of STEPS) if (from < migration) run(db, from);
}
