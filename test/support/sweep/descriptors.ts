// Open descriptors of this process. Those of children and sockets close a few event loop iterations after their use.

import { readdirSync } from "node:fs";
import { HANG_MS } from "../measure/limits.ts";

/** Event loop iterations without a change, after which none is expected. */
const STABLE_ITERATIONS = 500;

export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Descriptor count once it is stable: earlier work has closed its own. */
export async function stableDescriptorCount(): Promise<number> {
  const end = performance.now() + HANG_MS;
  let count = openDescriptors();
  for (let iterations = 0; iterations < STABLE_ITERATIONS && performance.now() < end; iterations += 1) {
    await new Promise(setImmediate);
    if (openDescriptors() === count) continue;
    count = openDescriptors();
    iterations = 0;
  }
  return count;
}

/** The count once it is `limit` or less; after HANG_MS the remaining count, if descriptors stay open. */
export async function waitForDescriptorCount(limit: number): Promise<number> {
  const end = performance.now() + HANG_MS;
  while (openDescriptors() > limit && performance.now() < end) await new Promise(setImmediate);
  return openDescriptors();
}
