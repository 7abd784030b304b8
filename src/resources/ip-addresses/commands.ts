// Writer commands for addresses. Subnet selection and kept values are in apply.ts.

import type { CommandActor } from "../../access/actor.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { nextPosition, referencedHost, siblingsBelowLimit } from "../hosts/new-child.ts";
import { removeOne } from "../ignored/removal.ts";
import { recordToUpdate } from "../record-changes.ts";
import type { BatchInput, SharedLookups } from "../shared-lookups.ts";
import { addIpAddress, changeIpAddress, SubnetFinder } from "./apply.ts";
import { type IpAddressCreate, type IpAddressUpdate, ipAddressKind } from "./ip-address.ts";

/**
 * Adds an address to a host.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
function createIpAddress(
  tx: WriteTransaction,
  input: BatchInput & { body: IpAddressCreate },
  actor: CommandActor,
): Written {
  const { body, shared } = input;
  const host = referencedHost(tx, body, actor);
  const siblings = siblingsBelowLimit(tx, ipAddressKind, "host_n", host.id, shared);
  const subnetId = finderOf(tx, host.network_id, actor, shared).find(body, null);
  const address = addIpAddress(tx, host, body, { subnetId, position: nextPosition(siblings) }, actor);
  siblings.push(address);
  return address;
}

/**
 * Updates an address. Omitted fields keep their values; a new address without a subnet is assigned a matching subnet.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed; auth_permission_denied for a caller below Admin if a
 * credential is assigned to the address
 */
function updateIpAddress(
  tx: WriteTransaction,
  input: BatchInput & ChangeInput<IpAddressUpdate>,
  actor: CommandActor,
): Written {
  const { body, shared } = input;
  const address = recordToUpdate(tx, ipAddressKind, input, actor, ["id", "host_id", "network_id"]);
  const subnetId = finderOf(tx, address.network_id, actor, shared).find(body, address);
  return changeIpAddress(tx, address, body, subnetId, actor);
}

function finderOf(
  tx: WriteTransaction,
  networkId: string,
  actor: CommandActor,
  shared: SharedLookups | undefined,
): SubnetFinder {
  const make = () => new SubnetFinder(tx, networkId, actor);
  return shared === undefined ? make() : shared.of(`subnets of ${networkId}`, make);
}

/**
 * Deletes its bindings too. Interface entries lose the reference; assignments with address lists shrink or are removed.
 */
const removeIpAddress = removeOne(ipAddressKind);

export const ipAddressCommands = {
  "ip_address.create": createIpAddress,
  "ip_address.update": updateIpAddress,
  "ip_address.delete": removeIpAddress,
  "ip_address.bulk_delete": removeEach(ipAddressKind, removeIpAddress),
};
export type IpAddressCommands = CallsOf<typeof ipAddressCommands>;
