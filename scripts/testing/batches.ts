// Batches of test files: the files of each process, their prerequisites, and their order.

import { dirname } from "node:path";
import { type Durations, expectedMs } from "./durations.ts";

/** Files of `--all` only: measurements, in sequence, on an otherwise idle machine. */
export const ONLY_IN_ALL = ".all.test.ts";

/** Files in the same process load the sources once and reuse compiled code: saves 3.5 s of processor time. */
const BATCH_MIN_MS = 60_000;
/** Share of a folder's remaining time per process: the last ones are short, and leave no lane idle. */
const BATCH_SHARE = 1 / 4;

/** Each of these files has a separate process: its proof runs while it is loaded. */
const OWN_PROCESS = ["test/proof/"];

/** Files of these folders need neither the executable nor other programs. */
const FROM_SOURCES = ["test/api/", "test/store/"];

/** Files of these folders start scans and name lookups. */
const REACHING_OUT = ["test/system/", "test/console/", "test/proof/", "test/discovery/", "test/recipes/"];

/** Files that may run on the machine's own network, which no test packet may enter. */
export function withoutNetwork(files: readonly string[]): string[] {
  return files.filter((file) => !REACHING_OUT.some((folder) => file.startsWith(folder)));
}

export interface Batch {
  readonly files: readonly string[];
  /** Needs the build, and the programs being installed. */
  readonly needsBuild: boolean;
  readonly expectedMs: number;
}

/** Files whose path contains one of the filters; all without filters. Files of `--all` only with that option. */
export function chosenFiles(root: string, filters: readonly string[], all: boolean): string[] {
  return [...new Bun.Glob("test/**/*.test.ts").scanSync(root)]
    .filter((file) => all || !file.endsWith(ONLY_IN_ALL))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort();
}

/** Batches of the files, longest first. */
export function batchesOf(files: readonly string[], durations: Durations, batchMinMs = BATCH_MIN_MS): Batch[] {
  const batches: Batch[] = [];
  const timed = files.map((file) => ({ file, ms: expectedMs(durations, file) })).sort((a, b) => b.ms - a.ms);
  // Files of the same folder load the same modules and leave similar state.
  for (const [folder, alike] of Map.groupBy(timed, ({ file }) => dirname(file))) {
    const needsBuild = !FROM_SOURCES.includes(`${folder}/`);
    let leftMs = alike.reduce((sum, { ms }) => sum + ms, 0);
    while (alike.length > 0) {
      const enoughMs = OWN_PROCESS.includes(`${folder}/`) ? 0 : Math.max(batchMinMs, leftMs * BATCH_SHARE);
      const batch: string[] = [];
      let batchMs = 0;
      do {
        const next = alike.shift() as (typeof alike)[number];
        batch.push(next.file);
        batchMs += next.ms;
      } while (alike.length > 0 && batchMs < enoughMs);
      batches.push({ files: batch, needsBuild, expectedMs: batchMs });
      leftMs -= batchMs;
    }
  }
  return batches.sort((a, b) => b.expectedMs - a.expectedMs);
}
