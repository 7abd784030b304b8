// What can be told of a backup without reading it through: whether a file can be one, of which schema it is, and whether
// that schema is all that it holds.

import { existsSync } from "node:fs";
import { sizeOf } from "../../base/byte-size.ts";
import { openImmutable, type Sql } from "../connection.ts";
import { refuseForeignObjects } from "./expected-schema.ts";
import {
  APPLICATION_ID,
  DatabaseRefused,
  orRefused,
  readHeader,
  refuseForeignFile,
  SCHEMA_VERSION,
} from "./migrate.ts";

/**
 * A file that was a whole when it was put there: a backup, or the database of an appliance that was stopped.
 * @returns the schema that it has
 * @throws DatabaseRefused for what is not there, not ours, of a newer version, or has a log or a journal beside it
 */
export function requireWhole(path: string): number {
  if (!existsSync(path)) throw new DatabaseRefused(`There is no file ${path}.`);
  refuseForeignFile(path);
  const header = readHeader(path);
  if (header === null || header.applicationId !== APPLICATION_ID)
    throw new DatabaseRefused(`${path} is not a backup: it is empty.`);
  for (const beside of [`${path}-wal`, `${path}-journal`]) {
    if (sizeOf(beside) > 0)
      throw new DatabaseRefused(
        `${path} is incomplete: ${beside} belongs to it. Take a backup of that appliance with netledger backup.`,
      );
  }
  return header.schemaVersion;
}

/**
 * Opens a backup to be read as it stands, with nothing written beside it.
 * @throws DatabaseRefused as requireWhole; for an appliance's own database, for an older schema, and for what holds
 * objects that are not netledger's; with SQLite's reason where it cannot be opened
 */
export function openBackup(path: string): Sql {
  const schema = requireWhole(path);
  if (readHeader(path)?.hasLog === true)
    throw new DatabaseRefused(`${path} is the database of an appliance, not a backup: take one with netledger backup.`);
  if (schema !== SCHEMA_VERSION) {
    throw new DatabaseRefused(
      `${path} has the schema ${schema}, and this netledger reads ${SCHEMA_VERSION}: netledger restore upgrades it into a folder of its own.`,
    );
  }
  return orRefused(path, () => {
    const db = openImmutable(path);
    try {
      refuseForeignObjects(db, path);
    } catch (error) {
      db.$client.close();
      throw error;
    }
    return db;
  });
}
