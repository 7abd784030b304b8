// Format and lint, types, build, tests; ends with the line `N passed, N failed` and a status that says the same.
// Counts what happened, not what was hoped: a runner that vanishes, a file that does not load and no test at all are failures.

import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { TEST_HANG_MS } from "../test/support/measure/limits.ts";

const root = resolve(import.meta.dir, "..");

const PIPE_GRACE_MS = 2_000;

/** What a file of tests ends with that measures time or memory: it has the machine to itself. */
const ALONE = ".alone.test.ts";

/** Folders whose files are each a process of their own and begin first: most of their time is that of appliances. */
const LONG = ["test/proof/", "test/system/", "test/console/", "test/discovery/"];

/** Files of the other folders that share a process, and so what they load: a second of work. */
const FILES_OF_PROCESS = 4;

/** As Bun writes them: before each file, before all of them and after. */
const HEADING = /^(?=test\/\S+\.test\.ts:$)/m;
const BANNER = /^bun test v.*\n+/;
const SUMMARY = /\n(?:\d+ tests? \w+:\n[\s\S]*)?\n? +\d+ pass\n[\s\S]*\nRan \d+ tests? across .*\n$/;

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

const problems: string[] = [];

const checks = await Promise.all([
  check("lint", ["node_modules/@biomejs/biome/bin/biome", "check"]),
  check("type check", ["scripts/typecheck.ts"]),
  check("build", ["scripts/build.ts", "--if-changed"]),
]);
// Or the system tests would praise the executable of yesterday.
if (!checks[2]) rmSync(join(root, "dist/netledger"), { force: true });

const files = chosenFiles(process.argv.slice(2));
const failures: string[] = [];
const counts = [
  // One more than there are cores: much of the time an appliance or an agent is waited for.
  ...(await inLanes(availableParallelism() + 1, batchesOf(files.filter((file) => !file.endsWith(ALONE))))),
  ...(await inLanes(1, batchesOf(files.filter((file) => file.endsWith(ALONE))))),
];

const passed = sum(counts.map((count) => count.passed));
if (passed + sum(counts.map((count) => count.failed)) === 0) problems.push("no test ran");
for (const failure of [...failures, ...problems]) console.log(`failed: ${failure}`);
const failed = sum(counts.map((count) => count.failed)) + problems.length;
const skipped = sum(counts.map((count) => count.skipped));
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Runs a script with this Bun in the checkout and tells what it said once it has ended; answers whether all is well. */
async function check(title: string, command: string[]): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  console.log(`== ${title}`);
  process.stdout.write(out + err);
  if (exitCode !== 0) problems.push(`the ${title} failed`);
  return exitCode === 0;
}

/** The files of tests whose path contains one of the filters; all of them where there is none. */
function chosenFiles(filters: readonly string[]): string[] {
  return [...new Bun.Glob("test/**/*.test.ts").scanSync(root)]
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort();
}

/** What each process is to run, the longest first: of what takes short, those that lie side by side share one. */
function batchesOf(files: readonly string[]): string[][] {
  const batches: string[][] = [];
  let folder = "";
  for (const file of files) {
    const last = batches.at(-1);
    const isLong = LONG.some((each) => file.startsWith(each));
    if (last === undefined || isLong || dirname(file) !== folder || last.length === FILES_OF_PROCESS)
      batches.push([file]);
    else last.push(file);
    folder = dirname(file);
  }
  const place = ([file = ""]: string[]) =>
    (LONG.findIndex((each) => file.startsWith(each)) + LONG.length + 1) % (LONG.length + 1);
  const bytes = (batch: string[]) => sum(batch.map((file) => Bun.file(join(root, file)).size));
  return batches.sort((a, b) => place(a) - place(b) || bytes(b) - bytes(a));
}

/** Runs so many batches at once. */
async function inLanes(lanes: number, batches: readonly string[][]): Promise<Count[]> {
  const waiting = [...batches];
  const counts: Count[] = [];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) counts.push(await runTests(next));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return counts;
}

/** Runs files in one process, and tells what each said once it is over. */
async function runTests(files: readonly string[]): Promise<Count> {
  // One pipe for both: what a test prints stands where it was printed.
  const command = ["sh", "-c", 'exec "$@" 2>&1', "sh", process.execPath, "test"];
  // An appliance that a test started ends with the runner, however that ends.
  const options = ["--no-orphans", `--timeout=${TEST_HANG_MS}`];
  const child = Bun.spawn([...command, ...options, ...files.map((file) => `./${file}`)], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const decoder = new TextDecoder();
  let report = "";
  let untold = "";
  const reading = (async () => {
    for await (const chunk of child.stdout) {
      const text = decoder.decode(chunk, { stream: true });
      report += text;
      const parts = (untold + text).split(HEADING);
      untold = parts.pop() ?? "";
      tell(parts.join(""));
    }
  })();
  const exitCode = await child.exited;
  // A process left behind would hold the pipe open for ever.
  await Promise.race([reading, Bun.sleep(PIPE_GRACE_MS)]);
  tell(untold);

  const summary = readSummary(report);
  if (summary === null) {
    problems.push(
      `the test runner of ${files.join(", ")} ended with ${child.signalCode ?? `status ${exitCode}`} before its summary`,
    );
    return {
      passed: report.match(/^\(pass\) /gm)?.length ?? 0,
      failed: report.match(/^\(fail\) /gm)?.length ?? 0,
      skipped: 0,
    };
  }
  if (exitCode !== 0 && summary.failed === 0)
    problems.push(`the test runner of ${files.join(", ")} ended with status ${exitCode}`);
  return summary;
}

/** What a file of tests said. What its process says of all of its files is left to the end of the run. */
function tell(text: string): void {
  const own = text.replace(BANNER, "").replace(SUMMARY, "\n");
  process.stdout.write(own);
  failures.push(...(own.match(/(?<=^\(fail\) ).*/gm) ?? []));
}

/**
 * The numbers of Bun's summary: lines such as ` 12 pass` directly above `Ran 13 tests across 2 files.`, those that are nought
 * left out. Its JUnit report will not do: a file that fails to load is missing there. Null when there is no summary.
 */
function readSummary(report: string): Count | null {
  const lines = report
    .replaceAll(/\u001b\[[0-9;]*m/g, "")
    .trimEnd()
    .split("\n");
  const end = lines.length - 1;
  if (!/^Ran \d+ tests? across \d+ files?\./.test(lines[end] ?? "")) return null;
  const numbers = new Map<string, number>();
  for (let index = end - 1; index >= 0; index--) {
    const match = lines[index]?.match(/^ *(\d+) ([a-z]+)/);
    if (match?.[1] === undefined || match[2] === undefined) break;
    numbers.set(match[2], Number(match[1]));
  }
  // An error outside a test is counted as a failure by Bun as well, but not in every case.
  const failed = Math.max(numbers.get("fail") ?? 0, numbers.get("error") ?? numbers.get("errors") ?? 0);
  return { passed: numbers.get("pass") ?? 0, failed, skipped: (numbers.get("skip") ?? 0) + (numbers.get("todo") ?? 0) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
