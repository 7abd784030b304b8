// Writer commands for networks and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import { namesOf, pickFields } from "../../base/fields.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeOne } from "../ignored/removal.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { existingTags } from "../tags/tag.ts";
import {
  EXPIRY_DEFAULTS,
  NETWORK_WRITE_FIELDS,
  type NetworkCreate,
  type NetworkUpdate,
  networkKind,
} from "./network.ts";

/**
 * Creates a network of the organization.
 * @throws DomainError entity_access_denied, auth_permission_denied, entity_reference_invalid, entity_already_exists
 */
function createNetwork(tx: WriteTransaction, input: { body: NetworkCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertReachesNewNetworks(actor);
  assertOwnOrganization(body.organization_id, actor);
  return createRecord(tx, networkKind, body, actor, {
    organization_id: actor.organizationId,
    name: body.name,
    description: body.description ?? null,
    tags: existingTags(tx, body.tags ?? [], actor),
    stale_after_hours: body.stale_after_hours ?? null,
    ...EXPIRY_DEFAULTS,
    ...pickFields(body, namesOf(EXPIRY_DEFAULTS)),
  });
}

/**
 * Updates a network. Omitted fields keep their values.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateNetwork(tx: WriteTransaction, input: ChangeInput<NetworkUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const network = recordToUpdate(tx, networkKind, input, actor, ["id"]);
  return tx.update(networkKind, id, {
    ...pickFields(body, NETWORK_WRITE_FIELDS),
    tags: body.tags === undefined ? network.tags : existingTags(tx, body.tags, actor),
  });
}

/** A key confined to some networks could not read the network it creates. */
function assertReachesNewNetworks(actor: CommandActor): void {
  if (actor.networkIds === null) return;
  throw new DomainError(
    "auth_permission_denied",
    "An API key limited to some networks cannot create another network; use one with all networks.",
    {
      required: "Admin",
      actual: actor.role,
      all_networks: false,
    },
  );
}

const removeNetwork = removeOne(networkKind);

export const networkCommands = {
  "network.create": createNetwork,
  "network.update": updateNetwork,
  "network.delete": markLongRunning(removeNetwork),
  "network.bulk_delete": removeEach(networkKind, removeNetwork),
};
export type NetworkCommands = CallsOf<typeof networkCommands>;
