// Planted faults in the simulated site: each takes a figure of the tests' seeds out of its bounds.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CI_SEEDS } from "../rates.ts";
import { FAULTS } from "./faults.ts";
import { FaultyCopy } from "./trial.ts";

const folder = mkdtempSync(join(tmpdir(), "world-faults-"));
const copy = new FaultyCopy(join(folder, "checkout"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(FAULTS)("the figures show that the product breaks the rule of $name", async (fault) => {
  const { broken, others, problem } = await copy.try(fault, CI_SEEDS);
  expect({ problem, isBroken: broken !== null, others }).toEqual({ problem: null, isBroken: true, others });
});
