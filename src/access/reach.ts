// Reach checks for commands: the record must belong to the caller's organization and to a network the caller can
// access. Unknown and inaccessible records cause the same error.

import { DomainError, invalid, notFound, referenceInvalid } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import { type AnyKind, containerId, type Kind, type RecordBase } from "../db/kind.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import type { CommandActor } from "./actor.ts";
import { type Role, reachesEveryNetwork } from "./role.ts";

/** The record named in a path. @throws DomainError entity_not_found */
export function getReachable<R extends RecordBase>(
  tx: WriteTransaction,
  kind: Kind<R>,
  id: string,
  actor: CommandActor,
): R {
  const record = findReachable(tx, kind, id, actor);
  if (record === null) throw notFound(kind, id);
  return record;
}

/** The record, or null if it does not exist for this caller. */
export function findReachable<R extends RecordBase>(
  tx: WriteTransaction,
  kind: Kind<R>,
  id: string,
  actor: CommandActor,
): R | null {
  const record = tx.find(kind, id);
  if (record === null) return null;
  const organizationN = tx.recordN(actor.organizationId);
  // Records created by this transaction belong to the caller.
  const own = tx.organizationNOf(id);
  if (own !== organizationN) return null;
  return isInReach(kind, record, actor) ? record : null;
}

/**
 * Networks reached by a user; null for every network of the organization.
 * @param named networks listed in the user's record
 */
export function networksOfUser<Network>(role: Role, named: () => readonly Network[]): readonly Network[] | null {
  return reachesEveryNetwork(role) ? null : named();
}

/** Intersection of two reaches, as of a key and its user; null for every network of the organization. */
export function commonNetworks<Network>(
  first: readonly Network[] | null,
  second: readonly Network[] | null,
): readonly Network[] | null {
  if (first === null || second === null) return first ?? second;
  const reached = new Set(second);
  return first.filter((network) => reached.has(network));
}

/** Networks in reach by id, null for all of the organization. */
type ReachScope = Pick<CommandActor, "networkIds">;

/** Whether a network of the organization is in reach. */
export function reachesNetwork({ networkIds }: ReachScope, networkId: string): boolean {
  return networkIds === null || networkIds.includes(networkId);
}

/**
 * Whether a present or past record of the organization is in a reachable network, or in none. Reads check the same in
 * SQL on the same field: `kind.scopes.network`.
 */
export function isInReach(kind: AnyKind, record: RecordBase, scope: ReachScope): boolean {
  const networkId = containerId(kind, record, "network");
  return networkId === null || reachesNetwork(scope, networkId);
}

/**
 * Distinct records referenced by a body, in the given order.
 * @param field as written by the caller: `tags`
 * @throws DomainError entity_reference_invalid with all unknown, foreign and unreachable ids
 */
export function getReferenced<R extends RecordBase>(
  tx: WriteTransaction,
  kind: Kind<R>,
  ids: readonly string[],
  field: string,
  actor: CommandActor,
): R[] {
  const wrong: string[] = [];
  const found: R[] = [];
  for (const id of new Set(ids)) {
    const record = findReachable(tx, kind, id, actor);
    if (record === null) wrong.push(id);
    else found.push(record);
  }
  if (wrong.length > 0) throw referenceInvalid(kind, field, wrong);
  return found;
}

/**
 * For operations that affect every network. Owners and Admins reach all networks; their keys may not.
 * @param subject `Managing users`
 * @throws DomainError entity_access_denied
 */
export function assertReachesAll({ networkIds }: ReachScope, subject: string): void {
  if (networkIds === null) return;
  throw new DomainError(
    "entity_access_denied",
    `${subject} requires access to every network; this API key is limited to some.`,
    {},
  );
}

/** @throws DomainError entity_access_denied for an `organization_id` other than the caller's */
export function assertOwnOrganization(organizationId: string | undefined, actor: CommandActor): void {
  if (organizationId !== undefined && organizationId !== actor.organizationId) {
    throw new DomainError("entity_access_denied", "The field organization_id is not your organization's.", {
      field: "organization_id",
      value: organizationId,
    });
  }
}

/**
 * Requires ids sent back by a client to be the record's own.
 * @throws DomainError validation_id_mismatch for `id`, validation_failed for others
 */
export function assertSameIds(record: object, body: object, fields: readonly string[]): void {
  const own = record as Record<string, unknown>;
  const sent = body as Record<string, unknown>;
  for (const field of fields) {
    if (ownValue(sent, field) === undefined || ownValue(sent, field) === ownValue(own, field)) continue;
    if (field === "id")
      throw new DomainError("validation_id_mismatch", "The id in the body does not match the path.", {
        path_id: own[field],
        body_id: sent[field],
      });
    throw invalid({
      path: `/${field}`,
      message: `must be the record's own ${field}; it cannot be changed`,
      value: ownValue(sent, field),
    });
  }
}
