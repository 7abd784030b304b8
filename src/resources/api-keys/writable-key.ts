// Write access to API keys: the caller's own keys and, for Owner and Admin, keys of equal or lower roles. Which fields
// may change is decided in commands.ts.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { findReachable } from "../../access/reach.ts";
import { atLeast } from "../../access/role.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { userKind } from "../users/user.ts";
import { type ApiKeyRecord, apiKeyKind } from "./api-key.ts";

/**
 * Finds the caller's own key or, for Owner and Admin, any key of a user whose role is not above theirs. Null for a key
 * hidden from the caller.
 * @throws DomainError auth_permission_denied for a key that the caller may only read
 */
export function findWritableKey(tx: WriteTransaction, id: string, actor: CommandActor): ApiKeyRecord | null {
  const key = findReachable(tx, apiKeyKind, id, actor);
  if (key === null || key.user_id === actor.userId) return key;
  if (!atLeast(actor.role, "Admin")) return null;
  const { role } = tx.get(userKind, key.user_id);
  requireRole(actor.role, role, `Changing the API key of a user with the role ${role}`);
  return key;
}
