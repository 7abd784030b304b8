// Durable file writes: syncs files and their directory entries to disk. Generates no content.

import { closeSync, constants, fsyncSync, openSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Syncs a file of any writer. Never use it on a database that this process has open: closing any descriptor of a
 * file drops all locks of the process on it (POSIX), including SQLite's.
 */
export function syncFile(path: string): void {
  sync(path, constants.O_RDONLY);
}

/** A file's name is durable only once its directory is synced. */
export function syncDirectory(path: string): void {
  sync(path, constants.O_RDONLY | constants.O_DIRECTORY);
}

/**
 * Replaces a file atomically, with access for its owner only: a crash leaves the old or the new one, and the new one is
 * durable once this resolves. Another process must not replace the same file at the same time.
 * @param mode of the new file
 */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
  const draft = `${path}.new`;
  // Left by an interrupted start; or a link or pipe, which must not be written through.
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
