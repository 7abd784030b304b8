// What the writer runs for sign-ins: sessions and the times of use. None of it makes a version.

import { eq, lt } from "drizzle-orm";
import { formatInstant, type Instant } from "../base/instant.ts";
import type { WriteTransaction } from "../db/transaction.ts";
import { apiKeyKind } from "../resources/api-keys/api-key.ts";
import { userKind } from "../resources/users/user.ts";
import { SESSION_IDLE_MS } from "./gate.ts";
import { sessions } from "./tables.ts";

export function touchKey(tx: WriteTransaction, input: { n: number; at: Instant }): void {
  const id = tx.recordId(input.n);
  if (id !== null && tx.find(apiKeyKind, id) !== null) tx.observe(apiKeyKind, id, { last_used: formatInstant(input.at) });
}

export function touchSession(tx: WriteTransaction, input: { hash: Uint8Array; at: Instant }): void {
  tx.db.update(sessions).set({ last_used_at: input.at }).where(eq(sessions.hash, Buffer.from(input.hash))).run();
}

/** A new session of a user who has just signed in; sessions that nobody will use again go. */
export function openSession(tx: WriteTransaction, input: { hash: Uint8Array; userId: string; at: Instant }): void {
  const userN = tx.recordN(input.userId);
  if (userN === null || tx.find(userKind, input.userId) === null) return;
  tx.db.delete(sessions).where(lt(sessions.last_used_at, input.at - SESSION_IDLE_MS)).run();
  tx.db.insert(sessions).values({ hash: Buffer.from(input.hash), user_n: userN, created_at: input.at, last_used_at: input.at }).run();
  tx.observe(userKind, input.userId, { last_login: formatInstant(input.at) });
}

export function closeSession(tx: WriteTransaction, input: { hash: Uint8Array }): void {
  tx.db.delete(sessions).where(eq(sessions.hash, Buffer.from(input.hash))).run();
}
