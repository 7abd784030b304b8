// Reader thread: sends requests in sequence until it is stopped, and measures their durations.

import { runThread } from "../../src/base/thread.ts";
import { quantilesOf } from "../quantiles.ts";

export interface ReaderReport {
  readonly reads: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

export interface ReaderTask {
  readonly port: number;
  readonly paths: readonly string[];
  readonly key: string;
  /** Whether to read the state one second ago. */
  readonly isPast: boolean;
}

export interface ReaderMessages {
  readonly to: ReaderTask | "stop";
  readonly from: ReaderReport | "warm";
}

/** Requests before the measurement: connection and code are cold. */
const WARM_UP_REQUESTS = 200;

let isStopped = false;

runThread<ReaderMessages>((post) => (message) => {
  if (message === "stop") isStopped = true;
  else void read(message, post);
});

async function read(task: ReaderTask, post: (message: ReaderMessages["from"]) => void): Promise<void> {
  const durations: number[] = [];
  // Uncompressed: compression would add to the duration.
  const headers = { authorization: `Bearer ${task.key}`, "accept-encoding": "identity" };
  for (let i = 0; !isStopped; i += 1) {
    const path = task.paths[i % task.paths.length] as string;
    const instant = new Date(Date.now() - 1_000).toISOString();
    const atQuery = task.isPast ? `${path.includes("?") ? "&" : "?"}at=${instant}` : "";
    const started = performance.now();
    const response = await fetch(`http://127.0.0.1:${task.port}${path}${atQuery}`, { headers });
    await response.bytes();
    if (!response.ok) throw new Error(`${path} returned ${response.status}`);
    if (i === WARM_UP_REQUESTS) post("warm");
    if (i > WARM_UP_REQUESTS) durations.push(performance.now() - started);
  }
  const quantile = quantilesOf(durations);
  post({ reads: durations.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99), longestMs: quantile(1) });
}
