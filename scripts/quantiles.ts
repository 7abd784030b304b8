// Statistics of measurements. Pure.

/** Returns the quantile function for shares from 0 to 1: `at(0.99)`. */
export function quantilesOf(values: Iterable<number>, ofNone = Number.NaN): (share: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? ofNone;
}

/** The median; the upper one of two. */
export function median(values: Iterable<number>): number {
  return quantilesOf(values)(0.5);
}
