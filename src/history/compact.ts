// Packs the versions that lie whole in the ledger of a store at rest, a few records per transaction: cut off, it goes on
// from there the next time. What versions say stays as it is, and so do all hashes.

import type { Sql } from "../db/connection.ts";
import type { AnyKind } from "../db/kind.ts";
import { withoutGuards } from "./guards-off.ts";
import { NOTHING_PACKED, type Packed, VersionPacker } from "./pack-versions.ts";
import { type Report, requireSound, type VerifyProgress, verifyLedger } from "./verify/verify.ts";

/** What a compaction came to. */
export interface Compacted extends Packed {
  /** How many versions there are. */
  readonly versions: number;
  /** The verification of the ledger as it lies then. */
  readonly report: Report;
}

type OnProgress = (progress: VerifyProgress) => void;

interface CompactOptions {
  readonly onProgress?: OnProgress;
  /** Called between transactions, when what was packed is in the log. */
  readonly onStep?: () => void;
  /** Versions of a transaction, or one record's more. */
  readonly stepVersions?: number;
}

/** Some tens of megabytes of log. */
const STEP_VERSIONS = 20_000;

/** The record that the version belongs to which is so many on from those of another; none beyond the last. */
const STEP_END = `SELECT key >> 31 FROM history_versions WHERE key > ((?1 + 1) << 31) ORDER BY key LIMIT 1 OFFSET ?2`;
const LAST = "SELECT coalesce(max(n), 0) FROM history_records";
const COUNT = "SELECT count(*) FROM history_versions";

/**
 * @throws DatabaseRefused for an unsound store: what is wrong with a version could not be told afterwards. Nothing is
 * changed then.
 */
export function compactHistory(
  db: Sql,
  kinds: readonly AnyKind[],
  { onProgress = () => {}, onStep = () => {}, stepVersions = STEP_VERSIONS }: CompactOptions = {},
): Compacted {
  const before = verifyLedger(db, kinds, { onProgress });
  requireSound(before, "The data are damaged and were not packed");
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
  requireSound(report, "The packed data are damaged");
  return { ...packed, versions: countOf(db), report };
}

/** What it would come to. Reads only; an appliance may be running. */
export function compactable(db: Sql, onProgress: OnProgress = () => {}): Packed & { readonly versions: number } {
  const packer = new VersionPacker(db);
  let packed = NOTHING_PACKED;
  for (const [first, last] of steps(db, STEP_VERSIONS)) {
    for (let n = first; n <= last; n += 1) packed = plus(packed, packer.told(n));
    onProgress({ step: "records looked at", done: last, total: null });
  }
  return { ...packed, versions: countOf(db) };
}

/** Runs of record numbers with not too many versions each. */
function* steps({ $client }: Sql, versions: number): Generator<readonly [first: number, last: number]> {
  const [lastN] = $client.query(LAST).values()[0] as [number];
  for (let first = 1; first <= lastN; ) {
    const [found] = ($client.query(STEP_END).values(first - 1, versions)[0] ?? []) as [number?];
    const last = Math.max(first, (found ?? lastN + 1) - 1);
    yield [first, last];
    first = last + 1;
  }
}

function plus(one: Packed, other: Packed): Packed {
  return { packed: one.packed + other.packed, savedBytes: one.savedBytes + other.savedBytes };
}

function countOf({ $client }: Sql): number {
  return ($client.query(COUNT).values()[0] as [number])[0];
}
