// A read-only connection with its prepared statements, one state of the database for several reads, and what is
// remembered between two commits. Knows no kinds.

import type { Database, Statement } from "bun:sqlite";
import type { Sql } from "../connection.ts";

/** Facts remembered between two commits at most. */
const MAX_REMEMBERED = 10_000;
/** Characters of SQL that are kept prepared; each takes some 13 bytes. A list over 64 networks has 20,000. */
const MAX_PREPARED_LENGTH = 1_000_000;

export class ReadConnection {
  readonly db: Database;
  private readonly remembered = new Map<string, unknown>();
  private rememberedVersion = -1;
  private isHeldStill: boolean;
  private readonly prepared = new Map<string, Statement>();
  private preparedLength = 0;

  /** @param isHeldStill whether the connection is in a transaction for as long as this lives: the writer's */
  constructor(db: Sql, isHeldStill = false) {
    this.db = db.$client;
    this.isHeldStill = isHeldStill;
  }

  /** Lets go of what is prepared; the connection is somebody else's. */
  release(): void {
    for (const statement of this.prepared.values()) statement.finalize();
    this.prepared.clear();
  }

  /** Lets go of the database: what is prepared would hold it. */
  close(): void {
    this.release();
    this.db.close();
  }

  /** Runs reads on one state of the database, up to the first thing that they wait for. */
  snapshot<T>(read: () => T): T {
    if (this.isHeldStill) return read();
    this.statement("BEGIN").run();
    try {
      this.forgetChanged();
      this.isHeldStill = true;
      return read();
    } finally {
      this.isHeldStill = false;
      // After an I/O error SQLite has ended it: what went wrong must not be hidden behind that.
      if (this.db.inTransaction) this.statement("COMMIT").run();
    }
  }

  /** Drops what is remembered if anything was committed since: by this process or another, SQLite itself tells. */
  private forgetChanged(): void {
    const [version] = this.statement("PRAGMA data_version").values()[0] as [number];
    if (version === this.rememberedVersion) return;
    this.rememberedVersion = version;
    this.remembered.clear();
  }

  /**
   * What `make` made since the last commit, or makes now: for small facts that every request asks again, asked within a
   * snapshot.
   */
  remember<T>(name: string, make: () => T): T {
    const known = this.remembered.get(name);
    if (known !== undefined) return known as T;
    if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
    const made = make();
    this.remembered.set(name, made);
    return made;
  }

  /** A prepared statement, prepared once. */
  statement(sql: string): Statement {
    let statement = this.prepared.get(sql);
    if (statement === undefined) {
      // Shapes are few; the bound keeps a caller who finds a way to vary them from filling the memory.
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
