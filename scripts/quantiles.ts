// Median and quantiles of measurements.

/** Returns the quantile function for shares from 0 to 1: `quantile(0.99)`. */
export function quantilesOf(values: Iterable<number>, emptyValue = Number.NaN): (share: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? emptyValue;
}

/** Returns the median; for an even count, the upper of the two middle values. */
export function median(values: Iterable<number>): number {
  return quantilesOf(values)(0.5);
}
