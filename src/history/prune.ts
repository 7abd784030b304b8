// Thins the ledger: drops documents of versions no longer needed, keeps their hashes, and records it in its own
// transaction. All in one transaction, verified, while no appliance runs.

import { SYSTEM_AUTHOR } from "../access/actor.ts";
import type { Instant } from "../base/instant.ts";
import type { Sql } from "../db/connection.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";
import { hashTransaction } from "../db/hash.ts";
import type { AnyKind } from "../db/kind.ts";
import { PrunedHistory, type Segment } from "../db/pruned-history.ts";
import {
  afterPrune,
  dispensable,
  isDispensableStretch,
  keptSequences,
  type LedgerPlace,
  type PruneOrder,
  pruneSource,
  type ThinnableVersion,
} from "../db/thinning.ts";
import { Statements } from "../db/writing/statements.ts";
import { coverageEndedUpTo, dropCoverage, type EndedCoverage } from "../resources/credential-assignments/coverage.ts";
import { describeFirst } from "./verify/findings.ts";
import { rebuildPastWithin } from "./verify/rebuild.ts";
import { type Report, type VerifyProgress, verifyLedger } from "./verify/verify.ts";

export interface PrunePlan {
  /** All stretches thinned then. */
  readonly segments: readonly Segment[];
  /** The last transaction reached; 0 for none that old. */
  readonly last: number;
  /** States kept in the thinned stretches. */
  readonly states: number;
  /** Versions in these stretches now, and those dropped. */
  readonly versions: number;
  readonly dropped: number;
  readonly droppedBytes: number;
  /** Notes of where credentials went, beside the ledger, dropped too. */
  readonly coverage: number;
}

/** What a prune came to. */
export interface Pruned extends PrunePlan {
  /** The verification of the ledger's end; null where nothing was dropped. */
  readonly report: Report | null;
}

type OnProgress = (progress: VerifyProgress) => void;

interface Drop {
  /** @param sequences of versions of the record n */
  readonly versions: (n: number, sequences: readonly number[]) => void;
  readonly coverage: (ended: EndedCoverage) => void;
}

const STEP_ROWS = 5_000;
/** Thinning reads side by side and rebuilds derived tables in another order. */
const CACHE_KIB = 262_144;
const GUARDED = ["history_versions", "history_thinned", "history_segments"];
const SEQUENCE_INDEX = "history_versions_by_sequence";

const VERSIONS = `
  SELECT key >> 31, key & 2147483647, operation, octet_length(members) + octet_length(observed) +
    coalesce(octet_length(sort_keys), 0) + coalesce(octet_length(changed), 0)
  FROM history_versions WHERE key > ((?1 << 31) | ?2) AND +(key & 2147483647) <= ?3 ORDER BY key LIMIT ${STEP_ROWS}`;
const DAY_ENDS =
  "SELECT max(sequence), max(at) FROM history_transactions WHERE sequence <= ?1 GROUP BY at / 86400000 ORDER BY 1";

/** Reads in short steps; an appliance may be running. */
export function planPrune(db: Sql, order: PruneOrder, onProgress: OnProgress = () => {}): PrunePlan {
  return goThrough(db, order, onProgress, { versions: () => {}, coverage: () => {} });
}

/**
 * Thins the ledger of a sound store at rest.
 * @param now the wall clock
 * @throws DatabaseRefused for an unsound store, whose faults could not be found afterwards. Any error leaves everything
 * as it was.
 */
export function pruneHistory(
  db: Sql,
  kinds: readonly AnyKind[],
  order: PruneOrder,
  now: Instant,
  onProgress: OnProgress = () => {},
): Pruned {
  const { $client } = db;
  $client.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  return $client
    .transaction(() => {
      requireSound(verifyLedger(db, kinds, { onProgress }), "The data are damaged and were not pruned");
      let definitions: readonly string[] = [];
      const thin = $client.prepare(
        "INSERT INTO history_thinned (key, hash) SELECT key, hash FROM history_versions WHERE key = ((?1 << 31) | ?2)",
      );
      const drop = $client.prepare("DELETE FROM history_versions WHERE key = ((?1 << 31) | ?2)");
      const versions = (n: number, sequences: readonly number[]) => {
        if (definitions.length === 0) definitions = takeOff(db);
        for (const sequence of sequences) {
          thin.run(n, sequence);
          drop.run(n, sequence);
        }
      };
      const plan = goThrough(db, order, onProgress, { versions, coverage: (ended) => dropCoverage(db, ended) });
      thin.finalize();
      drop.finalize();
      if (plan.dropped === 0) return { ...plan, report: null };
      record(db, order, plan.segments, now);
      for (const sql of definitions) $client.run(sql);
      rebuildPastWithin(db, kinds, (n) => onProgress({ step: "records rebuilt", done: n, total: null }));
      const report = verifyLedger(db, kinds, { onProgress });
      requireSound(report, "The pruned data would be damaged; nothing was changed");
      return { ...plan, report };
    })
    .immediate();
}

