// Trial of a planted fault: runs the seeds of the tests in a copy of the checkout with the fault, one after the other,
// until a figure that the fault must break has left its bounds permanently.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { TEST_HANG_MS } from "../../support/measure/limits.ts";
import type { FigureValues } from "../figures/figures.ts";
import { type BrokenBound, brokenBounds } from "./broken-bound.ts";
import { type PlantedFault, withFault } from "./fault.ts";

const ROOT = resolve(import.meta.dir, "../../..");
/** Input of a run of the simulated site. */
const COPIED = ["package.json", "tsconfig.json", "bunfig.toml", "migrations", "scripts", "src", "test"];
const RUN_SEED = "test/world/faults/run-seed.ts";

export interface TrialOutcome {
  /** The expected figure that left its bounds; null if none did. */
  readonly broken: BrokenBound | null;
  /** All figures out of their bounds at that time. */
  readonly others: readonly BrokenBound[];
  /** Number of seeds that ran. */
  readonly seeds: number;
  /** Reason why a seed failed; null if all completed. */
  readonly problem: string | null;
}

/** A copy of the checkout, in which one fault at a time is planted. */
export class FaultyCopy {
  private readonly folder: string;

  /** @param folder is replaced if it exists */
  constructor(folder: string) {
    this.folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    // Generated files that the sources import.
    if (existsSync(join(ROOT, "dist"))) symlinkSync(join(ROOT, "dist"), join(folder, "dist"));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  }

  /** @param seeds to run, from 1 */
  async try(fault: PlantedFault, seeds: number): Promise<TrialOutcome> {
    const path = join(this.folder, fault.file);
    const original = readFileSync(path, "utf8");
    writeFileSync(path, withFault(fault, original));
    try {
      const runs: FigureValues[] = [];
      let others: readonly BrokenBound[] = [];
      for (let seed = 1; seed <= seeds; seed += 1) {
        const run = await this.run(seed);
        if (typeof run === "string") return { broken: null, others, seeds: seed, problem: run };
        runs.push(run);
        others = brokenBounds(runs, seeds);
        const broken = others.find(({ figure }) => fault.figures.includes(figure));
        if (broken !== undefined) return { broken, others, seeds: seed, problem: null };
      }
      return { broken: null, others, seeds, problem: null };
    } finally {
      writeFileSync(path, original);
    }
  }

  /** @returns the figures, or the end of the output of a run that failed */
  private async run(seed: number): Promise<FigureValues | string> {
    const child = Bun.spawn([process.execPath, RUN_SEED, `${seed}`], {
      cwd: this.folder,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: TEST_HANG_MS,
    });
    const [out, problem, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    const text = out.trim().split("\n").at(-1) ?? "";
    if (exitCode !== 0 || !text.startsWith("{")) return problem.trim().split("\n").slice(-5).join("\n") || text;
    return JSON.parse(text) as FigureValues;
  }
}
