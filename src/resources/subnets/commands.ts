// What the writer runs for subnets, and the rules beyond the schema.

import { requireRole, type CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { atLeast } from "../../access/role.ts";
import { referenceInvalid } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { networkKind } from "../networks/network.ts";
import { assertAddressesStay, removeRecord } from "../references.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { vlanKind } from "../vlans/vlan.ts";
import { subnetKind, type SubnetCreate, type SubnetRecord, type SubnetUpdate } from "./subnet.ts";

/**
 * A subnet of a network.
 * @throws DomainError auth_permission_denied, entity_access_denied, entity_reference_invalid, entity_already_exists
 */
export function createSubnet(tx: WriteTransaction, input: { body: SubnetCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  getReferenced(tx, networkKind, [body.network_id], "network_id", actor);
  assertVlanOfNetwork(tx, body.vlan_id, body.network_id, actor);
  const acceptsCredentials = body.accepts_credentials ?? atLeast(actor.role, "Admin");
  if (acceptsCredentials) requireRole(actor.role, "Admin", "Making a subnet that accepts credentials");
  return tx.create(
    subnetKind,
    actor.organizationId,
    {
      network_id: body.network_id,
      cidr: body.cidr,
      name: body.name ?? body.cidr,
      description: body.description ?? null,
      subnet_type: body.subnet_type ?? "Unknown",
      vlan_id: body.vlan_id ?? null,
      source: MANUAL,
      tags: existingTags(tx, body.tags ?? [], actor),
      accepts_credentials: acceptsCredentials,
    },
    body.id === undefined ? {} : { id: body.id },
  );
}

/**
 * Changes a subnet. Fields that are left out stay.
 * @throws DomainError auth_permission_denied, entity_reference_invalid, entity_in_use, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateSubnet(
  tx: WriteTransaction,
  input: { id: string; body: SubnetUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const subnet = getReachable(tx, subnetKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(subnet, body, ["id", "network_id"]);
  assertVlanOfNetwork(tx, body.vlan_id, subnet.network_id, actor);
  if (body.cidr !== subnet.cidr) assertAddressesStay(tx, id, body.cidr);
  const updated = tx.update(subnetKind, id, {
    cidr: body.cidr,
    name: body.name ?? subnet.name,
    description: body.description === undefined ? subnet.description : body.description,
    subnet_type: body.subnet_type ?? subnet.subnet_type,
    vlan_id: body.vlan_id === undefined ? subnet.vlan_id : body.vlan_id,
    tags: body.tags === undefined ? subnet.tags : existingTags(tx, body.tags, actor),
    accepts_credentials: body.accepts_credentials ?? subnet.accepts_credentials,
  });
  const field = fieldForAdmins(subnet, updated);
  if (field !== null) requireRole(actor.role, "Admin", `Changing ${FOR_ADMINS[field]}`);
  return updated;
}

/** What only an Admin changes, since it says where credentials may be sent. */
export const FOR_ADMINS = {
  cidr: "the cidr of a subnet that accepts credentials",
  subnet_type: "the subnet_type of a subnet that accepts credentials",
  accepts_credentials: "whether a subnet accepts credentials",
} as const;

/**
 * The field whose change takes the role Admin; null where none does.
 * @param before null for a subnet that was not there
 */
export function fieldForAdmins(before: SubnetRecord | null, after: SubnetRecord): keyof typeof FOR_ADMINS | null {
  if ((before?.accepts_credentials ?? false) !== after.accepts_credentials) return "accepts_credentials";
  if (before === null || !before.accepts_credentials) return null;
  return before.cidr !== after.cidr ? "cidr" : before.subnet_type !== after.subnet_type ? "subnet_type" : null;
}

/**
 * Deletes a subnet.
 * @param input.cascade with what lives in it or refers to it (references.ts); else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed; entity_in_use
 */
export function removeSubnet(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const subnet = getReachable(tx, subnetKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, subnetKind, input.id, input.cascade);
  return subnet;
}

function assertVlanOfNetwork(
  tx: WriteTransaction,
  vlanId: string | null | undefined,
  networkId: string,
  actor: CommandActor,
): void {
  if (vlanId === null || vlanId === undefined) return;
  const [vlan] = getReferenced(tx, vlanKind, [vlanId], "vlan_id", actor);
  if (vlan?.network_id !== networkId) throw referenceInvalid("vlan", "vlan_id", [vlanId]);
}
