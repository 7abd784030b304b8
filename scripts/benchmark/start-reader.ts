// Concurrent reader on a separate thread, so that a busy main thread does not count as waiting time.

import { threadOf } from "../../src/base/thread.ts";
import type { ReaderMessages, ReaderReport, ReaderTask } from "./reader.ts";

const readerThread = threadOf<ReaderMessages>(() => new Worker(new URL("./reader.ts", import.meta.url).href));

/** Starts a reader. Resolves once it is warm. */
export async function startReader(task: ReaderTask): Promise<{ stop(): Promise<ReaderReport> }> {
  const report = Promise.withResolvers<ReaderReport>();
  const warm = Promise.withResolvers<void>();
  const thread = readerThread(
    (message) => (message === "warm" ? warm.resolve() : report.resolve(message)),
    (reason) => {
      warm.reject(new Error(reason));
      report.reject(new Error(reason));
    },
  );
  report.promise.catch(() => {});
  thread.post(task);
  await warm.promise;
  return {
    stop: async () => {
      thread.post("stop");
      const result = await report.promise;
      thread.terminate();
      return result;
    },
  };
}

/** Formats a report as table cells: reads, p50, p99, longest. */
export function readerCells({ reads, p50Ms, p99Ms, longestMs }: ReaderReport): string[] {
  return [String(reads), p50Ms.toFixed(2), p99Ms.toFixed(2), longestMs.toFixed(1)];
}
