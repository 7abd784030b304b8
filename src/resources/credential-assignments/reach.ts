// Who may change a credential although it is the organization's: whoever reaches everything that it is assigned to.
// Must not tell what lies beyond: only that there is something, or that there is nothing at all.

import type { CommandActor } from "../../access/actor.ts";
import { reachesNetwork } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { credentialAssignmentKind } from "./credential-assignment.ts";

/**
 * Whether the caller may change a credential or assign it. Whoever is confined to networks may where it has assignments
 * and all of them are within reach: one without any may be meant for anybody, and who assigns it to a host of their own
 * is sent its secret.
 * @param credentialId of a live credential of the caller's organization
 */
export function reachesCredential(tx: WriteTransaction, credentialId: string, actor: CommandActor): boolean {
  if (actor.networkIds === null) return true;
  const assignments = tx.children(credentialAssignmentKind, "credential_n", credentialId);
  return assignments.length > 0 && assignments.every((assignment) => reachesNetwork(actor, assignment.network_id));
}

/**
 * To be called before the transaction changes any assignment of the credential.
 * @throws DomainError entity_access_denied
 */
export function assertReachesCredential(tx: WriteTransaction, credentialId: string, actor: CommandActor): void {
  if (!reachesCredential(tx, credentialId, actor)) throw credentialOutOfReach(credentialId);
}

/** Says the same of a credential that is used elsewhere and of one that is not used at all. */
export function credentialOutOfReach(credentialId: string): DomainError {
  return new DomainError(
    "entity_access_denied",
    "A caller limited to some networks can change or assign a credential only if it is assigned in those networks and nowhere else.",
    { entity: "credential", id: credentialId },
  );
}
