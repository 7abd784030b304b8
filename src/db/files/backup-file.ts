// What can be told of a backup without reading it through: whether a file can be one, and of which schema it is.

import { existsSync } from "node:fs";
import { sizeOf } from "../../base/byte-size.ts";
import { APPLICATION_ID, DatabaseRefused, readHeader, refuseForeignFile, SCHEMA_VERSION } from "./migrate.ts";

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
 * A backup that can be read as it stands, with nothing written beside it.
 * @throws DatabaseRefused as requireWhole; for an appliance's own database and for an older schema
 */
export function requireReadable(path: string): void {
  const schema = requireWhole(path);
  if (readHeader(path)?.hasLog === true)
    throw new DatabaseRefused(`${path} is the database of an appliance, not a backup: take one with netledger backup.`);
  if (schema !== SCHEMA_VERSION) {
    throw new DatabaseRefused(
      `${path} has the schema ${schema}, and this netledger reads ${SCHEMA_VERSION}: netledger restore upgrades it into a folder of its own.`,
    );
  }
}
