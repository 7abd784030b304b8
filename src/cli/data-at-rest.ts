// Work of a subcommand on data that no appliance uses: locked and opened for it, closed after it; and what an operator
// is told when the disk is full or fails meanwhile.

import { DomainError } from "../base/errors.ts";
import { openWritable, type Sql } from "../db/connection.ts";
import { type DataFiles, lockData } from "../db/files/data-directory.ts";
import { migrate, orRefused, refusalOfWork } from "../db/files/migrate.ts";
import { isDiskTrouble } from "../db/sqlite-code.ts";
import { upgradeStore } from "../history/upgrade.ts";

/** @throws DatabaseRefused for data in use, and for what SQLite can't open */
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

/** As a start of the appliance does. @throws DatabaseRefused for data of a newer netledger */
export function bringUpToSchema(db: Sql, { database }: DataFiles): void {
  orRefused(database, () => migrate(db, database, upgradeStore));
}

/** @param outcome how it stands when the disk is full */
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

/** Writes what is in the log into the database, and empties the log. */
export function mergeLog(db: Sql): void {
  db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Returns what is free in the file to the disk. Meanwhile it takes up to twice its size. */
export function rewriteFile(db: Sql): void {
  db.$client.run("VACUUM");
  mergeLog(db);
}
