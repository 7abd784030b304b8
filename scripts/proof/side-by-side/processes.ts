// Resource usage of all processes of a product, as reported by the kernel (a database server has many).

import { readFileSync } from "node:fs";
import { processorMsOf, processTree } from "../../testing/processes.ts";

/** CPU time in seconds of processes and all their descendants, including exited ones. */
export function cpuSecondsOf(roots: readonly number[]): number {
  return roots.reduce((sum, pid) => sum + processorMsOf(pid), 0) / 1_000;
}

export interface Memory {
  /** Processes' own memory, in megabytes. */
  readonly anonymousMb: number;
  /** Shared memory, such as a database's buffers, with each page counted once, in megabytes. */
  readonly sharedMb: number;
}

export function memoryOf(roots: readonly number[]): Memory {
  let anonymousKib = 0;
  let sharedKib = 0;
  for (const pid of roots.flatMap((root) => processTree(root))) {
    anonymousKib += lineOf(`/proc/${pid}/status`, "RssAnon");
    // Proportional: memory that n processes map counts as 1/n in each.
    sharedKib += lineOf(`/proc/${pid}/smaps_rollup`, "Pss_Shmem");
  }
  return { anonymousMb: anonymousKib / 1024, sharedMb: sharedKib / 1024 };
}

/** Reads a value in KiB; 0 for an exited process. */
function lineOf(path: string, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(path, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
