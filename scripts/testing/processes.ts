// Processes and their descendants in /proc: CPU time, state, and termination.

import { readdirSync, readFileSync } from "node:fs";

/** Unit of CPU time in Linux's /proc. */
const TICK_MS = 10;

/**
 * CPU time in milliseconds of a process and its descendants, including exited children that were waited for; 0 if
 * /proc does not report it.
 */
export function processorMsOf(pid: number): number {
  let ticks = 0;
  // User and system time, of the process itself and of children it has waited for (proc_pid_stat(5), fields 14 to 17).
  for (const member of processTree(pid)) for (const field of statOf(member).slice(11, 15)) ticks += Number(field);
  return ticks * TICK_MS;
}

/** Whether a process is running; a zombie is not. */
export function isRunning(pid: number): boolean {
  const [state] = statOf(pid);
  return state !== undefined && state !== "Z" && state !== "X";
}

/** A process and all its descendants, the process first. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) if (/^\d+$/.test(name)) parents.set(Number(name), Number(statOf(+name)[1]));
  const found = [pid];
  for (const known of found) for (const [child, parent] of parents) if (parent === known) found.push(child);
  return found;
}

/** Kills processes with SIGKILL; ignores those that have exited. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has exited in the meantime.
    }
  }
}

/** Fields of /proc/PID/stat after the name, which may contain anything: state, parent … Empty for an exited process. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.trim().split(" ") ?? [];
  } catch {
    return [];
  }
}
