// Test files grouped into processes: which files share one, what each needs before it can begin, and their order.

import { dirname } from "node:path";
import { type Durations, expectedMs } from "./durations.ts";

/** Files of `--all` alone: they measure, one after another, on a machine that does nothing else. */
export const ONLY_IN_ALL = ".all.test.ts";

/** Files that share a process load the sources once, and run in what its first ones have compiled: 3.5 s of processor time. */
const BATCH_MIN_MS = 60_000;
/** A process takes so much of what is left of its folder: the last ones are short, and leave no lane idle. */
const BATCH_SHARE = 1 / 4;

/** Each of these files is a process of its own: its proof runs while it is loaded. */
const OWN_PROCESS = ["test/proof/"];

/** Files of these folders need neither the executable nor a program of the machine. */
const FROM_SOURCES = ["test/api/", "test/store/"];

/** Files of these folders start what scans and looks up names. */
const REACHING_OUT = ["test/system/", "test/console/", "test/proof/", "test/discovery/"];

/** The files that may run where the network is the machine's own: no packet of a test may leave it. */
export function withoutNetwork(files: readonly string[]): string[] {
  return files.filter((file) => !REACHING_OUT.some((folder) => file.startsWith(folder)));
}

export interface Batch {
  readonly files: readonly string[];
  /** Needs the build, and the programs that are being installed. */
  readonly needsBuild: boolean;
  readonly expectedMs: number;
}

/** The files whose path contains one of the filters; all of them where there is none. Those of `--all` only with it. */
export function chosenFiles(root: string, filters: readonly string[], all: boolean): string[] {
  return [...new Bun.Glob("test/**/*.test.ts").scanSync(root)]
    .filter((file) => all || !file.endsWith(ONLY_IN_ALL))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort();
}

/** The batches of the files, longest first. */
export function batchesOf(files: readonly string[], durations: Durations, batchMinMs = BATCH_MIN_MS): Batch[] {
  const batches: Batch[] = [];
  const timed = files.map((file) => ({ file, ms: expectedMs(durations, file) })).sort((a, b) => b.ms - a.ms);
  // Files that are alike load the same, and leave alike behind.
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
