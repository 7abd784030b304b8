// Secrets in files below one directory, read when needed. Never stores or logs their contents.

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { SECRET_MAX_LENGTH } from "../../resources/credentials/credential.ts";

/** UTF-8 takes at most four bytes per character; plus one line break. */
const FILE_MAX_BYTES = SECRET_MAX_LENGTH * 4 + 2;

/** A secret that cannot be read. `message` is a user-readable clause. */
export class SecretUnreadable extends Error {
  override readonly name = "SecretUnreadable";
}

export class SecretFiles {
  private readonly folder: string | null;

  /** @param folder absolute path of the directory; null if not configured */
  constructor(folder: string | null) {
    this.folder = folder;
  }

  /**
   * Reads a file's text without a final line break.
   * @param path relative to the directory
   * @throws SecretUnreadable also for a file outside the directory, through any link
   */
  read(path: string): string {
    if (this.folder === null) throw new SecretUnreadable("no folder of secrets is configured (--secrets-folder)");
    const folder = realPath(this.folder, "the folder of secrets");
    const file = realPath(join(folder, path), `the file ${path}`);
    assertInside(folder, file, path);
    const text = textIn(bytesOf(file, path, folder), path).replace(/\r?\n$/, "");
    if (text === "") throw new SecretUnreadable(`the file ${path} is empty`);
    if ([...text].length > SECRET_MAX_LENGTH)
      throw new SecretUnreadable(`the file ${path} is longer than ${SECRET_MAX_LENGTH} characters`);
    return text;
  }
}

/** @param file real path, like the directory */
function assertInside(folder: string, file: string, path: string): void {
  if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep))
    throw new SecretUnreadable(`the file ${path} is outside the folder of secrets`);
}

function realPath(path: string, subject: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw unreadable(subject, error);
  }
}

function bytesOf(file: string, path: string, folder: string): Uint8Array {
  let descriptor: number;
  try {
    // A named pipe would hang the scan, and a file replaced by a link could point anywhere.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    throw unreadable(`the file ${path}`, error);
  }
  try {
    // A parent directory may have become a link since the check: verify the opened file.
    assertInside(folder, linkOf(descriptor, path), path);
    const { mode, size } = fstatSync(descriptor);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG)
      throw new SecretUnreadable(`the file ${path} is not a regular file`);
    if (size > FILE_MAX_BYTES)
      throw new SecretUnreadable(`the file ${path} is longer than ${SECRET_MAX_LENGTH} characters`);
    const bytes = new Uint8Array(FILE_MAX_BYTES);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, FILE_MAX_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

function linkOf(descriptor: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch (error) {
    throw unreadable(`the file ${path}`, error);
  }
}

function textIn(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SecretUnreadable(`the file ${path} is not UTF-8`);
  }
}

function unreadable(subject: string, error: unknown): SecretUnreadable {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new SecretUnreadable(
    code === "ENOENT" ? `${subject} does not exist` : `${subject} cannot be read${code === "" ? "" : ` (${code})`}`,
  );
}
