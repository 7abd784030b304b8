// Writer commands for address confirmation: an Admin permits sending the host's credentials to an address.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import type { CallsOf, Conditional } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { type ConfirmedAddress, ipAddressKind } from "../ip-addresses/ip-address.ts";
import { assignmentsFor, cover, isCovered } from "./coverage.ts";
import { credentialAssignmentKind } from "./credential-assignment.ts";
import { assertReachesCredential } from "./reach.ts";

/**
 * Starts coverage of an address by every assignment of its host that includes it. Writes nothing if all cover it
 * already; otherwise the address and each assignment get a version, so that the ledger records who confirmed.
 * @throws DomainError entity_not_found; precondition_failed; auth_permission_denied; entity_access_denied for a
 * credential that a confined caller may not assign
 */
export function confirmIpAddress(
  tx: WriteTransaction,
  input: Conditional & { id: string },
  actor: CommandActor,
): ConfirmedAddress {
  const { id } = input;
  const address = getReachable(tx, ipAddressKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  requireRole(actor.role, "Admin", "Confirming an address");
  const assignments = assignmentsFor(tx, address);
  const uncovered = assignments.filter((assignment) => !isCovered(tx, assignment.id, address.ip_address));
  for (const assignment of uncovered) assertReachesCredential(tx, assignment.credential_id, actor);
  for (const assignment of uncovered) {
    cover(tx, assignment.id, [address.ip_address], "Confirmed");
    tx.touch(credentialAssignmentKind, assignment.id, CONFIRMED_FIELD);
  }
  if (uncovered.length > 0) tx.touch(ipAddressKind, id, CONFIRMED_FIELD);
  return { id, credential_ids: assignments.map((assignment) => assignment.credential_id) };
}

/** Changed field as history reports a confirmation. Named as in the response; no version stores its value. */
const CONFIRMED_FIELD = "credential_ids";

export const confirmationCommands = { "ip_address.confirm": confirmIpAddress };
export type ConfirmationCommands = CallsOf<typeof confirmationCommands>;
