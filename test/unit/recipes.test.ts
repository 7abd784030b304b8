// Recipes of the contribution guide against the current sources: every step fits, and the files of a recipe are as few
// as promised. `recipes.all.test.ts` runs their checks.

import { describe, expect, test } from "bun:test";
import { applyRecipe, parseRecipe, patched, RECIPES } from "../support/recipes/recipe.ts";
import { overlaid } from "../support/recipes/scratch-copy.ts";

describe("a recipe", () => {
  test.each(RECIPES.map((recipe) => [recipe.title, recipe] as const))("%s: every step fits the sources", (_, recipe) =>
    expect(applyRecipe(recipe, overlaid()).length).toBeGreaterThan(0),
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
  const recipe = RECIPES.find((each) => each.name === name);
  if (recipe === undefined) throw new Error(`there is no recipe ${name}`);
  return applyRecipe(recipe, overlaid()).filter((path) => /^src\/(?!handbook\/|db\/files\/migrate\.ts)/.test(path));
}

test("a field of a host takes one file of the server and none of the console", () => {
  expect(productOf("host-field")).toEqual(["src/resources/hosts/host.ts"]);
});

test("a kind takes one folder, one file of the console, and a line in each list", () => {
  expect(productOf("kind").filter((path) => !path.startsWith("src/resources/circuits/"))).toEqual([
    "src/records/resources.ts",
    "src/bulk/written-resources.ts",
    "src/registry/commands.ts",
    "src/registry/app.ts",
    "src/console/kinds/kinds.ts",
    "src/console/kinds/circuit.ts",
  ]);
});

describe("a diff without line numbers", () => {
  const text = "a {\n  x\n}\nb {\n  x\n}\n";

  test("changes the one place with its context", () => {
    expect(patched(text, " b {\n+  y\n   x", "f")).toBe("a {\n  x\n}\nb {\n  y\n  x\n}\n");
    expect(patched(text, "-b {\n+c {", "f")).toBe("a {\n  x\n}\nc {\n  x\n}\n");
  });

  test("changes the first place after a quoted line", () => {
    expect(patched(text, "@@ b { @@\n   x\n+  y", "f")).toBe("a {\n  x\n}\nb {\n  x\n  y\n}\n");
  });

  test.each([
    ["   x\n+  y", "more than once"],
    [" z\n+y", "does not contain"],
    ["@@ z @@\n   x\n+  y", "no line"],
  ])("%p is refused", (diff, reason) => expect(() => patched(text, diff, "f")).toThrow(reason));
});
