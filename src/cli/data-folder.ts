// Read-only access to a subcommand's data directory. serve and setup, which write, open theirs themselves.

import { existsSync } from "node:fs";
import { openReadOnly, type Sql } from "../db/connection.ts";
import { type DataFiles, dataFiles } from "../db/files/data-directory.ts";
import {
  DatabaseRefused,
  orRefused,
  refusalOfWork,
  refuseForeignFile,
  requireRegular,
  requireSchema,
  schemaVersionOf,
} from "../db/files/migrate.ts";

/**
 * @param directory absolute
 * @throws DatabaseRefused if there is no data, or data of a newer netledger or another product
 */
export function findData(directory: string): DataFiles {
  const files = dataFiles(directory);
  requireRegular(files.database);
  if (!existsSync(files.database)) throw new DatabaseRefused(`There is no data in ${directory}.`);
  refuseForeignFile(files.database);
  return files;
}

/**
 * Runs work on data with this version's schema, with or without a running appliance.
 * @throws DatabaseRefused for an older schema, and for data that SQLite cannot read
 */
export async function withReadOnlyDatabase<T>({ database }: DataFiles, work: (db: Sql) => T | Promise<T>): Promise<T> {
  const db = orRefused(database, openReadOnly);
  try {
    requireSchema(
      database,
      orRefused(database, () => schemaVersionOf(db)),
    );
    return await work(db);
  } catch (error) {
    throw refusalOfWork(error, database);
  } finally {
    db.$client.close();
  }
}
