// Simulated sites against the oracle at their full length, as by `./scripts/prove world`.

import { LONG_TEST_HANG_MS } from "../support/measure/limits.ts";
import { DEFAULT_RATES } from "./rates.ts";
import { testSeeds } from "./seeds.ts";

testSeeds(3, DEFAULT_RATES, LONG_TEST_HANG_MS);
