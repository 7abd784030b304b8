// Mutations planted by scripts/faults: generation, detection and assessment. Does not run the test suites, which take
// minutes each.

import { describe, expect, test } from "bun:test";
import { coveredLines, covers } from "../../scripts/fault/coverage.ts";
import { drawFaults, folderOf, sharesOf } from "../../scripts/fault/draw.ts";
import { changeOf, FAULT_KINDS, type Fault, locate } from "../../scripts/fault/patch.ts";
import { isPlantable, parses, plant, sitesOf } from "../../scripts/fault/plant.ts";
import { lostFaults, type Result, type Verdict } from "../../scripts/fault/results.ts";
import { Similarity, testFilesOf } from "../../scripts/fault/test-files.ts";
import { failedTest, suspectsOf } from "../../scripts/fault/trial.ts";
import { isSource, readRepository } from "../support/source/syntax.ts";

const SOURCES = new Map(Object.entries(readRepository(["src"], isSource)));
const FAULTS = drawFaults(SOURCES, { seed: 1, count: 120 });

/** All mutants of a piece of code for a kind of fault. */
function mutants(code: string, kind: string, path = "src/base/a.ts"): string[] {
  return sitesOf(path, code)
    .filter((site) => site.kind === kind)
    .map(({ start, end, after }) => code.slice(0, start) + after + code.slice(end));
}

/** The only fault of a kind in a source. */
function singleFault(text: string, kind: string, path = "src/base/a.ts"): Fault {
  const [site, ...others] = sitesOf(path, text).filter((candidate) => candidate.kind === kind);
  const fault = site === undefined || others.length > 0 ? null : plant(site, text);
  if (fault === null) throw new Error(`expected exactly one ${kind} in ${text}`);
  return fault;
}

describe("faults of a syntax tree", () => {
  test.each([
    ["negated condition", "if (a) b();", ["if (!a) b();"]],
    ["negated condition", "if (!a) b();", ["if (a) b();"]],
    ["negated condition", "while (a < b) c();", ["while (a >= b) c();"]],
    ["negated condition", "const x = a || b ? 1 : 2;", ["const x = !(a || b) ? 1 : 2;"]],
    ["negated condition", "return a && b;", ["return !a && b;"]],
    ["removed call", "if (a) b(c);", ["if (a) ;"]],
    ["removed call", "await a.b();", [";"]],
    ["removed call", "void a();", [";"]],
    ["removed call", "a = b();", []],
    ["changed constant", "f(1, 30_000, true);", ["f(2, 30_000, true);", "f(1, 60000, true);", "f(1, 30_000, false);"]],
    ["changed constant", 'f("up");', ['f("upx");']],
    ["omitted field", "const a = { b: 1, c };", ["const a = {  c };", "const a = { b: 1,  };"]],
    ["swapped arguments", "f(a, b);", ["f(b, a);"]],
    ["swapped arguments", "f(a, a);", []],
    ["swapped arguments", "f(a, () => b);", []],
    ["removed await", "const a = await b();", ["const a = b();"]],
  ])("mutate as a %s in %s to %j", (kind, code, expected) => expect(mutants(code, kind)).toEqual(expected));

  test.each([
    ['type A = "up" | 1;'],
    ['interface A { b: "up" }'],
    ['import a from "./a.ts";'],
    ['export { a } from "./a.ts";'],
    ['const a = await import("./a.ts");'],
    ['f({ description: "One", example: { b: 1, c: "up" } });'],
    ['throw new Error("Not one of these.");'],
    ['// if (a) b("c");'],
  ])("spare constants of types, imports, examples and strings: %s", (code) => {
    expect(mutants(code, "changed constant")).toEqual([]);
  });

  test("spare UI strings, but not values the console compares", () => {
    const code = 'const a = <p class="one">{f("Hosts")}</p>; if (b === "Admin") c();';
    expect(mutants(code, "changed constant", "src/console/a.tsx")).toEqual([code.replace("Admin", "Adminx")]);
  });

  test.each([
    "src/resources/hosts/host-example.ts",
    "src/console/text/changes.ts",
    "src/handbook/render.ts",
    "src/base/text-modules.d.ts",
    "test/unit/faults.test.ts",
    "src/console/page.html",
  ])("are never planted in %s", (path) => expect(isPlantable(path)).toBe(false));
});

