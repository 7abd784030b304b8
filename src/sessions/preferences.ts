// Writer commands for preferences: one JSON object per user. None of them creates a version.

import { eq } from "drizzle-orm";
import type { CommandActor } from "../access/actor.ts";
import { userPreferences } from "../access/tables.ts";
import { withChecksum } from "../db/row-checksum.ts";
import type { CallsOf, Conditional } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { assertVersion, type TaggedVersion } from "../schemas/entity-tags.ts";

/** Stored preferences. */
export interface StoredPreferences {
  /** A JSON object. */
  readonly text: string;
  /** Number of writes; 0 if never written. */
  readonly revision: number;
}

export const NO_PREFERENCES: StoredPreferences = { text: "{}", revision: 0 };

interface PreferencesChange extends Conditional {
  /** A JSON object. */
  readonly text: string;
}

/** Version tag, unique among all preferences the user has ever had. */
export function preferencesVersion({ text, revision }: StoredPreferences): TaggedVersion {
  return { sequence: revision, hashPrefix: Bun.hash(text).toString(36) };
}

/**
 * Replaces the caller's preferences.
 * @throws DomainError precondition_failed
 */
function setPreferences(tx: WriteTransaction, input: PreferencesChange, actor: CommandActor): StoredPreferences {
  const userN = tx.recordN(actor.userId as string) as number;
  const stored = tx.db
    .select({ text: userPreferences.preferences, revision: userPreferences.revision })
    .from(userPreferences)
    .where(eq(userPreferences.user_n, userN))
    .limit(1)
    .all()[0];
  const before = stored ?? NO_PREFERENCES;
  assertVersion(input.ifMatch, preferencesVersion(before));
  const after = { text: input.text, revision: before.revision + 1 };
  const row = withChecksum(userPreferences, { user_n: userN, preferences: after.text, revision: after.revision });
  tx.db.insert(userPreferences).values(row).onConflictDoUpdate({ target: userPreferences.user_n, set: row }).run();
  return after;
}

export const preferenceCommands = { "preferences.set": setPreferences };
export type PreferenceCommands = CallsOf<typeof preferenceCommands>;
