// Prune verification: the segments against the prunes recorded in the ledger, and every dropped version against the
// segments, since no version needed by a retained transaction may be missing. Hashes are checked with the transactions.

import type { Instant } from "../../base/instant.ts";
import type { Sql } from "../../db/connection.ts";
import { hashVersion } from "../../db/hash.ts";
import { type AnyKind, OPERATION } from "../../db/kind.ts";
import { PrunedHistory, type Rows, type Segment } from "../../db/pruned-history.ts";
import { shapeOf } from "../../db/shape.ts";
import {
  afterPrune,
  firstRetainedFrom,
  type LedgerPosition,
  type PruneOptions,
  retainedSequences,
} from "../../db/thinning.ts";
import { type Findings, whereRecord } from "./findings.ts";
import { advance, STEP_ROWS } from "./ledger-walk.ts";
import type { LedgerEnd, VerificationInput } from "./verify-ledger.ts";

/** Dropped versions, with their successor and the remaining version before them. */
const DROPPED = `
  SELECT t.key >> 31 AS n, t.key & 2147483647 AS sequence, t.hash AS hash, r.kind AS kind, r.id AS id,
         EXISTS (SELECT 1 FROM history_versions v WHERE v.key = t.key) AS isPresent,
         min(coalesce((SELECT min(v.key) FROM history_versions v
           WHERE v.key > t.key AND v.key < ((t.key >> 31) + 1) << 31), ~(1 << 63)),
             coalesce((SELECT min(d.key) FROM history_thinned d
               WHERE d.key > t.key AND d.key < ((t.key >> 31) + 1) << 31), ~(1 << 63))) & 2147483647 AS successor,
         (SELECT v.operation FROM history_versions v WHERE v.key < t.key AND v.key > (t.key >> 31) << 31
           ORDER BY v.key DESC LIMIT 1) AS operationBefore
  FROM history_thinned t LEFT JOIN history_records r ON r.n = t.key >> 31
  WHERE t.key > ((?1 << 31) | ?2) ORDER BY t.key LIMIT ${STEP_ROWS}`;

interface Dropped {
  readonly n: number;
  readonly sequence: number;
  readonly hash: Uint8Array;
  readonly kind: number | null;
  readonly id: string | null;
  /** 1 if the version is still there. */
  readonly isPresent: number;
  /** Sequence of the next version, dropped or not; the maximum if there is none. */
  readonly successor: number;
  /** Operation of the remaining version before it; null for none. */
  readonly operationBefore: number | null;
}

/** A segment in the report. */
export interface ThinnedSegment extends Segment {
  /** Timestamp of its last transaction. */
  readonly until: Instant;
}

/** One verification of prunes. */
export class ThinningVerification {
  /** Segments implied by the ledger. */
  segments: readonly ThinnedSegment[] = [];
  private readonly db: Sql;
  private readonly kinds: ReadonlyMap<number, AnyKind>;
  private readonly until: LedgerEnd;
  private readonly findings: Findings;

  constructor({ db, kinds, until, findings }: VerificationInput<ReadonlyMap<number, AnyKind>>) {
    this.db = db;
    this.kinds = kinds;
    this.until = until;
    this.findings = findings;
  }

  /**
   * Checks the segments and every dropped version. Run after the transactions.
   * @param prunes from the transactions
   * @param dayEnds from the transactions
   * @returns the number of rows per step
   */
  *run(
    prunes: ReadonlyArray<PruneOptions & { readonly sequence: number }>,
    dayEnds: readonly LedgerPosition[],
  ): Generator<number> {
    const rows: Rows = (sql, ...values) => this.db.$client.query(sql).values(...values) as unknown[][];
    let segments: readonly Segment[] = [];
    for (const { before, keep, sequence } of prunes) {
      const earlier = new PrunedHistory(rows, segments);
      const last = earlier.lastCompleteUpTo(Math.min(earlier.lastBefore(before), sequence - 1));
      if (last === 0) this.findings.add("segment", `transaction ${sequence}`, "is a prune that covered nothing");
      else segments = afterPrune(segments, { last, keep, sequence });
    }
    const past = new PrunedHistory(rows);
    this.segments = segments.map((segment) => ({ ...segment, until: past.instantOf(segment.last) }));
    this.compareSegments(segments, past.segments);
    yield* this.versions(retainedSequences(segments, dayEnds));
  }

  private compareSegments(expected: readonly Segment[], found: readonly Segment[]): void {
    const isSame = (left: Segment) => (right: Segment) => Bun.deepEquals(left, right);
    for (const segment of expected) {
      if (!found.some(isSame(segment)))
        this.findings.add("segment", whereSegment(segment), "was thinned, but has no row in history_segments");
    }
    for (const segment of found) {
      // A prune after the verification started.
      if (segment.prunedBy > this.until.sequence) continue;
      const message = "has a row in history_segments, but was not thinned by any prune";
      if (!expected.some(isSame(segment))) this.findings.add("segment", whereSegment(segment), message);
    }
  }

  private *versions(retained: readonly number[]): Generator<number> {
    const statement = this.db.$client.prepare(DROPPED);
    let [n, sequence] = [-(2 ** 32), 0];
    for (let count = STEP_ROWS; count === STEP_ROWS; ) {
      const rows = statement.all(n, sequence) as Dropped[];
      for (const version of rows) {
        [n, sequence] = advance("history_thinned", [n, sequence], [version.n, version.sequence]);
        if (sequence <= this.until.sequence) this.version(version, retained);
      }
      count = rows.length;
      yield count;
    }
    statement.finalize();
  }

  private version(version: Dropped, retained: readonly number[]): void {
    const { n, sequence, successor } = version;
    const kind = version.kind === null ? undefined : this.kinds.get(version.kind);
    const add = (message: string) =>
      this.findings.add(
        "version",
        `${whereRecord(kind?.name ?? `kind ${version.kind}`, version.id, n)}, transaction ${sequence}`,
        message,
      );
    if (version.isPresent === 1) return add("was dropped, but is still there");
    const needed = firstRetainedFrom(retained, sequence);
    if (needed === Number.POSITIVE_INFINITY) return add("was dropped, but no prune covered it");
    if (needed >= successor) return;
    // A retained transaction may only lack a deletion, and only if everything it ended was dropped too.
    if (kind === undefined || !isEnd(version, kind))
      add(`was dropped, but is needed as of transaction ${needed}, which is retained`);
    else if (version.operationBefore !== null && version.operationBefore !== OPERATION.Deleted)
      add("was dropped, but ends the versions left before it");
  }
}

/** Whether the hash is that of a deletion, of which all but the shape at that time is known. */
function isEnd({ id, sequence, hash }: Dropped, kind: AnyKind): boolean {
  const content = { composed: 0, changed: null, sort_keys: null, observed: "", members: null };
  const end = { ...content, id: id ?? "", kind: kind.code, sequence, operation: OPERATION.Deleted };
  for (let shape = 1; shape <= shapeOf(kind); shape += 1)
    if (Buffer.compare(hashVersion({ ...end, shape }), hash) === 0) return true;
  return false;
}

function whereSegment({ first, last, resolution, prunedBy }: Segment): string {
  return `transactions ${first} to ${last} (${resolution}, by transaction ${prunedBy})`;
}
