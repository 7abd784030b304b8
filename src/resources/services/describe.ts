// From what a write says of a service to the service: defaults, kept values, tags and the service that runs it. Its bindings are not written here.

import type { CommandActor } from "../../access/actor.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { entered } from "../host-children.ts";
import type { HostRecord } from "../hosts/host.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import type { ServiceItem } from "./service-body.ts";
import { serviceKind, type ServiceRecord } from "./service.ts";
import { assertVirtualizingService } from "./virtualizing.ts";

/**
 * A new service of a host, which may be new itself.
 * @param position for an item that has none
 * @param pointer where the item stands in the body, for errors: `services/3/`
 * @throws DomainError entity_reference_invalid for tags, and for a virtualizing service of another network
 */
export function addService(tx: WriteTransaction, host: HostRecord, item: ServiceItem, position: number, actor: CommandActor, pointer = ""): ServiceRecord {
  return tx.create(
    serviceKind,
    actor.organizationId,
    { host_id: host.id, network_id: host.network_id, source: MANUAL, ...describedFields(tx, host.network_id, item, null, position, actor, pointer), first_discovery_id: null },
    entered(tx, item),
  );
}

/** A service after a write: what the item leaves out keeps its value. @throws as addService does */
export function changeService(tx: WriteTransaction, service: ServiceRecord, item: ServiceItem, actor: CommandActor, pointer = ""): ServiceRecord {
  return tx.update(serviceKind, service.id, describedFields(tx, service.network_id, item, service, service.position, actor, pointer));
}

function describedFields(tx: WriteTransaction, networkId: string, item: ServiceItem, previous: ServiceRecord | null, position: number, actor: CommandActor, pointer: string) {
  assertVirtualizingService(tx, item.virtualization, networkId, `${pointer}virtualization/details/service_id`, actor);
  return {
    name: item.name,
    position: item.position ?? previous?.position ?? position,
    service_definition: item.service_definition,
    tags: item.tags === undefined ? (previous?.tags ?? []) : existingTags(tx, item.tags, actor, `${pointer}tags`),
    virtualization: item.virtualization === undefined ? (previous?.virtualization ?? null) : item.virtualization,
  };
}
