// Offline work of a subcommand on data not in use by an appliance: lock, open, run, close; and the error for a full or
// failing disk.

import { DomainError } from "../base/errors.ts";
import { openWritable, type Sql } from "../db/connection.ts";
import { type DataFiles, lockData } from "../db/files/data-directory.ts";
import { migrate, orRefused, refusalOfWork } from "../db/files/migrate.ts";
import { isDiskTrouble } from "../db/sqlite-code.ts";
import { upgradeStore } from "../history/upgrade.ts";

/** @throws DatabaseRefused for data in use, and for files that SQLite cannot open */
export async function atRest<T>(files: DataFiles, work: (db: Sql) => T | Promise<T>): Promise<T> {
  const lock = lockData(files);
  try {
    const db = orRefused(files.database, openWritable);
    try {
      return await work(db);
    } catch (error) {
      throw refusalOfWork(error, files.database);
    } finally {
      db.$client.close();
    }
  } finally {
    lock.release();
  }
}

/** Migrates like a start of the appliance. @throws DatabaseRefused for data of a newer netledger */
export function bringUpToSchema(db: Sql, { database }: DataFiles): void {
  orRefused(database, () => migrate(db, database, upgradeStore));
}

/** @param outcome state of the data if the disk is full */
export function onDisk<T>(files: DataFiles, outcome: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    throw Object.assign(
      new DomainError("storage_full", `The disk of ${files.directory} is full or fails: ${outcome}.`),
      { cause: error },
    );
  }
}

/** Checkpoints the write-ahead log into the database and truncates it. */
export function mergeLog(db: Sql): void {
  db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Returns free pages to the disk. Temporarily needs up to twice the size of the file. */
export function rewriteFile(db: Sql): void {
  db.$client.run("VACUUM");
  mergeLog(db);
}
