// File sizes, and sizes in human-readable units.

import { statSync } from "node:fs";

/** Bytes of a file; 0 if it does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** `6.9 GB`, `812 kB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = bytes >= 1e9 ? ["GB", 1e9] : bytes >= 1e6 ? ["MB", 1e6] : ["kB", 1e3];
  const amount = bytes / (size as number);
  return `${amount >= 100 || unit === "kB" ? Math.ceil(amount) : amount.toFixed(1)} ${unit}`;
}
