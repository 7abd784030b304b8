// Distribution-free comparison of two samples of measurements.

/** Returns the value that a fraction (0 to 1) of the values does not exceed. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * Two-sided p-value of two samples under the same distribution: the Mann–Whitney U test in its normal approximation,
 * which is accurate from about 20 values per sample. Ties share their ranks.
 */
export function mannWhitney(first: readonly number[], second: readonly number[]): number {
  const ranked = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let from = 0; from < ranked.length; ) {
    let to = from;
    while (to + 1 < ranked.length && ranked[to + 1]?.value === ranked[from]?.value) to += 1;
    for (let index = from; index <= to; index += 1) if (ranked[index]?.isFirst) rankSum += (from + to) / 2 + 1;
    from = to + 1;
  }
  const [m, n] = [first.length, second.length];
  const u = rankSum - (m * (m + 1)) / 2;
  const z = (u - (m * n) / 2) / Math.sqrt((m * n * (m + n + 1)) / 12);
  return 2 * upperTail(Math.abs(z));
}

/** Median of all differences between the samples (Hodges and Lehmann): how far the first is above the second. */
export function shift(first: readonly number[], second: readonly number[]): number {
  return median(first.flatMap((value) => second.map((reference) => value - reference)));
}

/** Smallest of `steps` that the test detects when it is added to the first sample. */
export function detectableShift(
  first: readonly number[],
  second: readonly number[],
  limit: number,
  steps: readonly number[],
): number {
  return (
    steps.find(
      (step) =>
        mannWhitney(
          first.map((value) => value + step),
          second,
        ) < limit,
    ) ?? Number.POSITIVE_INFINITY
  );
}

/**
 * Upper tail of the standard normal distribution for z ≥ 0 (Abramowitz and Stegun 26.2.17). The absolute error is below
 * 1e-7, so smaller values are meaningless.
 */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return Math.max(0, (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial);
}
