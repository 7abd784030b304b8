// Recipes in the contribution guide, checked against the current sources: every step fits, and a recipe writes no more
// than documented. `recipes.all.test.ts` runs their checks.

import { describe, expect, test } from "bun:test";
import { applyDiff, applyRecipe, parseRecipe, RECIPES } from "../support/recipes/recipe.ts";
import { inMemoryFiles } from "../support/recipes/scratch-copy.ts";

describe("a recipe", () => {
  test.each(RECIPES.map((recipe) => [recipe.title, recipe] as const))("%s: every step fits the sources", (_, recipe) =>
    expect(applyRecipe(recipe, inMemoryFiles()).length).toBeGreaterThan(0),
  );

  test("has a path before each code block, and one check", () => {
    const check = "```sh\ntrue\n```\n";
    expect(() => parseRecipe("x", `# X\n\nA block:\n\n\`\`\`ts\n1;\n\`\`\`\n\n${check}`)).toThrow("no path");
    expect(() => parseRecipe("x", "# X\n")).toThrow("0 checks");
    const { title, steps } = parseRecipe(
      "x",
      `# X\n\n1. In \`a.ts\`:\n\n   \`\`\`ts\n   1;\n     2;\n   \`\`\`\n\n${check}`,
    );
    expect([title, steps]).toEqual(["X", [{ path: "a.ts", text: "1;\n  2;", isDiff: false }]]);
  });
});

/** Files of the product that a recipe writes, without its migration and the handbook. */
function productOf(name: string): string[] {
  const recipe = RECIPES.find((candidate) => candidate.name === name);
  if (recipe === undefined) throw new Error(`no recipe named ${name}`);
  return applyRecipe(recipe, inMemoryFiles()).filter((path) =>
    /^src\/(?!handbook\/|db\/files\/migrate\.ts)/.test(path),
  );
}

test("a host field requires one server file and no console file", () => {
  expect(productOf("host-field")).toEqual(["src/resources/hosts/host.ts"]);
});

test("a kind requires one directory, one console file, and a line in each list", () => {
  const others =
    "records/resources bulk/written-resources registry/commands registry/app console/kinds/kinds console/kinds/circuit";
  expect(productOf("kind").filter((path) => !path.startsWith("src/resources/circuits/"))).toEqual(
    others.split(" ").map((name) => `src/${name}.ts`),
  );
});

describe("a diff without line numbers", () => {
  const text = "a {\n  x\n}\nb {\n  x\n}\n";

  test("changes the only occurrence of its context", () => {
    expect(applyDiff(text, " b {\n+  y\n   x", "f")).toBe("a {\n  x\n}\nb {\n  y\n  x\n}\n");
    expect(applyDiff(text, "-b {\n+c {", "f")).toBe("a {\n  x\n}\nc {\n  x\n}\n");
  });

  test("changes the first occurrence after a quoted line", () => {
    expect(applyDiff(text, "@@ b { @@\n   x\n+  y", "f")).toBe("a {\n  x\n}\nb {\n  x\n  y\n}\n");
  });

  test.each([
    ["   x\n+  y", "more than once"],
    [" z\n+y", "does not contain"],
    ["@@ z @@\n   x\n+  y", "no line"],
  ])("%p is refused", (diff, reason) => expect(() => applyDiff(text, diff, "f")).toThrow(reason));
});
