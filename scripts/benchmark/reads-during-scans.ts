// Impact of full-table-scan filters on memory and on a concurrent reader's latency.

import type { Running } from "./executable.ts";
import { timedGet } from "./requests.ts";
import { startReader } from "./start-reader.ts";

/** Memory sampling interval. */
const SAMPLE_INTERVAL_MS = 20;

export interface ConcurrentReads {
  readonly reads: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Peak anonymous memory. */
  readonly peakMb: number;
}

/**
 * Measures a reader while requests with full scans run.
 * @param scans paths with full scans, requested one after another
 * @param reads paths that the concurrent reader requests in a loop
 */
export async function readDuringScans(
  server: Running,
  key: string,
  scans: readonly string[],
  reads: readonly string[],
): Promise<ConcurrentReads> {
  const reader = await startReader({ port: server.port, paths: reads, key, isPast: false });
  let peakMb = 0;
  const sampler = setInterval(async () => {
    peakMb = Math.max(peakMb, await server.anonymousMb());
  }, SAMPLE_INTERVAL_MS);
  try {
    for (const path of scans) await timedGet(server, { key }, path);
  } finally {
    clearInterval(sampler);
  }
  return { ...(await reader.stop()), peakMb };
}
