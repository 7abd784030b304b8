// Credential assignments, written and viewed from the credential or from the host: one association, two views.
// Independent of how credentials and hosts themselves are written.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { findReachable, getReferenced, reachesNetwork } from "../../access/reach.ts";
import { type Issue, invalid, referenceInvalid } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { credentialKind } from "../credentials/credential.ts";
import { hostKind } from "../hosts/host.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { ItemPart } from "../issues.ts";
import { networkKind } from "../networks/network.ts";
import { coverAssigned } from "./coverage.ts";
import { assignmentKey, type CredentialAssignmentRecord, credentialAssignmentKind } from "./credential-assignment.ts";
import { assertReachesCredential } from "./reach.ts";

/** Assignments by credential. `ip_address_ids` null or omitted: every address of the host. */
export interface CredentialSide {
  readonly assigned_network_ids: readonly string[];
  readonly host_assignments: ReadonlyArray<{
    readonly host_id: string;
    readonly ip_address_ids?: readonly string[] | null;
  }>;
}

/** Item in a host's list of assignments. */
export interface HostSideItem {
  readonly credential_id: string;
  readonly ip_address_ids?: readonly string[] | null;
}

/**
 * Sets a credential's assignments to those of the body. Assignments in networks outside the caller's reach are kept.
 * Does not check whether the caller may change the credential.
 * @returns whether anything changed
 * @throws DomainError validation_failed for a duplicate host; entity_reference_invalid
 */
export function setCredentialAssignments(
  tx: WriteTransaction,
  credentialId: string,
  requested: CredentialSide,
  actor: CommandActor,
): boolean {
  const { host_assignments: items } = requested;
  assertNoDuplicates(
    items.map((item) => item.host_id),
    "/host_assignments",
    "host_id",
  );
  const networks = getReferenced(tx, networkKind, requested.assigned_network_ids, "assigned_network_ids", actor);
  const hosts = getReferenced(
    tx,
    hostKind,
    items.map((item) => item.host_id),
    "host_assignments/host_id",
    actor,
  );
  assertAddressesOfHosts(tx, items, "host_assignments/ip_address_ids", actor);
  const current = tx
    .children(credentialAssignmentKind, "credential_n", credentialId)
    .filter((assignment) => reachesNetwork(actor, assignment.network_id));
  const changes = changesTo(current, [
    ...networks.map((network) => ({
      credential_id: credentialId,
      network_id: network.id,
      host_id: null,
      ip_address_ids: null,
    })),
    ...hosts.map((host, position) => ({
      credential_id: credentialId,
      network_id: host.network_id,
      host_id: host.id,
      ip_address_ids: addressIds(items[position]),
    })),
  ]);
  write(tx, changes, actor);
  return credentialsOf(changes).size > 0;
}

/**
 * Sets a host's assignments from a host write, after its addresses are written in the same transaction. Removed
 * addresses are dropped from the lists, so clients may send the rest of the host back unchanged.
 * @param part the host in the body; collects the errors: auth_permission_denied if a caller below Admin changes the
 * list, since a credential assigned to the caller's own address is disclosed to it; entity_access_denied for a
 * credential that a confined caller may not change; validation_failed for a duplicate credential;
 * entity_reference_invalid
 */
export function setHostAssignments(
  tx: WriteTransaction,
  hostId: string,
  networkId: string,
  items: readonly HostSideItem[],
  actor: CommandActor,
  part: ItemPart,
): void {
  part.attempt(() =>
    assertNoDuplicates(
      items.map((item) => item.credential_id),
      "/credential_assignments",
      "credential_id",
    ),
  );
  const requested = items
    .map((item) => ({
      credential_id: item.credential_id,
      network_id: networkId,
      host_id: hostId,
      ip_address_ids: withoutRemoved(tx, addressIds(item)),
    }))
    // An assignment that loses its last address is removed; it never widens to the whole host.
    .filter((target) => target.ip_address_ids?.length !== 0);
  const changes = changesTo(tx.children(credentialAssignmentKind, "host_n", hostId), requested);
  if (changes.added.length + changes.scoped.length + changes.removed.length === 0) return;
  // Callers without permission get this error alone.
  if (part.attempt(() => requireRole(actor.role, "Admin", "Changing the credential_assignments of a host")) === null)
    return;
  part.attempt(() =>
    getReferenced(
      tx,
      credentialKind,
      requested.map((target) => target.credential_id),
      "credential_assignments/credential_id",
      actor,
    ),
  );
  part.attempt(() => assertAddressesOfHosts(tx, requested, "credential_assignments/ip_address_ids", actor));
  for (const id of credentialsOf(changes))
    if (part.attempt(() => assertReachesCredential(tx, id, actor)) === null) return;
  write(tx, changes, actor);
}

/**
 * Assignments as shown on a credential.
 * @param assignments each as JSON, in page order
 * @param reaches whether the caller reaches a network
 */
