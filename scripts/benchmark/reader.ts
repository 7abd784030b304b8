// Reader on a separate thread: sequential requests until stopped, with their durations.

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
  /** Whether it reads the state of a second ago. */
  readonly isPast: boolean;
}

export interface ReaderMessages {
  readonly to: ReaderTask | "stop";
  readonly from: ReaderReport | "warm";
}

/** Uncounted requests: connection and code are cold. */
const WARM_UP = 200;

let isStopped = false;

runThread<ReaderMessages>((post) => (message) => {
  if (message === "stop") isStopped = true;
  else void read(message, post);
});

async function read(task: ReaderTask, post: (message: ReaderMessages["from"]) => void): Promise<void> {
  const took: number[] = [];
  // Without compression, which would add to the cost of the answer.
  const headers = { authorization: `Bearer ${task.key}`, "accept-encoding": "identity" };
  for (let i = 0; !isStopped; i += 1) {
    const path = task.paths[i % task.paths.length] as string;
    const at = task.isPast ? `${path.includes("?") ? "&" : "?"}at=${new Date(Date.now() - 1_000).toISOString()}` : "";
    const started = performance.now();
    const answer = await fetch(`http://127.0.0.1:${task.port}${path}${at}`, { headers });
    await answer.bytes();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    if (i === WARM_UP) post("warm");
    if (i > WARM_UP) took.push(performance.now() - started);
  }
  const at = quantilesOf(took);
  post({ reads: took.length, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(1) });
}
