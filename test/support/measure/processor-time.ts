// CPU time used by work, and time spent waiting for a CPU. Wall time would also measure other processes.

import { readdirSync, readFileSync } from "node:fs";
import { processTree } from "../../../scripts/testing/processes.ts";

/** CPU time of this process in milliseconds, on all threads, until the action's result is available. */
export async function processorMs(action: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Scheduling of threads, in milliseconds. */
interface Scheduling {
  /** Time running. */
  readonly ranMs: number;
  /** Time runnable while others ran: near zero on an idle machine. */
  readonly waitedMs: number;
}

const NOTHING: Scheduling = { ranMs: 0, waitedMs: 0 };

/**
 * Totals of a process's threads since its start; zero if it has exited or the kernel reports none.
 * @param threads all threads, or only the first
 */
export function schedulingOf(pid: number, threads: "all" | "first" = "all"): Scheduling {
  return threadsOf(pid, threads).reduce(
    (sum, [, { ranMs, waitedMs }]) => ({ ranMs: sum.ranMs + ranMs, waitedMs: sum.waitedMs + waitedMs }),
    NOTHING,
  );
}

/**
 * Starts a stopwatch that excludes the time a process waits for a CPU.
 * @param threads all threads of each process, or only the first if the others have separate work
 * @param processes pids of the participants; by default this process and its descendants
 * @returns a function that reads it, in milliseconds: wall time minus those waits. Threads wait in parallel, so the
 * result is at least the running time of a process's first thread.
 */
export function stopwatch(threads: "all" | "first" = "all", processes?: readonly number[]): () => number {
  const figures = () => new Map((processes ?? processTree(process.pid)).flatMap((pid) => threadsOf(pid, threads)));
  const before = figures();
  const startedAt = performance.now();
  return () => {
    const passedMs = performance.now() - startedAt;
    let [ranMs, waitedMs] = [0, 0];
    // Per thread: a thread that has exited is missing from the later figures, with its earlier waits.
    for (const [thread, current] of figures()) {
      const previous = before.get(thread) ?? NOTHING;
      if (current.isFirst) ranMs = Math.max(ranMs, current.ranMs - previous.ranMs);
      waitedMs += current.waitedMs - previous.waitedMs;
    }
    return Math.max(ranMs, passedMs - waitedMs);
  };
}

/** Threads of a process by number; the first has the process's pid (/proc/PID/task/TID/schedstat). */
function threadsOf(pid: number, threads: "all" | "first"): Array<[number, Scheduling & { readonly isFirst: boolean }]> {
  return (threads === "first" ? [pid] : (entriesOf(`/proc/${pid}/task`) ?? []).map(Number)).flatMap((thread) => {
    const figures = read(`/proc/${pid}/task/${thread}/schedstat`)?.split(" ").map(Number);
    if (figures === undefined) return [];
    const [ran = 0, waited = 0] = figures;
    return [[thread, { ranMs: ran / 1e6, waitedMs: waited / 1e6, isFirst: thread === pid }]];
  });
}

const entriesOf = (folder: string) => unlessExited(() => readdirSync(folder));
const read = (file: string) => unlessExited(() => readFileSync(file, "utf8"));

/** Undefined if a thread, or its process, has exited in the meantime. */
function unlessExited<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
