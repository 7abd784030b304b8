// Whether a disk has room for a copy. A disk that fills up meanwhile is found by writing to it.

import { statfsSync } from "node:fs";
import { inUnits, sizeOf } from "../base/byte-size.ts";
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
