// Tests of the simulated site: each seed runs to completion, and all seeds together meet the bounds.

import { expect, test } from "bun:test";
import { BOUNDS, holds, reachedBy } from "./bounds.ts";
import type { FigureValues } from "./figures/figures.ts";
import type { Rates } from "./rates.ts";
import { runWorld } from "./run-world.ts";

/**
 * Declares the tests of seeds from 1.
 * @param hangMs limit of one seed
 */
export function testSeeds(count: number, rates: Rates, hangMs: number): void {
  const runs: FigureValues[] = [];
  for (let seed = 1; seed <= count; seed += 1)
    test(
      `seed ${seed} runs to completion`,
      async () => {
        const values = (await runWorld(seed, rates)).values();
        runs.push(values);
        expect(Object.values(values).every(Number.isFinite)).toBe(true);
      },
      hangMs,
    );
  test.each(BOUNDS)("$title is within its bound", (bound) => {
    const reached = reachedBy(runs, bound);
    expect({ ...reached, holds: holds(reached, bound.today, bound.isUpper) }).toEqual({ ...reached, holds: true });
  });
}
