// One process of `bun test`: runs its files, forwards their reports, and returns counts and costs. A runner that
// disappears, a file that fails to load and a hanging test are failures.

import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { HANG_MS, LONG_TEST_HANG_MS, TEST_HANG_MS } from "../../test/support/measure/limits.ts";
import { isRunning, killAll, processorMsOf, processTree } from "./processes.ts";

const ROOT = resolve(import.meta.dir, "../..");

/** Directory for logs and evidence of failed tests. */
export const FAILURES_FOLDER = join(ROOT, "dist/test-failures");

/** Silence after which a process counts as hung: Bun's own timeout cannot end a test in an endless loop. */
const SILENCE_MAX_MS = LONG_TEST_HANG_MS + HANG_MS;

const PIPE_GRACE_MS = 2_000;

/** Lines of Bun's report: the heading of each file, the banner before all files, and the summary after them. */
const HEADING = /^(?=\S+\.test\.ts:$)/m;
const NAME = /^(\S+\.test\.ts):$/m;
const BANNER = /^bun test v.*\n+/;
const SUMMARY = /\n(?:\d+ tests? \w+:\n[\s\S]*)?\n? +\d+ pass\n[\s\S]*\nRan \d+ tests? across .*\n$/;

export interface Cost {
  readonly wallMs: number;
  /** CPU time of the process and its descendants. */
  readonly processorMs: number;
}

export interface BatchResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Names of failed tests, by file. */
  readonly failures: ReadonlyMap<string, readonly string[]>;
  /** Failures outside tests, as sentences. */
  readonly problems: readonly string[];
  readonly costs: ReadonlyMap<string, Cost>;
  /** Files that did not start, because the process ended or hung in an earlier one. */
  readonly notStarted: readonly string[];
  /** Directory with the logs of the appliances; null if no test failed. */
  readonly logs: string | null;
}

export interface BatchOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Additional arguments of `bun test`. */
  readonly args?: readonly string[];
  readonly write: (text: string) => void;
  /** Milliseconds of silence after which the process counts as hung. */
  readonly silenceMaxMs?: number;
}

/** Runs files in one process, in Bun's order. */
export async function runBatch(files: readonly string[], options: BatchOptions): Promise<BatchResult> {
  const { env, args = [], write, silenceMaxMs = SILENCE_MAX_MS } = options;
  const logs = join(FAILURES_FOLDER, `.running-${Bun.hash(files.join()).toString(36)}`);
  mkdirSync(logs, { recursive: true });
  // One pipe for both streams keeps the order of the output.
  const command = ["sh", "-c", 'exec "$@" 2>&1', "sh", process.execPath, "test"];
  // Appliances started by a test end with the runner, regardless of how it exits.
  const flags = ["--no-orphans", `--timeout=${TEST_HANG_MS}`, ...args];
  const child = Bun.spawn([...command, ...flags, ...files.map((file) => `./${file}`)], {
    cwd: ROOT,
    env: { ...process.env, ...env, TEST_LOGS: logs },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const report = new Report(child.pid, write);
  let hung: string | null = null;
  let lastOutputMs = performance.now();
  const watch = setInterval(() => {
    report.sample();
    if (performance.now() - lastOutputMs < silenceMaxMs || !isRunning(child.pid)) return;
    hung = `${report.file ?? files[0]} hangs: no output for ${silenceMaxMs / 1000} s after ${report.lastTest ?? "its start"}`;
    // A hanging runner does not terminate its children.
    killAll(processTree(child.pid));
  }, 1_000);
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      lastOutputMs = performance.now();
      report.append(decoder.decode(chunk, { stream: true }));
    }
  })();
  const exitCode = await child.exited;
  clearInterval(watch);
  // A leftover process would hold the pipe open forever.
  await Promise.race([reading, Bun.sleep(PIPE_GRACE_MS)]);
  report.end((child.resourceUsage()?.cpuTime.total ?? 0n) as bigint);
  const verdict = verdictOf(report, files, hung, exitCode, child.signalCode === null ? null : String(child.signalCode));
  const hasPassed = verdict.failed === 0 && verdict.problems.length === 0;
  if (hasPassed) rmSync(logs, { recursive: true, force: true });
  return { ...verdict, failures: report.failures, costs: report.costs, logs: hasPassed ? null : logs };
}

