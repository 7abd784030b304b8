// What the writer runs for services: the service and, where a write lists them, its bindings, in one transaction or not at all.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { bindingKind, type BindingItem } from "../bindings/binding.ts";
import { targetsOf } from "../bindings/describe.ts";
import { syncBindings, unchanged } from "../bindings/sync.ts";
import { hostNamed, placeAfter, siblingsWithRoom } from "../host-children.ts";
import { refusedAtOnce, type Place } from "../offenders.ts";
import { removeRecord } from "../references.ts";
import { addService, changeService } from "./describe.ts";
import type { ServiceCreate, ServiceUpdate } from "./service-body.ts";
import { serviceKind, type ServiceRecord } from "./service.ts";

/**
 * A service of a host with its bindings.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
export function createService(tx: WriteTransaction, input: { body: ServiceCreate }, actor: CommandActor): Written {
  const { body } = input;
  const host = hostNamed(tx, body, actor);
  const siblings = siblingsWithRoom(tx, serviceKind, "host_n", host.id);
  return refusedAtOnce(body, (place) => {
    const service = place.attempt(() => addService(tx, host, body, placeAfter(siblings), actor, place));
    if (service !== null) setBindings(tx, service, body.bindings, actor, place);
    return service;
  });
}

/**
 * Changes a service; bindings that are sent become exactly what is sent. Fields that are left out stay.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateService(
  tx: WriteTransaction,
  input: { id: string; body: ServiceUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const service = getReachable(tx, serviceKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(service, body, ["id", "host_id", "network_id"]);
  return refusedAtOnce(body, (place) => {
    const changed = changeService(tx, service, body, actor, place);
    setBindings(tx, changed, body.bindings, actor, place);
    return changed;
  });
}

/**
 * Deletes a service with its bindings; what it virtualizes loses the reference to it.
 * @param input.cascade also what else refers to it; else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed
 */
export function removeService(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const service = getReachable(tx, serviceKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, serviceKind, input.id, input.cascade);
  return service;
}

function setBindings(
  tx: WriteTransaction,
  service: ServiceRecord,
  items: readonly BindingItem[] | null | undefined,
  actor: CommandActor,
  place: Place,
): void {
  if (items === null || items === undefined) return;
  const gone = syncBindings(tx, service, items, unchanged(targetsOf(tx, service.host_id)), actor, place);
  for (const { id } of gone) removeRecord(tx, bindingKind, id, true);
}
