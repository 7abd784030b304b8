// Parent of the temporary folders of tests.

import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";

/** Magic number of tmpfs (statfs(2)). */
const TMPFS = 0x0102_1994;

/** Room of the file system and of the machine: data of tests must not drive either out of memory. */
const ROOM_MIN_BYTES = 2 * 1024 ** 3;

/**
 * Where a test puts data that it does not need afterwards: in memory if there is room, else on the disk. Tests about
 * disks, synced writes and kills use `tmpdir()` instead, and so do folders with programs, which may not run from there.
 */
export function scratchParent(): string {
  return hasRoom(MEMORY) && process.availableMemory() >= ROOM_MIN_BYTES ? MEMORY : tmpdir();
}

/** Whether a folder is a tmpfs with room that this process may write to. */
export function hasRoom(folder: string, minBytes = ROOM_MIN_BYTES): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { type, bavail, bsize } = statfsSync(folder);
    return type === TMPFS && bavail * bsize >= minBytes;
  } catch {
    return false;
  }
}
