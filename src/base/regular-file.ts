// Safe access to regular files: opening a named pipe would block, and a symbolic link can lead anywhere.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";

/** Not the expected type of file. `message` completes a sentence that begins with the path. */
export class WrongFile extends Error {
  override readonly name = "WrongFile";
}

/** Whether a name exists, even as a broken link. */
export function nameExists(path: string): boolean {
  return statOrNull(path) !== null;
}

/** Size and modification time of a regular file; null for links, other types and missing files. */
export function regularFile(path: string): { readonly size: number; readonly mtimeMs: number } | null {
  const file = statOrNull(path);
  return file?.isFile() === true ? file : null;
}

/** The parent is a file or a link loop, or this user lacks permission to look. */
const ABSENT_CODES: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES"]);

function statOrNull(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && ABSENT_CODES.has(String(error.code))) return null;
    throw error;
  }
}

/**
 * Opens a file for reading without blocking.
 * @param flags additional ones: `constants.O_NOFOLLOW` rejects links
 * @returns the descriptor, which the caller closes
 * @throws WrongFile; errors of the file system
 */
export function openRegular(path: string, flags = 0): number {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  const file = fstatSync(descriptor);
  if (file.isFile()) return descriptor;
  closeSync(descriptor);
  throw new WrongFile(describeWrongType(file));
}

/** Description of the actual type; completes a sentence like WrongFile. */
export function describeWrongType(file: Pick<Stats, "isDirectory">): string {
  return file.isDirectory() ? "is a folder, not a file" : "is not a regular file";
}

/**
 * The complete content of a regular file.
 * @param maxBytes longer files are rejected unread
 * @param flags as for openRegular
 * @throws WrongFile; errors of the file system
 */
export function readRegular(path: string, maxBytes: number, flags = 0): Uint8Array {
  const descriptor = openRegular(path, flags);
  try {
    const { size } = fstatSync(descriptor);
    if (size > maxBytes) throw new WrongFile(`has ${size} bytes, more than the maximum of ${maxBytes}`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reason why a file cannot be read, completing a sentence that begins with its path: `cannot be read (EACCES)`. */
export function describeReadError(error: unknown): string {
  if (error instanceof WrongFile) return error.message;
  return `cannot be read (${error instanceof Error && "code" in error ? error.code : error})`;
}
