// Store compaction, offline: packs whole versions in the ledger, a few records per transaction, resumable after an
// interruption. Content and hashes of versions stay the same.

import type { Sql } from "../db/connection.ts";
import type { AnyKind } from "../db/kind.ts";
import { withoutGuards } from "./guards-off.ts";
import { NOTHING_PACKED, type Packed, VersionPacker } from "./pack-versions.ts";
import { type Report, requireIntact, type VerifyProgress, verifyLedger } from "./verify/verify.ts";

/** Result of a compaction. */
export interface CompactionResult extends Packed {
  /** Total number of versions. */
  readonly versions: number;
  /** Verification of the ledger afterwards. */
  readonly report: Report;
}

type OnProgress = (progress: VerifyProgress) => void;

interface CompactOptions {
  readonly onProgress?: OnProgress;
  /** Called between transactions, with the packed versions in the WAL. */
  readonly onStep?: () => void;
  /** Versions per transaction; a single record may exceed it. */
  readonly stepVersions?: number;
}

/** Produces some tens of megabytes of WAL. */
const STEP_VERSIONS = 20_000;

/** Record of the version `?2` positions after those of record `?1`; none past the end. */
const STEP_END = `SELECT key >> 31 FROM history_versions WHERE key > ((?1 + 1) << 31) ORDER BY key LIMIT 1 OFFSET ?2`;
const LAST = "SELECT coalesce(max(n), 0) FROM history_records";
const COUNT = "SELECT count(*) FROM history_versions";

/** @throws DatabaseRefused for damaged data, which is left unchanged: packing would hide the location of the damage */
export function compactHistory(
  db: Sql,
  kinds: readonly AnyKind[],
  { onProgress = () => {}, onStep = () => {}, stepVersions = STEP_VERSIONS }: CompactOptions = {},
): CompactionResult {
  const before = verifyLedger(db, kinds, { onProgress });
  requireIntact(before, "The data is damaged and was not packed");
  const packer = new VersionPacker(db);
  let packed = NOTHING_PACKED;
  for (const [first, last] of steps(db, stepVersions)) {
    const step = db.$client
      .transaction(() =>
        withoutGuards(db, ["history_versions"], () => {
          let sum = NOTHING_PACKED;
          for (let n = first; n <= last; n += 1) sum = plus(sum, packer.pack(n));
          return sum;
        }),
      )
      .immediate();
    packed = plus(packed, step);
    onStep();
    onProgress({ step: "records packed", done: last, total: null });
  }
  const report = verifyLedger(db, kinds, { onProgress, ...(before.head === null ? {} : { knownHead: before.head }) });
  requireIntact(report, "The packed data is damaged");
  return { ...packed, versions: countVersions(db), report };
}

/** Estimates the effect of a compaction. Read-only; safe while an appliance is running. */
export function estimateCompaction(db: Sql, onProgress: OnProgress = () => {}): Packed & { readonly versions: number } {
  const packer = new VersionPacker(db);
  let packed = NOTHING_PACKED;
  for (const [first, last] of steps(db, STEP_VERSIONS)) {
    for (let n = first; n <= last; n += 1) packed = plus(packed, packer.estimate(n));
    onProgress({ step: "records examined", done: last, total: null });
  }
  return { ...packed, versions: countVersions(db) };
}

/** Ranges of record numbers with a limited number of versions each. */
function* steps({ $client }: Sql, versions: number): Generator<readonly [first: number, last: number]> {
  const [lastN] = $client.query(LAST).values()[0] as [number];
  for (let first = 1; first <= lastN; ) {
    const [found] = ($client.query(STEP_END).values(first - 1, versions)[0] ?? []) as [number?];
    const last = Math.max(first, (found ?? lastN + 1) - 1);
    yield [first, last];
    first = last + 1;
  }
}

function plus(left: Packed, right: Packed): Packed {
  return { packed: left.packed + right.packed, savedBytes: left.savedBytes + right.savedBytes };
}

function countVersions({ $client }: Sql): number {
  return ($client.query(COUNT).values()[0] as [number])[0];
}
