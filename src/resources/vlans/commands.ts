// Writer commands for VLANs and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, getReferenced } from "../../access/reach.ts";
import { pickFields } from "../../base/fields.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { assertRequired, changedValues, customFieldInput, newValues } from "../custom-fields/write-values.ts";
import { removeOne } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { MANUAL } from "../source.ts";
import { VLAN_WRITE_FIELDS, type VlanCreate, type VlanUpdate, vlanKind } from "./vlan.ts";

/**
 * Creates a VLAN of a network.
 * @throws DomainError entity_access_denied, entity_reference_invalid, entity_already_exists
 */
function createVlan(tx: WriteTransaction, input: { body: VlanCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  getReferenced(tx, networkKind, [body.network_id], "network_id", actor);
  return createRecord(tx, vlanKind, body, actor, {
    network_id: body.network_id,
    number: body.number,
    name: body.name ?? `VLAN ${body.number}`,
    description: body.description ?? null,
    source: MANUAL,
    custom_fields: newValues(tx, customFieldInput(vlanKind, body, actor)),
  });
}

/**
 * Updates a VLAN. Omitted fields keep their values.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateVlan(tx: WriteTransaction, input: ChangeInput<VlanUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const vlan = recordToUpdate(tx, vlanKind, input, actor, ["id", "network_id"]);
  const custom_fields = changedValues(tx, vlan.custom_fields, customFieldInput(vlanKind, body, actor));
  const updated = tx.update(vlanKind, id, { ...pickFields(body, VLAN_WRITE_FIELDS), custom_fields });
  assertRequired(tx, updated, customFieldInput(vlanKind, body, actor));
  return updated;
}

const removeVlan = removeOne(vlanKind);

export const vlanCommands = {
  "vlan.create": createVlan,
  "vlan.update": updateVlan,
  "vlan.delete": markLongRunning(removeVlan),
  "vlan.bulk_delete": removeEach(vlanKind, removeVlan),
};
export type VlanCommands = CallsOf<typeof vlanCommands>;
