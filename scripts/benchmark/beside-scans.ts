// Side effects of filters with full scans: waiting time of another reader, and memory.

import type { Running } from "./executable.ts";
import { startReader } from "./start-reader.ts";

/** Sampling interval of memory. */
const LOOK_EVERY_MS = 20;

export interface Beside {
  readonly reads: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Peak of anonymous memory. */
  readonly peakMb: number;
}

/**
 * @param scans requests with full scans, sequential
 * @param reads sequential requests, repeated concurrently
 */
export async function besideScans(
  server: Running,
  key: string,
  scans: readonly string[],
  reads: readonly string[],
): Promise<Beside> {
  const reader = await startReader({ port: server.port, paths: reads, key, isPast: false });
  let peakMb = 0;
  const looks = setInterval(async () => {
    peakMb = Math.max(peakMb, await server.anonymousMb());
  }, LOOK_EVERY_MS);
  try {
    for (const path of scans) {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${text.slice(0, 300)}`);
    }
  } finally {
    clearInterval(looks);
  }
  return { ...(await reader.stop()), peakMb };
}
