// Quick checks of a backup file without a full read: whether it can be a backup, its schema version, and foreign schema
// objects.

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
 * Checks for a complete file: a backup, or the database of a stopped appliance.
 * @returns its schema version
 * @throws DatabaseRefused if the file is missing, not a netledger database, of a newer version, or has a WAL or journal
 */
export function requireComplete(path: string): number {
  if (!existsSync(path)) throw new DatabaseRefused(`There is no file ${path}.`);
  refuseForeignFile(path);
  const header = readHeader(path);
  if (header === null || header.applicationId !== APPLICATION_ID)
    throw new DatabaseRefused(`${path} is not a backup: it is empty.`);
  for (const sidecar of [`${path}-wal`, `${path}-journal`]) {
    if (sizeOf(sidecar) > 0)
      throw new DatabaseRefused(
        `${path} is incomplete without ${sidecar}. Take a backup of that appliance with netledger backup.`,
      );
  }
  return header.schemaVersion;
}

/**
 * Opens a backup read-only, without creating files next to it.
 * @throws DatabaseRefused like requireComplete; for an appliance's own database, an older schema, or unexpected schema
 * objects; with SQLite's reason if it cannot be opened
 */
export function openBackup(path: string): Sql {
  const schema = requireComplete(path);
  if (readHeader(path)?.hasWal === true)
    throw new DatabaseRefused(`${path} is the database of an appliance, not a backup: take one with netledger backup.`);
  if (schema !== SCHEMA_VERSION) {
    throw new DatabaseRefused(
      `${path} has schema version ${schema}, but this netledger reads ${SCHEMA_VERSION}: netledger restore upgrades it into a separate folder.`,
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
