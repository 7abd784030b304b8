// Faults planted in the product that the simulated site must detect: runs them one at a time, and reports the figure
// that left its bounds. Results are kept per state of the sources, so that a run continues where another one ended.

import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { PlantedFault } from "../../test/world/faults/fault.ts";
import { FaultyCopy, type TrialOutcome } from "../../test/world/faults/trial.ts";
import { CI_SEEDS } from "../../test/world/rates.ts";

const ROOT = resolve(import.meta.dir, "../..");

export interface WorldResult extends TrialOutcome {
  /** Digest of the sources, the simulated site and the fault. */
  readonly id: string;
  readonly name: string;
  readonly rule: string;
  readonly seconds: number;
}

interface WorldOptions {
  /** For the copy of the checkout. */
  readonly directory: string;
  /** JSON lines. */
  readonly results: string;
  readonly isOver: () => boolean;
  readonly log: (line: string) => void;
}

/** @returns the number of faults that broke no bound, or that were not tried */
export async function tryWorldFaults(
  faults: readonly PlantedFault[],
  { directory, results, isOver, log }: WorldOptions,
): Promise<number> {
  const digest = digestOf(["src", "test/world", "migrations"]);
  const idOf = (fault: PlantedFault) => Bun.hash(`${digest} ${JSON.stringify(fault)}`).toString(36);
  const known = new Map(readResults(results).map((result) => [result.id, result]));
  const copy = new FaultyCopy(join(directory, "world"));
  for (const fault of faults) {
    const id = idOf(fault);
    if (known.has(id) || isOver()) continue;
    const started = performance.now();
    const outcome = await copy.try(fault, CI_SEEDS);
    const seconds = Math.round((performance.now() - started) / 1_000);
    const result = { id, name: fault.name, rule: fault.rule, ...outcome, seconds };
    known.set(id, result);
    mkdirSync(dirname(results), { recursive: true });
    appendFileSync(results, `${JSON.stringify(result)}\n`);
    log(`${describe(result)} (${seconds} s)`);
  }
  const tried = faults.flatMap((fault) => known.get(idOf(fault)) ?? []);
  const broken = tried.filter((result) => result.broken !== null).length;
  log(`${broken} of ${faults.length} faults break a bound; ${faults.length - tried.length} left`);
  return faults.length - broken;
}

function describe({ name, broken, others, seeds, problem }: WorldResult): string {
  if (problem !== null) return `FAILED: ${name}: ${problem}`;
  const text = ({ figure, value, bound, of }: NonNullable<TrialOutcome["broken"]>) =>
    `${figure} ${value.toFixed(4)}, bound ${bound} (${of})`;
  if (broken !== null) return `broken: ${name}: ${text(broken)} after ${seeds} seeds`;
  return `HELD: ${name}${others.length === 0 ? "" : `; only ${others.map(text).join(", ")}`}`;
}

function readResults(path: string): WorldResult[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as WorldResult);
}

function digestOf(folders: readonly string[]): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const folder of folders)
    for (const path of [...new Bun.Glob("**/*").scanSync(join(ROOT, folder))].sort())
      if (!path.includes("faults/")) hasher.update(`${path}\n`).update(readFileSync(join(ROOT, folder, path)));
  return hasher.digest("hex");
}
