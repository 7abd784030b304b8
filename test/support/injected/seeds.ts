// Number of seeds per run for random tests.

/** Environment variable set by `scripts/test --all`. */
const SEEDS_VARIABLE = "TEST_SEEDS";

/** The first seed; all of them in `./scripts/test --all`, or with TEST_SEEDS set to `all`. */
export function seedsOf(...seeds: readonly [number, ...number[]]): readonly number[] {
  return seeds.slice(0, seedCount(1, seeds.length));
}

/** Number of seeds from 1: `few`, or `all` under the same condition. */
export function seedCount(few: number, all: number): number {
  return process.env[SEEDS_VARIABLE] === "all" ? all : few;
}
