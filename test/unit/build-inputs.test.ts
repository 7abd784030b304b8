// Inputs of the executable. A change in any of them must change the fingerprint, or tests would run a stale executable.

import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { filesBelow, fingerprintOf, inputsOf, isUpToDate, markBuilt } from "../../scripts/build-inputs.ts";

const ROOT = resolve(import.meta.dir, "../..");
const BUILD = "scripts/build.ts";

const folder = mkdtempSync(join(tmpdir(), "netledger-inputs-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A checkout with these files. */
function checkout(files: Record<string, string>): string {
  const root = mkdtempSync(join(folder, "checkout-"));
  for (const [path, text] of Object.entries(files)) write(root, path, text);
  return root;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Modules of the checkout that the bundler loads for these entry points. */
async function modulesOf(entrypoints: readonly string[], target: "bun" | "browser"): Promise<string[]> {
  const { metafile, logs } = await Bun.build({
    entrypoints: entrypoints.map((entry) => join(ROOT, entry)),
    target,
    packages: "external",
    metafile: true,
    splitting: true,
    throw: false,
    ...(target === "browser" ? { tsconfig: join(ROOT, "src/console/tsconfig.json") } : {}),
  });
  if (metafile === undefined) throw new Error(logs.map((log) => Bun.inspect(log)).join("\n"));
  return Object.keys(metafile.inputs)
    .map((path) => relative(ROOT, resolve(path)))
    .filter((path) => !path.startsWith("node_modules/"));
}

describe("the inputs of the executable", () => {
  const inputs = inputsOf(ROOT, BUILD);

  test.each([
    ["the build script and the server", [BUILD, "src/main.ts", ...filesBelow(ROOT, "src/server/workers")], "bun", 700],
    ["the console", ["src/console/main.tsx", "src/console/styles/main.css"], "browser", 300],
  ] as const)("include every module the bundler loads for %s", async (_, entries, target, atLeast) => {
    const modules = await modulesOf(entries, target);
    expect(modules.length).toBeGreaterThan(atLeast);
    // Generated from the inputs during the console's build.
    const outputs = ["dist/console-fields.ts", "dist/console-forms.ts", "dist/console-limits.ts"];
    expect(modules.filter((path) => !inputs.includes(path) && !outputs.includes(path))).toEqual([]);
  });

  test("include files read as data", () => {
    expect(inputs).toEqual(expect.arrayContaining(["LICENSE", "bun.lock", "package.json", "tsconfig.json"]));
  });

  test("change with the script that generates the console's forms", () => {
    const root = mkdtempSync(join(folder, "scripts-"));
    cpSync(join(ROOT, "scripts"), join(root, "scripts"), { recursive: true });
    write(root, "package.json", "{}");
    const original = fingerprintOf(root, BUILD);
    write(root, "scripts/console-forms.ts", "export const changed = true;\n");
    expect(fingerprintOf(root, BUILD)).not.toBe(original);
  });
});

describe("a build fingerprint", () => {
  const FILES = {
    "scripts/build.ts": 'import "./first.ts";\nawait import("./later.ts");\n',
    "scripts/first.ts": 'export * from "./second.ts";\nimport "../src/main.ts";\nimport "elysia";\n',
    "scripts/second.ts": 'import data from "../data.json" with { type: "json" };\nconsole.log(data);\n',
    "scripts/later.ts": "export const later = 1;\n",
    "scripts/unrelated.ts": "export {};\n",
    "data.json": "{}",
    "src/main.ts": 'import "./unresolved.ts";\n',
    "src/handbook/page.md": "# Page\n",
    "migrations/0001.sql": "",
    "bun.lock": "",
  };

  test.each(Object.keys(FILES).filter((path) => path !== "scripts/unrelated.ts"))("changes with %s", (path) => {
    const root = checkout(FILES);
    const original = fingerprintOf(root, BUILD);
    write(root, path, `${FILES[path as keyof typeof FILES]} `);
    expect(fingerprintOf(root, BUILD)).not.toBe(original);
  });

  test("changes with a new source file, even if not imported", () => {
    const root = checkout(FILES);
    const original = fingerprintOf(root, BUILD);
    write(root, "src/server/workers/new.ts", "");
    expect(fingerprintOf(root, BUILD)).not.toBe(original);
  });

  test("is unaffected by a script outside the build, and by the directory", () => {
    const root = checkout(FILES);
    const original = fingerprintOf(root, BUILD);
    write(root, "scripts/unrelated.ts", "export const changed = true;\n");
    expect([fingerprintOf(root, BUILD), fingerprintOf(checkout(FILES), BUILD)]).toEqual([original, original]);
  });
});

test("a build is current while its files exist and its inputs are unchanged", () => {
  const file = join(folder, "executable");
  const outputs = { stamp: join(folder, "stamp"), files: [file] };
  expect(isUpToDate(outputs, "abc")).toBe(false);
  markBuilt(outputs, "abc");
  expect(isUpToDate(outputs, "abc")).toBe(false);
  writeFileSync(file, "");
  expect([isUpToDate(outputs, "abc"), isUpToDate(outputs, "abd")]).toEqual([true, false]);
});
