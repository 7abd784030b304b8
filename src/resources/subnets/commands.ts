// Writer commands for subnets and the rules beyond the schema.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { assertOwnOrganization, getReferenced } from "../../access/reach.ts";
import { atLeast } from "../../access/role.ts";
import { countedEntities } from "../../base/entity-words.ts";
import { DomainError, referenceInvalid } from "../../base/errors.ts";
import { pickFields } from "../../base/fields.ts";
import { isIpWithin } from "../../base/ip.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { assertRequired, changedValues, customFieldInput, newValues } from "../custom-fields/write-values.ts";
import { removeOne } from "../ignored/removal.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { ipRangeKind, rangeText } from "../ip-ranges/ip-range.ts";
import { isRangeWithin } from "../ip-ranges/rules.ts";
import { networkKind } from "../networks/network.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { vlanKind } from "../vlans/vlan.ts";
import { SUBNET_WRITE_FIELDS, type SubnetCreate, type SubnetRecord, type SubnetUpdate, subnetKind } from "./subnet.ts";

/**
 * Creates a subnet of a network.
 * @throws DomainError auth_permission_denied, entity_access_denied, entity_reference_invalid, entity_already_exists
 */
export function createSubnet(tx: WriteTransaction, input: { body: SubnetCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  getReferenced(tx, networkKind, [body.network_id], "network_id", actor);
  assertVlanOfNetwork(tx, body.vlan_id, body.network_id, actor);
  const acceptsCredentials = body.accepts_credentials ?? atLeast(actor.role, "Admin");
  if (acceptsCredentials) requireRole(actor.role, "Admin", "Creating a subnet that accepts credentials");
  return createRecord(tx, subnetKind, body, actor, {
    network_id: body.network_id,
    cidr: body.cidr,
    name: body.name ?? body.cidr,
    description: body.description ?? null,
    subnet_type: body.subnet_type ?? "Unknown",
    vlan_id: body.vlan_id ?? null,
    source: MANUAL,
    tags: existingTags(tx, body.tags ?? [], actor),
    accepts_credentials: acceptsCredentials,
    custom_fields: newValues(tx, customFieldInput(subnetKind, body, actor)),
  });
}

/**
 * Updates a subnet. Omitted fields keep their values.
 * @throws DomainError auth_permission_denied, entity_reference_invalid, entity_in_use, entity_already_exists,
 * entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateSubnet(tx: WriteTransaction, input: ChangeInput<SubnetUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const subnet = recordToUpdate(tx, subnetKind, input, actor, ["id", "network_id"]);
  assertVlanOfNetwork(tx, body.vlan_id, subnet.network_id, actor);
  if (body.cidr !== subnet.cidr) assertContentFits(tx, id, body.cidr);
  const updated = tx.update(subnetKind, id, {
    ...pickFields(body, SUBNET_WRITE_FIELDS),
    tags: body.tags === undefined ? subnet.tags : existingTags(tx, body.tags, actor),
    custom_fields: changedValues(tx, subnet.custom_fields, customFieldInput(subnetKind, body, actor)),
  });
  assertRequired(tx, updated, customFieldInput(subnetKind, body, actor));
  const field = changedAdminField(subnet, updated);
  if (field !== null) requireRole(actor.role, "Admin", `Changing ${ADMIN_FIELDS[field]}`);
  return updated;
}

/** Fields that only an Admin may change, because they decide where credentials are sent. */
export const ADMIN_FIELDS = {
  cidr: "the cidr of a subnet that accepts credentials",
  subnet_type: "the subnet_type of a subnet that accepts credentials",
  accepts_credentials: "whether a subnet accepts credentials",
} as const;

/**
 * The changed field that requires the role Admin; null for none.
 * @param before null for a new subnet
 */
export function changedAdminField(before: SubnetRecord | null, after: SubnetRecord): keyof typeof ADMIN_FIELDS | null {
  if ((before?.accepts_credentials ?? false) !== after.accepts_credentials) return "accepts_credentials";
  if (before === null || !before.accepts_credentials) return null;
  return before.cidr !== after.cidr ? "cidr" : before.subnet_type !== after.subnet_type ? "subnet_type" : null;
}

/**
 * A changed prefix must still contain the subnet's addresses and ranges.
 * @throws DomainError entity_in_use if some would be outside
 */
function assertContentFits(tx: WriteTransaction, subnetId: string, cidr: string): void {
  const addresses = tx
    .children(ipAddressKind, "subnet_n", subnetId)
    .filter(({ ip_address }) => !isIpWithin(ip_address, cidr));
  const ranges = tx.children(ipRangeKind, "subnet_n", subnetId).filter((range) => !isRangeWithin(range, cidr));
  const [range] = ranges;
  if (addresses.length === 0 && range === undefined) return;
  const outside = [
    ...(addresses.length === 0 ? [] : [countedEntities(ipAddressKind, addresses.length)]),
    ...(range === undefined
      ? []
      : [`${countedEntities(ipRangeKind, ranges.length)} (${rangeText(range)}${ranges.length > 1 ? ", …" : ""})`]),
  ].join(" and ");
  throw new DomainError("entity_in_use", `The subnet has ${outside} outside of ${cidr}; move or remove these first.`, {
    entity: "subnet",
    id: subnetId,
    dependants: {
      ...(addresses.length === 0 ? {} : { ip_addresses: addresses.length }),
      ...(ranges.length === 0 ? {} : { ip_ranges: ranges.length }),
    },
  });
}

function assertVlanOfNetwork(
  tx: WriteTransaction,
  vlanId: string | null | undefined,
  networkId: string,
  actor: CommandActor,
): void {
  if (vlanId === null || vlanId === undefined) return;
  const [vlan] = getReferenced(tx, vlanKind, [vlanId], "vlan_id", actor);
  if (vlan?.network_id !== networkId) throw referenceInvalid(vlanKind, "vlan_id", [vlanId]);
}

const removeSubnet = removeOne(subnetKind);

export const subnetCommands = {
  "subnet.create": createSubnet,
  "subnet.update": updateSubnet,
  "subnet.delete": markLongRunning(removeSubnet),
  "subnet.bulk_delete": removeEach(subnetKind, removeSubnet),
};
export type SubnetCommands = CallsOf<typeof subnetCommands>;
