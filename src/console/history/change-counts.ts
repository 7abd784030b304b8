// Number of differences between two timestamps, by type of change. Pure.

import type { DiffData } from "../api/diff-data.ts";

export type Change = "added" | "removed" | "changed";

export type ChangeCounts = Readonly<Record<Change, number>>;

/** Counts summed over diffs and kinds. */
export function countsIn(diffs: readonly Pick<DiffData, "counts">[]): ChangeCounts {
  const counts = diffs.flatMap((diff) => Object.values(diff.counts));
  const sumOf = (change: Change) => counts.reduce((sum, { [change]: count = 0 }) => sum + count, 0);
  return { added: sumOf("added"), removed: sumOf("removed"), changed: sumOf("changed") };
}

export function totalOf({ added, removed, changed }: ChangeCounts): number {
  return added + removed + changed;
}
