// Service conversion, from requested to stored: defaults, kept values, tags and the virtualizing service. Does not
// write its bindings.

import type { CommandActor } from "../../access/actor.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertRequired, changedValues, customFieldInput, newValues } from "../custom-fields/write-values.ts";
import type { HostRecord } from "../hosts/host.ts";
import { createOptions } from "../hosts/new-child.ts";
import type { ItemPart } from "../issues.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { type ServiceRecord, serviceKind } from "./service.ts";
import type { ServiceItem } from "./service-body.ts";
import { assertVirtualizingService } from "./virtualizing.ts";

/**
 * Adds a service to a host, which may have been created in the same transaction.
 * @param position for an item without one
 * @param part the item in the body; collects entity_reference_invalid for unknown tags, and for a virtualizing service
 * in another network
 * @throws DomainError entity_already_exists for its id
 */
export function addService(
  tx: WriteTransaction,
  host: HostRecord,
  item: ServiceItem,
  position: number,
  actor: CommandActor,
  part: ItemPart,
): ServiceRecord {
  return tx.create(
    serviceKind,
    actor.organizationId,
    {
      host_id: host.id,
      network_id: host.network_id,
      source: MANUAL,
      ...storedFields(tx, host.network_id, item, { position, tags: [], virtualization: null }, actor, part),
      first_discovery_id: null,
      custom_fields: part.attempt(() => newValues(tx, customFieldInput(serviceKind, item, actor, part))) ?? undefined,
    },
    createOptions(tx, item),
  );
}

/** Updates a service; omitted fields keep their values. @param part as for addService */
export function changeService(
  tx: WriteTransaction,
  service: ServiceRecord,
  item: ServiceItem,
  actor: CommandActor,
  part: ItemPart,
): ServiceRecord {
  const input = customFieldInput(serviceKind, item, actor, part);
  const values = part.attempt(() => changedValues(tx, service.custom_fields, input));
  const changed = tx.update(serviceKind, service.id, {
    ...storedFields(tx, service.network_id, item, service, actor, part),
    custom_fields: values ?? undefined,
  });
  part.attempt(() => assertRequired(tx, changed, input));
  return changed;
}

function storedFields(
  tx: WriteTransaction,
  networkId: string,
  item: ServiceItem,
  previous: Pick<ServiceRecord, "position" | "tags" | "virtualization">,
  actor: CommandActor,
  part: ItemPart,
) {
  const { tags } = item;
  part.attempt(() =>
    assertVirtualizingService(
      tx,
      item.virtualization,
      networkId,
      part.field("virtualization/details/service_id"),
      actor,
    ),
  );
  return {
    name: item.name,
    position: item.position ?? previous.position,
    service_definition: item.service_definition,
    tags:
      (tags === undefined ? null : part.attempt(() => existingTags(tx, tags, actor, part.field("tags")))) ??
      previous.tags,
    virtualization: item.virtualization === undefined ? previous.virtualization : item.virtualization,
  };
}
