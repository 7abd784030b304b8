// Simulated sites against the oracle: six seeds, 200 with `./scripts/test --all`.

import { expect, test } from "bun:test";
import { seedCount } from "../support/injected/seeds.ts";
import { BOUNDS, holds, reachedBy } from "./bounds.ts";
import type { FigureValues } from "./figures/figures.ts";
import { CI_RATES, CI_SEEDS } from "./rates.ts";
import { runWorld } from "./run-world.ts";

const runs: FigureValues[] = [];

for (let seed = 1; seed <= seedCount(CI_SEEDS, 200); seed += 1)
  test(`seed ${seed} runs to its last day`, async () => {
    const values = (await runWorld(seed, CI_RATES)).values();
    runs.push(values);
    expect(Object.values(values).every(Number.isFinite)).toBe(true);
  });

test.each(BOUNDS)("$title is within its bound", (bound) => {
  const reached = reachedBy(runs, bound);
  expect({ ...reached, holds: holds(reached, bound.today, bound.isUpper) }).toEqual({ ...reached, holds: true });
});
