// What work costs in time of processors, and what waiting for one adds. Time that passes says what else the machine does.

import { readdirSync, readFileSync } from "node:fs";

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

/** Since a process began (/proc/PID/schedstat); nought of one that has ended, and where the kernel does not tell. */
export function schedulingOf(pid: number): Scheduling {
  let [ran, waited] = [0, 0];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const figures = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ").map(Number);
      ran += figures[0] ?? 0;
      waited += figures[1] ?? 0;
    }
  } catch {
    // A thread, or all of it, has ended meanwhile.
  }
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}
