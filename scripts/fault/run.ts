// Entry point of scripts/faults: lists faults, tries them, and compares the results of two commits.

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { FAULTS } from "../../test/world/faults/faults.ts";
import { commitOf, sourcesAt } from "./checkout.ts";
import { drawFaults, shuffled } from "./draw.ts";
import { endAll } from "./isolated.ts";
import { changeOf, type Fault, locate } from "./patch.ts";
import { appendResult, describeFault, lostFaults, type Result, readResults, summaryOf } from "./results.ts";
import { Suite } from "./suite.ts";
import { Similarity } from "./test-files.ts";
import { type Effort, type TrialResult, tryFault } from "./trial.ts";
import { tryWorldFaults } from "./world.ts";

const ROOT = resolve(import.meta.dir, "../..");

const USAGE = `usage: scripts/faults list [--seed N] [--count N] [--at COMMIT]
       scripts/faults run [--seed N] [--count N] [--at COMMIT] [--from COMMIT] [--shard i/n] [--results FILE]
           [--minutes N] [--near N] [--further N] [--whole N] [--hints FILE] [--directory DIR]
       scripts/faults compare BEFORE AFTER
       scripts/faults world [--shard i/n] [--results FILE] [--minutes N] [--directory DIR] [NAME …]

  --at COMMIT      commit whose tests are tried (HEAD)
  --from COMMIT    commit from whose src/ the faults are drawn (that of --at)
  --shard i/n      run i of n, from 1; concurrent runs need a --directory each
  --minutes N      stops after this time, once the current fault is finished
  --near N         maximum in-process test files per fault (60)
  --further N      maximum test files that use the executable or a browser per fault (8)
  --whole N        runs every test file for N of the undetermined faults, drawn by seed
  --hints FILE     results of another commit: the check that caught a fault there is tried first
  --directory DIR  for checkouts and measurements (dist/faults)`;

class UsageError extends Error {}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    endAll();
    console.error(`netledger: stopped by ${signal}`);
    process.exit(130);
  });

