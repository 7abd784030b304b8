// Recipes of the contribution guide, each applied to a copy of this checkout: its check passes, and its code passes the
// formatter, the linter and the house rules.

import { expect, test } from "bun:test";
import { PROOF_HANG_MS, TEST_HANG_MS } from "../support/measure/limits.ts";
import { applyRecipe, RECIPES } from "../support/recipes/recipe.ts";
import { ScratchCopy } from "../support/recipes/scratch-copy.ts";

const RULES = `./scripts/bun test --timeout=${TEST_HANG_MS} test/unit/house-rules test/unit/import-rules`;

test.each(RECIPES.map((recipe) => [recipe.title, recipe] as const))("%s", PROOF_HANG_MS, async (_title, recipe) => {
  await using copy = new ScratchCopy();
  const written = applyRecipe(recipe, copy.files);
  const linted = written.filter((path) => /\.tsx?$/.test(path)).join(" ");
  const lint = `./scripts/bun node_modules/@biomejs/biome/bin/biome check --vcs-enabled=false ${linted}`;
  for (const command of [lint, recipe.check, RULES]) {
    // The runner takes long silence for a hang.
    console.log(`${recipe.name}: ${command}`);
    const { exitCode, output } = await copy.run(command);
    if (exitCode !== 0) console.log(output);
    expect([command, exitCode]).toEqual([command, 0]);
  }
});
