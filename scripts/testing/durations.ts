// Test file durations, measured once, committed, and used to start the longest first. Does not select the files to run.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");
const FILE = join(ROOT, "test/durations.json");

/** Estimate for a file without a measurement, by its size. */
const MS_PER_BYTE = 0.4;

/** Wall time of each test file in milliseconds, by its path in the checkout. */
export type Durations = Readonly<Record<string, number>>;

export function readDurations(): Durations {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Durations) : {};
}

/** Expected wall time of a file, in milliseconds. */
export function expectedMs(durations: Durations, file: string): number {
  return durations[file] ?? Bun.file(join(ROOT, file)).size * MS_PER_BYTE;
}

/** Replaces the entries of executed files and drops those of deleted files. Rounds to 0.1 s. */
export function writeDurations(measured: Durations): void {
  const all = { ...readDurations(), ...measured };
  const entries = Object.entries(all)
    .filter(([file]) => existsSync(join(ROOT, file)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, ms]) => [file, Math.max(100, Math.round(ms / 100) * 100)]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}
