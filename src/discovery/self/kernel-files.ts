// Reads files of /proc, /sys and /etc, where a file that is missing and a file that cannot be read mean different
// things. Must not interpret what is in them.

import { readdir, readFile } from "node:fs/promises";

/**
 * The text of an attribute without white space around it. Null when it is missing, empty, or the driver or our rights
 * refuse it (EINVAL, EACCES).
 */
export async function readAttribute(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim() || null;
  } catch {
    return null;
  }
}

/**
 * The text of a table; empty when this kernel has none. Any other failure is thrown: it must not be taken for an empty
 * table.
 */
export async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}

/** The names in a folder; null when there is no such folder. */
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
