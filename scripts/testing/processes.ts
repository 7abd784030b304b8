// Processes and their descendants, as /proc lists them: processor time, whether they run, and their end.

import { readdirSync, readFileSync } from "node:fs";

/** Linux's unit of processor time in /proc. */
const TICK_MS = 10;

/**
 * Processor time of a process and of its descendants, those that have ended and were waited for included, in
 * milliseconds; 0 where /proc does not say.
 */
export function processorMsOf(pid: number): number {
  let ticks = 0;
  // User and system time of its own, then of those it has waited for (proc_pid_stat(5), fields 14 to 17).
  for (const each of familyOf(pid)) for (const field of statOf(each).slice(11, 15)) ticks += Number(field);
  return ticks * TICK_MS;
}

/** Whether a process still runs; one that ended and was not waited for does not. */
export function isRunning(pid: number): boolean {
  const [state] = statOf(pid);
  return state !== undefined && state !== "Z" && state !== "X";
}

/** A process and all its descendants, the process first. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) if (/^\d+$/.test(name)) parents.set(Number(name), Number(statOf(+name)[1]));
  const found = [pid];
  for (const each of found) for (const [child, parent] of parents) if (parent === each) found.push(child);
  return found;
}

/** Ends processes at once, those that have ended already included. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
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
