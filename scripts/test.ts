// Type check, build, tests; ends with the line `N passed, N failed` and a status that says the same.
// Counts what happened, not what was hoped: a runner that vanishes, a file that does not load and no test at all are failures.

import { rmSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

/** System tests start processes, and a busy machine is no failure: Bun's default of five seconds is tight for them. */
const TEST_TIMEOUT_MS = 30_000;

const PIPE_GRACE_MS = 2_000;

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

const problems: string[] = [];

if (run("type check", ["node_modules/typescript/lib/tsc.js", "--noEmit"]) !== 0) problems.push("the type check failed");
if (run("build", ["scripts/build.ts", "--if-changed"]) !== 0) {
  problems.push("the build failed");
  // Or the system tests would praise the executable of yesterday.
  rmSync(join(root, "dist/netledger"), { force: true });
}
const count = await runTests(process.argv.slice(2));

for (const problem of problems) console.log(`failed: ${problem}`);
const failed = count.failed + problems.length;
if (count.skipped > 0) console.log(`${count.skipped} skipped`);
console.log(`${count.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Runs a script with this Bun in the checkout; answers its exit code. */
function run(title: string, command: string[]): number {
  console.log(`== ${title}`);
  const child = Bun.spawnSync([process.execPath, ...command], {
    cwd: root,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  return child.exitCode;
}

async function runTests(filters: string[]): Promise<Count> {
  console.log("== tests");
  // --no-orphans: an appliance that a test started ends with the runner, however that ends.
  const child = Bun.spawn([process.execPath, "test", "--no-orphans", `--timeout=${TEST_TIMEOUT_MS}`, ...filters], {
    cwd: root,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
  });
  const decoder = new TextDecoder();
  let report = "";
  const reading = (async () => {
    for await (const chunk of child.stderr) {
      process.stderr.write(chunk);
      report += decoder.decode(chunk, { stream: true });
    }
  })();
  const exitCode = await child.exited;
  // A process left behind would hold the pipe open for ever.
  await Promise.race([reading, Bun.sleep(PIPE_GRACE_MS)]);

  const summary = readSummary(report);
  if (summary === null) {
    problems.push(`the test runner ended with ${child.signalCode ?? `status ${exitCode}`} before its summary`);
    return {
      passed: report.match(/^\(pass\) /gm)?.length ?? 0,
      failed: report.match(/^\(fail\) /gm)?.length ?? 0,
      skipped: 0,
    };
  }
  if (exitCode !== 0 && summary.failed === 0) problems.push(`the test runner ended with status ${exitCode}`);
  if (summary.passed + summary.failed === 0) problems.push("no test ran");
  return summary;
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
