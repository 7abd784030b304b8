// Credential assignments of addresses that move to another host. Coverage never widens: an address awaiting
// confirmation still awaits it.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { cover, coveredAt, includesAddress } from "../credential-assignments/coverage.ts";
import {
  type CredentialAssignmentRecord,
  credentialAssignmentKind,
} from "../credential-assignments/credential-assignment.ts";
import { assertReachesCredential } from "../credential-assignments/reach.ts";
import type { HostRecord } from "../hosts/host.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { MoveDraft } from "./draft.ts";

/** @throws DomainError auth_permission_denied, entity_access_denied */
export function assertMayMove(
  tx: WriteTransaction,
  assignments: readonly CredentialAssignmentRecord[],
  actor: CommandActor,
  action: string,
): void {
  if (assignments.length === 0) return;
  requireRole(actor.role, "Admin", action);
  for (const { credential_id: id } of assignments) assertReachesCredential(tx, id, actor);
}

/**
 * Moves the assignments of one host to another. For a credential assigned to both, the destination's assignment is kept
 * and covers the addresses of both.
 */
export function moveAssignments(draft: MoveDraft, destination: HostRecord, other: HostRecord): void {
  const { tx } = draft;
  const own = new Map(
    tx.children(credentialAssignmentKind, "host_n", destination.id).map((each) => [each.credential_id, each]),
  );
  for (const assignment of tx.children(credentialAssignmentKind, "host_n", other.id)) {
    const addressIds = assignment.ip_address_ids?.map(draft.idOf) ?? null;
    const existing = own.get(assignment.credential_id);
    if (existing === undefined)
      draft.set(credentialAssignmentKind, assignment, { host_id: destination.id, ip_address_ids: addressIds }, "Moved");
    else {
      draft.close(
        credentialAssignmentKind,
        assignment,
        existing,
        "the credential is already assigned to the destination",
      );
      draft.keep(credentialAssignmentKind, existing);
      if (existing.ip_address_ids !== null) {
        const otherIds = addressIds ?? tx.children(ipAddressKind, "host_n", other.id).map(({ id }) => draft.idOf(id));
        const ip_address_ids = [...new Set([...existing.ip_address_ids, ...otherIds])];
        draft.set(credentialAssignmentKind, existing, { ip_address_ids }, "Changed");
      }
    }
  }
}

/** Continues the coverage of the moved addresses at the destination. Call before the draft is written. */
export function keepCoverage(draft: MoveDraft, other: HostRecord): void {
  const { tx } = draft;
  for (const { id } of tx.children(credentialAssignmentKind, "host_n", other.id))
    cover(tx, draft.idOf(id), [...coveredAt(tx, id, tx.sequence)], "Assigned");
}

/**
 * Assigns to a new host the credentials of the addresses moved there, and splits assignments that list addresses.
 * @param movedIds ids of the moved records
 */
export function splitAssignments(
  draft: MoveDraft,
  host: HostRecord,
  newId: string,
  movedIds: ReadonlySet<string>,
  actor: CommandActor,
): void {
  const { tx } = draft;
  const addresses = tx.children(ipAddressKind, "host_n", host.id).filter(({ id }) => movedIds.has(id));
  for (const assignment of tx.children(credentialAssignmentKind, "host_n", host.id)) {
    const included = addresses.filter(({ id }) => includesAddress(assignment, id));
    if (included.length === 0) continue;
    const { credential_id, network_id, ip_address_ids: addressIds } = assignment;
    const covered = coveredAt(tx, assignment.id, tx.sequence);
    const values = included.map(({ ip_address }) => ip_address).filter((value) => covered.has(value));
    draft.create(credentialAssignmentKind, {}, "it was assigned to addresses that move to the new host", () => {
      const ip_address_ids = addressIds === null ? null : included.map(({ id }) => id);
      const fields = { credential_id, network_id, host_id: newId, ip_address_ids };
      const created = tx.create(credentialAssignmentKind, actor.organizationId, fields);
      cover(tx, created.id, values, "Assigned");
      return created;
    });
    if (addressIds === null) continue;
    const remaining = addressIds.filter((id) => !movedIds.has(id));
    if (remaining.length === 0) draft.close(credentialAssignmentKind, assignment, null, "all its addresses move away");
    else draft.set(credentialAssignmentKind, assignment, { ip_address_ids: remaining }, "Changed");
  }
}
