// Writer commands for VLANs and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { picked } from "../../base/fields.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, takingLong } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import { assertRequired, changedValues, newValues, type Saying } from "../custom-fields/write-values.ts";
import { removeOne } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { MANUAL } from "../source.ts";
import { VLAN_DESCRIBED, type VlanCreate, type VlanUpdate, vlanKind } from "./vlan.ts";

/**
 * Creates a VLAN of a network.
 * @throws DomainError entity_access_denied, entity_reference_invalid, entity_already_exists
 */
function createVlan(tx: WriteTransaction, input: { body: VlanCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  getReferenced(tx, networkKind, [body.network_id], "network_id", actor);
  return tx.create(
    vlanKind,
    actor.organizationId,
    {
      network_id: body.network_id,
      number: body.number,
      name: body.name ?? `VLAN ${body.number}`,
      description: body.description ?? null,
      source: MANUAL,
      custom_fields: newValues(tx, saying(body, actor)),
    },
    body.id === undefined ? {} : { id: body.id },
  );
}

/**
 * Updates a VLAN. Omitted fields keep their values.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateVlan(tx: WriteTransaction, input: ChangeInput<VlanUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const vlan = getReachable(tx, vlanKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(vlan, body, ["id", "network_id"]);
  const custom_fields = changedValues(tx, vlan.custom_fields, saying(body, actor));
  const updated = tx.update(vlanKind, id, { ...picked(body, VLAN_DESCRIBED), custom_fields });
  assertRequired(tx, updated, saying(body, actor));
  return updated;
}

function saying(body: VlanCreate | VlanUpdate, { organizationId }: CommandActor): Saying {
  return { kind: vlanKind, organizationId, said: body.custom_fields };
}

const removeVlan = removeOne(vlanKind);

export const vlanCommands = {
  "vlan.create": createVlan,
  "vlan.update": updateVlan,
  "vlan.delete": takingLong(removeVlan),
  "vlan.bulk_delete": removeEach(vlanKind, removeVlan),
};
export type VlanCommands = CallsOf<typeof vlanCommands>;