describe("faults drawn from src", () => {
  test("parse, change their file, and are distinct", () => {
    for (const fault of FAULTS) {
      const located = locate(fault, SOURCES);
      expect(located).toMatchObject({ file: fault.file, line: fault.line });
      expect(located?.text).not.toBe(SOURCES.get(fault.file));
      expect(parses(fault.file, located?.text ?? "")).toBe(true);
    }
    expect(new Set(FAULTS.map(({ id }) => id)).size).toBe(120);
    expect(new Set(FAULTS.map(({ kind }) => kind))).toEqual(new Set(FAULT_KINDS));
  });

  test("are reproducible by seed, and differ between seeds", () => {
    const subset = new Map([...SOURCES].filter(([path]) => path.startsWith("src/base/")));
    const drawn = drawFaults(subset, { seed: 1, count: 40 });
    expect(drawFaults(subset, { seed: 1, count: 40 })).toEqual(drawn);
    const ids = new Set(drawn.map(({ id }) => id));
    expect(drawFaults(subset, { seed: 2, count: 40 }).filter(({ id }) => ids.has(id)).length).toBeLessThan(20);
  });

  test("are 50 of 120 in the console, and elsewhere in proportion to lines", () => {
    const lines = new Map<string, number>();
    for (const [path, text] of SOURCES)
      if (isPlantable(path)) lines.set(folderOf(path), (lines.get(folderOf(path)) ?? 0) + text.split("\n").length);
    const outside = [...lines].filter(([folder]) => folder !== "console");
    const total = outside.reduce((sum, [, count]) => sum + count, 0);
    const drawn = (folder: string) => FAULTS.filter(({ file }) => folderOf(file) === folder).length;
    expect(FAULTS).toHaveLength(120);
    expect(drawn("console")).toBe(50);
    for (const [folder, count] of outside) expect(Math.abs(drawn(folder) - (70 * count) / total)).toBeLessThan(1);
  });

  test("give the console its share of lines if that is more", () => {
    const lines = new Map(Object.entries({ console: 900, db: 60, base: 40 }));
    expect(Object.fromEntries(sharesOf(lines, 20))).toEqual({ console: 18, db: 1, base: 1 });
    expect(Object.fromEntries(sharesOf(new Map([["db", 10]]), 3))).toEqual({ db: 3 });
  });
});

describe("a fault in another commit", () => {
  const TEXT = "// A file.\n\nfunction a() {\n  if (b) {\n    c(\n      d,\n      e,\n    );\n  }\n}\n";
  const PATCHED = TEXT.replace("c(\n      d,\n      e,\n    );", ";");
  const fault = singleFault(TEXT, "removed call");

  test("is found after lines were added above it", () => {
    const added = "// One.\n// Two.\n";
    const located = locate(fault, new Map([["src/base/a.ts", added + TEXT]]));
    expect(located).toEqual({ file: "src/base/a.ts", line: 7, endLine: 10, text: added + PATCHED });
  });

  test("is found in a moved file, and after reindentation", () => {
    const indent = (text: string) => text.replaceAll(/^(?=.)/gm, "  ");
    const moved = new Map(Object.entries({ "src/base/b.ts": "const b = 1;\n", "src/db/c.ts": indent(TEXT) }));
    expect(locate(fault, moved)).toMatchObject({ file: "src/db/c.ts", line: 5, text: indent(PATCHED) });
  });

  test("is found by context if its own lines occur twice", () => {
    const firstCode = "function one() {\n  run();\n  return 1;\n}\n";
    const secondCode = "function two() {\n  run();\n  return 2;\n}\n";
    const [, second] = sitesOf("src/base/a.ts", firstCode + secondCode).filter(({ kind }) => kind === "removed call");
    const secondFault = second === undefined ? null : plant(second, firstCode + secondCode);
    const swapped = locate(secondFault as Fault, new Map([["src/base/a.ts", secondCode + firstCode]]));
    expect(swapped?.text).toBe(secondCode.replace("run();", ";") + firstCode);
  });

  test("disappears with its lines", () => {
    expect(locate(fault, new Map([["src/base/a.ts", TEXT.replace("e,", "f,")]]))).toBeNull();
  });

  test("is described by its lines before and after", () => {
    const change = changeOf(singleFault("  if (a.b) return c;\n", "negated condition"));
    expect(change).toEqual({ was: "if (a.b) return c;", becomes: "if (!a.b) return c;" });
  });
});

