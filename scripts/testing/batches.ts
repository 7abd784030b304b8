// Test file batches: the files of each process, their prerequisites, and their order.

import { dirname } from "node:path";
import { type Durations, expectedMs } from "./durations.ts";

/** Suffix of files that run only with `--all`: measurements, in sequence, on an otherwise idle machine. */
export const ONLY_IN_ALL = ".all.test.ts";

/** Files in the same process load the sources once and reuse compiled code: each saves 3.5 s of CPU time. */
const BATCH_MIN_MS = 60_000;
/** Share of a directory's remaining time per process, so that the last processes are short and leave no lane idle. */
const BATCH_SHARE = 1 / 4;

/** Each file of these directories has a separate process: its proof runs while the file is loaded. */
const OWN_PROCESS_FOLDERS = ["test/proof/"];

/** Files of these directories need neither the executable nor other programs. */
const SOURCE_ONLY_FOLDERS = ["test/api/", "test/store/", "test/world/"];

/** Files of these directories start scans and name lookups. */
const NETWORK_FOLDERS = ["test/system/", "test/console/", "test/proof/", "test/discovery/", "test/recipes/"];

/** Selects files that may run on the machine's own network, which no test packet may enter. */
export function withoutNetwork(files: readonly string[]): string[] {
  return files.filter((file) => !NETWORK_FOLDERS.some((folder) => file.startsWith(folder)));
}

export interface Batch {
  readonly files: readonly string[];
  /** Whether its files need the build and the programs being installed. */
  readonly needsBuild: boolean;
  readonly expectedMs: number;
}

/** Selects files whose path contains one of the filters, or all without filters. @param all include `--all` files */
export function chosenFiles(root: string, filters: readonly string[], all: boolean): string[] {
  return [...new Bun.Glob("test/**/*.test.ts").scanSync(root)]
    .filter((file) => all || !file.endsWith(ONLY_IN_ALL))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort();
}

/** Groups files into batches, longest first. */
export function batchesOf(files: readonly string[], durations: Durations, batchMinMs = BATCH_MIN_MS): Batch[] {
  const batches: Batch[] = [];
  const timed = files.map((file) => ({ file, ms: expectedMs(durations, file) })).sort((a, b) => b.ms - a.ms);
  // Files of the same directory load the same modules and leave similar state.
  for (const [folder, folderFiles] of Map.groupBy(timed, ({ file }) => dirname(file))) {
    const needsBuild = !SOURCE_ONLY_FOLDERS.includes(`${folder}/`);
    let remainingMs = folderFiles.reduce((sum, { ms }) => sum + ms, 0);
    while (folderFiles.length > 0) {
      const targetMs = OWN_PROCESS_FOLDERS.includes(`${folder}/`) ? 0 : Math.max(batchMinMs, remainingMs * BATCH_SHARE);
      const batch: string[] = [];
      let batchMs = 0;
      do {
        const next = folderFiles.shift() as (typeof folderFiles)[number];
        batch.push(next.file);
        batchMs += next.ms;
      } while (folderFiles.length > 0 && batchMs < targetMs);
      batches.push({ files: batch, needsBuild, expectedMs: batchMs });
      remainingMs -= batchMs;
    }
  }
  return batches.sort((a, b) => b.expectedMs - a.expectedMs);
}
