// Puts a backup in place as the data of an appliance: copied, brought up to date and verified beside the data, and only
// then given their place. What was there is kept.

import { chmodSync, constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { sizeOf } from "../base/byte-size.ts";
import { syncDirectory, syncFile } from "../base/durable-file.ts";
import { DomainError } from "../base/errors.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import { loadKeyFile } from "../base/key-file.ts";
import type { Random } from "../base/random.ts";
import { SecretBox } from "../base/secret-box.ts";
import { openWritable, type Sql } from "../db/connection.ts";
import { requireWhole } from "../db/files/backup-file.ts";
import {
  type DataFiles,
  type DataLock,
  dataFiles,
  ensureDataDirectory,
  lockData,
  removeMadeDirectories,
} from "../db/files/data-directory.ts";
import { refuseForeignObjects } from "../db/files/expected-schema.ts";
import { DatabaseRefused, migrate, refusalOf, requireRegular } from "../db/files/migrate.ts";
import { isDiskTrouble, sqliteCode } from "../db/sqlite-code.ts";
import { upgradeStore } from "../history/upgrade.ts";
import { describeFirst } from "../history/verify/findings.ts";
import { type Report, type VerifyProgress, verifyLedger } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { dropSecrets, type SecretsFound, trySecrets } from "../resources/credentials/sealed-secrets.ts";
import { type FreeBytes, freeBytesOf, requireRoom } from "./room.ts";

/** What is restored, and where to. */
export interface RestoreOptions {
  /** Absolute; it stays as it is. */
  readonly file: string;
  /** The data folder, absolute; made where there is none. */
  readonly directory: string;
  /** Whether data that are there may be put aside. */
  readonly mayReplace: boolean;
  /** Whether secrets that the folder's key does not open are dropped rather than a reason to refuse. */
  readonly mayDropSecrets: boolean;
  readonly now: Instant;
  readonly random: Random;
  readonly onProgress?: (progress: VerifyProgress) => void;
  readonly freeBytes?: FreeBytes;
}

/** What a restore came to. */
export interface Restored {
  readonly report: Report;
  /** Where the data are now that were there before; null where there were none. */
  readonly kept: string | null;
  readonly secrets: SecretsFound;
}

/** What is added to the database's name until the backup has its place. */
const RESTORING = ".restoring";
const BEFORE = ".before-";

/**
 * Leaves the backup whole and verified in the place of the data; or everything as it was, without a file or folder
 * more.
 * @throws DatabaseRefused for data in use, data that are there and may not be replaced, a file that is no sound backup,
 * a key that does not open the secrets; DomainError storage_full
 */
export function restoreBackup(options: RestoreOptions): Restored {
  const { file, directory, freeBytes = freeBytesOf } = options;
  requireWhole(file);
  const files = dataFiles(directory);
  const made = ensureDataDirectory(directory);
  const lock = lockedOr(files, () => removeMadeDirectories(directory, made));
  const restoring = files.database + RESTORING;
  let isDone = false;
  try {
    requireRegular(files.database);
    if (existsSync(files.database) && !options.mayReplace) {
      throw new DatabaseRefused(
        `There are already data in ${directory}: --replace replaces them with the backup and keeps them beside it.`,
      );
    }
    removeDatabase(restoring);
    requireRoom(directory, sizeOf(file), freeBytes);
    // Shares the blocks where the file system can.
    copyFileSync(file, restoring, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    chmodSync(restoring, 0o600);
    const { report, secrets } = prepare(restoring, files, options);
    syncFile(restoring);
    const kept = existsSync(files.database) ? putAside(files, options.now) : null;
    try {
      renameSync(restoring, files.database);
    } catch (error) {
      if (kept !== null) putBack(kept, files);
      throw error;
    }
    isDone = true;
    return { report, kept, secrets };
  } catch (error) {
    if (!isDiskTrouble(error)) throw refusalOf(error, file);
    throw Object.assign(
      new DomainError("storage_full", `The disk of ${directory} is full or fails: the data were not changed.`),
      { cause: error },
    );
  } finally {
    removeDatabase(restoring);
    syncDirectory(directory);
    if (isDone) lock.release();
    else {
      lock.discard();
      removeMadeDirectories(directory, made);
    }
  }
}

function lockedOr(files: DataFiles, undo: () => void): DataLock {
  try {
    return lockData(files);
  } catch (error) {
    undo();
    throw error;
  }
}

/** Everything that is still to be done to the copy, so that it only needs its name. */
function prepare(
  restoring: string,
  files: DataFiles,
  options: RestoreOptions,
): { report: Report; secrets: SecretsFound } {
  const db = openWritable(restoring);
  try {
    refuseForeignObjects(db, options.file);
    bringUpToDate(db, options.file);
    const secrets = settleSecrets(db, files, options);
    const report = verifyLedger(db, KINDS, options.onProgress === undefined ? {} : { onProgress: options.onProgress });
    const wrong = describeFirst(report);
    if (wrong !== null) throw new DatabaseRefused(`${options.file} is damaged and was not restored: ${wrong}.`);
    // Whoever was signed in then may have signed out since; and what requests came to is sealed with a key that may be
    // another one now.
    db.$client.run("DELETE FROM sessions");
    db.$client.run("DELETE FROM idempotency_keys");
    db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return { report, secrets };
  } finally {
    db.$client.close();
  }
}

function bringUpToDate(db: Sql, file: string): void {
  try {
    migrate(db, file, upgradeStore);
  } catch (error) {
    if (sqliteCode(error) !== "" || error instanceof DatabaseRefused) throw error;
    throw new DatabaseRefused(`${file} cannot be upgraded: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function settleSecrets(db: Sql, files: DataFiles, options: RestoreOptions): SecretsFound {
  const key = keyOf(files);
  const found = trySecrets(db, key === null ? null : new SecretBox(key, options.random));
  if (found.closed === 0) return found;
  if (!options.mayDropSecrets) {
    const problem = key === null ? `there is no key file ${files.key}` : `the key file ${files.key} is a different one`;
    throw new DatabaseRefused(
      `The backup holds ${found.total} sealed ${found.total === 1 ? "secret" : "secrets"} of credentials, and ${problem}: put that appliance's key file there, or give --drop-secrets to restore without them.`,
    );
  }
  dropSecrets(db);
  return found;
}

function keyOf(files: DataFiles): Uint8Array | null {
  try {
    return loadKeyFile(files.key);
  } catch (error) {
    throw new DatabaseRefused(error instanceof Error ? error.message : String(error));
  }
}

/** Gives the data another name, with their log where that cannot be folded in. @returns that name */
function putAside(files: DataFiles, now: Instant): string {
  const { database } = files;
  const kept = `${database}${BEFORE}${formatInstant(now).replaceAll(/[-:.]/g, "")}`;
  foldLog(database);
  // The old name stays until the backup takes it over: never is there a moment without data.
  giveName(database, kept);
  const log = `${database}-wal`;
  if (sizeOf(log) > 0) {
    try {
      renameSync(log, `${kept}-wal`);
    } catch (error) {
      putBack(kept, files);
      throw error;
    }
  }
  rmSync(log, { force: true });
  rmSync(`${database}-shm`, { force: true });
  return kept;
}

/** Undoes putAside, as far as it came. */
function putBack(kept: string, { database }: DataFiles): void {
  if (existsSync(database)) rmSync(kept);
  else renameSync(kept, database);
  if (sizeOf(`${kept}-wal`) > 0 && !existsSync(`${database}-wal`)) renameSync(`${kept}-wal`, `${database}-wal`);
}

/** A second name where the file system has such, else another one. */
function giveName(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch {
    renameSync(path, name);
  }
}

/** What is damaged keeps its log as it is. */
function foldLog(database: string): void {
  try {
    const { $client } = openWritable(database);
    try {
      $client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      $client.close();
    }
  } catch {}
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}
