// Test run: format and lint, types, build, tests. Ends with the line `N passed, N failed` and a matching exit status; a
// runner that disappears, a file that fails to load and a run without tests are failures.

import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CAUSES_FILE } from "../test/support/measure/causes.ts";
import { EXECUTABLE_OUTPUT, lastFingerprint } from "./build-inputs.ts";
import { type Batch, batchesOf, chosenFiles, ONLY_IN_ALL, withoutNetwork } from "./testing/batches.ts";
import { readDurations, writeDurations } from "./testing/durations.ts";
import { collectEvidence } from "./testing/evidence.ts";
import { runInLanes, type Task } from "./testing/lanes.ts";
import { isRunning } from "./testing/processes.ts";
import { costLines, writeCosts } from "./testing/report.ts";
import { type BatchResult, type Cost, FAILURES_FOLDER, runBatch } from "./testing/run-batch.ts";

const root = resolve(import.meta.dir, "..");

const USAGE = "usage: scripts/test [--all] [--record-durations] [--await PID] [part of a path …]";

/** One more than the cores: tests often wait for an appliance or an agent. */
const LANES = availableParallelism() + 1;

const { values: options, positionals: filters } = readArguments();
const causesFile = join(root, "dist/test-causes.tsv");
rmSync(causesFile, { force: true });
rmSync(FAILURES_FOLDER, { recursive: true, force: true });
mkdirSync(FAILURES_FOLDER, { recursive: true });

const problems: string[] = [];
/** Time since the start of `scripts/test`, which installs packages before this process starts. */
const elapsedMs = () => Date.now() - Number(process.env.TEST_BEGAN_MS ?? performance.timeOrigin);
const installs = new Map([["packages", elapsedMs() - performance.now()]]);
const checkCosts = new Map<string, Cost>();
const results: BatchResult[] = [];
let isBuildOver = false;
/** `.ci/run` installs programs in parallel; tests that use them wait for it. */
const hasPrograms = () => {
  if (options.await === undefined || installs.has("programs")) return true;
  if (isRunning(Number(options.await))) return false;
  installs.set("programs", elapsedMs());
  return true;
};

const chosen = chosenFiles(root, filters, options.all);
const files = process.env.TEST_NETWORK === "own" ? chosen : withoutNetwork(chosen);
if (files.length < chosen.length)
  console.log(
    `${chosen.length - files.length} files are skipped: they start scans, and no network namespace can be created`,
  );
const durations = readDurations();
const measuredFiles = files.filter((file) => file.endsWith(ONLY_IN_ALL));
const batches = batchesOf(
  files.filter((file) => !measuredFiles.includes(file)),
  durations,
);
const lanes = await runInLanes(LANES, [
  task(async () => {
    const isBuilt = await check("build", ["scripts/build.ts", "--if-changed"]);
    // Without this, the tests would run an outdated executable.
    if (!isBuilt) rmSync(join(root, "dist/netledger"), { force: true });
    isBuildOver = true;
  }),
  task(() => check("type check", ["scripts/typecheck.ts"])),
  task(() => check("lint", ["node_modules/@biomejs/biome/bin/biome", "check"])),
  ...batches.map((batch) => testTask(batch)),
]);
for (const batch of batchesOf(measuredFiles, durations)) await runInLanes(1, [testTask(batch)]);

const passed = sum(results.map((result) => result.passed));
problems.push(...results.flatMap((result) => result.problems));
if (passed + sum(results.map((result) => result.failed)) === 0) problems.push("no test ran");
const costs = new Map(results.flatMap((result) => [...result.costs]));
if (options["record-durations"])
  writeDurations(Object.fromEntries([...costs].map(([file, { wallMs }]) => [file, wallMs])));
writeCosts(join(root, "dist/test-costs.tsv"), costs);
console.log(
  costLines({ wallMs: elapsedMs(), installs, checks: checkCosts, files: costs, lanes, causesFile }).join("\n"),
);
for (const path of await collectEvidence(root, results, testEnvironment())) console.log(`evidence: ${path}`);
for (const { failures } of results)
  for (const [file, names] of failures) for (const name of names) console.log(`failed: ${file}: ${name}`);
for (const problem of problems) console.log(`failed: ${problem}`);
const failed = sum(results.map((result) => result.failed)) + problems.length;
const skipped = sum(results.map((result) => result.skipped));
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        all: { type: "boolean", default: false },
        "record-durations": { type: "boolean", default: false },
        await: { type: "string" },
      },
    });
  } catch (error) {
    console.error(`netledger: ${error instanceof Error ? error.message : error}. ${USAGE}`);
    return process.exit(2);
  }
}

function task(run: () => Promise<unknown>, isReady: () => boolean = () => true): Task {
  return {
    isReady,
    run: async () => {
      await run();
      return [];
    },
  };
}

function testTask(batch: Batch): Task {
  const isReady = () => !batch.needsBuild || (isBuildOver && hasPrograms());
  return {
    isReady,
    run: async () => {
      const write = (text: string) => void process.stdout.write(text);
      const result = await runBatch(batch.files, { env: testEnvironment(), write });
      results.push(result);
      return result.notStarted.length === 0 ? [] : [testTask({ ...batch, files: result.notStarted })];
    },
  };
}

/** Environment of the test processes: fingerprint of the build, file for spans, seeds. */
function testEnvironment(): Record<string, string> {
  return {
    TESTED_BUILD: lastFingerprint(EXECUTABLE_OUTPUT) ?? "",
    [CAUSES_FILE]: causesFile,
    ...(options.all ? { TEST_SEEDS: "all" } : {}),
  };
}

/** Runs a script with this Bun in the checkout and prints its output at the end. @returns whether it succeeded */
async function check(title: string, command: string[]): Promise<boolean> {
  const startedMs = performance.now();
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const processorMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000;
  checkCosts.set(title, { wallMs: performance.now() - startedMs, processorMs });
  console.log(`== ${title}`);
  process.stdout.write(out + err);
  if (exitCode !== 0) problems.push(`the ${title} failed`);
  return exitCode === 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
