// Writer commands for ignored entries: ignoring a present or removed record, and removing entries.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable } from "../../access/reach.ts";
import { alreadyExists, referenceInvalid } from "../../base/errors.ts";
import type { Kind, RecordBase } from "../../db/kind.ts";
import type { CallsOf } from "../../db/writing/command.ts";
import { Past } from "../../db/writing/past.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { hostKind } from "../hosts/host.ts";
import { ifEntryKind } from "../if-entries/if-entry.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { networkKind } from "../networks/network.ts";
import { type IgnoredCreate, type IgnoredRecord, ignoredKind } from "./ignored.ts";
import { type Discovered, ignoreRecord, isIgnorableKind, removeAndIgnore, removeOne } from "./removal.ts";

/**
 * Has scans ignore a record: a present one is removed, with the rules of its deletion; a removed one must have been the
 * last of its identity.
 * @throws DomainError entity_reference_invalid for a record that never existed here, or whose network or host no longer
 * exists; entity_already_exists if the removed record exists again; entity_in_use
 */
function ignore(
  tx: WriteTransaction,
  { body, cascade = false }: { readonly body: IgnoredCreate; readonly cascade?: boolean | undefined },
  actor: CommandActor,
): IgnoredRecord {
  const { entity, record_id: id } = body;
  const kind = tx.kindByName(entity);
  if (!isIgnorableKind(kind)) throw new Error(`ignored: ${entity} cannot be ignored`);
  if (findReachable(tx, kind, id, actor) !== null) return removeAndIgnore(tx, kind, id, cascade);
  const past = new Past(tx.db, [kind, ifEntryKind, ipAddressKind]);
  const n = tx.recordN(id);
  const last = n === null || n === 0 ? null : past.beforeRemoval(n);
  if (
    n === null ||
    last === null ||
    last.state.kind.code !== kind.code ||
    !isPlaceInReach(tx, last.state.record, actor)
  )
    throw referenceInvalid(kind, "record_id", [id]);
  const { record } = last.state;
  // Hosts are recognized by their signs, whichever host has the name now.
  const successor = kind.code === hostKind.code ? null : tx.findByIdentity(kind, kind.identity(record) ?? id);
  if (successor !== null) throw alreadyExists(kind, "id", successor.id);
  return ignoreRecord(tx, kind, record as IgnorableState, <R extends RecordBase>(part: Kind<R>) =>
    past.membersAt(n, part, last.removedIn - 1).map((each) => each.record as R),
  );
}

type IgnorableState = RecordBase & Discovered;

/** Whether the network of a removed record still exists in the caller's reach, and its host if it had one. */
function isPlaceInReach(tx: WriteTransaction, record: RecordBase, actor: CommandActor): boolean {
  const { network_id: networkId, host_id: hostId } = record as IgnorableState;
  if (findReachable(tx, networkKind, networkId, actor) === null) return false;
  return hostId === undefined || findReachable(tx, hostKind, hostId, actor) !== null;
}

/** Allows discovery to create the record again. */
const removeIgnored = removeOne(ignoredKind);

export const ignoredCommands = {
  "ignored.create": ignore,
  "ignored.delete": removeIgnored,
  "ignored.bulk_delete": removeEach(ignoredKind, removeIgnored),
};
export type IgnoredCommands = CallsOf<typeof ignoredCommands>;