export function credentialAssignmentsView(
  assignments: readonly string[],
  reaches: (networkId: string) => boolean,
): CredentialSide {
  const visible = assignments
    .map((text) => JSON.parse(text) as CredentialAssignmentRecord)
    .filter((assignment) => reaches(assignment.network_id));
  return {
    assigned_network_ids: visible.flatMap((assignment) => (assignment.host_id === null ? [assignment.network_id] : [])),
    host_assignments: visible.flatMap((assignment) =>
      assignment.host_id === null ? [] : [{ host_id: assignment.host_id, ...scope(assignment) }],
    ),
  };
}

/**
 * Assignments as shown on a host: its `credential_assignments`.
 * @param assignments each as JSON, in page order
 */
export function hostAssignmentsView(assignments: readonly string[]): HostSideItem[] {
  return assignments
    .map((text) => JSON.parse(text) as CredentialAssignmentRecord)
    .map((assignment) => ({ credential_id: assignment.credential_id, ...scope(assignment) }));
}

interface Target {
  readonly credential_id: string;
  readonly network_id: string;
  readonly host_id: string | null;
  readonly ip_address_ids: readonly string[] | null;
}

interface Changes {
  readonly added: readonly Target[];
  /** Existing assignments with changed addresses. */
  readonly scoped: ReadonlyArray<{
    readonly id: string;
    readonly credential_id: string;
    readonly ip_address_ids: readonly string[] | null;
  }>;
  readonly removed: readonly CredentialAssignmentRecord[];
}

/** Computes the changes from `current` to `wanted`. The order of addresses does not matter. */
function changesTo(current: readonly CredentialAssignmentRecord[], requested: readonly Target[]): Changes {
  const remaining = new Map(current.map((assignment) => [assignmentKey(assignment), assignment]));
  const added: Target[] = [];
  const scoped: Array<{ id: string; credential_id: string; ip_address_ids: readonly string[] | null }> = [];
  for (const target of requested) {
    const assignment = remaining.get(assignmentKey(target));
    remaining.delete(assignmentKey(target));
    if (assignment === undefined) added.push(target);
    else if (!sameIds(assignment.ip_address_ids, target.ip_address_ids))
      scoped.push({ id: assignment.id, credential_id: target.credential_id, ip_address_ids: target.ip_address_ids });
  }
  return { added, scoped, removed: [...remaining.values()] };
}

/** Ids of the credentials in these changes, deduplicated; unknown ids are reported elsewhere. */
function credentialsOf({ added, scoped, removed }: Changes): Set<string> {
  return new Set([...added, ...scoped, ...removed].map((each) => each.credential_id));
}

/** Writes as an Admin: assigned credentials are sent to the existing addresses. */
function write(tx: WriteTransaction, changes: Changes, actor: CommandActor): void {
  for (const assignment of changes.removed) tx.remove(credentialAssignmentKind, assignment.id);
  for (const { id, ip_address_ids } of changes.scoped) {
    const before = tx.get(credentialAssignmentKind, id);
    coverAssigned(tx, before, tx.update(credentialAssignmentKind, id, { ip_address_ids }));
  }
  for (const target of changes.added)
    coverAssigned(tx, null, tx.create(credentialAssignmentKind, actor.organizationId, target));
}

function sameIds(some: readonly string[] | null, others: readonly string[] | null): boolean {
  if (some === null || others === null) return some === others;
  const set = new Set(some);
  return set.size === others.length && others.every((id) => set.has(id));
}

/** Deduplicated ids; null for every address of the host. */
function addressIds(
  item: { readonly ip_address_ids?: readonly string[] | null } | undefined,
): readonly string[] | null {
  const ids = item?.ip_address_ids ?? null;
  return ids === null ? null : [...new Set(ids)];
}

function withoutRemoved(tx: WriteTransaction, ids: readonly string[] | null): readonly string[] | null {
  return ids === null ? null : ids.filter((id) => !tx.wasRemoved(ipAddressKind, id));
}

/** An assignment to every address has no list: it follows the host. */
function scope(assignment: CredentialAssignmentRecord): { ip_address_ids?: readonly string[] } {
  return assignment.ip_address_ids === null ? {} : { ip_address_ids: assignment.ip_address_ids };
}

function assertNoDuplicates(ids: readonly string[], list: string, field: string): void {
  const first = new Map<string, number>();
  const issues: Issue[] = [];
  ids.forEach((id, position) => {
    const other = first.get(id);
    if (other === undefined) first.set(id, position);
    else
      issues.push({ path: `${list}/${position}/${field}`, message: `is already named by ${list}/${other}`, value: id });
  });
  if (issues.length > 0) throw invalid(issues);
}

function assertAddressesOfHosts(
  tx: WriteTransaction,
  items: ReadonlyArray<{ readonly host_id: string; readonly ip_address_ids?: readonly string[] | null }>,
  field: string,
  actor: CommandActor,
): void {
  const foreign = new Set<string>();
  for (const item of items) {
    for (const id of item.ip_address_ids ?? []) {
      if (findReachable(tx, ipAddressKind, id, actor)?.host_id !== item.host_id) foreign.add(id);
    }
  }
  if (foreign.size > 0) throw referenceInvalid(ipAddressKind, field, [...foreign]);
}
