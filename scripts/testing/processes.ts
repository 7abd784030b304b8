// Processes and their descendants in /proc: processor time, state, and termination.

import { readdirSync, readFileSync } from "node:fs";

/** Linux's unit of processor time in /proc. */
const TICK_MS = 10;

/**
 * Processor time of a process and its descendants, including ended children that were waited for, in milliseconds; 0 if
 * /proc does not report it.
 */
export function processorMsOf(pid: number): number {
  let ticks = 0;
  // Its own user and system time, then that of children it has waited for (proc_pid_stat(5), fields 14 to 17).
  for (const each of familyOf(pid)) for (const field of statOf(each).slice(11, 15)) ticks += Number(field);
  return ticks * TICK_MS;
}

/** Whether a process is running; a zombie is not. */
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

/** Kills processes at once; ignores ended ones. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has exited in the meantime.
    }
  }
}

/** Fields of /proc/PID/stat after the name, which may contain anything: state, parent … Empty for an ended process. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.trim().split(" ") ?? [];
  } catch {
    return [];
  }
}
