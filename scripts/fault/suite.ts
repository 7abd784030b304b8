// Checks and test files of one commit: duration and outcome of each without a fault, measured once and stored; and runs
// in a checkout with a planted fault.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkOut, sourcesAt } from "./checkout.ts";
import { type Covered, coveredLines } from "./coverage.ts";
import { type Ended, runIsolated } from "./isolated.ts";
import type { Located, Sources } from "./patch.ts";
import { type TestFile, testFilesOf } from "./test-files.ts";

/** A run counts as hung after ten times its duration without a fault, but not before MIN_LIMIT_MS. */
const LIMIT_FACTOR = 10;
const MIN_LIMIT_MS = 60_000;
/** Limit of a first run. */
const FIRST_LIMIT_MS = 30 * 60_000;

/** A check or a test file without a fault. */
export interface Baseline {
  readonly passed: boolean;
  readonly seconds: number;
  /** For in-process files. */
  readonly covered?: Covered;
}

export const CHECKS = { "type check": "scripts/typecheck.ts", build: "scripts/build.ts" } as const;
export type Check = keyof typeof CHECKS;

export class Suite {
  readonly commit: string;
  readonly sources: Sources;
  readonly files: readonly TestFile[];
  private readonly directory: string;
  private readonly say: (line: string) => void;
  private readonly clean: string;
  private readonly faulty: string;
  private readonly baselines = new Map<string, Baseline>();

  /** @param directory of this commit, with earlier measurements */
  constructor(commit: string, directory: string, say: (line: string) => void) {
    this.commit = commit;
    this.directory = directory;
    this.say = say;
    this.sources = sourcesAt(commit, ["src", "test", "scripts"]);
    this.files = testFilesOf(this.sources);
    this.clean = join(directory, "clean");
    this.faulty = join(directory, "faulty");
  }

  /** Creates both checkouts and runs their checks. @throws Error if a check fails without a fault */
  async prepare(): Promise<void> {
    for (const folder of [this.clean, this.faulty]) checkOut(folder, this.commit);
    for (const check of Object.keys(CHECKS) as Check[]) {
      const measured = await this.baselineOf(check, async () => {
        const ended = await this.run(this.clean, [CHECKS[check]], FIRST_LIMIT_MS);
        return { passed: ended.outcome === "passed", seconds: ended.seconds };
      });
      if (!measured.passed) throw new Error(`the ${check} fails without a fault`);
    }
  }

  /** Runs a check on the checkout with the fault. */
  check(check: Check, signal?: AbortSignal): Promise<Ended> {
    return this.run(this.faulty, [CHECKS[check]], this.limitOf([check]), signal);
  }

  /** Runs test files in one process on the checkout with the fault. */
  test(files: readonly TestFile[], signal?: AbortSignal): Promise<Ended> {
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

  /** Earlier measurement of a check or a test file. */
  known(path: string): Baseline | undefined {
    const known = this.baselines.get(path);
    if (known !== undefined) return known;
    const kept = this.pathOf(path);
    if (!existsSync(kept)) return undefined;
    const read = JSON.parse(readFileSync(kept, "utf8")) as Baseline;
    this.baselines.set(path, read);
    return read;
  }

  /** Measurement of a test file; runs it the first time. */
  async measured(file: TestFile): Promise<Baseline> {
    const isKnown = this.known(file.path) !== undefined;
    const measured = await this.baselineOf(file.path, () => this.measureFile(file));
    if (!isKnown && !measured.passed) this.say(`${file.path} fails without a fault and is left out`);
    return measured;
  }

  /** Whether a test file passes without a fault at this moment. */
  async passesNow({ path }: TestFile): Promise<boolean> {
    const limitMs = this.limitOf([path]);
    const ended = await this.run(this.clean, ["test", ...testArguments([path], limitMs)], limitMs);
    return ended.outcome === "passed";
  }

  private async measureFile({ path, isInProcess }: TestFile): Promise<Baseline> {
    const plain = ["test", ...testArguments([path], FIRST_LIMIT_MS)];
    if (!isInProcess) {
      const ended = await this.run(this.clean, plain, FIRST_LIMIT_MS);
      return { passed: ended.outcome === "passed", seconds: ended.seconds };
    }
    const report = join(this.directory, `coverage-${Bun.hash(path).toString(36)}`);
    const options = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${report}`];
    let ended = await this.run(this.clean, [...plain, ...options], FIRST_LIMIT_MS);
    const lcov = join(report, "lcov.info");
    const covered = existsSync(lcov) ? coveredLines(readFileSync(lcov, "utf8")) : {};
    rmSync(report, { recursive: true, force: true });
    // Tests of stack traces or of processor time may fail only under coverage.
    if (ended.outcome !== "passed") ended = await this.run(this.clean, plain, FIRST_LIMIT_MS);
    return { passed: ended.outcome === "passed", seconds: ended.seconds, covered };
  }

  private async baselineOf(name: string, measure: () => Promise<Baseline>): Promise<Baseline> {
    const known = this.known(name);
    if (known !== undefined) return known;
    const measured = await measure();
    const path = this.pathOf(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, JSON.stringify(measured));
    renameSync(`${path}.new`, path);
    this.baselines.set(name, measured);
    return measured;
  }

  private pathOf(name: string): string {
    return join(this.directory, "baseline", `${name.replaceAll(/[/ ]/g, "-")}.json`);
  }

  private limitOf(names: readonly string[]): number {
    const seconds = names.reduce((sum, name) => sum + (this.known(name)?.seconds ?? FIRST_LIMIT_MS / 1000), 0);
    return Math.max(MIN_LIMIT_MS, LIMIT_FACTOR * seconds * 1000);
  }

  private run(cwd: string, args: readonly string[], limitMs: number, signal?: AbortSignal): Promise<Ended> {
    return runIsolated([process.execPath, ...args], { cwd, limitMs, signal });
  }
}

/** As in `scripts/test`; no single test may take longer than the total limit. */
function testArguments(paths: readonly string[], limitMs: number): string[] {
  return ["--no-orphans", `--timeout=${Math.min(limitMs, 120_000)}`, ...paths.map((path) => `./${path}`)];
}
