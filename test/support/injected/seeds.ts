// Number of seeds per run for random tests.

/** Environment variable set by `scripts/test --all`. */
const SEEDS_VARIABLE = "TEST_SEEDS";

/** The first seed; all of them in `./scripts/test --all`, or with TEST_SEEDS set to `all`. */
export function seedsOf(...seeds: readonly [number, ...number[]]): readonly number[] {
  return process.env[SEEDS_VARIABLE] === "all" ? seeds : seeds.slice(0, 1);
}
