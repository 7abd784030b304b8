// Offline data access for subcommands, while no appliance uses the data: lock, open, run, close. Reports full and
// failing disks.

import { storageFull } from "../base/errors.ts";
import { openWritable, type Sql } from "../db/connection.ts";
import { type DataFiles, lockData } from "../db/files/data-directory.ts";
import { migrate, orRefused, refusalOfWork } from "../db/files/migrate.ts";
import { isDiskFailure } from "../db/sqlite-code.ts";
import { upgradeStore } from "../history/upgrade.ts";

/** @throws DatabaseRefused for data in use, and for files that SQLite cannot open */
export async function withExclusiveDatabase<T>(files: DataFiles, work: (db: Sql) => T | Promise<T>): Promise<T> {
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

/** Migrates as an appliance start does. @throws DatabaseRefused for data of a newer netledger */
export function upgradeSchema(db: Sql, { database }: DataFiles): void {
  orRefused(database, () => migrate(db, database, upgradeStore));
}

/** @param outcome state of the data if the disk is full */
export function withDiskErrors<T>(files: DataFiles, outcome: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!isDiskFailure(error)) throw error;
    throw storageFull(`The disk of ${files.directory} is full or failing: ${outcome}.`, error);
  }
}

/** Checkpoints the write-ahead log into the database and truncates it. */
export function checkpointLog(db: Sql): void {
  db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Returns free pages to the disk. Temporarily needs up to twice the size of the file. */
export function rewriteFile(db: Sql): void {
  db.$client.run("VACUUM");
  checkpointLog(db);
}