/** Output of a process so far, and the cost of each file. */
class Report {
  readonly costs = new Map<string, Cost>();
  readonly failures = new Map<string, string[]>();
  text = "";
  /** The running file. */
  file: string | null = null;
  /** The file to which the time since the last sample is charged. */
  private charged: string | null = null;
  private readonly pid: number;
  private readonly write: (text: string) => void;
  private pending = "";
  private startedMs = performance.now();
  private seenMs = 0;
  private chargedMs = 0;

  constructor(pid: number, write: (text: string) => void) {
    this.pid = pid;
    this.write = write;
  }

  get lastTest(): string | null {
    return this.text.match(/^\((?:pass|fail|skip)\) .*/gm)?.at(-1) ?? null;
  }

  append(text: string): void {
    this.text += text;
    const parts = (this.pending + text).split(HEADING);
    // On a busy machine one chunk may contain several files: the first is charged, the others are recorded as run.
    for (const part of parts) this.enter(NAME.exec(part)?.[1] ?? null);
    this.pending = parts.pop() ?? "";
    for (const part of parts) this.print(part);
  }

  private enter(file: string | null): void {
    if (file === null || file === this.file) return;
    this.file = file;
    // After the process has exited, only its total is known: the last sampled file keeps that time.
    if (this.sample() || this.charged === null) {
      this.account();
      this.charged = file;
    } else this.costs.set(file, { wallMs: 0, processorMs: 0 });
  }

  /**
   * Samples the CPU time. A browser ends with the process, whose final figures exclude it.
   * @returns whether the process still exists
   */
  sample(): boolean {
    const nowMs = processorMsOf(this.pid);
    this.seenMs = Math.max(this.seenMs, nowMs);
    return nowMs > 0;
  }

  /** @param microseconds CPU time of the whole process, including waited-for descendants */
  end(microseconds: bigint): void {
    this.print(this.pending);
    this.seenMs = Math.max(this.seenMs, Number(microseconds) / 1_000);
    this.account();
  }

  /** Charges the time since the last call, including the loading of the first file. */
  private account(): void {
    if (this.charged === null) return;
    const now = performance.now();
    this.costs.set(this.charged, { wallMs: now - this.startedMs, processorMs: this.seenMs - this.chargedMs });
    this.startedMs = now;
    this.chargedMs = this.seenMs;
  }

  /** Prints the output of a test file. The summary over all files of the process is printed at the end of the run. */
  private print(text: string): void {
    const report = text.replace(BANNER, "").replace(SUMMARY, "\n");
    this.write(report);
    const failed = report.match(/(?<=^\(fail\) ).*/gm);
    const file = NAME.exec(report)?.[1];
    if (failed !== null && file !== undefined) this.failures.set(file, failed);
  }
}

function verdictOf(
  report: Report,
  files: readonly string[],
  hung: string | null,
  exitCode: number,
  signal: string | null,
): Pick<BatchResult, "passed" | "failed" | "skipped" | "problems" | "notStarted"> {
  const summary = readSummary(report.text);
  if (summary !== null && hung === null) {
    const problems =
      exitCode !== 0 && summary.failed === 0
        ? [`the test runner of ${files.join(", ")} ended with status ${exitCode}`]
        : [];
    return { ...summary, problems, notStarted: [] };
  }
  return {
    passed: report.text.match(/^\(pass\) /gm)?.length ?? 0,
    failed: report.text.match(/^\(fail\) /gm)?.length ?? 0,
    skipped: report.text.match(/^\(skip\) /gm)?.length ?? 0,
    problems: [
      hung ??
        `the test runner of ${report.file ?? files.join(", ")} ended with ${signal ?? `status ${exitCode}`} before its summary`,
    ],
    // If no file has started, another process would fail too.
    notStarted: report.costs.size === 0 ? [] : files.filter((file) => !report.costs.has(file)),
  };
}

/**
 * Numbers of Bun's summary: lines such as ` 12 pass` directly above `Ran 13 tests across 2 files.`, without zeros. Its
 * JUnit report omits files that fail to load. Null without a summary.
 */
function readSummary(report: string): { passed: number; failed: number; skipped: number } | null {
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
  // Bun also counts an error outside a test as a failure, but not in every case.
  const failed = Math.max(numbers.get("fail") ?? 0, numbers.get("error") ?? numbers.get("errors") ?? 0);
  return { passed: numbers.get("pass") ?? 0, failed, skipped: (numbers.get("skip") ?? 0) + (numbers.get("todo") ?? 0) };
}
