// Whether a disk has room for a copy. A disk that fills up meanwhile is found by writing to it.

import { statfsSync, statSync } from "node:fs";
import { DomainError } from "../base/errors.ts";

/** Bytes that may still be written to the disk of a folder. */
export type FreeBytes = (directory: string) => number;

/** As the file system has it for this user. */
export const freeBytesOf: FreeBytes = (directory) => {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
};

/** Bytes of a database with its log; what is not there has none. */
export function databaseBytes(path: string): number {
  return sizeOf(path) + sizeOf(`${path}-wal`);
}

/** Bytes of a file; 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** @throws DomainError storage_full where a copy of so many bytes obviously does not fit */
export function requireRoom(directory: string, neededBytes: number, freeBytes: FreeBytes): void {
  const free = freeBytes(directory);
  if (free >= neededBytes) return;
  throw new DomainError(
    "storage_full",
    `There is not enough space on the disk: a copy takes ${inUnits(neededBytes)}, and ${inUnits(free)} are free.`,
    { needed_bytes: neededBytes, free_bytes: free },
  );
}

/** `6.9 GB`, `812 kB`. */
export function inUnits(bytes: number): string {
  const [unit, size] = bytes >= 1e9 ? ["GB", 1e9] : bytes >= 1e6 ? ["MB", 1e6] : ["kB", 1e3];
  const amount = bytes / (size as number);
  return `${amount >= 100 || unit === "kB" ? Math.ceil(amount) : amount.toFixed(1)} ${unit}`;
}
