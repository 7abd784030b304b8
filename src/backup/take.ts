// Backup creation: copies the database as of one transaction, verifies the copy, and only then gives it its name. Does
// not include the key file that encrypts the credential secrets.

import { closeSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectory, syncFile } from "../base/durable-file.ts";
import { DomainError, storageFull } from "../base/errors.ts";
import { nameExists } from "../base/regular-file.ts";
import { openReadOnly } from "../db/connection.ts";
import { copyDatabase, type LedgerHead } from "../db/files/copy.ts";
import { DatabaseRefused, refusalOf } from "../db/files/migrate.ts";
import { isDiskFailure } from "../db/sqlite-code.ts";
import { describeFirst } from "../history/verify/findings.ts";
import { type VerifyProgress, verifyLedger } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { databaseBytes, type FreeBytes, freeBytesOf, requireFreeSpace } from "./room.ts";

/** Content of a complete backup. */
export interface TakenBackup {
  /** The newest transaction in the backup; null for an empty ledger. */
  readonly head: LedgerHead | null;
  readonly sizeBytes: number;
}

/** Source and target of a backup. */
export interface TakeOptions {
  /** Must have the current schema; an appliance may be using it. */
  readonly database: string;
  /** Absolute. */
  readonly file: string;
  readonly onProgress?: (progress: VerifyProgress) => void;
  readonly freeBytes?: FreeBytes;
  /** Syncs the entries of a directory. */
  readonly syncNames?: (directory: string) => void;
}

/** Suffix of a backup's name until it is complete. */
export const PARTIAL = ".partial";

/**
 * Creates the complete, verified backup durably under its name, or nothing. Never replaces a file.
 * @throws DomainError entity_already_exists, storage_full; DatabaseRefused if the data cannot be copied or the copy is
 * damaged
 */
export async function takeBackup(options: TakeOptions): Promise<TakenBackup> {
  const { database, file, onProgress = () => {}, freeBytes = freeBytesOf, syncNames = syncDirectory } = options;
  if (nameExists(file)) throw fileExists(file);
  const partial = file + PARTIAL;
  createPartial(partial);
  let isNamed = false;
  try {
    requireFreeSpace(dirname(file), databaseBytes(database), freeBytes);
    const head = await copyDatabase(database, partial, (done, total) =>
      onProgress({ step: "copied pages", done, total }),
    ).catch((error: unknown) => {
      throw isDiskFailure(error) ? error : refusalOf(error, database);
    });
    requireIntact(partial, head, onProgress);
    syncFile(partial);
    const sizeBytes = statSync(partial).size;
    publish(partial, file);
    isNamed = true;
    removePartial(partial);
    syncNames(dirname(file));
    return { head, sizeBytes };
  } catch (error) {
    // A name that may not survive a power loss must not remain.
    if (isNamed) rmSync(file, { force: true });
    throw isDiskFailure(error) ? diskFailure(error) : error;
  } finally {
    removePartial(partial);
  }
}

/** Removes a partial copy of a database, including SQLite's files next to it. */
export function removePartial(partial: string): void {
  rmSync(partial, { force: true });
  removeSidecars(partial);
}

function removeSidecars(partial: string): void {
  for (const suffix of ["-journal", "-wal", "-shm"]) rmSync(partial + suffix, { force: true });
}

/** Creates the file, accessible to its owner only; fails if another backup is using it. */
function createPartial(partial: string): void {
  try {
    closeSync(openSync(partial, "wx", 0o600));
    // SQLite would treat leftovers as the copy's journal, or block on a pipe.
    removeSidecars(partial);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code !== "EEXIST")
      throw isDiskFailure(error) ? diskFailure(error) : new DatabaseRefused(`${partial} cannot be created (${code}).`);
    throw new DomainError(
      "entity_already_exists",
      `${partial} already exists: another backup with this name is running, or one was interrupted; in that case remove the file.`,
      { entity: "backup", field: "file", value: partial },
    );
  }
}

/** Reads every byte of the copy and runs all checks. */
function requireIntact(partial: string, head: LedgerHead | null, onProgress: (progress: VerifyProgress) => void): void {
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

/** Does not overwrite a file that has appeared in the meantime. */
function publish(partial: string, file: string): void {
  try {
    linkSync(partial, file);
  } catch {
    // Most likely a file system without hard links.
    if (nameExists(file)) throw fileExists(file);
    renameSync(partial, file);
  }
}

function fileExists(file: string): DomainError {
  return new DomainError("entity_already_exists", `${file} already exists: a backup does not overwrite files.`, {
    entity: "backup",
    field: "file",
    value: file,
  });
}

function diskFailure(cause: unknown): DomainError {
  return storageFull("The disk is full or failing: the unfinished backup was removed.", cause);
}
