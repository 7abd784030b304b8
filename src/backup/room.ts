// Disk space check before a copy. If the disk fills up during the copy, the write itself fails.

import { statfsSync } from "node:fs";
import { formatBytes, sizeOf } from "../base/byte-size.ts";
import { DomainError } from "../base/errors.ts";

/** Bytes available on the disk of a directory. */
export type FreeBytes = (directory: string) => number;

/** As reported by the file system for this user. */
export const freeBytesOf: FreeBytes = (directory) => {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
};

/** Size of a database with its WAL; 0 if missing. */
export function databaseBytes(path: string): number {
  return sizeOf(path) + sizeOf(`${path}-wal`);
}

/** @throws DomainError storage_full if a copy of this size obviously does not fit */
export function requireFreeSpace(directory: string, neededBytes: number, freeBytes: FreeBytes): void {
  const free = freeBytes(directory);
  if (free >= neededBytes) return;
  throw new DomainError(
    "storage_full",
    `There is not enough space on the disk: a copy takes ${formatBytes(neededBytes)}, and ${formatBytes(free)} are free.`,
    { needed_bytes: neededBytes, free_bytes: free },
  );
}
