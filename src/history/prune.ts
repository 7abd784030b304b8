// Ledger prune: drops documents of unneeded versions, keeps their hashes, and records the prune as a transaction. One
// verified SQLite transaction, on an offline store.

import { SYSTEM_AUTHOR } from "../access/actor.ts";
import type { Instant } from "../base/instant.ts";
import type { Sql } from "../db/connection.ts";
import { hashTransaction } from "../db/hash.ts";
import type { AnyKind } from "../db/kind.ts";
import type { Segment } from "../db/pruned-history.ts";
import { installRowSumTriggers } from "../db/row-sums.ts";
import { type PruneOptions, pruneSource } from "../db/thinning.ts";
import { Statements } from "../db/writing/statements.ts";
import { dropCoverage } from "../resources/credential-assignments/coverage.ts";
import { dropPrunedPositions } from "../resources/map-positions/map-position.ts";
import { dropScanMemory } from "../resources/scan-observations.ts";
import { dropSightings } from "../resources/sightings.ts";
import { dropGuards } from "./guards-off.ts";
import { VersionPacker } from "./pack-versions.ts";
import { type PrunePlan, planSteps, runPlan } from "./prune-plan.ts";
import { rebuildPastWithin } from "./verify/rebuild.ts";
import { type Report, requireIntact, type VerifyProgress, verifyLedger } from "./verify/verify.ts";

/** Result of a prune. */
export interface PruneResult extends PrunePlan {
  /** Verification of the pruned ledger; null if nothing was dropped. */
  readonly report: Report | null;
}

type OnProgress = (progress: VerifyProgress) => void;

/** Thinning interleaves reads, and rebuilds derived tables in another order. */
const CACHE_KIB = 262_144;
const GUARDED = ["history_versions", "history_thinned", "history_segments"];
const SEQUENCE_INDEX = "history_versions_by_sequence";

/**
 * Thins the ledger of an intact offline store.
 * @param now wall-clock time
 * @throws DatabaseRefused for damaged data: afterwards the damage could no longer be located. Any error rolls back
 * everything.
 */
export function pruneHistory(
  db: Sql,
  kinds: readonly AnyKind[],
  options: PruneOptions,
  now: Instant,
  onProgress: OnProgress = () => {},
): PruneResult {
  const { $client } = db;
  $client.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  installRowSumTriggers(db);
  return $client
    .transaction(() => {
      requireIntact(verifyLedger(db, kinds, { onProgress }), "The data is damaged and was not pruned");
      let definitions: readonly string[] = [];
      const thin = $client.prepare(
        "INSERT INTO history_thinned (key, hash) SELECT key, hash FROM history_versions WHERE key = ((?1 << 31) | ?2)",
      );
      const drop = $client.prepare("DELETE FROM history_versions WHERE key = ((?1 << 31) | ?2)");
      const packer = new VersionPacker(db);
      const versions = (n: number, sequences: readonly number[]) => {
        if (definitions.length === 0) definitions = dropGuardsAndIndex(db);
        packer.unpackDependents(n, sequences);
        for (const sequence of sequences) {
          thin.run(n, sequence);
          drop.run(n, sequence);
        }
        packer.pack(n);
      };
      const steps = planSteps(db, options, {
        versions,
        coverage: (expired) => dropCoverage(db, expired),
        memory: (instants, sequences) => {
          dropSightings(db.$client, instants);
          dropScanMemory(db.$client, sequences, now);
        },
      });
      const plan = runPlan(steps, onProgress);
      thin.finalize();
      drop.finalize();
      if (plan.dropped === 0) return { ...plan, report: null };
      writePruneTransaction(db, options, plan.segments, now);
      for (const sql of definitions) $client.run(sql);
      dropPrunedPositions(db);
      rebuildPastWithin(db, kinds, (n) => onProgress({ step: "records rebuilt", done: n, total: null }));
      const report = verifyLedger(db, kinds, { onProgress });
      requireIntact(report, "The pruned data would be damaged; nothing was changed");
      return { ...plan, report };
    })
    .immediate();
}

/**
 * Drops the guard triggers, and the index that would be rewritten page by page.
 * @returns the SQL that restores them
 */
function dropGuardsAndIndex(db: Sql): string[] {
  const { $client } = db;
  const guards = dropGuards(db, GUARDED);
  const index = $client.query("SELECT sql FROM sqlite_schema WHERE name = ?").get(SEQUENCE_INDEX) as { sql: string };
  $client.run(`DROP INDEX ${SEQUENCE_INDEX}`);
  return [index.sql, ...guards];
}

/** Writes the prune's own transaction, chained like any other, and the segments for readers. */
function writePruneTransaction(db: Sql, options: PruneOptions, segments: readonly Segment[], now: Instant): void {
  const statements = new Statements(db);
  const head = statements.head();
  const row = {
    sequence: head.sequence + 1,
    at: Math.max(now, head.at + 1),
    wall_at: now,
    organization_id: null,
    actor_type: SYSTEM_AUTHOR.type,
    actor_id: SYSTEM_AUTHOR.id,
    actor_name: SYSTEM_AUTHOR.name,
    request_id: null,
    source: pruneSource(options),
    last_n: statements.lastN(),
    reason: null,
  };
  statements.insertTransaction({ ...row, hash: hashTransaction(statements.headHash(), row, []) });
  db.$client.run("DELETE FROM history_segments");
  const insert = db.$client.prepare(
    "INSERT INTO history_segments (first, last, resolution, pruned_by) VALUES (?, ?, ?, ?)",
  );
  for (const { first, last, resolution, prunedBy } of segments) insert.run(first, last, resolution, prunedBy);
  insert.finalize();
}
