// Writer commands for API keys and the rules beyond the schema: owner, permissions and networks of a key. Only the hash
// is stored, separate from the record, which holds the mask; the plaintext passes through to the response.

import { eq } from "drizzle-orm";
import { type CommandActor, requireRole } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, findReachable, getReferenced } from "../../access/reach.ts";
import { atLeast, reachesEveryNetwork } from "../../access/role.ts";
import { apiKeyHashes } from "../../access/tables.ts";
import { DomainError, invalid, notFound, referenceInvalid } from "../../base/errors.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import { type Cidr, cidrSortKey, isMappedBlock, parseCidr } from "../../base/ip.ts";
import { compareCodePoints } from "../../base/text.ts";
import type { RecordBase, Written } from "../../db/kind.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import { type CallsOf, type ChangeInput, markPermissionReducing, type Removal } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeRecord } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { createRecord } from "../record-changes.ts";
import { existingTags } from "../tags/tag.ts";
import { type UserRecord, userKind } from "../users/user.ts";
import { type ApiKeyCreate, type ApiKeyRecord, type ApiKeyUpdate, apiKeyKind, networksInForce } from "./api-key.ts";
import { findWritableKey } from "./writable-key.ts";

/** Plaintext of a new key and its stored parts. */
export interface KeySecret {
  /** Only in the response; a retried request (Idempotency-Key) gets the same text. */
  readonly text: string;
  /** SHA-256. */
  readonly hash: Uint8Array;
  readonly mask: string;
}

/** Result of a command that generated a key. */
export interface GeneratedKey extends Written {
  readonly text: string;
}

type Networks = Pick<ApiKeyRecord, "all_networks" | "network_ids">;
const FOLLOWS_USER: Networks = { all_networks: true, network_ids: [] };

/**
 * Creates a key for the caller or, for Owner and Admin, for a user whose role is not above theirs.
 * @throws DomainError entity_access_denied, auth_permission_denied, entity_reference_invalid, validation_failed,
 * entity_already_exists
 */
function createApiKey(
  tx: WriteTransaction,
  input: { body: ApiKeyCreate; secret: KeySecret },
  actor: CommandActor,
): GeneratedKey {
  const { body, secret } = input;
  assertOwnOrganization(body.organization_id, actor);
  const user = getKeyUser(tx, body.user_id, actor);
  const permissions = body.permissions ?? "Viewer";
  assertMayGrant(permissions, actor);
  const key = createRecord(tx, apiKeyKind, body, actor, {
    name: body.name,
    organization_id: actor.organizationId,
    user_id: user.id,
    tags: existingTags(tx, body.tags, actor),
    expires_at: expiry(body.expires_at, null),
    is_enabled: body.is_enabled ?? true,
    permissions,
    allowed_sources: allowedSources(body.allowed_sources, null),
    ...networks(tx, body, user, actor, null),
    key: secret.mask,
  });
  tx.runAfterWrite(() => storeHash(tx, key.id, secret.hash));
  return { id: key.id, text: secret.text };
}

/**
 * Updates everything except the secret. Omitted fields keep their values.
 * @throws DomainError auth_permission_denied, entity_reference_invalid, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateApiKey(tx: WriteTransaction, input: ChangeInput<ApiKeyUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const key = getWritableKey(tx, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(key, body, ["id"]);
  return tx.update(apiKeyKind, id, keyFields(tx, key, body, actor));
}

/**
 * Computes a key's fields after a write; writes nothing.
 * @throws DomainError entity_access_denied, auth_permission_denied, entity_reference_invalid, validation_failed
 */
export function keyFields(
  tx: WriteTransaction,
  key: ApiKeyRecord,
  body: ApiKeyUpdate,
  actor: CommandActor,
): Omit<ApiKeyRecord, keyof RecordBase | "organization_id" | "key"> {
  const user = getKeyUser(tx, body.user_id, actor);
  const permissions = body.permissions ?? key.permissions;
  if (permissions !== key.permissions) assertMayGrant(permissions, actor);
  return {
    name: body.name,
    user_id: user.id,
    tags: existingTags(tx, body.tags, actor),
    expires_at: expiry(body.expires_at, key.expires_at),
    is_enabled: body.is_enabled ?? key.is_enabled,
    permissions,
    allowed_sources: allowedSources(body.allowed_sources, key.allowed_sources),
    ...networks(tx, body, user, actor, key),
  };
}

/** Replaces the secret of a key; the old secret is rejected from now on. */
export function rotateApiKey(
  tx: WriteTransaction,
  input: { id: string; secret: KeySecret },
  actor: CommandActor,
): GeneratedKey {
  const { id, secret } = input;
  getWritableKey(tx, id, actor);
  // Two secrets may have the same mask; record a change in any case.
  tx.touch(apiKeyKind, id, "key");
  storeHash(tx, id, secret.hash);
  tx.update(apiKeyKind, id, { key: secret.mask });
  return { id, text: secret.text };
}

/**
 * Deletes a key; its secret is rejected from now on.
 * @throws DomainError entity_not_found; precondition_failed; auth_permission_denied
 */
function removeApiKey(tx: WriteTransaction, input: Removal, actor: CommandActor): Written {
  const key = getWritableKey(tx, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, apiKeyKind, input.id, false);
  return key;
}

/**
 * @throws DomainError entity_not_found for a key hidden from the caller, auth_permission_denied for a read-only one
 */
