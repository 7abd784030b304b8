// Stopwatch that excludes the time a process waits for a CPU.

import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { stopwatch } from "../support/measure/processor-time.ts";

/** Runs until its process has used 0.5 s of CPU time, then waits to be terminated. */
const BUSY_WORKER = `
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user < 500_000) {}
  onmessage = () => {};
  postMessage("done");
`;

/** Starts more threads than CPUs, so that each has waited for one. */
async function startThreads(): Promise<Worker[]> {
  const workers = Array.from(
    { length: 2 * availableParallelism() },
    () => new Worker(URL.createObjectURL(new Blob([BUSY_WORKER]))),
  );
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.addEventListener("message", resolve))));
  return workers;
}

test("shows no more than the elapsed time, even if waiting threads end", async () => {
  const workers = await startThreads();
  const passedMs = stopwatch("all", []);
  const elapsedMs = stopwatch("all", [process.pid]);
  const ended = workers.map((worker) => new Promise((resolve) => worker.addEventListener("close", resolve)));
  for (const worker of workers) worker.terminate();
  await Promise.all(ended);
  const [elapsed, passed] = [elapsedMs(), passedMs()];
  expect(elapsed).toBeGreaterThan(0);
  expect(elapsed).toBeLessThanOrEqual(passed);
});
