// Writer commands for sign-ins: sessions and last-used times. None of them creates a version.

import { and, count, desc, eq, gte, lt, ne } from "drizzle-orm";
import { invalidCredentials } from "../access/actor.ts";
import { SESSION_IDLE_MS, sessions, userPasswords } from "../access/tables.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import { withChanges, withChecksum } from "../db/row-checksum.ts";
import { type CallsOf, markPermissionReducing } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { apiKeyKind } from "../resources/api-keys/api-key.ts";
import { userKind } from "../resources/users/user.ts";
import type { SessionOrigin } from "./session-origin.ts";

/** Retention of an ended session, so that a returning client learns that it ended. */
export const SESSION_RETENTION_MS = 4 * SESSION_IDLE_MS;

export interface SessionOpening {
  /** SHA-256 of the new token. */
  readonly hash: Uint8Array;
  readonly userId: string;
  readonly at: Instant;
  /** The verified password hash: if the password has changed since, the session is not opened. */
  readonly passwordHash?: string;
  /** The client's previous session, which is closed. */
  readonly replaces?: Uint8Array | null;
  readonly origin?: SessionOrigin;
}

export interface SessionUse {
  readonly hash: Uint8Array;
  readonly at: Instant;
  readonly origin: SessionOrigin;
}

export interface OtherSessions {
  readonly userId: string;
  /** SHA-256 of the one token to keep. */
  readonly keptHash: Uint8Array;
  readonly at: Instant;
}

/**
 * Records the last use of a key: an observation, not a version. Ignores a key deleted since.
 * @param input.n the key's record number
 */
function touchKey(tx: WriteTransaction, input: { n: number; at: Instant }): void {
  const id = tx.recordId(input.n);
  if (id !== null && tx.find(apiKeyKind, id) !== null)
    tx.observe(apiKeyKind, id, { last_used: formatInstant(input.at) });
}

/** Records the last use of a session, with its address and client. Idle sessions expire. */
function touchSession(tx: WriteTransaction, input: SessionUse): void {
  const matches = eq(sessions.hash, Buffer.from(input.hash));
  const session = tx.db.select().from(sessions).where(matches).limit(1).all()[0];
  if (session === undefined) return;
  tx.db
    .update(sessions)
    .set(withChanges(sessions, session, { last_used_at: input.at, ...input.origin }))
    .where(matches)
    .run();
}

/** Limit per user: a program that signs in on every run and never signs out must not fill the database. */
export const SESSIONS_OF_USER_MAX = 100;

/** Makes room for one more session of a user; the most recently used ones are kept. */
function endOldest(tx: WriteTransaction, userN: number): void {
  const userSessions = tx.db
    .select({ hash: sessions.hash })
    .from(sessions)
    .where(eq(sessions.user_n, userN))
    .orderBy(desc(sessions.last_used_at))
    .all();
  for (const { hash } of userSessions.slice(SESSIONS_OF_USER_MAX - 1)) closeSession(tx, { hash });
}

/**
 * Opens a session for a user whose password was just verified.
 * @throws DomainError auth_invalid_credentials if the user has been deleted or disabled, or the password changed
 */
export function openSession(tx: WriteTransaction, input: SessionOpening): void {
  const user = tx.find(userKind, input.userId);
  const userN = tx.recordN(input.userId);
  if (user === null || userN === null || !user.is_enabled) throw invalidCredentials();
  if (input.passwordHash !== undefined) {
    const stored = tx.db
      .select({ hash: userPasswords.hash })
      .from(userPasswords)
      .where(eq(userPasswords.user_n, userN))
      .limit(1)
      .all()[0];
    if (stored?.hash !== input.passwordHash) throw invalidCredentials();
  }
  tx.db
    .delete(sessions)
    .where(lt(sessions.last_used_at, input.at - SESSION_RETENTION_MS))
    .run();
  if (input.replaces !== undefined && input.replaces !== null) closeSession(tx, { hash: input.replaces });
  endOldest(tx, userN);
  const { at, origin } = input;
  const session = { hash: Buffer.from(input.hash), user_n: userN, created_at: at, last_used_at: at, ...origin };
  tx.db.insert(sessions).values(withChecksum(sessions, session)).run();
  tx.observe(userKind, input.userId, { last_login: formatInstant(input.at) });
}

/** Closes a session, if it still exists. */
function closeSession(tx: WriteTransaction, input: { hash: Uint8Array }): void {
  tx.db
    .delete(sessions)
    .where(eq(sessions.hash, Buffer.from(input.hash)))
    .run();
}

/** Closes a user's other sessions. @returns the number of those that had not expired */
function closeOtherSessions(tx: WriteTransaction, input: OtherSessions): number {
  const others = and(
    eq(sessions.user_n, tx.recordN(input.userId) as number),
    ne(sessions.hash, Buffer.from(input.keptHash)),
  );
  const ended = tx.db
    .select({ count: count() })
    .from(sessions)
    .where(and(others, gte(sessions.last_used_at, input.at - SESSION_IDLE_MS)))
    .all()[0]?.count;
  tx.db.delete(sessions).where(others).run();
  return ended ?? 0;
}

export const signInCommands = {
  "session.open": openSession,
  "session.touch": touchSession,
  "session.close": markPermissionReducing(closeSession),
  "session.close_others": markPermissionReducing(closeOtherSessions),
  "key.touch": touchKey,
};
export type SignInCommands = CallsOf<typeof signInCommands>;
