// Parent directory of the tests' temporary directories.

import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";

/** Magic number of tmpfs (statfs(2)). */
const TMPFS = 0x0102_1994;

/** Minimum free space of the file system and of memory: test data must not exhaust either. */
const MIN_FREE_BYTES = 2 * 1024 ** 3;

/**
 * Parent of disposable test data: in memory if there is space, otherwise on the disk. Tests of disks, synced writes and
 * kills use `tmpdir()` instead, as do directories with programs, which may not be executable here.
 */
export function scratchParent(): string {
  return hasSpace(MEMORY) && process.availableMemory() >= MIN_FREE_BYTES ? MEMORY : tmpdir();
}

/** Whether a directory is a writable tmpfs with enough free space. */
export function hasSpace(folder: string, minBytes = MIN_FREE_BYTES): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { type, bavail, bsize } = statfsSync(folder);
    return type === TMPFS && bavail * bsize >= minBytes;
  } catch {
    return false;
  }
}
