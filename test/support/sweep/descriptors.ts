// Open descriptors of this process. Those of children and sockets close a few turns of the event loop after their use.

import { readdirSync } from "node:fs";
import { HANG_MS } from "../measure/limits.ts";

/** Turns of the event loop without a change, after which none is expected. */
const TURNS_AT_REST = 500;

export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Stable descriptor count: earlier work has closed its own. */
export async function descriptorsAtRest(): Promise<number> {
  const end = performance.now() + HANG_MS;
  let count = openDescriptors();
  for (let turns = 0; turns < TURNS_AT_REST && performance.now() < end; turns += 1) {
    await new Promise(setImmediate);
    if (openDescriptors() === count) continue;
    count = openDescriptors();
    turns = 0;
  }
  return count;
}

/** The count once it is `before` or less; after HANG_MS the remaining count, if descriptors stay open. */
export async function descriptorsBackTo(before: number): Promise<number> {
  const end = performance.now() + HANG_MS;
  while (openDescriptors() > before && performance.now() < end) await new Promise(setImmediate);
  return openDescriptors();
}
