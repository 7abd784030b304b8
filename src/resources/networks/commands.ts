// What the writer runs for networks, and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { removeRecord } from "../references.ts";
import { existingTags } from "../tags/tag.ts";
import { networkKind, type NetworkCreate, type NetworkUpdate } from "./network.ts";

/**
 * A network of the organization.
 * @throws DomainError entity_access_denied, auth_permission_denied, entity_reference_invalid, entity_already_exists
 */
export function createNetwork(tx: WriteTransaction, input: { body: NetworkCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertReachesNewNetworks(actor);
  assertOwnOrganization(body.organization_id, actor);
  return tx.create(
    networkKind,
    actor.organizationId,
    {
      organization_id: actor.organizationId,
      name: body.name,
      description: body.description ?? null,
      tags: existingTags(tx, body.tags ?? [], actor),
      stale_after_hours: body.stale_after_hours ?? null,
    },
    body.id === undefined ? {} : { id: body.id },
  );
}

/**
 * Changes a network. Fields that are left out stay.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateNetwork(
  tx: WriteTransaction,
  input: { id: string; body: NetworkUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const network = getReachable(tx, networkKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(network, body, ["id"]);
  return tx.update(networkKind, id, {
    name: body.name,
    description: body.description === undefined ? network.description : body.description,
    tags: body.tags === undefined ? network.tags : existingTags(tx, body.tags, actor),
    stale_after_hours: body.stale_after_hours === undefined ? network.stale_after_hours : body.stale_after_hours,
  });
}

/**
 * Deletes a network.
 * @param input.cascade with what lives in it or refers to it (references.ts); else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed; entity_in_use
 */
export function removeNetwork(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const network = getReachable(tx, networkKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, networkKind, input.id, input.cascade);
  return network;
}

/** A key confined to some networks would make one that it then could not even read. */
function assertReachesNewNetworks(actor: CommandActor): void {
  if (actor.networkIds === null) return;
  throw new DomainError(
    "auth_permission_denied",
    "An API key that is confined to some networks can't create another; use one with all networks.",
    {
      required: "Admin",
      actual: actor.role,
      all_networks: false,
    },
  );
}
