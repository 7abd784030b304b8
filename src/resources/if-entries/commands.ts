// What the writer runs for interface entries.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { formatInstant } from "../../base/instant.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { hostKind, type HostRecord } from "../hosts/host.ts";
import { removeRecord } from "../references.ts";
import { describedFields, syncForwarding } from "./describe.ts";
import { ifEntryKind, type IfEntryCreate, type IfEntryItem, type IfEntryRecord, type IfEntryUpdate } from "./if-entry.ts";

export function createIfEntry(tx: WriteTransaction, input: { body: IfEntryCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  const host = getReferenced(tx, hostKind, [body.host_id], "host_id", actor)[0] as HostRecord;
  assertSameIds(host, { network_id: body.network_id }, ["network_id"]);
  return addIfEntry(tx, host, body, actor);
}

/** A new entry of a host, which may be new itself. */
export function addIfEntry(tx: WriteTransaction, host: HostRecord, item: IfEntryItem, actor: CommandActor, pointer = ""): IfEntryRecord {
  const entry = tx.create(
    ifEntryKind,
    actor.organizationId,
    { host_id: host.id, network_id: host.network_id, ...describedFields(tx, host, item, null, actor, pointer) },
    { ...(item.id === undefined ? {} : { id: item.id }), observed: { last_seen_at: formatInstant(tx.instant) } },
  );
  syncForwarding(tx, entry, item.fdb_macs ?? undefined, actor);
  return entry;
}

export function updateIfEntry(tx: WriteTransaction, input: { id: string; body: IfEntryUpdate; ifMatch: string | null }, actor: CommandActor): Written {
  const { id, body } = input;
  const entry = getReachable(tx, ifEntryKind, id, actor);
  assertVersion(input.ifMatch, tx.sequenceOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(entry, body, ["id", "network_id", "host_id"]);
  const host = tx.get(hostKind, entry.host_id);
  const updated = tx.update(ifEntryKind, id, describedFields(tx, host, body, entry, actor));
  syncForwarding(tx, updated, body.fdb_macs, actor);
  return updated;
}

export function removeIfEntry(tx: WriteTransaction, input: { id: string; cascade: boolean; ifMatch: string | null }, actor: CommandActor): Written {
  const entry = getReachable(tx, ifEntryKind, input.id, actor);
  assertVersion(input.ifMatch, tx.sequenceOf(input.id));
  removeRecord(tx, ifEntryKind, input.id, input.cascade);
  return entry;
}
