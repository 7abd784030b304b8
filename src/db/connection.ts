// Opens the database file: the one writable connection, and read-only ones. Owns the pragmas.

import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { syncDirectory, syncFile } from "../base/durable-file.ts";

export type Sql = BunSQLiteDatabase & { $client: Database };

/** Mapped file pages belong to the kernel's cache. SQLite's own ceiling. */
const MMAP_SIZE_BYTES = 2_147_418_112;
const CACHE_SIZE_KIB = 16_384;
export const PAGE_SIZE_BYTES = 8_192;
/** The log is cut back to this after a checkpoint. */
export const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 5_000;

/**
 * The writable connection. WAL with `synchronous=FULL`: an acknowledged write survives `kill -9` and power loss.
 * @param path a file, created when it is not there, or ":memory:"
 */
export function openWritable(path: string): Sql {
  makeLogCertain(path);
  const client = new Database(path, { create: true, readwrite: true, strict: true });
  client.run("PRAGMA trusted_schema = OFF");
  client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  client.run(`PRAGMA page_size = ${PAGE_SIZE_BYTES}`);
  client.run("PRAGMA journal_mode = WAL");
  client.run("PRAGMA synchronous = FULL");
  client.run("PRAGMA foreign_keys = ON");
  client.run("PRAGMA recursive_triggers = ON");
  client.run(`PRAGMA cache_size = -${CACHE_SIZE_KIB}`);
  client.run(`PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  return drizzle({ client }) as Sql;
}

/** Read-only. The file must exist and be migrated. */
export function openReadOnly(path: string): Sql {
  const client = new Database(path, { readonly: true, strict: true });
  client.run("PRAGMA trusted_schema = OFF");
  client.run("PRAGMA query_only = ON");
  client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  client.run(`PRAGMA cache_size = -${CACHE_SIZE_KIB}`);
  client.run(`PRAGMA mmap_size = ${MMAP_SIZE_BYTES}`);
  return drizzle({ client }) as Sql;
}

/**
 * For a file that nobody writes, which stays the same to the last byte. Unlike openReadOnly it allows temporary tables,
 * in memory, which hide the file's tables of the same names.
 */
export function openImmutable(path: string): Sql {
  const client = new Database(path, { readonly: true, strict: true });
  client.run("PRAGMA trusted_schema = OFF");
  client.run("PRAGMA temp_store = MEMORY");
  client.run(`PRAGMA cache_size = -${CACHE_SIZE_KIB}`);
  client.run(`PRAGMA mmap_size = ${MMAP_SIZE_BYTES}`);
  return drizzle({ client }) as Sql;
}

/**
 * A private database for large sorts: a temporary file that goes with the connection.
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
 * A process killed between writing and syncing a commit leaves it in the page cache, where SQLite recovers it and
 * answers from it. So the WAL is synced before it is read. It carries no locks that closing it could drop.
 */
function makeLogCertain(path: string): void {
  const log = `${path}-wal`;
  if (path === ":memory:" || !existsSync(log)) return;
  syncFile(log);
  syncDirectory(dirname(log));
}
