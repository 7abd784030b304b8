// Puts what was written to files, and the names of files, on the disk for good. Must not write any content of its own.

import { closeSync, constants, fsyncSync, openSync } from "node:fs";

/**
 * What was written to a file, by whoever. Never on a database that this process has open: closing any descriptor of a
 * file drops all locks that the process holds on it (POSIX), SQLite's included.
 */
export function syncFile(path: string): void {
  sync(path, constants.O_RDONLY);
}

/** A file's name is on the disk only when its folder is. */
export function syncDirectory(path: string): void {
  sync(path, constants.O_RDONLY | constants.O_DIRECTORY);
}

function sync(path: string, flags: number): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
