// Simulated sites against the oracle: six seeds, 200 with `./scripts/test --all`.

import { seedCount } from "../support/injected/seeds.ts";
import { TEST_HANG_MS } from "../support/measure/limits.ts";
import { CI_RATES, CI_SEEDS } from "./rates.ts";
import { testSeeds } from "./seeds.ts";

testSeeds(seedCount(CI_SEEDS, 200), CI_RATES, TEST_HANG_MS);
