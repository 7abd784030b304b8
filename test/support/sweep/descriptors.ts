// The descriptors that this process holds open. Those of children and sockets close a few turns of the event loop after
// whoever used them is done.

import { readdirSync } from "node:fs";
import { HANG_MS } from "../measure/limits.ts";

/** Turns of the event loop in which nothing was opened or closed, after which nothing is expected to. */
const TURNS_AT_REST = 500;

export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Their number once it no longer changes: what earlier work had open is closed. */
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

/** Their number as soon as it is `before` or less; what it still is after HANG_MS where something stays open. */
export async function descriptorsBackTo(before: number): Promise<number> {
  const end = performance.now() + HANG_MS;
  while (openDescriptors() > before && performance.now() < end) await new Promise(setImmediate);
  return openDescriptors();
}