try {
  process.exit(await main());
} catch (error) {
  console.error(`netledger: ${error instanceof Error ? error.message : error}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  const [command, ...operands] = positionals;
  if (command === "compare" && operands.length === 2) return compare(operands[0] ?? "", operands[1] ?? "");
  if (command === "world") return world(values, operands);
  if (operands.length > 0) throw new UsageError(USAGE);
  if (command === "list") return list(values);
  if (command === "run") return run(values);
  throw new UsageError(USAGE);
}

/** @param names parts of names; none for all faults */
async function world(settings: Settings, names: readonly string[]): Promise<number> {
  const directory = resolve(settings.directory);
  const faults = shardOf(FAULTS, settings.shard).filter(
    ({ name }) => names.length === 0 || names.some((part) => name.includes(part)),
  );
  const left = await tryWorldFaults(faults, {
    directory,
    results: settings.results ?? join(directory, "world.jsonl"),
    isOver: overAfter(settings),
    log: (line) => console.log(line),
  });
  return left === 0 ? 0 : 1;
}

/** Whether the time of the run is over. */
function overAfter({ minutes }: Settings): () => boolean {
  const limit = minutes === undefined ? Number.POSITIVE_INFINITY : Number(minutes);
  if (Number.isNaN(limit)) throw new UsageError("--minutes must be a number");
  return () => performance.now() > limit * 60_000;
}

type Settings = ReturnType<typeof readArguments>["values"];

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seed: { type: "string", default: "1" },
        count: { type: "string", default: "120" },
        at: { type: "string", default: "HEAD" },
        from: { type: "string" },
        shard: { type: "string", default: "1/1" },
        results: { type: "string" },
        minutes: { type: "string" },
        near: { type: "string", default: "60" },
        further: { type: "string", default: "8" },
        whole: { type: "string", default: "0" },
        hints: { type: "string" },
        directory: { type: "string", default: join(ROOT, "dist/faults") },
      },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

function wholeNumber(settings: Settings, name: "seed" | "count" | "near" | "further" | "whole"): number {
  const value = Number(settings[name]);
  if (!Number.isSafeInteger(value) || value < 0) throw new UsageError(`--${name} must be a whole number`);
  return value;
}

function chosenFaults(settings: Settings): Fault[] {
  const sources = sourcesAt(commitOf(settings.from ?? settings.at), ["src"]);
  return drawFaults(sources, { seed: wholeNumber(settings, "seed"), count: wholeNumber(settings, "count") });
}

function list(settings: Settings): number {
  for (const fault of chosenFaults(settings)) {
    const { was, becomes } = changeOf(fault);
    console.log(`${fault.id} ${fault.file}:${fault.line} ${fault.kind}\n  ${was}\n  → ${becomes}`);
  }
  return 0;
}

async function run(settings: Settings): Promise<number> {
  const isOver = overAfter(settings);
  const commit = commitOf(settings.at);
  const seed = wholeNumber(settings, "seed");
  const faults = shardOf(chosenFaults(settings), settings.shard);
  const directory = join(resolve(settings.directory), commit.slice(0, 12));
  const path = settings.results ?? join(directory, `seed-${seed}.jsonl`);
  const results = readResults(path);
  if (results.values().some((result) => result.commit !== commit)) throw new Error(`${path} belongs to another commit`);
  const hints = settings.hints === undefined ? new Map<string, Result>() : readResults(settings.hints);

  const log = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
  const suite = new Suite(commit, directory, log);
  await suite.prepare();
  const similarity = new Similarity(suite.sources, suite.files);
  const sources = new Map([...suite.sources].filter(([file]) => file.startsWith("src/")));

  const attempt = async (fault: Fault, isComplete: boolean): Promise<void> => {
    const started = performance.now();
    const located = locate(fault, sources);
    const effort: Effort = {
      near: wholeNumber(settings, "near"),
      further: wholeNumber(settings, "further"),
      complete: isComplete,
      hint: hints.get(fault.id)?.by,
    };
    const trial = located && (await tryFault({ fault, located, suite, similarity }, effort));
    const seconds = Math.round((performance.now() - started) / 1000);
    const result: Result = { ...describeFault(fault), commit, ...verdictOf(trial, isComplete), seconds };
    results.set(fault.id, result);
    appendResult(path, result);
    log(`${result.verdict}${result.by === undefined ? "" : ` by ${result.by}`} (${seconds} s): ${fault.kind}`);
    log(`  ${fault.file}:${fault.line} → ${result.becomes}`);
  };

  for (const fault of faults) if (!results.has(fault.id) && !isOver()) await attempt(fault, false);
  const undetermined = shuffled(
    [...results.values()]
      .filter(({ verdict }) => verdict === "undetermined")
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    seed,
  ).slice(0, wholeNumber(settings, "whole"));
  for (const { id } of undetermined) {
    const fault = faults.find((candidate) => candidate.id === id);
    if (fault !== undefined && !isOver()) await attempt(fault, true);
  }
  console.log(`${summaryOf(results)}; ${faults.filter(({ id }) => !results.has(id)).length} left`);
  return 0;
}

function verdictOf(
  trial: TrialResult | null,
  isComplete: boolean,
): Pick<Result, "verdict" | "by" | "test" | "hung" | "ran"> {
  if (trial === null) return { verdict: "gone" };
  if (trial.caught !== null) return { verdict: "caught", ...trial.caught };
  return { verdict: isComplete ? "survived" : "undetermined", ran: trial.ran };
}

function shardOf<Item>(faults: readonly Item[], shard: string): Item[] {
  const [, part = "", parts = ""] = /^(\d+)\/(\d+)$/.exec(shard) ?? [];
  const [position, count] = [Number(part), Number(parts)];
  if (position < 1 || position > count) throw new UsageError("--shard must be i/n, with i from 1 to n");
  return faults.filter((_, index) => index % count === position - 1);
}

function compare(before: string, after: string): number {
  const [resultsBefore, resultsAfter] = [readResults(before), readResults(after)];
  console.log(`before: ${summaryOf(resultsBefore)}\nafter: ${summaryOf(resultsAfter)}`);
  const lost = lostFaults(resultsBefore, resultsAfter);
  for (const { fault, after: verdict } of lost) {
    console.log(`lost: ${fault.id} ${fault.file}:${fault.line} ${fault.kind}, ${verdict}; before by ${fault.by}`);
    console.log(`  ${fault.was}\n  → ${fault.becomes}`);
  }
  console.log(`${lost.length} caught before but not after`);
  return lost.length === 0 ? 0 : 1;
}
