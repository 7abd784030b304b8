// Prune planner: finds the segments to thin, and versions and coverage rows that no retained state needs. Read-only.

import type { Instant } from "../base/instant.ts";
import { runSteps } from "../base/steps.ts";
import type { Sql } from "../db/connection.ts";
import { PrunedHistory, type Segment } from "../db/pruned-history.ts";
import {
  afterPrune,
  droppableVersions,
  isDroppableRange,
  type LedgerPosition,
  type PruneOptions,
  retainedSequences,
  type ThinnableVersion,
} from "../db/thinning.ts";
import { coverageExpiredBy, type ExpiredCoverage } from "../resources/credential-assignments/coverage.ts";
import type { VerifyProgress } from "./verify/verify.ts";

export interface PrunePlan {
  /** All thinned segments after the prune. */
  readonly segments: readonly Segment[];
  /** The last transaction in range; 0 if none is old enough. */
  readonly last: number;
  /** Retained states in thinned segments. */
  readonly states: number;
  /** Versions in these segments now, and those to drop. */
  readonly versions: number;
  readonly dropped: number;
  readonly droppedBytes: number;
  /** Credential coverage rows to drop, which are outside the ledger. */
  readonly coverage: number;
}

/** Receives the data to drop. */
interface Drop {
  /** @param sequences of versions of record n */
  readonly versions: (n: number, sequences: readonly number[]) => void;
  readonly coverage: (expired: ExpiredCoverage) => void;
  /** Called last, also if no version is dropped, with the retained states: their timestamps, and their sequences. */
  readonly memory: (instants: readonly Instant[], sequences: readonly number[]) => void;
}

const DROP_NOTHING: Drop = { versions: () => {}, coverage: () => {}, memory: () => {} };

const STEP_ROWS = 5_000;
const VERSIONS = `
  SELECT key >> 31, key & 2147483647, operation, octet_length(members) + octet_length(observed) +
    coalesce(octet_length(sort_keys), 0) + coalesce(octet_length(changed), 0)
  FROM history_versions WHERE key > ((?1 << 31) | ?2) AND +(key & 2147483647) <= ?3 ORDER BY key LIMIT ${STEP_ROWS}`;
const NEXT_SEQUENCE = "SELECT coalesce(max(sequence), 0) + 1 FROM history_transactions";
const INSTANTS_OF = `SELECT at FROM history_transactions
  WHERE sequence IN (SELECT value FROM json_each(?1)) ORDER BY sequence`;
const DAY_ENDS = `SELECT max(t.sequence) AS sequence, max(t.at) AS at FROM history_transactions t WHERE t.sequence <= ?1
  GROUP BY t.at / 86400000 ORDER BY 1`;

/** Runs all steps at once. */
export function runPlan(
  steps: Generator<VerifyProgress, PrunePlan>,
  onProgress: (progress: VerifyProgress) => void,
): PrunePlan {
  return runSteps(steps, onProgress);
}

/**
 * Walks the versions and expired coverage of the thinned segments, and reports everything that can be dropped. Runs in
 * steps of a few milliseconds; safe while an appliance is running.
 */
export function* planSteps(
  db: Pick<Sql, "$client">,
  options: PruneOptions,
  drop: Drop = DROP_NOTHING,
): Generator<VerifyProgress, PrunePlan> {
  const { $client } = db;
  const past = new PrunedHistory((sql, ...values) => $client.query(sql).values(...values) as unknown[][]);
  const { segments: before } = past;
  // An already thinned segment ends with a retained state.
  const last = past.lastCompleteUpTo(past.lastBefore(options.before));
  const [[sequence]] = $client.query(NEXT_SEQUENCE).values() as [[number]];
  const segments = last === 0 ? before : afterPrune(before, { last, keep: options.keep, sequence });
  const until = segments.at(-1)?.last ?? 0;
  const retained = retainedSequences(segments, dayEnds(db, until));
  const plan = { segments, last, states: retained.length, versions: 0, dropped: 0, droppedBytes: 0, coverage: 0 };
  // What scans remember of records that ended long ago depends on no segment.
  const dropMemory = (kept: readonly number[]) => {
    const instants = $client.query(INSTANTS_OF).values(JSON.stringify(kept)) as Array<[number]>;
    drop.memory(
      instants.map(([at]) => at),
      kept,
    );
  };
  // A prune cannot refine coarser segments.
  if (last === 0 || Bun.deepEquals(segments, before)) {
    dropMemory(retained);
    return plan;
  }

  const statement = $client.prepare(VERSIONS);
  let versions: Array<ThinnableVersion & { readonly bytes: number }> = [];
  let [n, position] = [0, 0];
  const complete = () => {
    const dropped = droppableVersions(versions, retained);
    plan.versions += versions.length;
    plan.dropped += dropped.length;
    for (const { bytes } of dropped) plan.droppedBytes += bytes;
    const sequences = dropped.map((version) => version.sequence);
    if (dropped.length > 0) drop.versions(n, sequences);
    versions = [];
  };
  for (let isLast = false; !isLast; ) {
    const rows = statement.values(n, position, until) as Array<[number, number, number, number | null]>;
    for (const [recordN, sequence, operation, bytes] of rows) {
      if (recordN !== n) complete();
      [n, position] = [recordN, sequence];
      versions.push({ sequence, operation, bytes: bytes ?? 0 });
    }
    isLast = rows.length < STEP_ROWS;
    yield { step: "records thinned", done: n, total: null };
  }
  complete();
  statement.finalize();
  // Without anything to drop, no new segments need to be written.
  if (plan.dropped === 0) {
    dropMemory(retainedSequences(before, dayEnds(db, before.at(-1)?.last ?? 0)));
    return plan;
  }
  for (const expired of coverageExpiredBy(db, until)) {
    if (!isDroppableRange(expired, retained)) continue;
    plan.coverage += 1;
    drop.coverage(expired);
  }
  dropMemory(retained);
  return plan;
}

function dayEnds(db: Pick<Sql, "$client">, until: number): LedgerPosition[] {
  return db.$client.query(DAY_ENDS).all(until) as LedgerPosition[];
}
