// Number of seeds per run for random tests.

/** Environment variable of `scripts/test --all`. */
const TAKEN = "TEST_SEEDS";

/** The first seed; all of them in `./scripts/test --all`, or with TEST_SEEDS set to `all`. */
export function seedsOf(...seeds: readonly [number, ...number[]]): readonly number[] {
  return process.env[TAKEN] === "all" ? seeds : seeds.slice(0, 1);
}