function getWritableKey(tx: WriteTransaction, id: string, actor: CommandActor): ApiKeyRecord {
  const key = findWritableKey(tx, id, actor);
  if (key === null) throw notFound(apiKeyKind, id);
  return key;
}

/**
 * Resolves the user of a key. Callers who may not learn whether a user exists get the same error for every user that
 * they may not choose.
 */
function getKeyUser(tx: WriteTransaction, userId: string, actor: CommandActor): UserRecord {
  const user = findReachable(tx, userKind, userId, actor);
  const isAllowed =
    user !== null && (user.id === actor.userId || (atLeast(actor.role, "Admin") && atLeast(actor.role, user.role)));
  if (isAllowed) return user;
  const restriction = atLeast(actor.role, "Admin")
    ? "is not a user of your organization with a role up to yours"
    : "is not your own";
  throw new DomainError("entity_access_denied", `The field user_id ${restriction}.`, {
    field: "user_id",
    value: userId,
  });
}

function assertMayGrant(permissions: ApiKeyRecord["permissions"], actor: CommandActor): void {
  requireRole(actor.role, permissions, `Granting an API key the role ${permissions}`);
}

/** A past timestamp expires the key: that ends the key and keeps its record. */
function expiry(sent: string | null | undefined, stored: string | null): string | null {
  if (sent === undefined) return stored;
  const at = sent === null ? null : parseInstant(sent);
  return at === null ? null : formatInstant(at);
}

/** Deduplicates and sorts by address: reordering the list is not a change. */
function allowedSources(
  sent: readonly string[] | null | undefined,
  stored: readonly string[] | null,
): readonly string[] | null {
  if (sent === undefined) return stored;
  if (sent === null) return null;
  const mapped = sent.flatMap((value, index) =>
    isMappedBlock(parseCidr(value) as Cidr)
      ? [{ path: `/allowed_sources/${index}`, message: "must use IPv4 notation for IPv4 addresses, not IPv6", value }]
      : [],
  );
  if (mapped.length > 0) throw invalid(mapped);
  return [...new Set(sent)].sort((a, b) => compareCodePoints(cidrSortKey(a), cidrSortKey(b)));
}

/**
 * Resolves the networks requested by a write. A list sets exactly those; `all_networks: true` follows the user. Both
 * together are a contradiction, unless the list equals the one last returned to the client.
 */
function networks(
  tx: WriteTransaction,
  body: ApiKeyUpdate,
  user: UserRecord,
  actor: CommandActor,
  stored: ApiKeyRecord | null,
): Networks {
  const followed = stored === null || stored.all_networks;
  if (body.network_ids === undefined) {
    if (body.all_networks === true) return FOLLOWS_USER;
    if (body.all_networks === false && followed)
      throw invalid({ path: "/network_ids", message: "is required if all_networks is false" });
    return followed ? FOLLOWS_USER : selectedNetworks(stored.network_ids);
  }
  const ids = [...new Set(body.network_ids)];
  if (body.all_networks === true) {
    const current = stored ?? { ...FOLLOWS_USER, user_id: user.id };
    const lastReturned = networksInForce(current, tx.get(userKind, current.user_id), networksOfOrganization(tx, actor));
    // A client unaware of all_networks may empty the list; that must not grant all networks.
    const isListCleared = ids.length === 0 && !(stored?.all_networks ?? false);
    if (isListCleared || isSameSet(ids, lastReturned)) return FOLLOWS_USER;
    throw invalid({
      path: "/network_ids",
      message: "contradicts all_networks: omit it to follow the user, or send all_networks: false with it",
      value: ids.slice(0, 5),
    });
  }
  getReferenced(tx, networkKind, ids, "network_ids", actor);
  const reachable = new Set(user.network_ids);
  const outOfReach = reachesEveryNetwork(user.role) ? [] : ids.filter((id) => !reachable.has(id));
  if (outOfReach.length > 0) throw referenceInvalid(networkKind, "network_ids", outOfReach);
  // Reordering is not a change. Checked last: the stored list may contain networks no longer in reach.
  return selectedNetworks(!followed && isSameSet(ids, stored.network_ids) ? stored.network_ids : ids);
}

function selectedNetworks(ids: readonly string[]): Networks {
  return { all_networks: false, network_ids: ids };
}

function networksOfOrganization(tx: WriteTransaction, actor: CommandActor): string[] {
  return tx.children(networkKind, "organization_n", actor.organizationId).map((network) => network.id);
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const others = new Set(b);
  return a.length === others.size && a.every((id) => others.has(id));
}

function storeHash(tx: WriteTransaction, keyId: string, hash: Uint8Array): void {
  const keyN = tx.recordN(keyId) as number;
  tx.db.delete(apiKeyHashes).where(eq(apiKeyHashes.api_key_n, keyN)).run();
  tx.db
    .insert(apiKeyHashes)
    .values(withChecksum(apiKeyHashes, { hash: Buffer.from(hash), api_key_n: keyN }))
    .run();
}

export const apiKeyCommands = {
  "api_key.create": createApiKey,
  "api_key.update": markPermissionReducing(updateApiKey),
  "api_key.rotate": markPermissionReducing(rotateApiKey),
  "api_key.delete": markPermissionReducing(removeApiKey),
  "api_key.bulk_delete": markPermissionReducing(removeEach(apiKeyKind, removeApiKey)),
};
export type ApiKeyCommands = CallsOf<typeof apiKeyCommands>;
