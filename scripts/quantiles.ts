// The figures that many measurements come to. Pure.

/** Tells of any share (0 to 1) the value below which that share of them lies: `at(0.99)`. */
export function quantilesOf(values: Iterable<number>, ofNone = Number.NaN): (share: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? ofNone;
}

/** The value in the middle, the upper one of two. */
export function median(values: Iterable<number>): number {
  return quantilesOf(values)(0.5);
}
