// What a prune comes to: which stretches of the ledger are thinned how far, which transactions are kept there, and
// which versions of a record are still needed then. The same for who drops and for who verifies what was dropped. Pure.

import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import { OPERATION } from "./kind.ts";
import { periodOf, RESOLUTIONS, type Resolution, type Segment } from "./pruned-history.ts";

/** What a prune was asked for. */
export interface PruneOrder {
  /** What happened before this instant is thinned. */
  readonly before: Instant;
  readonly keep: Resolution;
}

/** A place in the ledger. */
export interface LedgerPlace {
  readonly sequence: number;
  readonly at: Instant;
}

/** The source of a prune's own transaction: it tells the order. */
export function pruneSource({ before, keep }: PruneOrder): string {
  return `ledger.prune before=${formatInstant(before)} keep=${keep}`;
}

/** The order in a transaction's source; null for one that is no prune's. */
export function parsePruneSource(source: string): PruneOrder | null {
  const [, instant = "", keep] = /^ledger\.prune before=(\S+) keep=(\w+)$/.exec(source) ?? [];
  const before = parseInstant(instant);
  const resolution = RESOLUTIONS.find((each) => each === keep);
  return before === null || resolution === undefined ? null : { before, keep: resolution };
}

/**
 * The stretches after a prune. It can only make coarser what it finds.
 * @param segments those before it, in order
 * @param prune the last transaction that it reaches, what it keeps, and its own transaction
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

/** Neighbours of one resolution are one stretch. */
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
 * The transactions as of which all is kept, in order.
 * @param dayEnds the last transaction of each day (UTC), at least up to the end of the last stretch, in order
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

/** The first kept transaction from a sequence on; Infinity where there is none. */
export function firstKeptFrom(kept: readonly number[], sequence: number): number {
  let [low, high] = [0, kept.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kept[middle] as number) < sequence) low = middle + 1;
    else high = middle;
  }
  return kept[low] ?? Number.POSITIVE_INFINITY;
}

/** What thinning goes by. */
export interface ThinnableVersion {
  readonly sequence: number;
  readonly operation: number;
}

/**
 * The versions of one record that are not needed any more: none of the kept transactions found them the newest. An end
 * of which nothing is left that it would be the end of goes as well.
 * @param versions those in thinned stretches, in order
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

/** What held from one transaction until another: [since, until). */
export interface ThinnableStretch {
  readonly since: number;
  readonly until: number;
}

/** Whether what ended in a thinned stretch is not needed any more: it held as of none of the kept transactions. */
export function isDispensableStretch({ since, until }: ThinnableStretch, kept: readonly number[]): boolean {
  return until <= (kept.at(-1) ?? 0) && firstKeptFrom(kept, since) >= until;
}
