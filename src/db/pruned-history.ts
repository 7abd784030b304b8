// Where history was thinned, and which transactions are kept there: of each day or month (UTC) the last one. Reads are
// answered as of a kept one, since only what held then is all still there. Must not write.

import type { Instant } from "../base/instant.ts";

/**
 * What is kept of a stretch of history, from the finest to the coarsest: the last state of each day, of each month, or
 * of the stretch alone.
 */
export const RESOLUTIONS = ["daily", "monthly", "none"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/**
 * A stretch of the ledger that was thinned, in sequences. All of them together reach from the first transaction on
 * without a gap.
 */
export interface Segment {
  readonly first: number;
  /** Kept in any case. */
  readonly last: number;
  readonly resolution: Resolution;
  /** The transaction of the prune that made it so. */
  readonly prunedBy: number;
}

/** What an answer about a thinned stretch says of itself. */
export interface Thinned {
  readonly resolution: Resolution;
  /** The instant of the kept transaction as of which it is; null before the first one, of which nothing is known. */
  readonly resolvedAt: Instant | null;
}

/** Runs a query with numbers; its rows are arrays. */
export type Rows = (sql: string, ...values: number[]) => unknown[][];

const READ_SEGMENTS = "SELECT first, last, resolution, pruned_by FROM history_segments ORDER BY first";
const INSTANT_OF = "SELECT at FROM history_transactions WHERE sequence = +?1";
const LAST_BEFORE = "SELECT sequence FROM history_transactions WHERE at < +?1 ORDER BY at DESC LIMIT 1";

export class PrunedHistory {
  /** In order. */
  readonly segments: readonly Segment[];
  private readonly rows: Rows;

  /** @param segments those that the store knows, if no others are given; in order */
  constructor(rows: Rows, segments?: readonly Segment[]) {
    this.rows = rows;
    this.segments =
      segments ??
      (rows(READ_SEGMENTS) as Array<[number, number, Resolution, number]>).map(
        ([first, last, resolution, prunedBy]) => ({ first, last, resolution, prunedBy }),
      );
  }

  /** The transaction up to which history was thinned; 0 where it was not. What came after it is all there. */
  get until(): number {
    return this.segments.at(-1)?.last ?? 0;
  }

  /** Up to when not everything that came after a transaction is there any more; null where all of it is. */
  incompleteUntil(after: number): Instant | null {
    return after < this.until ? this.instantOf(this.until) : null;
  }

  /**
   * The stretch in which what held as of a transaction may be gone; null where it is all there, as it is at a stretch's
   * end.
   */
  around(sequence: number): Segment | null {
    if (sequence >= this.until) return null;
    return this.segments.find(({ first, last }) => sequence >= first && sequence < last) ?? null;
  }

  /** The last transaction up to this one as of which all is there; 0 for none. */
  keptUpTo(sequence: number): number {
    const segment = this.around(sequence);
    if (segment === null) return sequence;
    const before = segment.first - 1;
    if (segment.resolution === "none") return before;
    const { start, end } = periodOf(this.instantOf(sequence), segment.resolution);
    // The last one of its period is kept.
    return this.lastBefore(end) === sequence ? sequence : Math.max(before, this.lastBefore(start));
  }

  /** The first transaction from this one on as of which all is there. */
  keptFrom(sequence: number): number {
    const segment = this.around(sequence);
    if (segment === null) return sequence;
    if (segment.resolution === "none") return segment.last;
    return Math.min(segment.last, this.lastBefore(periodOf(this.instantOf(sequence), segment.resolution).end));
  }

  /**
   * What is to be said of an answer as of a kept transaction, given as the answer to a question about `asked`;
   * undefined where all is there.
   */
  told(asked: number, kept: number): Thinned | undefined {
    const segment = this.around(asked);
    return segment === null
      ? undefined
      : { resolution: segment.resolution, resolvedAt: kept === 0 ? null : this.instantOf(kept) };
  }

  /** @param sequence of a transaction that there is */
  instantOf(sequence: number): Instant {
    return this.rows(INSTANT_OF, sequence)[0]?.[0] as Instant;
  }

  /** The last transaction before an instant; 0 for none. */
  lastBefore(at: Instant): number {
    return (this.rows(LAST_BEFORE, at)[0]?.[0] as number | undefined) ?? 0;
  }
}

/** The day or month (UTC) around an instant: [start, end). */
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