/** Visits the versions and ended coverage of the thinned stretches, and passes on what is no longer needed. */
function goThrough(db: Sql, order: PruneOrder, onProgress: OnProgress, drop: Drop): PrunePlan {
  const { $client } = db;
  const past = new PrunedHistory((sql, ...values) => $client.query(sql).values(...values) as unknown[][]);
  const { segments: before } = past;
  // A stretch thinned before ends with a remaining state.
  const last = past.keptUpTo(past.lastBefore(order.before));
  const { sequence } = $client
    .query("SELECT coalesce(max(sequence), 0) + 1 AS sequence FROM history_transactions")
    .get() as { sequence: number };
  const segments = last === 0 ? before : afterPrune(before, { last, keep: order.keep, sequence });
  const until = segments.at(-1)?.last ?? 0;
  const kept = keptSequences(segments, dayEnds(db, until));
  const plan = { segments, last, states: kept.length, versions: 0, dropped: 0, droppedBytes: 0, coverage: 0 };
  // Cannot refine what is coarse already.
  if (last === 0 || Bun.deepEquals(segments, before)) return plan;

  const statement = $client.prepare(VERSIONS);
  let versions: Array<ThinnableVersion & { readonly bytes: number }> = [];
  let [n, place] = [0, 0];
  const complete = () => {
    const dropped = dispensable(versions, kept);
    plan.versions += versions.length;
    plan.dropped += dropped.length;
    for (const { bytes } of dropped) plan.droppedBytes += bytes;
    if (dropped.length > 0)
      drop.versions(
        n,
        dropped.map((version) => version.sequence),
      );
    versions = [];
  };
  for (let isLast = false; !isLast; ) {
    const rows = statement.values(n, place, until) as Array<[number, number, number, number | null]>;
    for (const [recordN, sequence, operation, bytes] of rows) {
      if (recordN !== n) complete();
      [n, place] = [recordN, sequence];
      versions.push({ sequence, operation, bytes: bytes ?? 0 });
    }
    isLast = rows.length < STEP_ROWS;
    onProgress({ step: "records thinned", done: n, total: null });
  }
  complete();
  statement.finalize();
  // Nothing dropped, nothing written: every state remains.
  if (plan.dropped === 0) return plan;
  for (const ended of coverageEndedUpTo(db, until)) {
    if (!isDispensableStretch(ended, kept)) continue;
    plan.coverage += 1;
    drop.coverage(ended);
  }
  return plan;
}

function dayEnds(db: Sql, until: number): LedgerPlace[] {
  return (db.$client.query(DAY_ENDS).values(until) as Array<[number, number]>).map(([sequence, at]) => ({
    sequence,
    at,
  }));
}

/**
 * Drops the ledger's guards, and the index that would be rewritten page by page.
 * @returns the SQL that restores them
 */
function takeOff({ $client }: Sql): string[] {
  const triggers = $client
    .query(
      `SELECT name, sql FROM sqlite_schema
        WHERE type = 'trigger' AND tbl_name IN (${GUARDED.map((table) => `'${table}'`).join(", ")})`,
    )
    .all() as Array<{ name: string; sql: string }>;
  const index = $client.query("SELECT sql FROM sqlite_schema WHERE name = ?").get(SEQUENCE_INDEX) as { sql: string };
  for (const { name } of triggers) $client.run(`DROP TRIGGER ${name}`);
  $client.run(`DROP INDEX ${SEQUENCE_INDEX}`);
  return [index.sql, ...triggers.map((trigger) => trigger.sql)];
}

/** The prune's own transaction, chained like any other, and what readers know of it. */
function record(db: Sql, order: PruneOrder, segments: readonly Segment[], now: Instant): void {
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
    source: pruneSource(order),
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

function requireSound(report: Report, sentence: string): void {
  const wrong = describeFirst(report);
  if (wrong !== null) throw new DatabaseRefused(`${sentence}: ${wrong}. Run netledger verify for all findings.`);
}
