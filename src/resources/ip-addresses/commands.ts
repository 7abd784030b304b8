// What the writer runs for addresses. How one is found a subnet, and what a write leaves as it was, is in describe.ts.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { hostNamed, placeAfter, siblingsWithRoom } from "../host-children.ts";
import { removeRecord } from "../references.ts";
import { addIpAddress, changeIpAddress, SubnetFinder } from "./describe.ts";
import { ipAddressKind, type IpAddressCreate, type IpAddressUpdate } from "./ip-address.ts";

/**
 * An address of a host.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
export function createIpAddress(tx: WriteTransaction, input: { body: IpAddressCreate }, actor: CommandActor): Written {
  const { body } = input;
  const host = hostNamed(tx, body, actor);
  const siblings = siblingsWithRoom(tx, ipAddressKind, "host_n", host.id);
  const subnetId = new SubnetFinder(tx, host.network_id, actor).find(body, null);
  return addIpAddress(tx, host, body, { subnetId, position: placeAfter(siblings) }, actor);
}

/**
 * Changes an address. Fields that are left out stay; another address without a subnet finds its subnet anew.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed;
 * auth_permission_denied for a caller below Admin where a credential is assigned to the address
 */
export function updateIpAddress(
  tx: WriteTransaction,
  input: { id: string; body: IpAddressUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const address = getReachable(tx, ipAddressKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(address, body, ["id", "host_id", "network_id"]);
  return changeIpAddress(tx, address, body, new SubnetFinder(tx, address.network_id, actor).find(body, address), actor);
}

/**
 * Deletes an address with the bindings to it. Interface entries lose the reference to it, assignments that name it narrow or go.
 * @param input.cascade also what else refers to it; else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed
 */
export function removeIpAddress(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const address = getReachable(tx, ipAddressKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, ipAddressKind, input.id, input.cascade);
  return address;
}
