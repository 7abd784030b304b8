// Writer commands for markers and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { invalid } from "../../base/errors.ts";
import { picked } from "../../base/fields.ts";
import { formatInstant, type Instant, parseInstant } from "../../base/instant.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeOne } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { MARKER_DESCRIBED, type MarkerCreate, type MarkerUpdate, markerKind } from "./marker.ts";

/**
 * Creates a marker of a network or of the organization.
 * @throws DomainError entity_access_denied, entity_reference_invalid, entity_already_exists, validation_failed
 */
function createMarker(tx: WriteTransaction, input: { body: MarkerCreate }, actor: CommandActor): Written {
  const { body } = input;
  const networkId = body.network_id ?? null;
  assertOwnOrganization(body.organization_id, actor);
  if (networkId !== null) getReferenced(tx, networkKind, [networkId], "network_id", actor);
  return tx.create(
    markerKind,
    actor.organizationId,
    {
      organization_id: actor.organizationId,
      network_id: networkId,
      name: body.name,
      at: body.at === undefined ? formatInstant(tx.instant) : passed(tx, body.at),
      description: body.description ?? null,
    },
    body.id === undefined ? {} : { id: body.id },
  );
}

/**
 * Updates a marker. Omitted fields keep their values.
 * @throws DomainError entity_already_exists, entity_not_found, precondition_failed, entity_access_denied,
 * validation_id_mismatch, validation_failed
 */
function updateMarker(tx: WriteTransaction, input: ChangeInput<MarkerUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const marker = getReachable(tx, markerKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(marker, body, ["id", "network_id"]);
  const at = body.at === undefined ? marker.at : passed(tx, body.at);
  return tx.update(markerKind, id, { ...picked(body, MARKER_DESCRIBED), at });
}

/** Canonical form of a past or present timestamp. @throws DomainError validation_failed */
function passed(tx: WriteTransaction, at: string): string {
  const instant = parseInstant(at) as Instant;
  if (instant > tx.instant) throw invalid([{ path: "/at", message: "must not be in the future", value: at }]);
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
