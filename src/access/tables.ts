// Tables without history: sessions, password hashes, API-key hashes and user preferences.

import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** A session expires after this time without use. */
export const SESSION_IDLE_MS = 7 * 24 * 60 * 60 * 1000;

export const sessions = sqliteTable("sessions", {
  /** SHA-256 of the token. */
  hash: blob({ mode: "buffer" }).primaryKey(),
  user_n: integer().notNull(),
  created_at: integer().notNull(),
  last_used_at: integer().notNull(),
  /** Null if unknown. */
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

/** Client preferences of a user. */
export const userPreferences = sqliteTable("user_preferences", {
  user_n: integer().primaryKey(),
  /** A JSON object. */
  preferences: text().notNull(),
  /** Number of writes. */
  revision: integer().notNull(),
  checksum: integer().notNull(),
});

export const apiKeyHashes = sqliteTable("api_key_hashes", {
  /** SHA-256 of the key. */
  hash: blob({ mode: "buffer" }).primaryKey(),
  api_key_n: integer().notNull().unique(),
  checksum: integer().notNull(),
});

/** Settings of the appliance itself. */
export const applianceSettings = sqliteTable("appliance_settings", {
  name: text().primaryKey(),
  value: text().notNull(),
  checksum: integer().notNull(),
});
