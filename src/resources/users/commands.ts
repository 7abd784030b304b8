// Writer commands for users and the rules beyond the schema: callers cannot grant or revoke a role above their own, and
// every organization keeps an Owner who can sign in. Passwords arrive hashed.

import { and, eq, ne } from "drizzle-orm";
import { type CommandActor, requireRole } from "../../access/actor.ts";
import { assertOwnOrganization, assertReachesAll, getReferenced } from "../../access/reach.ts";
import { sessions, userPasswords } from "../../access/tables.ts";
import { DomainError, invalid } from "../../base/errors.ts";
import type { OwnFields, Written } from "../../db/kind.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import { type CallsOf, type ChangeInput, exemptFromReason, markPermissionReducing } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeOne } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { type UserCreate, type UserRecord, type UserUpdate, userKind } from "./user.ts";

export interface UserCreation {
  readonly body: Omit<UserCreate, "password">;
  /** Argon2id, PHC string format. */
  readonly passwordHash: string;
}

export interface UserChange extends ChangeInput<Omit<UserUpdate, "password">> {
  /** Null if the password is unchanged. */
  readonly passwordHash: string | null;
}

export interface PasswordChange {
  readonly id: string;
  readonly passwordHash: string;
  /** SHA-256 of the token of the one session to keep; null ends all sessions. */
  readonly keptHash: Uint8Array | null;
}

/**
 * Creates a user whose role is not above the caller's.
 * @throws DomainError entity_access_denied, auth_permission_denied, entity_reference_invalid, entity_already_exists
 */
export function createUser(tx: WriteTransaction, input: UserCreation, actor: CommandActor): Written {
  const { body, passwordHash } = input;
  assertOwnOrganization(body.organization_id, actor);
  assertReachesAll(actor, MANAGING_USERS);
  requireRole(actor.role, body.role, `Creating a user with the role ${body.role}`);
  const user = createRecord(tx, userKind, body, actor, {
    organization_id: actor.organizationId,
    email: body.email,
    name: body.name ?? body.email,
    role: body.role,
    network_ids: existingNetworks(tx, body.network_ids ?? [], actor),
    is_enabled: body.is_enabled ?? true,
  });
  tx.runAfterWrite(() => storePassword(tx, user.id, passwordHash));
  return user;
}

/**
 * Updates a user, including another user's password; disabling and a new password end the user's sessions.
 * @throws DomainError auth_permission_denied, entity_reference_invalid, entity_in_use for the only Owner,
 * entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch,
 * validation_failed
 */
export function updateUser(tx: WriteTransaction, input: UserChange, actor: CommandActor): Written {
  const { id, body } = input;
  const user = recordToUpdate(tx, userKind, input, actor, ["id"]);
  const fields = userFields(tx, user, body, actor);
  if (input.passwordHash !== null) {
    // An unattended session or a key must not suffice to take over an account.
    if (id === actor.userId)
      throw invalid({
        path: "/password",
        message: "is your own: change it with PUT /api/auth/password, which requires the current one",
      });
    setPassword(tx, { id, passwordHash: input.passwordHash, keptHash: null });
  }
  if (!fields.is_enabled) endSessions(tx, id, null);
  return tx.update(userKind, id, fields);
}

/**
 * Computes a user's fields after a write; writes nothing.
 * @throws DomainError entity_access_denied, auth_permission_denied, entity_in_use for the only Owner,
 * entity_reference_invalid
 */
export function userFields(
  tx: WriteTransaction,
  user: UserRecord,
  body: Omit<UserUpdate, "password">,
  actor: CommandActor,
): Omit<OwnFields<UserRecord>, "organization_id"> {
  assertReachesAll(actor, MANAGING_USERS);
  requireRole(actor.role, user.role, `Changing a user with the role ${user.role}`);
  requireRole(actor.role, body.role, `Granting a user the role ${body.role}`);
  const isEnabled = body.is_enabled ?? user.is_enabled;
  if (isActiveOwner(user) && !(body.role === "Owner" && isEnabled)) assertAnotherOwner(tx, user);
  return {
    email: body.email,
    name: body.name ?? user.name,
    role: body.role,
    network_ids: body.network_ids === undefined ? user.network_ids : existingNetworks(tx, body.network_ids, actor),
    is_enabled: isEnabled,
  };
}

/**
 * Sets a password and ends the user's sessions. The version records only that it changed: the hash never enters
 * history.
 */
function setPassword(tx: WriteTransaction, input: PasswordChange): Written {
  const user = tx.get(userKind, input.id);
  tx.touch(userKind, input.id, "password");
  storePassword(tx, input.id, input.passwordHash);
  endSessions(tx, input.id, input.keptHash);
  return user;
}

/** A password gives full access: a key confined to some networks could grant itself the others. */
export const MANAGING_USERS = "Managing users";

function existingNetworks(tx: WriteTransaction, ids: readonly string[], actor: CommandActor): string[] {
  getReferenced(tx, networkKind, ids, "network_ids", actor);
  return [...new Set(ids)];
}

function isActiveOwner(user: UserRecord): boolean {
  return user.role === "Owner" && user.is_enabled;
}

function assertAnotherOwner(tx: WriteTransaction, user: UserRecord): void {
  const owners = tx.children(userKind, "organization_n", user.organization_id).filter(isActiveOwner);
  if (owners.some((owner) => owner.id !== user.id)) return;
  throw new DomainError(
    "entity_in_use",
    "This is the organization's only Owner who can sign in: create another Owner before disabling, demoting or deleting this user.",
    {
      entity: "user",
      id: user.id,
      dependants: { organizations: 1 },
    },
  );
}

function storePassword(tx: WriteTransaction, userId: string, hash: string): void {
  const row = withChecksum(userPasswords, { user_n: tx.recordN(userId) as number, hash });
  tx.db.insert(userPasswords).values(row).onConflictDoUpdate({ target: userPasswords.user_n, set: row }).run();
}

function endSessions(tx: WriteTransaction, userId: string, keptHash: Uint8Array | null): void {
  const ofUser = eq(sessions.user_n, tx.recordN(userId) as number);
  tx.db
    .delete(sessions)
    .where(keptHash === null ? ofUser : and(ofUser, ne(sessions.hash, Buffer.from(keptHash))))
    .run();
}

/**
 * Deletes a user whose role is not above the caller's, with API keys, password and sessions, which are deleted with the
 * live row; the user's changes still name the user. Callers may delete themselves, as long as an Owner remains.
 */
const removeUser = removeOne(userKind, (tx, user, actor) => {
  assertReachesAll(actor, MANAGING_USERS);
  requireRole(actor.role, user.role, `Deleting a user with the role ${user.role}`);
  if (isActiveOwner(user)) assertAnotherOwner(tx, user);
});

export const userCommands = {
  "user.create": createUser,
  "user.update": markPermissionReducing(updateUser),
  "user.delete": markPermissionReducing(removeUser),
  "user.bulk_delete": markPermissionReducing(removeEach(userKind, removeUser)),
  "user.set_password": exemptFromReason(markPermissionReducing(setPassword)),
};
export type UserCommands = CallsOf<typeof userCommands>;
