// Conversion of a requested service to a stored one: defaults, kept values, tags and the virtualizing service.
// Must not write its bindings.

import type { CommandActor } from "../../access/actor.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertRequired, changedValues, newValues, type Saying } from "../custom-fields/write-values.ts";
import type { HostRecord } from "../hosts/host.ts";
import { entered } from "../hosts/new-child.ts";
import type { ItemPart } from "../issues.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { type ServiceRecord, serviceKind } from "./service.ts";
import type { ServiceItem } from "./service-body.ts";
import { assertVirtualizingService } from "./virtualizing.ts";

/**
 * Adds a service to a host, which may have been created in the same transaction.
 * @param position for an item without one
 * @param place of the item in the body: collects the errors of its references, entity_reference_invalid for tags, and
 * for a virtualizing service of another network
 * @throws DomainError entity_already_exists for its id
 */
export function addService(
  tx: WriteTransaction,
  host: HostRecord,
  item: ServiceItem,
  position: number,
  actor: CommandActor,
  place: ItemPart,
): ServiceRecord {
  return tx.create(
    serviceKind,
    actor.organizationId,
    {
      host_id: host.id,
      network_id: host.network_id,
      source: MANUAL,
      ...describedFields(tx, host.network_id, item, { position, tags: [], virtualization: null }, actor, place),
      first_discovery_id: null,
      custom_fields: place.attempt(() => newValues(tx, saying(item, actor, place))) ?? undefined,
    },
    entered(tx, item),
  );
}

/** Updates a service; omitted fields keep their values. @param place as for addService */
export function changeService(
  tx: WriteTransaction,
  service: ServiceRecord,
  item: ServiceItem,
  actor: CommandActor,
  place: ItemPart,
): ServiceRecord {
  const values = place.attempt(() => changedValues(tx, service.custom_fields, saying(item, actor, place)));
  const changed = tx.update(serviceKind, service.id, {
    ...describedFields(tx, service.network_id, item, service, actor, place),
    custom_fields: values ?? undefined,
  });
  place.attempt(() => assertRequired(tx, changed, saying(item, actor, place)));
  return changed;
}

function saying({ custom_fields: said }: ServiceItem, { organizationId }: CommandActor, place: ItemPart): Saying {
  return { kind: serviceKind, organizationId, said, at: place.pointer };
}

function describedFields(
  tx: WriteTransaction,
  networkId: string,
  item: ServiceItem,
  previous: Pick<ServiceRecord, "position" | "tags" | "virtualization">,
  actor: CommandActor,
  place: ItemPart,
) {
  const { tags } = item;
  place.attempt(() =>
    assertVirtualizingService(
      tx,
      item.virtualization,
      networkId,
      place.field("virtualization/details/service_id"),
      actor,
    ),
  );
  return {
    name: item.name,
    position: item.position ?? previous.position,
    service_definition: item.service_definition,
    tags:
      (tags === undefined ? null : place.attempt(() => existingTags(tx, tags, actor, place.field("tags")))) ??
      previous.tags,
    virtualization: item.virtualization === undefined ? previous.virtualization : item.virtualization,
  };
}
