// Writer commands for ports.

import type { CommandActor } from "../../access/actor.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { referencedHost, siblingsBelowLimit } from "../hosts/new-child.ts";
import { removeOne } from "../ignored/removal.ts";
import { recordToUpdate } from "../record-changes.ts";
import type { BatchInput } from "../shared-lookups.ts";
import { addPort, changePort } from "./apply.ts";
import { type PortCreate, type PortUpdate, portKind } from "./port.ts";

/**
 * Creates a port of a host.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
function createPort(tx: WriteTransaction, input: BatchInput & { body: PortCreate }, actor: CommandActor): Written {
  const { body, shared } = input;
  const host = referencedHost(tx, body, actor);
  const siblings = siblingsBelowLimit(tx, portKind, "host_n", host.id, shared);
  const port = addPort(tx, host, body, actor);
  siblings.push(port);
  return port;
}

/**
 * Updates a port, without changing its bindings.
 * @throws DomainError entity_already_exists, entity_not_found, precondition_failed, entity_access_denied,
 * validation_id_mismatch, validation_failed
 */
function updatePort(tx: WriteTransaction, input: ChangeInput<PortUpdate>, actor: CommandActor): Written {
  const { body } = input;
  const port = recordToUpdate(tx, portKind, input, actor, ["id", "host_id", "network_id"]);
  return changePort(tx, port, body);
}

/** Deletes a port and its bindings. */
const removePort = removeOne(portKind);

export const portCommands = {
  "port.create": createPort,
  "port.update": updatePort,
  "port.delete": removePort,
  "port.bulk_delete": removeEach(portKind, removePort),
};
export type PortCommands = CallsOf<typeof portCommands>;
