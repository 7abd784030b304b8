// Binding conversion, from requested to stored; its port and address must belong to the service's host.

import type { CommandActor } from "../../access/actor.ts";
import { referenceInvalid } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { createOptions } from "../hosts/new-child.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { ItemPart } from "../issues.ts";
import { portKind } from "../ports/port.ts";
import type { ServiceRecord } from "../services/service.ts";
import { type BindingItem, type BindingRecord, type BindingTarget, bindingKind } from "./binding.ts";

/** Ports and addresses of one host that bindings may reference. */
export interface BindingTargets {
  readonly hasPort: (id: string) => boolean;
  readonly hasAddress: (id: string) => boolean;
}

/** Targets of a host for a write that leaves its ports and addresses unchanged. */
export function targetsOf(tx: WriteTransaction, hostId: string): BindingTargets {
  return {
    hasPort: (id) => tx.find(portKind, id)?.host_id === hostId,
    hasAddress: (id) => tx.find(ipAddressKind, id)?.host_id === hostId,
  };
}

/**
 * Target of a binding after a write; an omitted address keeps its value.
 * @param previous the current binding; null for a new one
 */
export function targetOf(item: BindingItem, previous: BindingRecord | null): BindingTarget {
  return {
    type: item.type,
    port_id: item.type === "Port" ? item.port_id : null,
    ip_address_id: item.ip_address_id === undefined ? (previous?.ip_address_id ?? null) : item.ip_address_id,
  };
}

/**
 * Requires the port and the address to belong to the service's host.
 * @param part the binding in the body; collects entity_reference_invalid for a port or an address of another host
 */
export function checkTarget(target: BindingTarget, targets: BindingTargets, part: ItemPart): void {
  const { port_id: portId, ip_address_id: addressId } = target;
  part.attempt(() => {
    if (portId !== null && !targets.hasPort(portId)) throw referenceInvalid(portKind, part.field("port_id"), [portId]);
  });
  part.attempt(() => {
    if (addressId !== null && !targets.hasAddress(addressId))
      throw referenceInvalid(ipAddressKind, part.field("ip_address_id"), [addressId]);
  });
}

/** Adds a binding to a service, which may have been created in the same transaction. */
export function addBinding(
  tx: WriteTransaction,
  service: ServiceRecord,
  item: { readonly id?: string },
  target: BindingTarget,
  actor: CommandActor,
): BindingRecord {
  const { type, port_id, ip_address_id } = target;
  return tx.create(
    bindingKind,
    actor.organizationId,
    {
      service_id: service.id,
      host_id: service.host_id,
      network_id: service.network_id,
      type,
      port_id,
      ip_address_id,
      first_discovery_id: null,
    },
    createOptions(tx, item),
  );
}
