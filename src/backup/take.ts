// Takes a backup: a copy of the database as of one transaction, verified, and only then given its name. The key file
// that the credentials' secrets are sealed with is not in it.

import { closeSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectory, syncFile } from "../base/durable-file.ts";
import { DomainError } from "../base/errors.ts";
import { isTaken } from "../base/regular-file.ts";
import { openReadOnly } from "../db/connection.ts";
import { copyDatabase, type LedgerHead } from "../db/files/copy.ts";
import { DatabaseRefused, refusalOf } from "../db/files/migrate.ts";
import { isDiskTrouble } from "../db/sqlite-code.ts";
import { describeFirst } from "../history/verify/findings.ts";
import { type VerifyProgress, verifyLedger } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { databaseBytes, type FreeBytes, freeBytesOf, requireRoom } from "./room.ts";

/** What is in a backup that is done. */
export interface TakenBackup {
  /** The newest transaction in it; null for data in which nothing was written yet. */
  readonly head: LedgerHead | null;
  readonly sizeBytes: number;
}

/** What is copied, and where to. */
export interface TakeOptions {
  /** Of this version's schema; an appliance may be at work on it. */
  readonly database: string;
  /** Absolute. */
  readonly file: string;
  readonly onProgress?: (progress: VerifyProgress) => void;
  readonly freeBytes?: FreeBytes;
  /** Puts the names of a folder on the disk. */
  readonly syncNames?: (directory: string) => void;
}

/** What is added to a backup's name until it is done. */
export const PARTIAL = ".partial";

/**
 * Leaves the whole verified backup under its name, on the disk for good, or nothing. Never replaces a file.
 * @throws DomainError entity_already_exists, storage_full; DatabaseRefused where the data cannot be copied or the copy
 * is not sound
 */
export async function takeBackup(options: TakeOptions): Promise<TakenBackup> {
  const { database, file, onProgress = () => {}, freeBytes = freeBytesOf, syncNames = syncDirectory } = options;
  if (isTaken(file)) throw isThere(file);
  const partial = file + PARTIAL;
  begin(partial);
  let isNamed = false;
  try {
    requireRoom(dirname(file), databaseBytes(database), freeBytes);
    const head = await copyDatabase(database, partial, (done, total) =>
      onProgress({ step: "copied pages", done, total }),
    ).catch((error: unknown) => {
      throw isDiskTrouble(error) ? error : refusalOf(error, database);
    });
    requireSound(partial, head, onProgress);
    syncFile(partial);
    const sizeBytes = statSync(partial).size;
    giveName(partial, file);
    isNamed = true;
    removePartial(partial);
    syncNames(dirname(file));
    return { head, sizeBytes };
  } catch (error) {
    // A name that may not outlast a loss of power is none.
    if (isNamed) rmSync(file, { force: true });
    throw isDiskTrouble(error) ? diskTrouble(error) : error;
  } finally {
    removePartial(partial);
  }
}

/** Removes what was left of a backup that did not come to its end, SQLite's own files beside it included. */
export function removePartial(partial: string): void {
  rmSync(partial, { force: true });
  removeBeside(partial);
}

function removeBeside(partial: string): void {
  for (const suffix of ["-journal", "-wal", "-shm"]) rmSync(partial + suffix, { force: true });
}

/** Makes the file for its owner alone; fails where someone else is at it. */
function begin(partial: string): void {
  try {
    closeSync(openSync(partial, "wx", 0o600));
    // SQLite would take what is here for a journal of the copy, and wait for a pipe.
    removeBeside(partial);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code !== "EEXIST")
      throw isDiskTrouble(error) ? diskTrouble(error) : new DatabaseRefused(`${partial} cannot be created (${code}).`);
    throw new DomainError(
      "entity_already_exists",
      `${partial} already exists: another backup with this name is running, or one was interrupted; in that case remove the file.`,
      { entity: "backup", field: "file", value: partial },
    );
  }
}

/** Every byte of the copy is read, and every check made that there is. */
function requireSound(partial: string, head: LedgerHead | null, onProgress: (progress: VerifyProgress) => void): void {
  const db = openReadOnly(partial);
  try {
    const report = verifyLedger(db, KINDS, { onProgress });
    const wrong = describeFirst(report);
    if (wrong !== null)
      throw new DatabaseRefused(`The copy is damaged and was removed: ${wrong}. Check the data with netledger verify.`);
    if (report.head?.sequence !== head?.sequence || report.head?.hash !== head?.hash) {
      throw new DatabaseRefused(
        `The copy ends with transaction ${report.head?.sequence ?? 0} instead of ${head?.sequence ?? 0}, and was removed.`,
      );
    }
  } finally {
    db.$client.close();
  }
}

/** A name that was taken in the meantime stays with its file. */
function giveName(partial: string, file: string): void {
  try {
    linkSync(partial, file);
  } catch {
    // Most likely a file system without links.
    if (isTaken(file)) throw isThere(file);
    renameSync(partial, file);
  }
}

function isThere(file: string): DomainError {
  return new DomainError("entity_already_exists", `${file} already exists: a backup does not overwrite files.`, {
    entity: "backup",
    field: "file",
    value: file,
  });
}

function diskTrouble(cause: unknown): DomainError {
  const error = new DomainError("storage_full", "The disk is full or fails: the unfinished backup was removed.");
  error.cause = cause;
  return error;
}
