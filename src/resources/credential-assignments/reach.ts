// Write access to credentials for callers confined to networks: they must have access to every assignment. Reveals
// nothing about inaccessible assignments except whether any exist.

import type { CommandActor } from "../../access/actor.ts";
import { reachesNetwork } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { credentialAssignmentKind } from "./credential-assignment.ts";

/**
 * Whether the caller may change or assign a credential. A confined caller may if it has assignments and reaches all of
 * them. An unassigned credential may be meant for others, and assigning it to the caller's own host would disclose its
 * secret.
 * @param credentialId of a live credential of the caller's organization
 */
export function reachesCredential(tx: WriteTransaction, credentialId: string, actor: CommandActor): boolean {
  if (actor.networkIds === null) return true;
  const assignments = tx.children(credentialAssignmentKind, "credential_n", credentialId);
  return assignments.length > 0 && assignments.every((assignment) => reachesNetwork(actor, assignment.network_id));
}

/**
 * Call before the transaction changes any assignment of the credential.
 * @throws DomainError entity_access_denied
 */
export function assertReachesCredential(tx: WriteTransaction, credentialId: string, actor: CommandActor): void {
  if (!reachesCredential(tx, credentialId, actor)) throw credentialOutOfReach(credentialId);
}

/** The same error for a credential used elsewhere and for an unused one. */
export function credentialOutOfReach(credentialId: string): DomainError {
  return new DomainError(
    "entity_access_denied",
    "A caller limited to some networks can change or assign a credential only if it is assigned in those networks and nowhere else.",
    { entity: "credential", id: credentialId },
  );
}
