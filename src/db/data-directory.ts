// The folder that holds an appliance's data: the names of its files, its making, and the lock that keeps a second appliance out.
// Must not open the database.

import { accessSync, constants, mkdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { Database } from "bun:sqlite";
import { dirname, join } from "node:path";
import { syncDirectory } from "../base/durable-file.ts";
import { DatabaseRefused } from "./migrate.ts";
import { sqliteCode } from "./sqlite-code.ts";
import { describeRefusal } from "./trouble.ts";

export interface DataFiles {
  readonly directory: string;
  readonly database: string;
  /** The key that secrets are sealed with. */
  readonly key: string;
  readonly lock: string;
  /** The appliance's own certificate and its key, where one was asked for. */
  readonly tlsCertificate: string;
  readonly tlsKey: string;
  /** The folder of the backups that were asked for through the API. */
  readonly backups: string;
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
  };
}

/**
 * Makes the folder where there is none, for its owner alone, durably.
 * @returns the topmost folder that had to be made; null where all were there
 * @throws DatabaseRefused when it cannot be made or is not a folder that can be written to
 */
export function ensureDataDirectory(directory: string): string | null {
  try {
    const first = mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Also where it is there already: who made it, or a file in it, may have been killed before its name was on the disk.
    syncUpTo(directory, dirname(first ?? directory), first === undefined);
    syncDirectory(directory);
    if (!statSync(directory).isDirectory()) throw new DatabaseRefused(`${directory} is not a folder.`);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return first ?? null;
  } catch (error) {
    if (error instanceof DatabaseRefused) throw error;
    throw new DatabaseRefused(`The data folder ${directory} cannot be made or written to (${codeOf(error)}).`);
  }
}

/**
 * Takes back what ensureDataDirectory made, as far as nobody has put anything into it since.
 * @param top what ensureDataDirectory returned
 */
export function removeMadeDirectories(directory: string, top: string | null): void {
  if (top === null) return;
  try {
    for (let each = directory; ; each = dirname(each)) {
      rmdirSync(each);
      if (each === top || each === dirname(each)) return;
    }
  } catch {
    // Somebody has use for it.
  }
}

/** A predecessor that is about to stop may hold the lock for a moment. */
export const LOCK_WAIT_MS = 300;

/**
 * For work that needs the data at rest.
 * @throws DatabaseRefused where an appliance is at work on them
 */
export function lockData(files: DataFiles): DataLock {
  const lock = DataLock.take(files.lock, LOCK_WAIT_MS);
  if (lock === null)
    throw new DatabaseRefused(`The data in ${files.directory} are in use by another netledger: stop it first.`);
  return lock;
}

/** An advisory lock on the data. The kernel holds it for the process and drops it when the process ends, however it ends. */
export class DataLock {
  private readonly database: Database;
  private readonly path: string;
  /** Whether its file was not there before. */
  private readonly isNew: boolean;

  private constructor(database: Database, path: string, isNew: boolean) {
    this.database = database;
    this.path = path;
    this.isNew = isNew;
  }

  /**
   * @param waitMs how long to wait for the holder to let go
   * @returns null where another process holds it
   */
  static take(path: string, waitMs: number): DataLock | null {
    // Who held it may have removed its file meanwhile (discard): a lock on what has no name any more keeps nobody out.
    for (;;) {
      const before = fileNumber(path);
      const lock = DataLock.tryFile(path, waitMs, before === null);
      if (lock === null) return null;
      const after = fileNumber(path);
      if (after !== null && (before === null || before === after)) return lock;
      lock.release();
    }
  }

  private static tryFile(path: string, waitMs: number, isNew: boolean): DataLock | null {
    // SQLite's own file lock, on a database that stays empty: no portable lock call reaches JavaScript otherwise.
    let database: Database | null = null;
    try {
      database = new Database(path, { create: true, readwrite: true });
      database.run(`PRAGMA busy_timeout = ${waitMs}`);
      // Nothing is ever written to it: a journal would only take room, on a disk that may be full.
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
          : `The lock file ${describeRefusal(error, path)}`,
      );
    }
  }

  /** Lets the next one have it. */
  release(): void {
    this.database.close();
  }

  /** As release, where nothing came of it: its file goes as well, if it was not there before. */
  discard(): void {
    if (this.isNew) rmSync(this.path, { force: true });
    this.release();
  }
}

/** Which file has a name; null where none has. */
function fileNumber(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}

/** A folder's name is on the disk only when the folder above it is. */
function syncUpTo(directory: string, top: string, isThere: boolean): void {
  for (let each = dirname(directory); ; each = dirname(each)) {
    try {
      syncDirectory(each);
    } catch (error) {
      // A folder above that may be entered and not read is no obstacle to data that are there.
      if (!isThere || !["EACCES", "EPERM"].includes(codeOf(error))) throw error;
    }
    if (each === top || each === dirname(each)) return;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
