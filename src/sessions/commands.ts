// What the writer runs for sign-ins: sessions and the times of use. None of it makes a version.

import { and, count, desc, eq, gte, lt, ne } from "drizzle-orm";
import { invalidCredentials } from "../access/actor.ts";
import { SESSION_IDLE_MS, sessions, userPasswords } from "../access/tables.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import { withChanges, withChecksum } from "../db/row-checksum.ts";
import { type CallsOf, loweringRights } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { apiKeyKind } from "../resources/api-keys/api-key.ts";
import { userKind } from "../resources/users/user.ts";
import type { SessionOrigin } from "./session-origin.ts";

/** An ended session is remembered for so long, so that whoever comes back is told that it ended. */
export const SESSION_FORGOTTEN_MS = 4 * SESSION_IDLE_MS;

export interface SessionOpening {
  /** SHA-256 of the new token. */
  readonly hash: Uint8Array;
  readonly userId: string;
  readonly at: Instant;
  /** The password's hash that was verified: one that was changed in the meantime signs nobody in. */
  readonly passwordHash?: string;
  /** The session that the client held before and holds no more. */
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
  /** SHA-256 of the one token that stays. */
  readonly keeps: Uint8Array;
  readonly at: Instant;
}

/**
 * When a key was last used: an observation, no version. Of a key that has gone meanwhile nothing is kept.
 * @param input.n the key's record number
 */
function touchKey(tx: WriteTransaction, input: { n: number; at: Instant }): void {
  const id = tx.recordId(input.n);
  if (id !== null && tx.find(apiKeyKind, id) !== null)
    tx.observe(apiKeyKind, id, { last_used: formatInstant(input.at) });
}

/** When a session was last used, from where and by what. Idle ones expire. */
function touchSession(tx: WriteTransaction, input: SessionUse): void {
  const isIt = eq(sessions.hash, Buffer.from(input.hash));
  const session = tx.db.select().from(sessions).where(isIt).limit(1).all()[0];
  if (session === undefined) return;
  tx.db
    .update(sessions)
    .set(withChanges(sessions, session, { last_used_at: input.at, ...input.origin }))
    .where(isIt)
    .run();
}

/** A program that signs in for each of its runs, and never out, must not fill the database. */
export const SESSIONS_OF_USER_MAX = 100;

/** Makes room for one more session of a user: what was used last stays. */
function endOldest(tx: WriteTransaction, userN: number): void {
  const own = tx.db
    .select({ hash: sessions.hash })
    .from(sessions)
    .where(eq(sessions.user_n, userN))
    .orderBy(desc(sessions.last_used_at))
    .all();
  for (const { hash } of own.slice(SESSIONS_OF_USER_MAX - 1)) closeSession(tx, { hash });
}

/**
 * A new session of a user whose password was just verified.
 * @throws DomainError auth_invalid_credentials when the user is gone or disabled by now, or has another password
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
    .where(lt(sessions.last_used_at, input.at - SESSION_FORGOTTEN_MS))
    .run();
  if (input.replaces !== undefined && input.replaces !== null) closeSession(tx, { hash: input.replaces });
  endOldest(tx, userN);
  const { at, origin } = input;
  const session = { hash: Buffer.from(input.hash), user_n: userN, created_at: at, last_used_at: at, ...origin };
  tx.db.insert(sessions).values(withChecksum(sessions, session)).run();
  tx.observe(userKind, input.userId, { last_login: formatInstant(input.at) });
}

/** Ends a session; one that is not there has ended already. */
function closeSession(tx: WriteTransaction, input: { hash: Uint8Array }): void {
  tx.db
    .delete(sessions)
    .where(eq(sessions.hash, Buffer.from(input.hash)))
    .run();
}

/** Ends a user's other sessions. @returns how many of them had not ended yet */
function closeOtherSessions(tx: WriteTransaction, input: OtherSessions): number {
  const others = and(
    eq(sessions.user_n, tx.recordN(input.userId) as number),
    ne(sessions.hash, Buffer.from(input.keeps)),
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
  "session.close": loweringRights(closeSession),
  "session.close_others": loweringRights(closeOtherSessions),
  "key.touch": touchKey,
};
export type SignInCommands = CallsOf<typeof signInCommands>;
