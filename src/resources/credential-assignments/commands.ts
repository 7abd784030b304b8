// What the writer runs to confirm an address: an Admin's word that the credentials of its host go there.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import type { CallsOf, Conditional } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { type Confirmed, ipAddressKind } from "../ip-addresses/ip-address.ts";
import { assignmentsFor, cover, isCovered } from "./coverage.ts";
import { credentialAssignmentKind } from "./credential-assignment.ts";
import { assertReachesCredential } from "./reach.ts";

/**
 * Sends the credentials that are assigned to an address's host, and meant for the address, to its value. Where they go
 * there already nothing is written; else the address and the assignments get a version each, so that the ledger tells
 * whose word it was.
 * @throws DomainError entity_not_found; precondition_failed; auth_permission_denied; entity_access_denied for a
 * credential that a confined caller may not assign
 */
export function confirmIpAddress(
  tx: WriteTransaction,
  input: Conditional & { id: string },
  actor: CommandActor,
): Confirmed {
  const { id } = input;
  const address = getReachable(tx, ipAddressKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  requireRole(actor.role, "Admin", "Confirming an address");
  const assignments = assignmentsFor(tx, address);
  const waiting = assignments.filter((assignment) => !isCovered(tx, assignment.id, address.ip_address));
  for (const assignment of waiting) assertReachesCredential(tx, assignment.credential_id, actor);
  for (const assignment of waiting) {
    cover(tx, assignment.id, [address.ip_address], "Confirmed");
    tx.touch(credentialAssignmentKind, assignment.id, CONFIRMED_FIELD);
  }
  if (waiting.length > 0) tx.touch(ipAddressKind, id, CONFIRMED_FIELD);
  return { id, credential_ids: assignments.map((assignment) => assignment.credential_id) };
}

/** What history says has changed by a confirmation: as the answer has it, of which no version keeps the value. */
const CONFIRMED_FIELD = "credential_ids";

export const confirmationCommands = { "ip_address.confirm": confirmIpAddress };
export type ConfirmationCommands = CallsOf<typeof confirmationCommands>;
