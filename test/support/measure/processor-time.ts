// What work costs in time of processors, and what waiting for one adds. Time that passes says what else the machine does.

import { readdirSync, readFileSync } from "node:fs";
import { familyOf } from "../../../scripts/testing/processes.ts";

/** Milliseconds that this process spends, on all of its threads, until what an action comes to is there. */
export async function processorMs(action: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** What the threads of a process come to together, in milliseconds. */
interface Scheduling {
  /** Running. */
  readonly ranMs: number;
  /** Ready to run while others ran: next to nothing on a machine that has nothing else to do. */
  readonly waitedMs: number;
}

/**
 * Since a process began (/proc/PID/schedstat); nought of one that has ended, and where the kernel does not tell.
 * @param threads its first thread has the process's own number
 */
export function schedulingOf(pid: number, threads: "all" | "first" = "all"): Scheduling {
  let [ran, waited] = [0, 0];
  try {
    for (const thread of threads === "all" ? readdirSync(`/proc/${pid}/task`) : [pid]) {
      const figures = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ").map(Number);
      ran += figures[0] ?? 0;
      waited += figures[1] ?? 0;
    }
  } catch {
    // A thread, or all of it, has ended meanwhile.
  }
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

/**
 * Starts a stopwatch that stands still while a process waits for a processor.
 * @param threads all of each process, or only the first, where the others have work of their own to do
 * @param processes numbers of those that take part: this one and its descendants, unless told
 * @returns reads it, in milliseconds: the time passed without those waits. Threads wait at the same time, so it is at
 *   least what the first thread of one process ran.
 */
export function stopwatch(threads: "all" | "first" = "all", processes?: readonly number[]): () => number {
  const figures = () =>
    new Map(
      (processes ?? familyOf(process.pid)).map((pid) => {
        const first = schedulingOf(pid, "first");
        return [pid, threads === "first" ? first : { ...first, waitedMs: schedulingOf(pid).waitedMs }] as const;
      }),
    );
  const before = figures();
  const began = performance.now();
  return () => {
    const passedMs = performance.now() - began;
    let [ranMs, waitedMs] = [0, 0];
    for (const [pid, now] of figures()) {
      const then = before.get(pid) ?? { ranMs: 0, waitedMs: 0 };
      ranMs = Math.max(ranMs, now.ranMs - then.ranMs);
      waitedMs += now.waitedMs - then.waitedMs;
    }
    return Math.max(ranMs, passedMs - waitedMs);
  };
}
