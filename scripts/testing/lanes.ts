// Parallel lanes that run tasks in order as they become ready.

/** Poll interval of a lane without a ready task. */
const POLL_MS = 200;

export interface Task {
  /** Whether the prerequisites are available; polled until they are. */
  readonly isReady: () => boolean;
  /** @returns additional tasks, which run first */
  readonly run: () => Promise<readonly Task[]>;
}

export interface Lane {
  /** Milliseconds spent running tasks, and idle while another lane was still running. */
  readonly busyMs: number;
  readonly idleMs: number;
}

/** Runs all tasks. @throws the error of a task */
export async function runInLanes(count: number, tasks: readonly Task[]): Promise<Lane[]> {
  const waiting = [...tasks];
  const startMs = performance.now();
  let taskEnded = Promise.withResolvers<void>();
  let running = 0;
  const lane = async () => {
    let busyMs = 0;
    while (waiting.length > 0 || running > 0) {
      const next = waiting.findIndex((task) => task.isReady());
      if (next < 0) {
        await Promise.race([taskEnded.promise, Bun.sleep(POLL_MS)]);
        continue;
      }
      const [task] = waiting.splice(next, 1);
      const startedMs = performance.now();
      running += 1;
      waiting.unshift(...((await task?.run()) ?? []));
      running -= 1;
      busyMs += performance.now() - startedMs;
      taskEnded.resolve();
      taskEnded = Promise.withResolvers<void>();
    }
    return busyMs;
  };
  const busy = await Promise.all(Array.from({ length: count }, lane));
  return busy.map((busyMs) => ({ busyMs, idleMs: performance.now() - startMs - busyMs }));
}
