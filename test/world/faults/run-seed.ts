// Entry point of a trial: runs one seed, and prints its figures as JSON.

import { FAULT_RATES } from "../rates.ts";
import { runWorld } from "../run-world.ts";

const figures = await runWorld(Number(process.argv[2]), FAULT_RATES);
console.log(JSON.stringify(figures.values()));
process.exit(0);
