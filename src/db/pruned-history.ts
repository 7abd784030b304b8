// Thinned history: its segments and the transactions retained in them, the last of each UTC day or month. Reads resolve
// to a retained transaction, since only those are complete. Read-only.

import type { Instant } from "../base/instant.ts";

/** Retention of a segment, finest first: the last state of each day, of each month, or of the whole segment. */
export const RESOLUTIONS = ["daily", "monthly", "none"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/**
 * A thinned segment of the ledger, in sequences. Together the segments cover the ledger from the first transaction on,
 * without a gap.
 */
export interface Segment {
  readonly first: number;
  /** Always retained. */
  readonly last: number;
  readonly resolution: Resolution;
  /** Sequence of the transaction that pruned this segment. */
  readonly prunedBy: number;
}

/** Notice in a response about a thinned segment. */
export interface ThinnedNotice {
  readonly resolution: Resolution;
  /** Timestamp of the retained transaction that is read; null before the first one, where no data is left. */
  readonly resolvedAt: Instant | null;
}

/** Runs a query with numeric parameters; rows are arrays. */
export type Rows = (sql: string, ...values: number[]) => unknown[][];

const READ_SEGMENTS = "SELECT first, last, resolution, pruned_by FROM history_segments ORDER BY first";
const INSTANT_OF = "SELECT at FROM history_transactions WHERE sequence = +?1";
const LAST_BEFORE = "SELECT sequence FROM history_transactions WHERE at < +?1 ORDER BY at DESC LIMIT 1";

export class PrunedHistory {
  /** Ascending. */
  readonly segments: readonly Segment[];
  private readonly rows: Rows;

  /** @param segments ascending; defaults to the stored segments */
  constructor(rows: Rows, segments?: readonly Segment[]) {
    this.rows = rows;
    this.segments =
      segments ??
      (rows(READ_SEGMENTS) as Array<[number, number, Resolution, number]>).map(
        ([first, last, resolution, prunedBy]) => ({ first, last, resolution, prunedBy }),
      );
  }

  /** Last thinned transaction; 0 if none. Everything after it is complete. */
  get until(): number {
    return this.segments.at(-1)?.last ?? 0;
  }

  /** End of incomplete history after a transaction; null if everything after it is complete. */
  incompleteUntil(after: number): Instant | null {
    return after < this.until ? this.instantOf(this.until) : null;
  }

  /**
   * Segment in which the state at a transaction may be incomplete; null if that state is complete, as at a segment's
   * end.
   */
  incompleteSegment(sequence: number): Segment | null {
    if (sequence >= this.until) return null;
    return this.segments.find(({ first, last }) => sequence >= first && sequence < last) ?? null;
  }

  /** The last complete transaction up to a sequence; 0 for none. */
  lastCompleteUpTo(sequence: number): number {
    const segment = this.incompleteSegment(sequence);
    if (segment === null) return sequence;
    const before = segment.first - 1;
    if (segment.resolution === "none") return before;
    const { start, end } = periodOf(this.instantOf(sequence), segment.resolution);
    // The last transaction of a period is retained.
    return this.lastBefore(end) === sequence ? sequence : Math.max(before, this.lastBefore(start));
  }

  /** The first complete transaction from a sequence on. */
  firstCompleteFrom(sequence: number): number {
    const segment = this.incompleteSegment(sequence);
    if (segment === null) return sequence;
    if (segment.resolution === "none") return segment.last;
    return Math.min(segment.last, this.lastBefore(periodOf(this.instantOf(sequence), segment.resolution).end));
  }

  /**
   * Notice for a response as of a retained transaction to a query about `requested`; undefined if `requested` is
   * complete.
   */
  notice(requested: number, retained: number): ThinnedNotice | undefined {
    const segment = this.incompleteSegment(requested);
    return segment === null
      ? undefined
      : { resolution: segment.resolution, resolvedAt: retained === 0 ? null : this.instantOf(retained) };
  }

  /** @param sequence of an existing transaction */
  instantOf(sequence: number): Instant {
    return this.rows(INSTANT_OF, sequence)[0]?.[0] as Instant;
  }

  /** The last transaction before a point in time; 0 for none. */
  lastBefore(at: Instant): number {
    return (this.rows(LAST_BEFORE, at)[0]?.[0] as number | undefined) ?? 0;
  }
}

/** The UTC day or month of a timestamp: [start, end). */
export function periodOf(
  at: Instant,
  resolution: "daily" | "monthly",
): { readonly start: Instant; readonly end: Instant } {
  const date = new Date(at);
  if (resolution === "daily") {
    const start = date.setUTCHours(0, 0, 0, 0);
    return { start, end: start + 86_400_000 };
  }
  date.setUTCHours(0, 0, 0, 0);
  const start = date.setUTCDate(1);
  return { start, end: date.setUTCMonth(date.getUTCMonth() + 1) };
}
