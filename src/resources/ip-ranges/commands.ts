// Writer commands for IP ranges. The rules shared with restores are in rules.ts.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, getReferenced } from "../../access/reach.ts";
import { pickFields } from "../../base/fields.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { assertRequired, changedValues, customFieldInput, newValues } from "../custom-fields/write-values.ts";
import { removeOne } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { recordToUpdate } from "../record-changes.ts";
import type { BatchInput } from "../shared-lookups.ts";
import { existingTags } from "../tags/tag.ts";
import { IP_RANGE_WRITE_FIELDS, type IpRangeCreate, type IpRangeUpdate, ipRangeKind } from "./ip-range.ts";
import { assertEnds, assertNoOverlap, subnetOfRange } from "./rules.ts";

/**
 * Adds a range to a subnet.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
function createIpRange(
  tx: WriteTransaction,
  input: BatchInput & { body: IpRangeCreate },
  actor: CommandActor,
): Written {
  const { body, shared } = input;
  assertOwnOrganization(body.organization_id, actor);
  getReferenced(tx, networkKind, [body.network_id], "network_id", actor);
  assertEnds(body);
  const range = {
    network_id: body.network_id,
    subnet_id: subnetOfRange(tx, body.network_id, body, actor),
    first: body.first,
    last: body.last,
    purpose: body.purpose,
    description: body.description ?? null,
    tags: existingTags(tx, body.tags ?? [], actor),
    custom_fields: newValues(tx, customFieldInput(ipRangeKind, body, actor)),
  };
  // Ranges of a bulk write are checked together once all are written.
  if (shared === undefined) assertNoOverlap(tx, range, null);
  return tx.create(ipRangeKind, actor.organizationId, range, body.id === undefined ? {} : { id: body.id });
}

/**
 * Updates a range. Omitted fields keep their values; new ends without a subnet are assigned a matching subnet.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateIpRange(
  tx: WriteTransaction,
  input: BatchInput & ChangeInput<IpRangeUpdate>,
  actor: CommandActor,
): Written {
  const { id, body, shared } = input;
  const range = recordToUpdate(tx, ipRangeKind, input, actor, ["id", "network_id"]);
  assertEnds(body);
  const isMoved = body.first !== range.first || body.last !== range.last;
  const subnetId = body.subnet_id ?? (isMoved ? undefined : range.subnet_id);
  if (shared === undefined) assertNoOverlap(tx, { network_id: range.network_id, ...body }, id);
  const updated = tx.update(ipRangeKind, id, {
    ...pickFields(body, IP_RANGE_WRITE_FIELDS),
    subnet_id: subnetOfRange(tx, range.network_id, { first: body.first, last: body.last, subnet_id: subnetId }, actor),
    tags: body.tags === undefined ? range.tags : existingTags(tx, body.tags, actor),
    custom_fields: changedValues(tx, range.custom_fields, customFieldInput(ipRangeKind, body, actor)),
  });
  assertRequired(tx, updated, customFieldInput(ipRangeKind, body, actor));
  return updated;
}

const removeIpRange = removeOne(ipRangeKind);

export const ipRangeCommands = {
  "ip_range.create": createIpRange,
  "ip_range.update": updateIpRange,
  "ip_range.delete": removeIpRange,
  "ip_range.bulk_delete": removeEach(ipRangeKind, removeIpRange),
};
export type IpRangeCommands = CallsOf<typeof ipRangeCommands>;
