// What a process of tests costs: read from /proc while it runs, from its resource usage once it has ended.

import { readdirSync, readFileSync } from "node:fs";

/** Linux's unit of processor time in /proc. */
const TICK_MS = 10;

/** Processor time of a process and of its descendants that have ended, in milliseconds; 0 where /proc does not say. */
export function processorMsOf(pid: number): number {
  const fields = statOf(pid);
  // User and system time of its own, then of those it has waited for (proc_pid_stat(5), fields 14 to 17).
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
}

/** Whether a process still runs; one that ended and was not waited for does not. */
export function isRunning(pid: number): boolean {
  const [state] = statOf(pid);
  return state !== undefined && state !== "Z" && state !== "X";
}

/** Ends a process and its descendants at once: a test runner that hangs ends nothing that it started. */
export function killTree(pid: number): void {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) if (/^\d+$/.test(name)) parents.set(Number(name), Number(statOf(+name)[1]));
  const found = [pid];
  for (const each of found) for (const [child, parent] of parents) if (parent === each) found.push(child);
  for (const each of found) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** The fields of /proc/PID/stat behind the name, which may hold anything: state, parent … Empty for one that is gone. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.trim().split(" ") ?? [];
  } catch {
    return [];
  }
}
