// Read-only connection with prepared statements, snapshots for multiple reads, and a cache that lasts between two
// commits. Independent of kinds.

import type { Database, Statement } from "bun:sqlite";
import type { Sql } from "../connection.ts";

/** Maximum cache entries. */
const MAX_CACHED = 10_000;
/** Maximum characters of cached SQL; each takes some 13 bytes. A list over 64 networks has 20,000. */
const MAX_PREPARED_LENGTH = 1_000_000;

export class ReadConnection {
  readonly db: Database;
  private readonly cache = new Map<string, unknown>();
  private cachedVersion = -1;
  private isInTransaction: boolean;
  private readonly prepared = new Map<string, Statement>();
  private preparedLength = 0;

  /** @param isInTransaction whether the connection is in a transaction for its entire lifetime: the writer's */
  constructor(db: Sql, isInTransaction = false) {
    this.db = db.$client;
    this.isInTransaction = isInTransaction;
  }

  /** Finalizes the prepared statements; the connection belongs to the caller. */
  release(): void {
    for (const statement of this.prepared.values()) statement.finalize();
    this.prepared.clear();
  }

  /** Closes the database, with the prepared statements that would keep it open. */
  close(): void {
    this.release();
    this.db.close();
  }

  /** Runs synchronous reads on one snapshot of the database. */
  snapshot<T>(read: () => T): T {
    if (this.isInTransaction) return read();
    this.statement("BEGIN").run();
    try {
      this.clearIfChanged();
      this.isInTransaction = true;
      return read();
    } finally {
      this.isInTransaction = false;
      // After an I/O error SQLite has already ended the transaction: do not hide the original error.
      if (this.db.inTransaction) this.statement("COMMIT").run();
    }
  }

  /** Clears the cache after any commit, by this or another process, as reported by data_version. */
  private clearIfChanged(): void {
    const [version] = this.statement("PRAGMA data_version").values()[0] as [number];
    if (version === this.cachedVersion) return;
    this.cachedVersion = version;
    this.cache.clear();
  }

  /**
   * Returns the value of `make`, cached until the next commit: for small facts that every request needs. Call within a
   * snapshot.
   */
  cached<T>(name: string, compute: () => T): T {
    const hit = this.cache.get(name);
    if (hit !== undefined) return hit as T;
    if (this.cache.size >= MAX_CACHED) this.cache.clear();
    const value = compute();
    this.cache.set(name, value);
    return value;
  }

  /** Prepares a statement, or returns the cached one. */
  statement(sql: string): Statement {
    let statement = this.prepared.get(sql);
    if (statement === undefined) {
      // Distinct statements are few; the limit protects memory from a caller who finds a way to vary them.
      if (this.preparedLength + sql.length > MAX_PREPARED_LENGTH) {
        for (const old of this.prepared.values()) old.finalize();
        this.prepared.clear();
        this.preparedLength = 0;
      }
      statement = this.db.prepare(sql);
      this.prepared.set(sql, statement);
      this.preparedLength += sql.length;
    }
    return statement;
  }
}
