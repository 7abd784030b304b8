// What the writer runs for VLANs, and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { networkKind } from "../networks/network.ts";
import { removeRecord } from "../references.ts";
import { MANUAL } from "../source.ts";
import { vlanKind, type VlanCreate, type VlanUpdate } from "./vlan.ts";

/**
 * A VLAN of a network.
 * @throws DomainError entity_access_denied, entity_reference_invalid, entity_already_exists
 */
export function createVlan(tx: WriteTransaction, input: { body: VlanCreate }, actor: CommandActor): Written {
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
    },
    body.id === undefined ? {} : { id: body.id },
  );
}

/**
 * Changes a VLAN. Fields that are left out stay.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateVlan(
  tx: WriteTransaction,
  input: { id: string; body: VlanUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const vlan = getReachable(tx, vlanKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(vlan, body, ["id", "network_id"]);
  return tx.update(vlanKind, id, {
    number: body.number,
    name: body.name ?? vlan.name,
    description: body.description === undefined ? vlan.description : body.description,
  });
}

/**
 * Deletes a VLAN.
 * @param input.cascade with what lives in it or refers to it (references.ts); else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed; entity_in_use
 */
export function removeVlan(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const vlan = getReachable(tx, vlanKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, vlanKind, input.id, input.cascade);
  return vlan;
}
