// Bounds that a run of the simulated site can no longer meet, although some of its seeds have not run yet.

import { BOUNDS, type Bound } from "../bounds.ts";
import type { FigureName, FigureValues } from "../figures/figures.ts";

/** A figure out of its bounds. */
export interface BrokenBound {
  readonly figure: FigureName;
  readonly value: number;
  readonly bound: number;
  readonly of: "worst seed" | "mean";
}

/**
 * Bounds that no result of the remaining seeds can restore.
 * @param runs figures of completed seeds
 * @param seeds total number of seeds
 */
export function brokenBounds(
  runs: readonly FigureValues[],
  seeds: number,
  bounds: readonly Bound[] = BOUNDS,
): BrokenBound[] {
  return bounds.flatMap(({ figure, isUpper = false, today: [mean, worst] }): BrokenBound[] => {
    const values = runs.map((run) => run[figure]);
    const remaining = Math.max(0, seeds - values.length) * (isUpper ? 0 : 1);
    const [reachable, last] = [
      (values.reduce((sum, value) => sum + value, 0) + remaining) / Math.max(seeds, values.length),
      isUpper ? Math.max(...values) : Math.min(...values),
    ];
    const isBeyond = (value: number, bound: number) => (isUpper ? value > bound : value < bound);
    if (isBeyond(last, worst)) return [{ figure, value: last, bound: worst, of: "worst seed" }];
    return isBeyond(reachable, mean) ? [{ figure, value: reachable, bound: mean, of: "mean" }] : [];
  });
}
