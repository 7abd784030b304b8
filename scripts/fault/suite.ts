// Checks and test files of one commit: measures and stores duration and outcome without a fault, and runs them in a
// checkout with a planted fault.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkOut, sourcesAt } from "./checkout.ts";
import { type Covered, coveredLines } from "./coverage.ts";
import { type RunResult, runIsolated } from "./isolated.ts";
import type { Located, Sources } from "./patch.ts";
import { type TestFile, testFilesOf } from "./test-files.ts";

/** A run counts as hung after ten times its duration without a fault, but not before MIN_LIMIT_MS. */
const LIMIT_FACTOR = 10;
const MIN_LIMIT_MS = 60_000;
/** Time limit of a first run. */
const FIRST_LIMIT_MS = 30 * 60_000;

/** Measurement of a check or a test file without a fault. */
export interface Baseline {
  readonly passed: boolean;
  readonly seconds: number;
  /** Executed lines; only for in-process files. */
  readonly covered?: Covered;
}

export const CHECKS = { "type check": "scripts/typecheck.ts", build: "scripts/build.ts" } as const;
export type Check = keyof typeof CHECKS;

export class Suite {
  readonly commit: string;
  readonly sources: Sources;
  readonly files: readonly TestFile[];
  private readonly directory: string;
  private readonly log: (line: string) => void;
  private readonly clean: string;
  private readonly faulty: string;
  private readonly baselines = new Map<string, Baseline>();

  /** @param directory of this commit, with earlier measurements */
  constructor(commit: string, directory: string, log: (line: string) => void) {
    this.commit = commit;
    this.directory = directory;
    this.log = log;
    this.sources = sourcesAt(commit, ["src", "test", "scripts"]);
    this.files = testFilesOf(this.sources);
    this.clean = join(directory, "clean");
    this.faulty = join(directory, "faulty");
  }

  /** Creates both checkouts and runs their checks. @throws Error if a check fails without a fault */
  async prepare(): Promise<void> {
    for (const folder of [this.clean, this.faulty]) checkOut(folder, this.commit);
    for (const check of Object.keys(CHECKS) as Check[]) {
      const measurement = await this.measureOnce(check, async () => {
        const result = await this.run(this.clean, [CHECKS[check]], FIRST_LIMIT_MS);
        return { passed: result.outcome === "passed", seconds: result.seconds };
      });
      if (!measurement.passed) throw new Error(`the ${check} fails without a fault`);
    }
  }

  /** Runs a check on the checkout with the fault. */
  check(check: Check, signal?: AbortSignal): Promise<RunResult> {
    return this.run(this.faulty, [CHECKS[check]], this.limitOf([check]), signal);
  }

  /** Runs test files in one process on the checkout with the fault. */
  test(files: readonly TestFile[], signal?: AbortSignal): Promise<RunResult> {
    const paths = files.map(({ path }) => path);
    const limitMs = this.limitOf(paths);
    return this.run(this.faulty, ["test", "--bail", ...testArguments(paths, limitMs)], limitMs, signal);
  }

  /** Plants a fault for the duration of an action. */
  async withFault<T>({ file, text }: Located, action: () => Promise<T>): Promise<T> {
    const path = join(this.faulty, file);
    const original = readFileSync(path, "utf8");
    writeFileSync(path, text);
    try {
      return await action();
    } finally {
      writeFileSync(path, original);
    }
  }

  /** Returns the stored measurement of a check or a test file. */
  storedBaseline(path: string): Baseline | undefined {
    const cached = this.baselines.get(path);
    if (cached !== undefined) return cached;
    const file = this.pathOf(path);
    if (!existsSync(file)) return undefined;
    const baseline = JSON.parse(readFileSync(file, "utf8")) as Baseline;
    this.baselines.set(path, baseline);
    return baseline;
  }

  /** Returns the measurement of a test file; runs the file the first time. */
  async measurement(file: TestFile): Promise<Baseline> {
    const isKnown = this.storedBaseline(file.path) !== undefined;
    const measurement = await this.measureOnce(file.path, () => this.measureFile(file));
    if (!isKnown && !measurement.passed) this.log(`${file.path} fails without a fault and is skipped`);
    return measurement;
  }

  /** Runs a test file again without a fault. @returns whether it passes */
  async passesNow({ path }: TestFile): Promise<boolean> {
    const limitMs = this.limitOf([path]);
    const result = await this.run(this.clean, ["test", ...testArguments([path], limitMs)], limitMs);
    return result.outcome === "passed";
  }

  private async measureFile({ path, isInProcess }: TestFile): Promise<Baseline> {
    const args = ["test", ...testArguments([path], FIRST_LIMIT_MS)];
    if (!isInProcess) {
      const result = await this.run(this.clean, args, FIRST_LIMIT_MS);
      return { passed: result.outcome === "passed", seconds: result.seconds };
    }
    const report = join(this.directory, `coverage-${Bun.hash(path).toString(36)}`);
    const options = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${report}`];
    let result = await this.run(this.clean, [...args, ...options], FIRST_LIMIT_MS);
    const lcov = join(report, "lcov.info");
    const covered = existsSync(lcov) ? coveredLines(readFileSync(lcov, "utf8")) : {};
    rmSync(report, { recursive: true, force: true });
    // Tests of stack traces or of CPU time may fail only under coverage.
    if (result.outcome !== "passed") result = await this.run(this.clean, args, FIRST_LIMIT_MS);
    return { passed: result.outcome === "passed", seconds: result.seconds, covered };
  }

  private async measureOnce(name: string, measure: () => Promise<Baseline>): Promise<Baseline> {
    const stored = this.storedBaseline(name);
    if (stored !== undefined) return stored;
    const measurement = await measure();
    const path = this.pathOf(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, JSON.stringify(measurement));
    renameSync(`${path}.new`, path);
    this.baselines.set(name, measurement);
    return measurement;
  }

  private pathOf(name: string): string {
    return join(this.directory, "baseline", `${name.replaceAll(/[/ ]/g, "-")}.json`);
  }

  private limitOf(names: readonly string[]): number {
    const seconds = names.reduce((sum, name) => sum + (this.storedBaseline(name)?.seconds ?? FIRST_LIMIT_MS / 1000), 0);
    return Math.max(MIN_LIMIT_MS, LIMIT_FACTOR * seconds * 1000);
  }

  private run(cwd: string, args: readonly string[], limitMs: number, signal?: AbortSignal): Promise<RunResult> {
    return runIsolated([process.execPath, ...args], { cwd, limitMs, signal });
  }
}

/** Arguments as in `scripts/test`; no single test may take longer than the total limit. */
function testArguments(paths: readonly string[], limitMs: number): string[] {
  return ["--no-orphans", `--timeout=${Math.min(limitMs, 120_000)}`, ...paths.map((path) => `./${path}`)];
}
