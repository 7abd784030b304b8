// Writer commands for services: the service and any listed bindings in one transaction.

import type { CommandActor } from "../../access/actor.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { targetsOf } from "../bindings/apply.ts";
import { type BindingItem, bindingKind } from "../bindings/binding.ts";
import { syncBindings, unchangedContext } from "../bindings/sync.ts";
import { removeEach } from "../bulk-removal.ts";
import { fromCheckedBody } from "../checked-bytes.ts";
import { nextPosition, referencedHost, siblingsBelowLimit } from "../hosts/new-child.ts";
import { removeOne, removeRecord } from "../ignored/removal.ts";
import { type ItemPart, withCollectedIssues } from "../issues.ts";
import { recordToUpdate } from "../record-changes.ts";
import type { BatchInput } from "../shared-lookups.ts";
import { addService, changeService } from "./apply.ts";
import { type ServiceRecord, serviceKind } from "./service.ts";
import type { ServiceCreate, ServiceUpdate } from "./service-body.ts";

/**
 * Creates a service of a host with its bindings.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
function createService(
  tx: WriteTransaction,
  input: BatchInput & { body: ServiceCreate },
  actor: CommandActor,
): Written {
  const { body, shared } = input;
  const host = referencedHost(tx, body, actor);
  const siblings = siblingsBelowLimit(tx, serviceKind, "host_n", host.id, shared);
  return withCollectedIssues(body, (part) => {
    const service = part.attempt(() => addService(tx, host, body, nextPosition(siblings), actor, part));
    if (service === null) return null;
    setBindings(tx, service, body.bindings, actor, part);
    siblings.push(service);
    return service;
  });
}

/**
 * Updates a service; bindings that are sent replace the stored ones. Omitted fields keep their values.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateService(tx: WriteTransaction, input: ChangeInput<ServiceUpdate>, actor: CommandActor): Written {
  const { body } = input;
  const service = recordToUpdate(tx, serviceKind, input, actor, ["id", "host_id", "network_id"]);
  return withCollectedIssues(body, (part) => {
    const changed = changeService(tx, service, body, actor, part);
    setBindings(tx, changed, body.bindings, actor, part);
    return changed;
  });
}

function setBindings(
  tx: WriteTransaction,
  service: ServiceRecord,
  items: readonly BindingItem[] | null | undefined,
  actor: CommandActor,
  part: ItemPart,
): void {
  if (items === null || items === undefined) return;
  const removed = syncBindings(tx, service, items, unchangedContext(targetsOf(tx, service.host_id)), actor, part);
  for (const { id } of removed) removeRecord(tx, bindingKind, id, true);
}

/** Deletes its bindings too; virtual hosts and containers lose the reference to it. */
const removeService = removeOne(serviceKind);

export const serviceCommands = {
  "service.create": fromCheckedBody(createService),
  "service.update": fromCheckedBody(updateService),
  "service.delete": removeService,
  "service.bulk_delete": removeEach(serviceKind, removeService),
};
export type ServiceCommands = CallsOf<typeof serviceCommands>;
