// Key file for secrets at rest: created once, then only read.
// Never changes an existing file; independent of the key's use.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "./durable-file.ts";
import type { Random } from "./random.ts";

/** Length of the key and of the file, in bytes. */
export const KEY_FILE_BYTES = 32;

/**
 * The 32 bytes of the file at `path`, created with mode 0600 if missing. Creation is atomic and durable before this
 * returns; of several concurrent starts, one creates the file and all get the same key. A symbolic link is followed.
 * Throws, in one sentence, if the file is not exactly 32 bytes, is readable or writable by its group or by others, is
 * not owned by `userId` (the user running the program), or can be neither read nor created.
 */
export function loadOrCreateKeyFile(
  path: string,
  random: Random,
  userId: number | undefined = process.geteuid?.(),
): Uint8Array {
  const existing = load(path, userId);
  if (existing !== null) return existing;
  create(path, random);
  // Read back: if another start was first, its key is the key.
  const created = load(path, userId);
  if (created === null)
    throw new Error(
      `The key file ${path} cannot be created: its path is a broken symbolic link, or it was removed again.`,
    );
  return created;
}

/** As loadOrCreateKeyFile, without creation: null if there is no file. */
export function loadKeyFile(path: string, userId: number | undefined = process.geteuid?.()): Uint8Array | null {
  return load(path, userId);
}

/** Null if there is no file. */
function load(path: string, userId: number | undefined): Uint8Array | null {
  let file: number;
  try {
    // Without O_NONBLOCK, a named pipe at this path would block the start.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new Error(`The key file ${path} cannot be opened (${codeOf(error)}).`);
  }
  try {
    const { mode, uid, size } = fstatSync(file);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error(`The key file ${path} is not a regular file.`);
    if (userId !== undefined && uid !== userId) {
      throw new Error(
        `The key file ${path} is owned by user ${uid}, but the program runs as user ${userId}: run it as that user, or change the owner.`,
      );
    }
    if ((mode & 0o077) !== 0) {
      throw new Error(
        `The key file ${path} is open to others (mode ${(mode & 0o777).toString(8).padStart(4, "0")}): make it 0600 with chmod.`,
      );
    }
    const bytes = new Uint8Array(KEY_FILE_BYTES);
    if (size !== KEY_FILE_BYTES || readSync(file, bytes, 0, KEY_FILE_BYTES, 0) !== KEY_FILE_BYTES) {
      throw new Error(
        `The key file ${path} has ${size} bytes instead of ${KEY_FILE_BYTES}: it is damaged or the wrong file; restore the right one.`,
      );
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}

/**
 * Writes the key to a temporary file and links it to `path`, which fails if something exists there. Creating `path`
 * itself with O_EXCL would let another start, or the next one after a crash, see an empty file. Does nothing if another
 * start was first.
 */
function create(path: string, random: Random): void {
  const temporary = join(dirname(path), `.${basename(path)}.${random.bytes(8).toHex()}`);
  try {
    writeDurably(temporary, random.bytes(KEY_FILE_BYTES));
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    } finally {
      unlinkSync(temporary);
    }
    syncDirectory(dirname(path));
  } catch (error) {
    throw new Error(`The key file ${path} cannot be created (${codeOf(error)}).`);
  }
}

function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "wx", 0o600);
  try {
    if (writeSync(file, bytes) !== bytes.length) throw new Error("short write");
    fsyncSync(file);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
