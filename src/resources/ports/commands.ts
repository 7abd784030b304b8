// What the writer runs for ports.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { hostNamed, siblingsWithRoom } from "../host-children.ts";
import { removeRecord } from "../references.ts";
import { addPort, changePort } from "./describe.ts";
import { portKind, type PortCreate, type PortUpdate } from "./port.ts";

/**
 * A port of a host.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
export function createPort(tx: WriteTransaction, input: { body: PortCreate }, actor: CommandActor): Written {
  const { body } = input;
  const host = hostNamed(tx, body, actor);
  siblingsWithRoom(tx, portKind, "host_n", host.id);
  return addPort(tx, host, body, actor);
}

/**
 * Changes a port. The bindings to it stay.
 * @throws DomainError entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updatePort(
  tx: WriteTransaction,
  input: { id: string; body: PortUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const port = getReachable(tx, portKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(port, body, ["id", "host_id", "network_id"]);
  return changePort(tx, port, body);
}

/**
 * Deletes a port with the bindings to it.
 * @param input.cascade also what else refers to it; else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed
 */
export function removePort(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const port = getReachable(tx, portKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, portKind, input.id, input.cascade);
  return port;
}
