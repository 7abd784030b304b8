// Synchronizes a service's bindings with the list in a write: creates and updates. Leaves removals to the caller.

import type { CommandActor } from "../../access/actor.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { mismatchedParentIds } from "../hosts/new-child.ts";
import type { ItemPart } from "../issues.ts";
import { match } from "../matching.ts";
import type { ServiceRecord } from "../services/service.ts";
import { addBinding, type BindingTargets, checkTarget, targetOf } from "./apply.ts";
import { type BindingItem, type BindingRecord, type BindingTarget, bindingIdentity, bindingKind } from "./binding.ts";

/** Effects of the same write on the host's ports and addresses. */
export interface SyncContext {
  /** Ports and addresses of the host after the write. */
  readonly targets: BindingTargets;
  /** Whether the write removes this port or address from the host. */
  readonly isRemoved: (id: string) => boolean;
  /** Maps an id of the request to the record's id; an item may have used a new id for an existing record. */
  readonly resolveId: (id: string) => string;
}

/** Context of a write that leaves ports and addresses unchanged. */
export function unchangedContext(targets: BindingTargets): SyncContext {
  return { targets, isRemoved: () => false, resolveId: (id) => id };
}

/**
 * @param part the service in the body; collects the errors of the items, among them entity_reference_invalid for a
 * port or an address of another host
 * @returns the bindings without an item
 */
export function syncBindings(
  tx: WriteTransaction,
  service: ServiceRecord,
  items: readonly BindingItem[],
  context: SyncContext,
  actor: CommandActor,
  part: ItemPart,
): BindingRecord[] {
  const { targets, isRemoved, resolveId } = context;
  const stored = tx.children(bindingKind, "service_n", service.id);
  const identityOf = (target: BindingTarget) => bindingIdentity(service.id, target);
  const byId = new Map(stored.map((record) => [record.id, record]));
  const resolved = items.map((item) => {
    const { type, port_id, ip_address_id } = targetOf(item, item.id === undefined ? null : (byId.get(item.id) ?? null));
    const { service_id, host_id, network_id } = item;
    return {
      ...(item.id === undefined ? {} : { id: item.id }),
      service_id,
      host_id,
      network_id,
      type,
      port_id: port_id === null ? null : resolveId(port_id),
      ip_address_id: ip_address_id === null ? null : resolveId(ip_address_id),
    };
  });
  const identifyingFieldsOf = ({ type, port_id, ip_address_id }: BindingTarget) => ({ type, port_id, ip_address_id });
  const matching = match<(typeof resolved)[number], BindingRecord>(
    resolved,
    stored,
    identifyingFieldsOf,
    `${part.pointer}/bindings`,
  );
  part.note(...matching.issues);
  for (const { item, position, stored: record } of matching.matched) {
    const itemPart = part.at(`/bindings/${position}`);
    itemPart.note(...mismatchedParentIds(item, service, itemPart.pointer));
    if (item.service_id !== undefined && item.service_id !== service.id)
      itemPart.note({
        path: `${itemPart.pointer}/service_id`,
        message: "must be the service's own id",
        value: item.service_id,
      });
    // An unchanged binding whose port or address is removed by this write is removed with it.
    const isUnchanged = record !== null && identityOf(record) === identityOf(item);
    if (isUnchanged && [item.port_id, item.ip_address_id].some((id) => id !== null && isRemoved(id))) continue;
    checkTarget(item, targets, itemPart);
    if (record === null) itemPart.attempt(() => addBinding(tx, service, item, item, actor));
    else
      tx.update(bindingKind, record.id, { type: item.type, port_id: item.port_id, ip_address_id: item.ip_address_id });
  }
  return matching.unmatched;
}
