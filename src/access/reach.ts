// What a command may touch: records of the caller's organization, below the networks that the caller reaches.
// Unknown, foreign and out of reach are the same to whoever asks.

import { DomainError, invalid, notFound, referenceInvalid } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import { type AnyKind, containerId, type Kind, type RecordBase } from "../db/kind.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import type { CommandActor } from "./actor.ts";
import { type Role, reachesEveryNetwork } from "./role.ts";

/** The record that a path names. @throws DomainError entity_not_found */
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

/** The record, or null where there is none for this caller. */
export function findReachable<R extends RecordBase>(
  tx: WriteTransaction,
  kind: Kind<R>,
  id: string,
  actor: CommandActor,
): R | null {
  const record = tx.find(kind, id);
  if (record === null) return null;
  const organizationN = tx.recordN(actor.organizationId);
  // A record that this transaction creates belongs to the caller.
  const own = tx.organizationNOf(id);
  if (own !== organizationN) return null;
  return liesInReach(kind, record, actor) ? record : null;
}

/**
 * The networks that a user reaches; null for every network of the organization.
 * @param named those that the user's record names
 */
export function networksOfUser<Network>(role: Role, named: () => readonly Network[]): readonly Network[] | null {
  return reachesEveryNetwork(role) ? null : named();
}

/** What is reached both ways, as by a key and by its user; null for every network of the organization. */
export function commonNetworks<Network>(
  one: readonly Network[] | null,
  other: readonly Network[] | null,
): readonly Network[] | null {
  if (one === null || other === null) return one ?? other;
  const reached = new Set(other);
  return one.filter((network) => reached.has(network));
}

/** Whose reach: networks by their ids, null for all of the organization. */
type Reaching = Pick<CommandActor, "networkIds">;

/** Whether someone reaches a network of their organization. */
export function reachesNetwork({ networkIds }: Reaching, networkId: string): boolean {
  return networkIds === null || networkIds.includes(networkId);
}

/**
 * Whether a record of their organization, as it is or was, lies in a network that someone reaches, or in none. Reads
 * ask the same in SQL, of the same field: `kind.scopes.network`.
 */
export function liesInReach(kind: AnyKind, record: RecordBase, reaching: Reaching): boolean {
  const networkId = containerId(kind, record, "network");
  return networkId === null || reachesNetwork(reaching, networkId);
}

/**
 * The records that a body refers to, in the order given, each once.
 * @param field as the caller wrote it: `tags`
 * @throws DomainError entity_reference_invalid with all that are unknown, foreign or out of reach
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
 * For what touches every network, whatever it names. An Owner and an Admin reach them all; a key of theirs may not.
 * @param what `Managing users`
 * @throws DomainError entity_access_denied
 */
export function assertReachesAll({ networkIds }: Reaching, what: string): void {
  if (networkIds === null) return;
  throw new DomainError(
    "entity_access_denied",
    `${what} requires access to every network; this API key is limited to some.`,
    {},
  );
}

/** @throws DomainError entity_access_denied for an `organization_id` that is not the caller's */
export function assertOwnOrganization(organizationId: string | undefined, actor: CommandActor): void {
  if (organizationId !== undefined && organizationId !== actor.organizationId) {
    throw new DomainError("entity_access_denied", "The field organization_id is not your organization's.", {
      field: "organization_id",
      value: organizationId,
    });
  }
}

/**
 * Ids that a client sends back must be the record's own.
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
    throw invalid([
      {
        path: `/${field}`,
        message: `must be the record's own ${field}; it cannot be changed`,
        value: ownValue(sent, field),
      },
    ]);
  }
}
