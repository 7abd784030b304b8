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

/** In milliseconds. */
interface Scheduling {
  /** Running. */
  readonly ranMs: number;
  /** Ready to run while others ran: next to nothing on a machine that has nothing else to do. */
  readonly waitedMs: number;
}

const NOTHING: Scheduling = { ranMs: 0, waitedMs: 0 };

/**
 * Threads of a process since it began, together; nought of one that has ended, and where the kernel does not tell.
 * @param threads all of them, or the first
 */
export function schedulingOf(pid: number, threads: "all" | "first" = "all"): Scheduling {
  return threadsOf(pid, threads).reduce(
    (sum, [, { ranMs, waitedMs }]) => ({ ranMs: sum.ranMs + ranMs, waitedMs: sum.waitedMs + waitedMs }),
    NOTHING,
  );
}

/**
 * Starts a stopwatch that stands still while a process waits for a processor.
 * @param threads all of each process, or only the first, where the others have work of their own to do
 * @param processes numbers of those that take part: this one and its descendants, unless told
 * @returns reads it, in milliseconds: the time passed without those waits. Threads wait at the same time, so it is at
 *   least what the first thread of one process ran.
 */
export function stopwatch(threads: "all" | "first" = "all", processes?: readonly number[]): () => number {
  const figures = () => new Map((processes ?? familyOf(process.pid)).flatMap((pid) => threadsOf(pid, threads)));
  const before = figures();
  const began = performance.now();
  return () => {
    const passedMs = performance.now() - began;
    let [ranMs, waitedMs] = [0, 0];
    // Thread by thread: one that has ended takes along what it had waited before.
    for (const [thread, now] of figures()) {
      const then = before.get(thread) ?? NOTHING;
      if (now.isFirst) ranMs = Math.max(ranMs, now.ranMs - then.ranMs);
      waitedMs += now.waitedMs - then.waitedMs;
    }
    return Math.max(ranMs, passedMs - waitedMs);
  };
}

/** The threads of a process by number, the first of which has the process's own (/proc/PID/task/TID/schedstat). */
function threadsOf(pid: number, threads: "all" | "first"): Array<[number, Scheduling & { readonly isFirst: boolean }]> {
  const numbers = threads === "first" ? [pid] : (listed(`/proc/${pid}/task`) ?? []).map(Number);
  return numbers.flatMap((thread) => {
    const figures = read(`/proc/${pid}/task/${thread}/schedstat`)?.split(" ").map(Number);
    if (figures === undefined) return [];
    const [ran = 0, waited = 0] = figures;
    return [[thread, { ranMs: ran / 1e6, waitedMs: waited / 1e6, isFirst: thread === pid }]];
  });
}

const listed = (folder: string) => unlessGone(() => readdirSync(folder));
const read = (file: string) => unlessGone(() => readFileSync(file, "utf8"));

/** Undefined where a thread, or all of its process, has ended meanwhile. */
function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
