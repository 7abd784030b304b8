// The data folder that a subcommand is given: found, opened to be read as it is. Changes nothing; serve and setup
// have their own way.

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
 * @throws DatabaseRefused where there are no data, or those of another program or a newer netledger
 */
export function findData(directory: string): DataFiles {
  const files = dataFiles(directory);
  requireRegular(files.database);
  if (!existsSync(files.database)) throw new DatabaseRefused(`There are no data in ${directory}.`);
  refuseForeignFile(files.database);
  return files;
}

/**
 * Works on data of this version's schema, beside an appliance or without one.
 * @throws DatabaseRefused where they are of an older schema, or SQLite can't read them
 */
export async function reading<T>({ database }: DataFiles, work: (db: Sql) => T | Promise<T>): Promise<T> {
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
