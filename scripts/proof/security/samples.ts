// Distribution-free comparison of two sets of measurements. Pure.

/** The share `part` (0 to 1) of the sorted values is at or below it. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * Two-sided p-value of two sets under the same distribution: the Mann–Whitney U test by its normal approximation, which
 * is accurate from about 20 values per sample. Ties share their ranks.
 */
export function mannWhitney(some: readonly number[], others: readonly number[]): number {
  const all = [
    ...some.map((value) => ({ value, isSome: true })),
    ...others.map((value) => ({ value, isSome: false })),
  ].sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let from = 0; from < all.length; ) {
    let to = from;
    while (to + 1 < all.length && all[to + 1]?.value === all[from]?.value) to += 1;
    for (let at = from; at <= to; at += 1) if (all[at]?.isSome) rankSum += (from + to) / 2 + 1;
    from = to + 1;
  }
  const [m, n] = [some.length, others.length];
  const u = rankSum - (m * (m + 1)) / 2;
  const z = (u - (m * n) / 2) / Math.sqrt((m * n * (m + n + 1)) / 12);
  return 2 * upperTail(Math.abs(z));
}

/** Median of all differences between the sets (Hodges and Lehmann): how far the first is above the second. */
export function shift(some: readonly number[], others: readonly number[]): number {
  return median(some.flatMap((value) => others.map((other) => value - other)));
}

/** Smallest of `steps` by which one of two equal sets must be later for the test to detect it. */
export function noticedShift(
  some: readonly number[],
  others: readonly number[],
  limit: number,
  steps: readonly number[],
): number {
  return (
    steps.find(
      (step) =>
        mannWhitney(
          some.map((value) => value + step),
          others,
        ) < limit,
    ) ?? Number.POSITIVE_INFINITY
  );
}

/**
 * Upper tail of the standard normal distribution for z ≥ 0 (Abramowitz and Stegun 26.2.17; absolute error below 1e-7,
 * so smaller values are not reported).
 */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return Math.max(0, (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial);
}
