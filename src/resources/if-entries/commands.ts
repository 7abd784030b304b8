// What the writer runs for interface entries.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { hostNamed, siblingsWithRoom } from "../host-children.ts";
import { hostKind } from "../hosts/host.ts";
import { refusedAtOnce } from "../offenders.ts";
import { removeRecord } from "../references.ts";
import { addIfEntry, changeIfEntry } from "./describe.ts";
import { ifEntryKind, type IfEntryCreate, type IfEntryUpdate } from "./if-entry.ts";

/**
 * An interface entry of a host, with the addresses that it forwards to.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
export function createIfEntry(tx: WriteTransaction, input: { body: IfEntryCreate }, actor: CommandActor): Written {
  const { body } = input;
  const host = hostNamed(tx, body, actor);
  siblingsWithRoom(tx, ifEntryKind, "host_n", host.id);
  return refusedAtOnce(body, (place) => place.attempt(() => addIfEntry(tx, host, body, actor, place)));
}

/**
 * Changes an interface entry. Fields that are left out stay.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateIfEntry(
  tx: WriteTransaction,
  input: { id: string; body: IfEntryUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const entry = getReachable(tx, ifEntryKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(entry, body, ["id", "network_id", "host_id"]);
  const host = tx.get(hostKind, entry.host_id);
  return refusedAtOnce(body, (place) => changeIfEntry(tx, host, entry, body, actor, place));
}

/**
 * Deletes an interface entry with its forwarding entries; neighbors lose the reference to it.
 * @param input.cascade also what else refers to it; else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed; entity_in_use
 */
export function removeIfEntry(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const entry = getReachable(tx, ifEntryKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, ifEntryKind, input.id, input.cascade);
  return entry;
}
