// Drizzle schema of the ledger's and the store's own tables; migrations/0036_ledger.sql documents their purpose. Live
// tables belong to their kinds.

import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const historyTransactions = sqliteTable("history_transactions", {
  sequence: integer().primaryKey(),
  at: integer().notNull(),
  wall_at: integer().notNull(),
  organization_id: text(),
  actor_type: text().notNull(),
  actor_id: text(),
  actor_name: text().notNull(),
  request_id: text(),
  source: text().notNull(),
  last_n: integer().notNull(),
  hash: blob({ mode: "buffer" }).notNull(),
  reason: text(),
});

export const historyRecords = sqliteTable("history_records", {
  n: integer().primaryKey(),
  kind: integer().notNull(),
  id: text().notNull().unique(),
});

export const historyVersions = sqliteTable("history_versions", {
  key: integer().primaryKey(),
  operation: integer().notNull(),
  shape: integer().notNull(),
  valid_from: text().notNull(),
  composed: integer().notNull(),
  changed: text(),
  sort_keys: text(),
  observed: text().notNull(),
  members: text(),
  hash: blob({ mode: "buffer" }).notNull(),
  patch: integer(),
});

export const historySpans = sqliteTable("history_spans", {
  scope: integer().notNull(),
  n: integer().notNull(),
  born: integer().notNull(),
  died: integer().notNull(),
});

export const historyCensus = sqliteTable("history_census", {
  scope: integer().notNull(),
  sequence: integer().notNull(),
  count: integer().notNull(),
});

export const historyLineages = sqliteTable("history_lineages", {
  kind: integer().notNull(),
  identity: text().notNull(),
  lineage_id: text().notNull(),
});

export const historyActivity = sqliteTable("history_activity", {
  scope: integer().notNull(),
  sequence: integer().notNull(),
  ordinal: integer().notNull(),
});

export const historySearchTexts = sqliteTable("history_search_texts", {
  key: integer().primaryKey(),
  owner_n: integer().notNull(),
  text: text().notNull(),
});

export const observations = sqliteTable("observations", {
  n: integer().primaryKey(),
  observed: text().notNull(),
  checksum: integer().notNull(),
});

export const liveLinks = sqliteTable("live_links", {
  n: integer().notNull(),
  relation: text().notNull(),
  target_n: integer().notNull(),
});

export const idempotencyKeys = sqliteTable("idempotency_keys", {
  caller_n: integer().notNull(),
  /** SHA-256 of caller and key. */
  key: text().notNull(),
  at: integer().notNull(),
  sealed: blob({ mode: "buffer" }).notNull(),
  checksum: integer().notNull(),
});

/**
 * Block size 1,024 record numbers: n >> BLOCK_BITS is the block for counts of live records. Stored, so changing it
 * requires a migration.
 */
export const BLOCK_BITS = 10;

/** The end of an open span: the largest integer that SQLite and JavaScript have in common. */
export const ALIVE = Number.MAX_SAFE_INTEGER;
