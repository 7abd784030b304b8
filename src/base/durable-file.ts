// Puts what was written to files, and the names of files, on the disk for good. Must not write any content of its own.

import { closeSync, constants, fsyncSync, openSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

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

/**
 * Puts a text in the place of a file, for its owner alone: there is the old one or the new one, and when this resolves
 * the new one, for good. Another process must not do the same at the same time.
 * @param mode of the new file
 */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
  const draft = `${path}.new`;
  // Of a start that was cut off; or a link or a pipe, which nothing is to be written through.
  await rm(draft, { force: true });
  const file = await open(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  );
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function sync(path: string, flags: number): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
