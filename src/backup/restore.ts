// Backup restore: copies, upgrades and verifies the backup next to the data before replacing them. Keeps the previous
// data.

import { chmodSync, constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { sizeOf } from "../base/byte-size.ts";
import { syncDirectory, syncFile } from "../base/durable-file.ts";
import { storageFull } from "../base/errors.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import { loadKeyFile } from "../base/key-file.ts";
import type { Random } from "../base/random.ts";
import { SecretBox } from "../base/secret-box.ts";
import { openWritable, type Sql } from "../db/connection.ts";
import { requireComplete } from "../db/files/backup-file.ts";
import {
  type DataFiles,
  type DataLock,
  dataFiles,
  ensureDataDirectory,
  lockData,
  removeCreatedDirectories,
} from "../db/files/data-directory.ts";
import { refuseForeignObjects } from "../db/files/expected-schema.ts";
import { DatabaseRefused, migrate, refusalOf, requireRegular } from "../db/files/migrate.ts";
import { isDiskFailure, sqliteCode } from "../db/sqlite-code.ts";
import { upgradeStore } from "../history/upgrade.ts";
import { describeFirst } from "../history/verify/findings.ts";
import { type Report, type VerifyProgress, verifyLedger } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { countSecrets, dropSecrets, type SecretCounts } from "../resources/credentials/sealed-secrets.ts";
import { type FreeBytes, freeBytesOf, requireFreeSpace } from "./room.ts";
import { removePartial } from "./take.ts";

/** Source and target of a restore. */
export interface RestoreOptions {
  /** Absolute; not modified. */
  readonly file: string;
  /** Absolute path of the data directory; created if missing. */
  readonly directory: string;
  /** Whether existing data may be moved aside. */
  readonly mayReplace: boolean;
  /** Whether to drop secrets that the directory's key cannot decrypt, instead of refusing. */
  readonly mayDropSecrets: boolean;
  readonly now: Instant;
  readonly random: Random;
  readonly onProgress?: (progress: VerifyProgress) => void;
  readonly freeBytes?: FreeBytes;
}

/** Result of a restore. */
export interface RestoreResult {
  readonly report: Report;
  /** Path of the previous data; null if there were none. */
  readonly previous: string | null;
  readonly secrets: SecretCounts;
}

/** Suffix of the database name while restoring. */
const RESTORING_SUFFIX = ".restoring";
const PREVIOUS_SUFFIX = ".before-";

/**
 * Puts the complete, verified backup in place of the data, or leaves everything unchanged, without additional files or
 * directories.
 * @throws DatabaseRefused for data in use, existing data that may not be replaced, a damaged backup, one from another
 * program, or a key that cannot decrypt the secrets; DomainError storage_full
 */
export function restoreBackup(options: RestoreOptions): RestoreResult {
  const { file, directory, freeBytes = freeBytesOf } = options;
  requireComplete(file);
  const files = dataFiles(directory);
  const created = ensureDataDirectory(directory);
  const lock = lockOrUndo(files, () => removeCreatedDirectories(directory, created));
  const restoring = files.database + RESTORING_SUFFIX;
  let isDone = false;
  try {
    requireRegular(files.database);
    if (existsSync(files.database) && !options.mayReplace) {
      throw new DatabaseRefused(
        `${directory} already contains data: --replace replaces it with the backup and keeps the previous data next to it.`,
      );
    }
    removePartial(restoring);
    requireFreeSpace(directory, sizeOf(file), freeBytes);
    // Shares blocks if the file system supports it.
    copyFileSync(file, restoring, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    chmodSync(restoring, 0o600);
    const { report, secrets } = prepare(restoring, files, options);
    syncFile(restoring);
    const previous = existsSync(files.database) ? setAside(files, options.now) : null;
    try {
      renameSync(restoring, files.database);
    } catch (error) {
      if (previous !== null) putBack(previous, files);
      throw error;
    }
    isDone = true;
    return { report, previous, secrets };
  } catch (error) {
    if (!isDiskFailure(error)) throw refusalOf(error, file);
    throw storageFull(`The disk of ${directory} is full or failing: the data was not changed.`, error);
  } finally {
    removePartial(restoring);
    syncDirectory(directory);
    if (isDone) lock.release();
    else {
      lock.discard();
      removeCreatedDirectories(directory, created);
    }
  }
}

function lockOrUndo(files: DataFiles, undo: () => void): DataLock {
  try {
    return lockData(files);
  } catch (error) {
    undo();
    throw error;
  }
}

/** Completes all work on the copy, except for its final name. */
function prepare(
  restoring: string,
  files: DataFiles,
  options: RestoreOptions,
): { report: Report; secrets: SecretCounts } {
  const db = openWritable(restoring);
  try {
    refuseForeignObjects(db, options.file);
    upgrade(db, options.file);
    const secrets = reconcileSecrets(db, files, options);
    const report = verifyLedger(db, KINDS, options.onProgress === undefined ? {} : { onProgress: options.onProgress });
    const wrong = describeFirst(report);
    if (wrong !== null) throw new DatabaseRefused(`${options.file} is damaged and was not restored: ${wrong}.`);
    // Former sessions may have been signed out since, and stored outcomes may be encrypted with another key.
    db.$client.run("DELETE FROM sessions");
    db.$client.run("DELETE FROM idempotency_keys");
    db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return { report, secrets };
  } finally {
    db.$client.close();
  }
}

function upgrade(db: Sql, file: string): void {
  try {
    migrate(db, file, upgradeStore);
  } catch (error) {
    if (sqliteCode(error) !== "" || error instanceof DatabaseRefused) throw error;
    throw new DatabaseRefused(`${file} cannot be upgraded: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function reconcileSecrets(db: Sql, files: DataFiles, options: RestoreOptions): SecretCounts {
  const key = keyOf(files);
  const found = countSecrets(db, key === null ? null : new SecretBox(key, options.random));
  if (found.unreadable === 0) return found;
  if (!options.mayDropSecrets) {
    const problem = key === null ? `there is no key file ${files.key}` : `the key file ${files.key} is a different one`;
    throw new DatabaseRefused(
      `The backup holds ${found.total} sealed ${found.total === 1 ? "secret" : "secrets"} of credentials, and ${problem}: put that appliance's key file there, or use --drop-secrets to restore without them.`,
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

/** Renames the previous data, along with a WAL that cannot be checkpointed. @returns the new name */
function setAside(files: DataFiles, now: Instant): string {
  const { database } = files;
  const previous = `${database}${PREVIOUS_SUFFIX}${formatInstant(now).replaceAll(/[-:.]/g, "")}`;
  checkpoint(database);
  // The old name stays until the backup replaces it: there is never a moment without data.
  linkOrRename(database, previous);
  const log = `${database}-wal`;
  if (sizeOf(log) > 0) {
    try {
      renameSync(log, `${previous}-wal`);
    } catch (error) {
      putBack(previous, files);
      throw error;
    }
  }
  rmSync(log, { force: true });
  rmSync(`${database}-shm`, { force: true });
  return previous;
}

/** Undoes the renames, even if only some of them were done. */
function putBack(previous: string, { database }: DataFiles): void {
  if (existsSync(database)) rmSync(previous);
  else renameSync(previous, database);
  if (sizeOf(`${previous}-wal`) > 0 && !existsSync(`${database}-wal`)) renameSync(`${previous}-wal`, `${database}-wal`);
}

/** Adds a second name if the file system supports hard links; otherwise renames. */
function linkOrRename(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch {
    renameSync(path, name);
  }
}

/** Folds the WAL into the database; damaged data keeps its WAL. */
function checkpoint(database: string): void {
  try {
    const { $client } = openWritable(database);
    try {
      $client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      $client.close();
    }
  } catch {}
}
