// Concurrent reads on a separate thread, so that a busy main thread does not count as waiting time.

import { threadOf } from "../../src/base/thread.ts";
import type { ReaderMessages, ReaderReport, ReaderTask } from "./reader.ts";

const readerThread = threadOf<ReaderMessages>(() => new Worker(new URL("./reader.ts", import.meta.url).href));

/** Resolves once it is warm. */
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
