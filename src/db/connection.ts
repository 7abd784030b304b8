// Database connections: one writable, any number read-only. Owns the pragmas.

import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { syncDirectory, syncFile } from "../base/durable-file.ts";

export type Sql = BunSQLiteDatabase & { $client: Database };

/** SQLite's upper limit. Mapped file pages live in the kernel's page cache. */
const MMAP_SIZE_BYTES = 2_147_418_112;
const CACHE_SIZE_KIB = 16_384;
export const PAGE_SIZE_BYTES = 8_192;
/** The WAL is truncated to this size after a checkpoint. */
export const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 5_000;

/** Statements that `query` keeps per connection. With Bun's default of 20, the 100 of a scan's writes evict each other. */
const KEPT_STATEMENTS = 300;

Database.MAX_QUERY_CACHE_SIZE = KEPT_STATEMENTS;

/**
 * Opens the writable connection. WAL with `synchronous=FULL`: an acknowledged write survives `kill -9` and power loss.
 * @param path a file, created if missing, or ":memory:"
 */
export function openWritable(path: string): Sql {
  syncLog(path);
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

/** Opens a read-only connection. The file must exist and be migrated. */
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
 * Opens a file that has no writer. Unlike openReadOnly, allows in-memory temporary tables, which shadow the file's
 * tables of the same names.
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
 * A private database for large sorts: a temporary file, deleted when the connection closes.
 * @param schema creates the tables, with names qualified by `scratch.`
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

/** Version of the bundled SQLite. */
export function sqliteVersion(): string {
  const client = new Database(":memory:");
  try {
    return (client.query("SELECT sqlite_version() AS version").get() as { version: string }).version;
  } finally {
    client.close();
  }
}

/**
 * A process killed between write and fsync of a commit leaves it in the page cache, and SQLite's recovery would serve
 * that commit. So sync the WAL before reading it. The WAL file has no POSIX locks that closing it could drop.
 */
function syncLog(path: string): void {
  const log = `${path}-wal`;
  if (path === ":memory:" || !existsSync(log)) return;
  syncFile(log);
  syncDirectory(dirname(log));
}
