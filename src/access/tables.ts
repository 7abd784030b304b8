// The tables of what authenticates, sessions and hashes of passwords and of API keys, and of what users prefer. None of
// them has history.

import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** A session ends after this long without use. */
export const SESSION_IDLE_MS = 7 * 24 * 60 * 60 * 1000;

export const sessions = sqliteTable("sessions", {
  /** SHA-256 of the token. */
  hash: blob({ mode: "buffer" }).primaryKey(),
  user_n: integer().notNull(),
  created_at: integer().notNull(),
  last_used_at: integer().notNull(),
  /** Null of a session from before there were any, until it is used again. */
  last_used_from: text(),
  user_agent: text(),
  checksum: integer().notNull(),
});

export const userPasswords = sqliteTable("user_passwords", {
  user_n: integer().primaryKey(),
  /** Argon2id, PHC string format. */
  hash: text().notNull(),
  checksum: integer().notNull(),
});

/** What a user's own client remembers for them. */
export const userPreferences = sqliteTable("user_preferences", {
  user_n: integer().primaryKey(),
  /** A JSON object. */
  preferences: text().notNull(),
  /** How often they were written. */
  revision: integer().notNull(),
  checksum: integer().notNull(),
});

export const apiKeyHashes = sqliteTable("api_key_hashes", {
  /** SHA-256 of the key. */
  hash: blob({ mode: "buffer" }).primaryKey(),
  api_key_n: integer().notNull().unique(),
  checksum: integer().notNull(),
});

/** Facts of the appliance itself. */
export const applianceSettings = sqliteTable("appliance_settings", {
  name: text().primaryKey(),
  value: text().notNull(),
  checksum: integer().notNull(),
});
