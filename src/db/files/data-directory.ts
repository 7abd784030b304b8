// Appliance data directory: file names, creation, and the lock against a second appliance. Does not open the database.

import { Database } from "bun:sqlite";
import { accessSync, constants, mkdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncDirectory } from "../../base/durable-file.ts";
import { nameExists, regularFile } from "../../base/regular-file.ts";
import { sqliteCode } from "../sqlite-code.ts";
import { describeOpenFailure } from "../sqlite-failures.ts";
import { DatabaseRefused } from "./migrate.ts";

export interface DataFiles {
  readonly directory: string;
  readonly database: string;
  /** Encryption key for secrets. */
  readonly key: string;
  readonly lock: string;
  /** The appliance's own certificate and key, if enabled. */
  readonly tlsCertificate: string;
  readonly tlsKey: string;
  /** Backups made through the API. */
  readonly backups: string;
  /** Results of verifications. */
  readonly verifications: string;
}

/** @param directory absolute */
export function dataFiles(directory: string): DataFiles {
  return {
    directory,
    database: join(directory, "netledger.db"),
    key: join(directory, "netledger.key"),
    lock: join(directory, "netledger.lock"),
    tlsCertificate: join(directory, "netledger-tls.crt"),
    tlsKey: join(directory, "netledger-tls.key"),
    backups: join(directory, "backups"),
    verifications: join(directory, "netledger-verifications.json"),
  };
}

/**
 * Creates the directory durably, accessible to its owner only.
 * @returns the topmost directory created; null if none
 * @throws DatabaseRefused if it cannot be created or is not a writable directory
 */
export function ensureDataDirectory(directory: string): string | null {
  try {
    const first = mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Even for an existing directory: its creator may have been killed before the directory entry was synced.
    syncUpTo(directory, dirname(first ?? directory), first === undefined);
    syncDirectory(directory);
    if (!statSync(directory).isDirectory()) throw new DatabaseRefused(`${directory} is not a folder.`);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return first ?? null;
  } catch (error) {
    if (error instanceof DatabaseRefused) throw error;
    throw new DatabaseRefused(`The data folder ${directory} cannot be created or written to (${codeOf(error)}).`);
  }
}

/**
 * Removes the directories that ensureDataDirectory created, unless they contain files.
 * @param top result of ensureDataDirectory
 */
export function removeCreatedDirectories(directory: string, top: string | null): void {
  if (top === null) return;
  try {
    for (let current = directory; ; current = dirname(current)) {
      rmdirSync(current);
      if (current === top || current === dirname(current)) return;
    }
  } catch {
    // Not empty.
  }
}

/** A previous process may hold the lock briefly while stopping. */
export const LOCK_WAIT_MS = 300;

/**
 * Locks the data for offline work.
 * @throws DatabaseRefused while an appliance is running
 */
export function lockData(files: DataFiles): DataLock {
  const lock = DataLock.acquire(files.lock, LOCK_WAIT_MS);
  if (lock === null)
    throw new DatabaseRefused(`The data in ${files.directory} are in use by another netledger: stop it first.`);
  return lock;
}

/** Advisory lock. The kernel releases it however the process ends. */
export class DataLock {
  private readonly database: Database;
  private readonly path: string;
  private readonly isNew: boolean;

  private constructor(database: Database, path: string, isNew: boolean) {
    this.database = database;
    this.path = path;
    this.isNew = isNew;
  }

  /**
   * @param waitMs how long to wait for the holder
   * @returns null if another process holds it
   * @throws DatabaseRefused if the file cannot be used
   */
  static acquire(path: string, waitMs: number): DataLock | null {
    if (nameExists(path) && regularFile(path) === null)
      throw new DatabaseRefused(`The lock file ${path} is not a regular file.`);
    // The holder may have removed the file (discard): a lock on an unlinked file excludes no other process.
    for (;;) {
      const before = inodeOf(path);
      const lock = DataLock.tryFile(path, waitMs, before === null);
      if (lock === null) return null;
      const after = inodeOf(path);
      if (after !== null && (before === null || before === after)) return lock;
      lock.release();
    }
  }

  private static tryFile(path: string, waitMs: number, isNew: boolean): DataLock | null {
    // SQLite's file lock on an empty database: JavaScript has no portable lock call.
    let database: Database | null = null;
    try {
      database = new Database(path, { create: true, readwrite: true });
      database.run(`PRAGMA busy_timeout = ${waitMs}`);
      // Nothing is written: a journal file would only fail on a full disk.
      database.run("PRAGMA journal_mode = MEMORY");
      database.run("BEGIN EXCLUSIVE");
      return new DataLock(database, path, isNew);
    } catch (error) {
      database?.close();
      const code = sqliteCode(error);
      if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return null;
      throw new DatabaseRefused(
        code === ""
          ? `The lock file ${path} cannot be used (${codeOf(error)}).`
          : `The lock file ${describeOpenFailure(error, path)}`,
      );
    }
  }

  release(): void {
    this.database.close();
  }

  /** Releases the lock and removes the file if it was new. */
  discard(): void {
    if (this.isNew) rmSync(this.path, { force: true });
    this.release();
  }
}

/** The inode of a path; null if missing. */
function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}

/** A new directory is durable once its parent is synced. */
function syncUpTo(directory: string, top: string, existed: boolean): void {
  for (let current = dirname(directory); ; current = dirname(current)) {
    try {
      syncDirectory(current);
    } catch (error) {
      // Existing data does not depend on syncing an unreadable parent.
      if (!existed || !["EACCES", "EPERM"].includes(codeOf(error))) throw error;
    }
    if (current === top || current === dirname(current)) return;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
