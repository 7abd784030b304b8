// Regular files, told from all else that a path can lead to: whoever opens a named pipe waits for its other end, and a
// link leads to where somebody else wants.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";

/** Something else than the file that is expected. `message` completes a sentence that begins with the path. */
export class WrongFile extends Error {
  override readonly name = "WrongFile";
}

/** Whether a name is taken, also by a link that leads nowhere. */
export function isTaken(path: string): boolean {
  return found(path) !== null;
}

/** What is known of a regular file; null for a link, for all else, and where there is nothing. */
export function regularFile(path: string): { readonly size: number; readonly mtimeMs: number } | null {
  const file = found(path);
  return file?.isFile() === true ? file : null;
}

/** Nothing is below a file, or a link to itself; and nothing is found where this user may not look. */
const NOT_THERE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES"]);

function found(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && NOT_THERE.has(String(error.code))) return null;
    throw error;
  }
}

/**
 * Opens a file to be read, and waits for nobody meanwhile.
 * @param flags further ones: `constants.O_NOFOLLOW` where a link is not to be followed
 * @returns the descriptor, which the caller closes
 * @throws WrongFile; what the file system throws
 */
export function openRegular(path: string, flags = 0): number {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  const file = fstatSync(descriptor);
  if (file.isFile()) return descriptor;
  closeSync(descriptor);
  throw new WrongFile(whatElse(file));
}

/** What is in the place of a regular file: completes a sentence as WrongFile. */
export function whatElse(file: Pick<Stats, "isDirectory">): string {
  return file.isDirectory() ? "is a folder and not a file" : "is not a regular file";
}

/**
 * All of a regular file.
 * @param maxBytes of a longer one nothing is read
 * @param flags as openRegular
 * @throws WrongFile; what the file system throws
 */
export function readRegular(path: string, maxBytes: number, flags = 0): Uint8Array {
  const descriptor = openRegular(path, flags);
  try {
    const { size } = fstatSync(descriptor);
    if (size > maxBytes) throw new WrongFile(`has ${size} bytes, more than the ${maxBytes} that it may have`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Why a file cannot be read, completing a sentence that begins with its path: `cannot be read (EACCES)`. */
export function whyUnreadable(error: unknown): string {
  if (error instanceof WrongFile) return error.message;
  return `cannot be read (${error instanceof Error && "code" in error ? error.code : error})`;
}
