// Prune effects: thinned segments, retained transactions, and versions still needed. Shared by pruning and
// verification. Pure.

import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import { OPERATION } from "./kind.ts";
import { periodOf, RESOLUTIONS, type Resolution, type Segment } from "./pruned-history.ts";

/** Parameters of a prune. */
export interface PruneOptions {
  /** Thins history before this timestamp. */
  readonly before: Instant;
  readonly keep: Resolution;
}

/** A position in the ledger. */
export interface LedgerPosition {
  readonly sequence: number;
  readonly at: Instant;
}

/** Source of a prune's own transaction, which encodes its options. */
export function pruneSource({ before, keep }: PruneOptions): string {
  return `ledger.prune before=${formatInstant(before)} keep=${keep}`;
}

/** Options encoded in a transaction's source; null if it is not a prune. */
export function parsePruneSource(source: string): PruneOptions | null {
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
  const coarsen = (segment: Segment): Segment =>
    RESOLUTIONS.indexOf(keep) <= RESOLUTIONS.indexOf(segment.resolution)
      ? segment
      : { ...segment, resolution: keep, prunedBy: sequence };
  for (const segment of segments) {
    if (segment.first > last) parts.push(segment);
    else if (segment.last <= last) parts.push(coarsen(segment));
    else parts.push(coarsen({ ...segment, last }), { ...segment, first: last + 1 });
  }
  const until = segments.at(-1)?.last ?? 0;
  if (last > until) parts.push({ first: until + 1, last, resolution: keep, prunedBy: sequence });
  return merge(parts);
}

/** Merges adjacent segments of equal resolution. */
function merge(parts: readonly Segment[]): Segment[] {
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
export function retainedSequences(segments: readonly Segment[], dayEnds: readonly LedgerPosition[]): number[] {
  const monthEnds = dayEnds.filter(({ at }, index) => {
    const next = dayEnds[index + 1];
    return next === undefined || next.at >= periodOf(at, "monthly").end;
  });
  const retained: number[] = [];
  for (const { first, last, resolution } of segments) {
    const ends = resolution === "daily" ? dayEnds : resolution === "monthly" ? monthEnds : [];
    for (const { sequence } of ends) if (sequence >= first && sequence < last) retained.push(sequence);
    retained.push(last);
  }
  return retained;
}

/** The first retained transaction from a sequence on; Infinity if none. */
export function firstRetainedFrom(retained: readonly number[], sequence: number): number {
  let [low, high] = [0, retained.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((retained[middle] as number) < sequence) low = middle + 1;
    else high = middle;
  }
  return retained[low] ?? Number.POSITIVE_INFINITY;
}

/** Version data that thinning needs. */
export interface ThinnableVersion {
  readonly sequence: number;
  readonly operation: number;
}

/**
 * Versions of one record to drop: no retained transaction has them as the newest. A deletion is dropped as well once
 * the versions it ends were dropped.
 * @param versions in thinned segments, ascending
 */
export function droppableVersions<V extends ThinnableVersion>(
  versions: readonly V[],
  retained: readonly number[],
): V[] {
  const dropped: V[] = [];
  let isAlive = false;
  for (const [index, version] of versions.entries()) {
    const successor = versions[index + 1]?.sequence ?? Number.POSITIVE_INFINITY;
    const isEnd = version.operation === OPERATION.Deleted;
    if (firstRetainedFrom(retained, version.sequence) >= successor || (isEnd && !isAlive)) dropped.push(version);
    else isAlive = !isEnd;
  }
  return dropped;
}

/** A validity range in transactions: [since, until). */
export interface ThinnableRange {
  readonly since: number;
  readonly until: number;
}

/** Whether a range that ended in a thinned segment can be dropped: no retained transaction falls into it. */
export function isDroppableRange({ since, until }: ThinnableRange, retained: readonly number[]): boolean {
  return until <= (retained.at(-1) ?? 0) && firstRetainedFrom(retained, since) >= until;
}
