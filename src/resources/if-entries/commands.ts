// Writer commands for interface entries.

import type { CommandActor } from "../../access/actor.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { fromCheckedBody } from "../checked-bytes.ts";
import { hostKind } from "../hosts/host.ts";
import { referencedHost, siblingsBelowLimit } from "../hosts/new-child.ts";
import { removeOne } from "../ignored/removal.ts";
import { withCollectedIssues } from "../issues.ts";
import { recordToUpdate } from "../record-changes.ts";
import type { BatchInput } from "../shared-lookups.ts";
import { addIfEntry, changeIfEntry } from "./apply.ts";
import { type IfEntryCreate, type IfEntryUpdate, ifEntryKind } from "./if-entry.ts";

/**
 * Creates an interface entry of a host with its forwarding entries.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
function createIfEntry(
  tx: WriteTransaction,
  input: BatchInput & { body: IfEntryCreate },
  actor: CommandActor,
): Written {
  const { body, shared } = input;
  const host = referencedHost(tx, body, actor);
  const siblings = siblingsBelowLimit(tx, ifEntryKind, "host_n", host.id, shared);
  return withCollectedIssues(body, (part) => {
    const entry = part.attempt(() => addIfEntry(tx, host, body, actor, part));
    if (entry !== null) siblings.push(entry);
    return entry;
  });
}

/**
 * Updates an interface entry. Omitted fields keep their values.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateIfEntry(tx: WriteTransaction, input: ChangeInput<IfEntryUpdate>, actor: CommandActor): Written {
  const { body } = input;
  const entry = recordToUpdate(tx, ifEntryKind, input, actor, ["id", "network_id", "host_id"]);
  const host = tx.get(hostKind, entry.host_id);
  return withCollectedIssues(body, (part) => changeIfEntry(tx, host, entry, body, actor, part));
}

/** Deletes its forwarding entries too; neighbors lose the reference to it. */
const removeIfEntry = removeOne(ifEntryKind);

export const ifEntryCommands = {
  "if_entry.create": fromCheckedBody(createIfEntry),
  "if_entry.update": fromCheckedBody(updateIfEntry),
  "if_entry.delete": markLongRunning(removeIfEntry),
  "if_entry.bulk_delete": removeEach(ifEntryKind, removeIfEntry),
};
export type IfEntryCommands = CallsOf<typeof ifEntryCommands>;