describe("the verdict on a fault", () => {
  test("is based on the test files that run its line", () => {
    const covered = coveredLines("SF:src/a.ts\nDA:3,1\nDA:4,2\nDA:5,0\nDA:9,1\nend_of_record\nSF:test/b.ts\nDA:1,1\n");
    expect(Object.keys(covered)).toEqual(["src/a.ts"]);
    expect(covered["src/a.ts"]?.map(String)).toEqual(["3,4", "9,9"]);
    expect(covers(covered, "src/a.ts", 4, 6)).toBe(true);
    expect(covers(covered, "src/a.ts", 5, 8)).toBe(false);
    expect(covers(covered, "src/b.ts", 1, 9)).toBe(false);
  });

  test("names the first failed test, and suspects the running file first", () => {
    const output = "test/unit/a.test.ts:\n(pass) one [1.00ms]\n\ntest/unit/b.test.ts:\n(fail) two > three [4.20ms]\n";
    expect(failedTest(output)).toBe("two > three");
    const batch = [{ path: "test/unit/a.test.ts" }, { path: "test/unit/b.test.ts" }];
    expect(suspectsOf(batch, output)).toEqual(batch.toReversed());
    expect(failedTest("(pass) one [1.00ms]\n")).toBeUndefined();
  });

  test("is lost if caught before and not after", () => {
    const results = (verdicts: Record<string, Verdict>) =>
      new Map(Object.entries(verdicts).map(([id, verdict]) => [id, { id, verdict } as Result]));
    const before = results({ a: "caught", b: "caught", c: "caught", d: "undetermined", e: "caught" });
    const after = results({ a: "caught", b: "undetermined", c: "gone", d: "survived" });
    const lost = lostFaults(before, after).map(({ fault, after: verdict }) => `${fault.id} ${verdict}`);
    expect(lost).toEqual(["b undetermined", "c gone", "e not tried"]);
  });
});

describe("the test files of a commit", () => {
  const sources = new Map([
    ["src/db/lease.ts", "export function renewLease() {}"],
    ["src/db/table.ts", "export function rows() {}"],
    ["test/support/executable/executable.ts", 'import "../../../src/db/table.ts";'],
    ["test/unit/lease.test.ts", 'import { renewLease } from "../../src/db/lease.ts"; renewLease();'],
    ["test/unit/table.test.ts", 'const { rows } = await import("../../src/db/table.ts"); rows();'],
    ["test/api/hosts.test.ts", 'import "../support/executable/executable.ts";'],
    ["test/proof/load.alone.test.ts", ""],
  ]);
  const files = testFilesOf(sources);

  test("report their imports, and whether they need the executable or exclusive use of the machine", () => {
    expect(files.map(({ path, isInProcess, isAlone }) => [path, isInProcess, isAlone])).toEqual([
      ["test/api/hosts.test.ts", false, false],
      ["test/proof/load.alone.test.ts", false, true],
      ["test/unit/lease.test.ts", true, false],
      ["test/unit/table.test.ts", true, false],
    ]);
    const loading = files.filter(({ loads }) => loads.has("src/db/table.ts")).map(({ path }) => path);
    expect(loading).toEqual(["test/api/hosts.test.ts", "test/unit/table.test.ts"]);
  });

  test("are tried in order of overlap with the fault's file", () => {
    const ranks = new Similarity(sources, files).ranks({ file: "src/db/lease.ts" });
    expect([...ranks].toSorted((a, b) => b[1] - a[1])[0]?.[0]).toBe("test/unit/lease.test.ts");
  });
});
