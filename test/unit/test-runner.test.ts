// Test runner: batches, their order, and process failures that no test reports.

import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { batchesOf, chosenFiles } from "../../scripts/testing/batches.ts";
import { runInLanes, type Task } from "../../scripts/testing/lanes.ts";
import { costLines } from "../../scripts/testing/report.ts";
import { runBatch } from "../../scripts/testing/run-batch.ts";

const ROOT = resolve(import.meta.dir, "../..");
const DIST = join(ROOT, "dist");

mkdirSync(DIST, { recursive: true });
const folder = mkdtempSync(join(DIST, ".runner-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes test files and runs them in one process. */
async function run(
  sources: Readonly<Record<string, string>>,
  { silenceMaxMs, onOutput = () => {} }: { silenceMaxMs?: number; onOutput?: (text: string) => void } = {},
) {
  const files = Object.keys(sources).map((name) => relative(ROOT, join(folder, `${name}.test.ts`)));
  for (const [name, source] of Object.entries(sources))
    writeFileSync(join(folder, `${name}.test.ts`), `import { expect, test } from "bun:test";\n${source}\n`);
  let output = "";
  const result = await runBatch(files, {
    env: {},
    write: (text) => {
      output += text;
      onOutput(text);
    },
    ...(silenceMaxMs === undefined ? {} : { silenceMaxMs }),
  });
  return { ...result, output, files };
}

describe("a test process", () => {
  test("has its tests counted, its time charged to its files, and its failures named", async () => {
    const { passed, failed, skipped, problems, failures, costs, files, output } = await run({
      good: `test("holds", () => expect(1).toBe(1));\ntest("holds too", () => expect(1).toBe(1));`,
      mixed: `test("breaks", () => expect(1).toBe(2));\ntest.skipIf(true)("is skipped", () => {});`,
    });
    expect({ passed, failed, skipped, problems }).toEqual({ passed: 2, failed: 1, skipped: 1, problems: [] });
    expect([...failures.keys()]).toEqual(files.filter((file) => file.includes("mixed")));
    expect([...failures.values()].flat()).toEqual([expect.stringMatching(/^breaks/)]);
    expect([...costs.keys()].sort()).toEqual([...files].sort());
    expect(output).toContain("(fail) breaks");
    expect(output).not.toContain("Ran 4 tests");
  });

  test("is charged for a child that outlives its tests", async () => {
    const loop = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; cat /proc/$$/stat; exec cat";
    const markerFile = join(folder, "marker");
    const sources = {
      first: `test("leaves a process behind", async () => {
        const { stdout } = Bun.spawn(["sh", "-c", ${JSON.stringify(loop)}], { stdin: "pipe", stdout: "pipe" });
        const { value } = await stdout.getReader().read();
        console.log(new TextDecoder().decode(value));
      });`,
      // The child ends with this process, and must be sampled before.
      second: `import { existsSync, watch } from "node:fs";
      test("runs until the first file is charged", async () => {
        const { promise, resolve } = Promise.withResolvers();
        const look = () => existsSync(${JSON.stringify(markerFile)}) && resolve();
        const watcher = watch(${JSON.stringify(folder)}, look);
        look();
        await promise;
        watcher.close();
      });`,
    };
    const { costs, files, output, problems } = await run(sources, {
      onOutput: (text) => text.includes("leaves a process behind") && writeFileSync(markerFile, ""),
    });
    expect(problems).toEqual([]);
    // User time, in hundredths of a second (proc_pid_stat(5)).
    const ticks = Number(/^\d+ \(sh\) (.*)$/m.exec(output)?.[1]?.split(" ")[11]);
    expect(ticks).toBeGreaterThan(0);
    const [first, second] = files.map((file) => costs.get(file)?.processorMs ?? 0) as [number, number];
    expect(first - second).toBeGreaterThanOrEqual(ticks * 10);
  });

  test("is a problem if it exits in a test, and its remaining files are left to run", async () => {
    const { problems, notStarted, files } = await run({
      a: `test("leaves", () => process.exit(0));`,
      b: `test("comes behind", () => expect(1).toBe(1));`,
    });
    expect(problems).toEqual([expect.stringContaining("before its summary")]);
    expect(notStarted.length).toBeLessThan(files.length);
  });

  test("has failed if a file does not load", async () => {
    const { failed, problems } = await run({ broken: `throw new Error("does not load");` });
    expect(failed + problems.length).toBeGreaterThan(0);
  });

  test("is killed in an endless loop, and the file and last known test are reported", async () => {
    const loops = `test("says a word", () => expect(1).toBe(1));\ntest("loops", () => { for (;;); });`;
    const { problems, failed } = await run({ loops }, { silenceMaxMs: 3_000 });
    expect(problems).toEqual([
      expect.stringMatching(/loops\.test\.ts hangs: no output for 3 s after \(pass\) says a word/),
    ]);
    expect(failed).toBe(0);
  });
});

describe("test files", () => {
  const durations = { "test/api/long.test.ts": 90_000, "test/api/a.test.ts": 20_000, "test/api/b.test.ts": 15_000 };

  test("share a process up to its length, longest first", () => {
    const batches = batchesOf(["test/api/a.test.ts", "test/api/b.test.ts", "test/api/long.test.ts"], durations, 40_000);
    expect(batches.map(({ files }) => files)).toEqual([
      ["test/api/long.test.ts"],
      ["test/api/a.test.ts", "test/api/b.test.ts"],
    ]);
  });

  test("share a process with fewer others as their directory nears completion", () => {
    const equalFiles = Array.from({ length: 20 }, (_, n) => `test/api/${n}.test.ts`);
    const batches = batchesOf(equalFiles, Object.fromEntries(equalFiles.map((file) => [file, 10_000])), 20_000);
    expect(batches.map(({ files }) => files.length)).toEqual([5, 4, 3, 2, 2, 2, 2]);
    expect(batches.flatMap(({ files }) => files).sort()).toEqual(equalFiles.toSorted());
  });

  test("wait for the build if they need it, and proofs have their own processes", () => {
    const files = [
      "test/api/a.test.ts",
      "test/proof/kill.test.ts",
      "test/proof/input.test.ts",
      "test/system/demo.test.ts",
    ];
    const batches = batchesOf(files, {}, 1_000_000);
    expect(batches.filter(({ needsBuild }) => !needsBuild).map(({ files }) => files)).toEqual([["test/api/a.test.ts"]]);
    expect(batches.filter(({ files }) => files[0]?.startsWith("test/proof/"))).toHaveLength(2);
  });

  test("are all included without a filter, except those that require --all", () => {
    const [some, all] = [false, true].map((all) => chosenFiles(ROOT, [], all));
    expect(all?.filter((file) => !some?.includes(file)).every((file) => file.endsWith(".all.test.ts"))).toBe(true);
    expect(all?.length).toBeGreaterThan(some?.length ?? 0);
    expect(chosenFiles(ROOT, ["unit/test-runner"], false)).toEqual(["test/unit/test-runner.test.ts"]);
  });
});

test("tasks run in order when ready, concurrently, and subtasks go first", async () => {
  const started: string[] = [];
  let isOpen = false;
  const task = (name: string, isReady = () => true, subtasks: readonly Task[] = []): Task => ({
    isReady,
    run: async () => {
      started.push(name);
      await Promise.resolve();
      if (name === "opens") isOpen = true;
      return subtasks;
    },
  });
  const lanes = await runInLanes(2, [
    task("waits", () => isOpen),
    task("opens", undefined, [task("goes first")]),
    task("last", () => isOpen),
  ]);
  expect(started.slice(0, 2)).toEqual(["opens", "goes first"]);
  expect(started.toSorted()).toEqual(["goes first", "last", "opens", "waits"]);
  expect(lanes).toHaveLength(2);
});

test("the tables list the slowest files first and every cause", () => {
  const cost = (wallMs: number) => ({ wallMs, processorMs: wallMs / 2 });
  const lines = costLines({
    wallMs: 10_000,
    installs: new Map([["packages", 2_000]]),
    checks: new Map([["lint", cost(1_000)]]),
    files: new Map([
      ["test/a.test.ts", cost(1_000)],
      ["test/b.test.ts", cost(5_000)],
    ]),
    lanes: [{ busyMs: 9_000, idleMs: 1_000 }],
    causesFile: join(folder, "none"),
  });
  expect(lines[1]).toContain("test/b.test.ts");
  expect(lines).toContainEqual(expect.stringMatching(/2\.0 s +install: packages/));
  expect(lines.join("\n")).toContain("appliance starts");
  expect(lines.at(-1)).toMatch(/9\.0 s.*1\.0 s.*lane 1/);
});
