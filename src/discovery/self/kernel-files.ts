// Reader for files of /proc, /sys and /etc that distinguishes missing files from unreadable ones. Does not interpret
// contents.

import { readdir, readFile } from "node:fs/promises";

/** Reads an attribute, trimmed. Null if missing, empty, or refused by the driver or permissions (EINVAL, EACCES). */
export async function readAttribute(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim() || null;
  } catch {
    return null;
  }
}

/** Reads a table; empty if this kernel has none. Throws any other error: it must not look like an empty table. */
export async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}

/** Lists the names in a directory; null if it does not exist. */
export async function listFolder(path: string): Promise<string[] | null> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "ENOENT" || code === "ENOTDIR";
}
