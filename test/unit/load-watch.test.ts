// Flatness criterion of the load proof: oscillating memory is flat, growing memory is not.

import { describe, expect, test } from "bun:test";
import { bandsOf, isFlat } from "../../scripts/proof/load/watch.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

/**
 * Ten minutes of a garbage-collected heap, sampled every two seconds: a sawtooth of 60 MB with a period between 40 and
 * 100 s, plus the growth per minute.
 */
function samples(growthMb: number, seed: number) {
  const random = seededRandom(seed);
  let sawMb = 0;
  let risePerSampleMb = 1;
  return Array.from({ length: 301 }, (_, index) => {
    const atS = index * 2;
    sawMb += risePerSampleMb;
    if (sawMb > 60) [sawMb, risePerSampleMb] = [0, 60 / (20 + random.integer(30))];
    // One-time warm-up at the start.
    const warmUpMb = Math.min(1, atS / 50) * 40;
    return { atS, memoryMb: 160 + warmUpMb + sawMb + (growthMb * atS) / 60 };
  });
}

describe("memory under load", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("is flat if it only fluctuates (%d)", (seed) => {
    expect(isFlat(bandsOf(samples(0, seed)), 0.05)).toBe(true);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("is not flat if it grows by 5 MB a minute (%d)", (seed) => {
    expect(isFlat(bandsOf(samples(5, seed)), 0.05)).toBe(false);
  });

  test("is evaluated without its first minute", () => {
    const [first, second] = bandsOf([
      ...Array.from({ length: 30 }, (_, index) => ({ atS: index * 2, memoryMb: 10 })),
      ...Array.from({ length: 60 }, (_, index) => ({ atS: 60 + index * 2, memoryMb: 100 })),
    ]);
    expect([first, second]).toEqual([
      { lowMb: 100, highMb: 100 },
      { lowMb: 100, highMb: 100 },
    ]);
  });
});
