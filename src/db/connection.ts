// Opens the database file: the one writable connection, and read-only ones. Owns the pragmas.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { Database } from "bun:sqlite";
import { syncDirectory, syncFile } from "../base/durable-file.ts";
import { drizzle, type BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

export type Sql = BunSQLiteDatabase & { $client: Database };

/** Pages of the database file mapped into memory: the kernel's to drop, not the process's. SQLite's own ceiling. */
const MMAP_SIZE_BYTES = 2_147_418_112;
const CACHE_SIZE_KIB = 16_384;
export const PAGE_SIZE_BYTES = 8_192;
/** The log is cut back to this after a checkpoint. */
const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 5_000;

/**
 * The writable connection. WAL with `synchronous=FULL`: an acknowledged write survives `kill -9` and power loss.
 * @param path a file, created when it is not there, or ":memory:"
 */
export function openWritable(path: string): Sql {
  makeLogCertain(path);
  const client = new Database(path, { create: true, readwrite: true, strict: true });
  client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  client.run(`PRAGMA page_size = ${PAGE_SIZE_BYTES}`);
  client.run("PRAGMA journal_mode = WAL");
  client.run("PRAGMA synchronous = FULL");
  client.run("PRAGMA foreign_keys = ON");
  client.run("PRAGMA recursive_triggers = ON");
  client.run("PRAGMA trusted_schema = OFF");
  client.run(`PRAGMA cache_size = -${CACHE_SIZE_KIB}`);
  client.run(`PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  return drizzle({ client }) as Sql;
}

/** A connection that can only read. The file must exist and be migrated. */
export function openReadOnly(path: string): Sql {
  const client = new Database(path, { readonly: true, strict: true });
  client.run("PRAGMA query_only = ON");
  client.run("PRAGMA trusted_schema = OFF");
  client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  client.run(`PRAGMA cache_size = -${CACHE_SIZE_KIB}`);
  client.run(`PRAGMA mmap_size = ${MMAP_SIZE_BYTES}`);
  return drizzle({ client }) as Sql;
}

/**
 * A connection to a file that nobody writes, which stays as it is to the last byte. Unlike openReadOnly it can have temporary tables: they
 * are in memory, and hide tables of the file that have the same names.
 */
export function openStill(path: string): Sql {
  const client = new Database(path, { readonly: true, strict: true });
  client.run("PRAGMA temp_store = MEMORY");
  client.run("PRAGMA trusted_schema = OFF");
  client.run(`PRAGMA cache_size = -${CACHE_SIZE_KIB}`);
  client.run(`PRAGMA mmap_size = ${MMAP_SIZE_BYTES}`);
  return drizzle({ client }) as Sql;
}

/**
 * A private database for what has to be sorted and may be more than memory should hold: a temporary file that goes with
 * the connection.
 * @param schema creates its tables, with `scratch.` before their names
 */
export function openScratch(schema: string): Database {
  const client = new Database(":memory:", { strict: true });
  client.run("ATTACH DATABASE '' AS scratch");
  client.run("PRAGMA scratch.journal_mode = OFF");
  client.run("PRAGMA scratch.synchronous = OFF");
  client.run(`PRAGMA scratch.cache_size = -${CACHE_SIZE_KIB}`);
  client.run(schema);
  return client;
}

/** Of the SQLite that this program carries. */
export function sqliteVersion(): string {
  const client = new Database(":memory:");
  try {
    return (client.query("SELECT sqlite_version() AS version").get() as { version: string }).version;
  } finally {
    client.close();
  }
}

/**
 * A process that was killed between writing a commit and syncing it leaves it in the page cache: SQLite recovers it and answers from it, and
 * a repeated request is told that it was done. So the log is put on the disk before it is read. It carries no locks that closing it could drop.
 */
function makeLogCertain(path: string): void {
  const log = `${path}-wal`;
  if (path === ":memory:" || !existsSync(log)) return;
  syncFile(log);
  syncDirectory(dirname(log));
}
