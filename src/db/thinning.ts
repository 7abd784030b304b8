// Effects of a prune: thinned segments, retained transactions, and versions still needed. Shared by pruning and
// verification. Pure.

import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import { OPERATION } from "./kind.ts";
import { periodOf, RESOLUTIONS, type Resolution, type Segment } from "./pruned-history.ts";

/** Parameters of a prune. */
export interface PruneOrder {
  /** Thins history before this timestamp. */
  readonly before: Instant;
  readonly keep: Resolution;
}

/** A position in the ledger. */
export interface LedgerPlace {
  readonly sequence: number;
  readonly at: Instant;
}

/** Source of a prune's own transaction, which encodes the order. */
export function pruneSource({ before, keep }: PruneOrder): string {
  return `ledger.prune before=${formatInstant(before)} keep=${keep}`;
}

/** Order encoded in a transaction's source; null if it is not a prune. */
export function parsePruneSource(source: string): PruneOrder | null {
  const [, instant = "", keep] = /^ledger\.prune before=(\S+) keep=(\w+)$/.exec(source) ?? [];
  const before = parseInstant(instant);
  const resolution = RESOLUTIONS.find((each) => each === keep);
  return before === null || resolution === undefined ? null : { before, keep: resolution };
}

/**
 * Segments after a prune. A prune only reduces resolution.
 * @param segments before the prune, ascending
 * @param prune the last transaction in range, the resolution, and the prune's own transaction
 */
export function afterPrune(
  segments: readonly Segment[],
  prune: { readonly last: number; readonly keep: Resolution; readonly sequence: number },
): Segment[] {
  const { last, keep, sequence } = prune;
  const parts: Segment[] = [];
  const coarsened = (segment: Segment): Segment =>
    RESOLUTIONS.indexOf(keep) <= RESOLUTIONS.indexOf(segment.resolution)
      ? segment
      : { ...segment, resolution: keep, prunedBy: sequence };
  for (const segment of segments) {
    if (segment.first > last) parts.push(segment);
    else if (segment.last <= last) parts.push(coarsened(segment));
    else parts.push(coarsened({ ...segment, last }), { ...segment, first: last + 1 });
  }
  const until = segments.at(-1)?.last ?? 0;
  if (last > until) parts.push({ first: until + 1, last, resolution: keep, prunedBy: sequence });
  return merged(parts);
}

/** Merges adjacent segments of equal resolution. */
function merged(parts: readonly Segment[]): Segment[] {
  const segments: Segment[] = [];
  for (const part of parts) {
    const before = segments.at(-1);
    if (before?.resolution !== part.resolution) segments.push(part);
    else
      segments[segments.length - 1] = {
        ...before,
        last: part.last,
        prunedBy: Math.max(before.prunedBy, part.prunedBy),
      };
  }
  return segments;
}

/**
 * Retained transactions, ascending: the state at each is complete.
 * @param dayEnds the last transaction of each UTC day, at least up to the end of the last segment, ascending
 */
export function keptSequences(segments: readonly Segment[], dayEnds: readonly LedgerPlace[]): number[] {
  const monthEnds = dayEnds.filter(({ at }, place) => {
    const next = dayEnds[place + 1];
    return next === undefined || next.at >= periodOf(at, "monthly").end;
  });
  const kept: number[] = [];
  for (const { first, last, resolution } of segments) {
    const ends = resolution === "daily" ? dayEnds : resolution === "monthly" ? monthEnds : [];
    for (const { sequence } of ends) if (sequence >= first && sequence < last) kept.push(sequence);
    kept.push(last);
  }
  return kept;
}

/** The first retained transaction from a sequence on; Infinity if none. */
export function firstKeptFrom(kept: readonly number[], sequence: number): number {
  let [low, high] = [0, kept.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kept[middle] as number) < sequence) low = middle + 1;
    else high = middle;
  }
  return kept[low] ?? Number.POSITIVE_INFINITY;
}

/** Version data that thinning needs. */
export interface ThinnableVersion {
  readonly sequence: number;
  readonly operation: number;
}

/**
 * Versions of one record to drop: no retained transaction has them as the newest. A deletion is dropped as well once
 * the versions it ends are gone.
 * @param versions in thinned segments, ascending
 */
export function dispensable<V extends ThinnableVersion>(versions: readonly V[], kept: readonly number[]): V[] {
  const dropped: V[] = [];
  let isAlive = false;
  for (const [place, version] of versions.entries()) {
    const successor = versions[place + 1]?.sequence ?? Number.POSITIVE_INFINITY;
    const isEnd = version.operation === OPERATION.Deleted;
    if (firstKeptFrom(kept, version.sequence) >= successor || (isEnd && !isAlive)) dropped.push(version);
    else isAlive = !isEnd;
  }
  return dropped;
}

/** A validity range in transactions: [since, until). */
export interface ThinnableStretch {
  readonly since: number;
  readonly until: number;
}

/** Whether a range that ended in a thinned segment can be dropped: no retained transaction falls into it. */
export function isDispensableStretch({ since, until }: ThinnableStretch, kept: readonly number[]): boolean {
  return until <= (kept.at(-1) ?? 0) && firstKeptFrom(kept, since) >= until;
}
