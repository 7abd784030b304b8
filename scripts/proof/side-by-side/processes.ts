// Resource usage of a product's processes, read from the kernel: a database server has many.

import { readdirSync, readFileSync } from "node:fs";

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** User and system time, including ended children, in seconds. */
  readonly cpuSeconds: number;
}

/** Processor time of the processes and all their descendants, including ended ones, in seconds. */
export function cpuSecondsOf(roots: readonly number[]): number {
  return familyOf(roots).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

export interface Memory {
  /** Of the processes themselves, in megabytes. */
  readonly anonymousMb: number;
  /** Shared memory, each page counted once, in megabytes: a database's buffers. */
  readonly sharedMb: number;
}

export function memoryOf(roots: readonly number[]): Memory {
  let anonymousKib = 0;
  let sharedKib = 0;
  for (const { pid } of familyOf(roots)) {
    anonymousKib += lineOf(`/proc/${pid}/status`, "RssAnon");
    // Proportional: memory mapped by n processes counts as 1/n in each.
    sharedKib += lineOf(`/proc/${pid}/smaps_rollup`, "Pss_Shmem");
  }
  return { anonymousMb: anonymousKib / 1024, sharedMb: sharedKib / 1024 };
}

function familyOf(roots: readonly number[]): Stat[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat !== null);
  const family = new Set(roots);
  // Until a pass finds no new process: a child may have a lower pid than its parent.
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
}

/** From proc_pid_stat(5); the kernel counts in hundredths. Null if it has exited in the meantime. */
function statOf(pid: number): Stat | null {
  const text = textOf(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (text === "") return null;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), cpuSeconds: ticks / 100 };
}

function lineOf(path: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(textOf(path))?.[1] ?? 0);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
