// Fault trial: runs the checks and tests of a commit, most likely catches first, until one fails twice in a row.

import { covers } from "./coverage.ts";
import type { RunResult } from "./isolated.ts";
import type { Fault, Located } from "./patch.ts";
import type { Check, Suite } from "./suite.ts";
import type { Similarity, TestFile } from "./test-files.ts";

export interface Catch {
  /** A check, or the path of a test file. */
  readonly by: string;
  /** Name of the first failed test, if reported. */
  readonly test?: string;
  readonly hung?: true;
}

export interface TrialResult {
  readonly caught: Catch | null;
  /** Checks and test files that passed with the fault, in order. */
  readonly ran: readonly string[];
}

export interface Effort {
  /** Maximum number of in-process test files that execute the line. */
  readonly near: number;
  /** Maximum number of test files that start the executable or a browser. */
  readonly further: number;
  /** Whether all test files run instead. */
  readonly complete: boolean;
  /** Test file to run first, because it caught the fault in another commit. */
  readonly hint?: string | undefined;
}

/** Number of files that run individually before the others share processes. */
const SINGLE_FILES = 6;
const FILES_PER_PROCESS = 4;

const TYPE_ERROR = /\berror TS\d+: /;

/** Assumed duration of a test file without a measurement. */
const UNKNOWN_SECONDS = 5;

interface Trial {
  readonly fault: Fault;
  readonly located: Located;
  readonly suite: Suite;
  readonly similarity: Similarity;
}

export function tryFault({ fault, located, suite, similarity }: Trial, effort: Effort): Promise<TrialResult> {
  const ranks = similarity.ranks(fault);
  const rankOf = ({ path }: TestFile) =>
    path === effort.hint
      ? Number.POSITIVE_INFINITY
      : (ranks.get(path) ?? 0) / Math.sqrt(suite.storedBaseline(path)?.seconds ?? UNKNOWN_SECONDS);
  const ranked = (accept: (file: TestFile) => boolean) =>
    suite.files.filter(accept).toSorted((a, b) => rankOf(b) - rankOf(a));

  const near = effort.complete
    ? ranked(({ isInProcess }) => isInProcess)
    : ranked(({ isInProcess, loads }) => isInProcess && loads.has(located.file));
  const isNear = (file: TestFile) => effort.complete || runsLine(suite, file, located);
  const external = ranked(({ isInProcess, isAlone }) => !isInProcess && !isAlone);
  const alone = effort.complete ? ranked(({ isInProcess, isAlone }) => !isInProcess && isAlone) : [];
  const maxFiles = (count: number) => (effort.complete ? Number.POSITIVE_INFINITY : count);

  const ran: string[] = [];
  const tests = (files: readonly TestFile[], options: Partial<RunOptions>) =>
    caughtByTests(
      suite,
      files,
      { accept: () => true, maxFiles: maxFiles(effort.further), single: files.length, lanes: 2, ...options },
      ran,
    );
  return suite.withFault(located, async () => {
    const caught =
      (await caughtByCheck(suite, "type check", ran)) ??
      (await tests(near, { accept: isNear, maxFiles: maxFiles(effort.near), single: SINGLE_FILES })) ??
      (await caughtByCheck(suite, "build", ran)) ??
      (await tests(external, {})) ??
      (await tests(alone, { lanes: 1 }));
    return { caught, ran };
  });
}

function runsLine(suite: Suite, { path }: TestFile, { file, line, endLine }: Located): boolean {
  return covers(suite.storedBaseline(path)?.covered ?? {}, file, line, endLine);
}

async function caughtByCheck(suite: Suite, check: Check, ran: string[]): Promise<Catch | null> {
  const first = await suite.check(check);
  // A type error is deterministic.
  const isCertain = first.outcome === "passed" || (first.outcome === "failed" && TYPE_ERROR.test(first.output));
  const second = isCertain ? first : await suite.check(check);
  if (second.outcome !== "passed") return { by: check, ...(second.outcome === "hung" ? { hung: true } : {}) };
  ran.push(check);
  return null;
}

interface RunOptions {
  /** Whether to run a file with the fault; its run without the fault has been measured. */
  readonly accept: (file: TestFile) => boolean;
  readonly maxFiles: number;
  /** Number of files that run in a separate process; the others share processes. */
  readonly single: number;
  readonly lanes: number;
}

/**
 * Runs test files until one fails, and fails again when run alone. Each file is first run without the fault, unless it
 * has been before, and skipped if it fails then.
 */
async function caughtByTests(
  suite: Suite,
  files: readonly TestFile[],
  { accept, maxFiles, single, lanes }: RunOptions,
  ran: string[],
): Promise<Catch | null> {
  const stop = new AbortController();
  const waiting = [...files];
  let chosen = 0;
  let caught: Catch | null = null;
  const nextBatch = async (): Promise<TestFile[]> => {
    const batch: TestFile[] = [];
    const size = chosen < single ? 1 : FILES_PER_PROCESS;
    while (batch.length < size && chosen < maxFiles && !stop.signal.aborted) {
      const file = waiting.shift();
      if (file === undefined) break;
      const { passed } = await suite.measurement(file);
      if (!passed || !accept(file) || chosen >= maxFiles) continue;
      chosen++;
      batch.push(file);
    }
    return batch;
  };
  const lane = async () => {
    for (let batch = await nextBatch(); batch.length > 0 && !stop.signal.aborted; batch = await nextBatch()) {
      const found = await caughtByBatch(suite, batch, stop.signal);
      caught ??= found;
      if (found !== null) stop.abort();
      else if (!stop.signal.aborted) ran.push(...batch.map(({ path }) => path));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return caught;
}

async function caughtByBatch(suite: Suite, batch: readonly TestFile[], signal: AbortSignal): Promise<Catch | null> {
  const first = await suite.test(batch, signal);
  if (!hasFailed(first)) return null;
  for (const file of suspectsOf(batch, first.output)) {
    const second = await suite.test([file], signal);
    if (!hasFailed(second)) continue;
    // A time-dependent test may fail because the machine has become busy.
    const isTimed = second.outcome === "hung" || !file.isInProcess;
    if (isTimed && !(await suite.passesNow(file))) continue;
    const test = failedTest(second.output);
    const named = test === undefined ? {} : { test };
    return { by: file.path, ...named, ...(second.outcome === "hung" ? { hung: true } : {}) };
  }
  return null;
}

function hasFailed({ outcome }: RunResult): boolean {
  return outcome === "failed" || outcome === "hung";
}

/** Sorts the files of a batch: first the one in progress when the runner exited. */
export function suspectsOf<File extends Pick<TestFile, "path">>(batch: readonly File[], output: string): File[] {
  const last = [...output.matchAll(/^(test\/\S+):$/gm)].at(-1)?.[1];
  return batch.toSorted((a, b) => Number(b.path === last) - Number(a.path === last));
}

/** Name of the first failed test in Bun's report. */
export function failedTest(output: string): string | undefined {
  return /^\(fail\) (.*?)(?: \[[\d.]+ *\w+\])?$/m.exec(output)?.[1];
}
