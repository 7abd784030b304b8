// Writer commands for markers and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, getReferenced } from "../../access/reach.ts";
import { invalid } from "../../base/errors.ts";
import { pickFields } from "../../base/fields.ts";
import { formatInstant, type Instant, parseInstant } from "../../base/instant.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeOne } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { MARKER_WRITE_FIELDS, type MarkerCreate, type MarkerUpdate, markerKind } from "./marker.ts";

/**
 * Creates a marker of a network or of the organization.
 * @throws DomainError entity_access_denied, entity_reference_invalid, entity_already_exists, validation_failed
 */
function createMarker(tx: WriteTransaction, input: { body: MarkerCreate }, actor: CommandActor): Written {
  const { body } = input;
  const networkId = body.network_id ?? null;
  assertOwnOrganization(body.organization_id, actor);
  if (networkId !== null) getReferenced(tx, networkKind, [networkId], "network_id", actor);
  return createRecord(tx, markerKind, body, actor, {
    organization_id: actor.organizationId,
    network_id: networkId,
    name: body.name,
    at: body.at === undefined ? formatInstant(tx.instant) : pastInstant(tx, body.at),
    description: body.description ?? null,
  });
}

/**
 * Updates a marker. Omitted fields keep their values.
 * @throws DomainError entity_already_exists, entity_not_found, precondition_failed, entity_access_denied,
 * validation_id_mismatch, validation_failed
 */
function updateMarker(tx: WriteTransaction, input: ChangeInput<MarkerUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const marker = recordToUpdate(tx, markerKind, input, actor, ["id", "network_id"]);
  const at = body.at === undefined ? marker.at : pastInstant(tx, body.at);
  return tx.update(markerKind, id, { ...pickFields(body, MARKER_WRITE_FIELDS), at });
}

/** Canonical form of a past or present timestamp. @throws DomainError validation_failed */
function pastInstant(tx: WriteTransaction, at: string): string {
  const instant = parseInstant(at) as Instant;
  if (instant > tx.instant) throw invalid({ path: "/at", message: "must not be in the future", value: at });
  return formatInstant(instant);
}

const removeMarker = removeOne(markerKind);

export const markerCommands = {
  "marker.create": createMarker,
  "marker.update": updateMarker,
  "marker.delete": removeMarker,
  "marker.bulk_delete": removeEach(markerKind, removeMarker),
};
export type MarkerCommands = CallsOf<typeof markerCommands>;
