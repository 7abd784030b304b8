// Seeds of random tests: how many of them a run takes.

/** Environment variable of `scripts/test --all`. */
const TAKEN = "TEST_SEEDS";

/** The first seed; all of them in `./scripts/test --all`, and for whoever sets TEST_SEEDS to `all`. */
export function seedsOf(...seeds: readonly [number, ...number[]]): readonly number[] {
  return process.env[TAKEN] === "all" ? seeds : seeds.slice(0, 1);
}
