// Reference check for the service that runs a virtual host or a container: it must be in the same network.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { referenceInvalid } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { serviceKind } from "./service.ts";

/**
 * Requires the service of a virtualization to be in the same network.
 * @param field as written by the caller
 * @throws DomainError entity_reference_invalid
 */
export function assertVirtualizingService(
  tx: WriteTransaction,
  virtualization: { readonly details: { readonly service_id?: string } } | null | undefined,
  networkId: string,
  field: string,
  actor: CommandActor,
): void {
  const id = virtualization?.details.service_id;
  if (id === undefined) return;
  const [service] = getReferenced(tx, serviceKind, [id], field, actor);
  if (service?.network_id !== networkId) throw referenceInvalid(serviceKind, field, [id]);
}
