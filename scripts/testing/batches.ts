// Test files grouped into processes: which files share one, what each needs before it can begin, and their order.

import { dirname } from "node:path";
import { type Durations, expectedMs } from "./durations.ts";

/** Files of `--all` alone: they measure, one after another, on a machine that does nothing else. */
export const ONLY_IN_ALL = ".all.test.ts";

/** Files that share a process load the sources once: two seconds of processor time. More would leave lanes idle at the end. */
const BATCH_MS = 60_000;

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
export function batchesOf(files: readonly string[], durations: Durations, batchMs = BATCH_MS): Batch[] {
  const batches: Batch[] = [];
  /** By folder: files that are alike load the same, and leave alike behind. */
  const open = new Map<string, Batch>();
  const timed = files.map((file) => ({ file, ms: expectedMs(durations, file) })).sort((a, b) => b.ms - a.ms);
  for (const { file, ms } of timed) {
    const needsBuild = !FROM_SOURCES.some((folder) => file.startsWith(folder));
    if (OWN_PROCESS.some((folder) => file.startsWith(folder)) || ms >= batchMs) {
      batches.push({ files: [file], needsBuild, expectedMs: ms });
      continue;
    }
    const folder = dirname(file);
    const begun = open.get(folder);
    const batch = { files: [...(begun?.files ?? []), file], needsBuild, expectedMs: (begun?.expectedMs ?? 0) + ms };
    if (batch.expectedMs >= batchMs) batches.push(batch);
    if (batch.expectedMs >= batchMs) open.delete(folder);
    else open.set(folder, batch);
  }
  return [...batches, ...open.values()].sort((a, b) => b.expectedMs - a.expectedMs);
}
