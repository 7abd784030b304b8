// Conversion of a requested interface entry to stored fields: defaults, kept values, references within the network.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable, getReferenced } from "../../access/reach.ts";
import { referenceInvalid } from "../../base/errors.ts";
import { picked, withoutNulls } from "../../base/fields.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertRequired, changedValues, newValues, type Saying } from "../custom-fields/write-values.ts";
import { fdbEntryKind } from "../fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../hosts/host.ts";
import { entered } from "../hosts/new-child.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { ItemPart } from "../issues.ts";
import { vlanKind } from "../vlans/vlan.ts";
import { IF_ENTRY_DESCRIBED, type IfEntryItem, type IfEntryRecord, ifEntryKind, UNSAID_IF_ENTRY } from "./if-entry.ts";

/**
 * Adds an entry to a host, which may have been created in the same transaction.
 * @param place of the item in the body: collects the errors of its references, entity_reference_invalid for an address
 * of another host, a VLAN or a neighbor of another network
 * @throws DomainError entity_already_exists for its id
 */
export function addIfEntry(
  tx: WriteTransaction,
  host: HostRecord,
  item: IfEntryItem,
  actor: CommandActor,
  place: ItemPart,
): IfEntryRecord {
  const entry = tx.create(
    ifEntryKind,
    actor.organizationId,
    {
      host_id: host.id,
      network_id: host.network_id,
      if_index: item.if_index,
      if_descr: item.if_descr,
      ...UNSAID_IF_ENTRY,
      ...saidFields(tx, host, item, actor, place),
      custom_fields: place.attempt(() => newValues(tx, saying(item, actor, place))) ?? undefined,
    },
    entered(tx, item),
  );
  syncForwarding(tx, entry, item.fdb_macs ?? undefined, actor);
  return entry;
}

/**
 * Updates an entry: omitted fields keep their values, null clears them.
 * @param place as for addIfEntry
 */
export function changeIfEntry(
  tx: WriteTransaction,
  host: HostRecord,
  entry: IfEntryRecord,
  item: IfEntryItem,
  actor: CommandActor,
  place: ItemPart,
): IfEntryRecord {
  const values = place.attempt(() => changedValues(tx, entry.custom_fields, saying(item, actor, place)));
  const changed = tx.update(ifEntryKind, entry.id, {
    ...saidFields(tx, host, item, actor, place),
    custom_fields: values ?? undefined,
  });
  syncForwarding(tx, changed, item.fdb_macs, actor);
  place.attempt(() => assertRequired(tx, changed, saying(item, actor, place)));
  return changed;
}

function saying({ custom_fields: said }: IfEntryItem, { organizationId }: CommandActor, place: ItemPart): Saying {
  return { kind: ifEntryKind, organizationId, said, at: place.pointer };
}

/** Fields present in a write; null clears a field. */
function saidFields(tx: WriteTransaction, host: HostRecord, item: IfEntryItem, actor: CommandActor, place: ItemPart) {
  checkReferences(tx, host, item, actor, place);
  const said = withoutNulls(picked(item, ["if_index", "if_descr", ...IF_ENTRY_DESCRIBED]));
  return { ...said, ...(item.vlan_ids === undefined ? {} : { vlan_ids: withoutDuplicates(item.vlan_ids ?? []) }) };
}

function checkReferences(
  tx: WriteTransaction,
  host: HostRecord,
  item: IfEntryItem,
  actor: CommandActor,
  place: ItemPart,
): void {
  const { ip_address_id, native_vlan_id, vlan_ids, neighbor } = item;
  if (isGiven(ip_address_id))
    place.attempt(() => assertAddressOfHost(tx, host, ip_address_id, place.field("ip_address_id"), actor));
  if (isGiven(native_vlan_id))
    place.attempt(() => assertVlansOfNetwork(tx, host, [native_vlan_id], place.field("native_vlan_id"), actor));
  if (isGiven(vlan_ids)) place.attempt(() => assertVlansOfNetwork(tx, host, vlan_ids, place.field("vlan_ids"), actor));
  if (isGiven(neighbor)) place.attempt(() => assertNeighbor(tx, host, neighbor, place.field("neighbor"), actor));
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/**
 * Makes the forwarding entries of an interface match the list. Omitted: unchanged; null or an empty list clears them.
 */
function syncForwarding(
  tx: WriteTransaction,
  entry: IfEntryRecord,
  macs: readonly string[] | null | undefined,
  actor: CommandActor,
): void {
  if (macs === undefined) return;
  const wanted = new Set(macs ?? []);
  const present = new Set<string>();
  for (const known of tx.children(fdbEntryKind, "if_entry_n", entry.id)) {
    if (wanted.has(known.mac_address)) present.add(known.mac_address);
    else tx.remove(fdbEntryKind, known.id);
  }
  for (const mac of wanted) {
    if (present.has(mac)) continue;
    tx.create(fdbEntryKind, actor.organizationId, {
      if_entry_id: entry.id,
      host_id: entry.host_id,
      network_id: entry.network_id,
      mac_address: mac,
      vlan_number: null,
    });
  }
  tx.setComposed(ifEntryKind, entry.id, wanted.size > 0);
}

function assertAddressOfHost(
  tx: WriteTransaction,
  host: HostRecord,
  id: string,
  field: string,
  actor: CommandActor,
): void {
  const address = findReachable(tx, ipAddressKind, id, actor);
  if (address === null || address.host_id !== host.id) throw referenceInvalid(ipAddressKind, field, [id]);
}

function assertVlansOfNetwork(
  tx: WriteTransaction,
  host: HostRecord,
  ids: readonly string[],
  field: string,
  actor: CommandActor,
): void {
  const foreign = getReferenced(tx, vlanKind, ids, field, actor).filter((vlan) => vlan.network_id !== host.network_id);
  if (foreign.length > 0)
    throw referenceInvalid(
      vlanKind,
      field,
      foreign.map((vlan) => vlan.id),
    );
}

/**
 * Requires the far end to be in the same network: other readers may not reach another one.
 * @throws DomainError entity_reference_invalid
 */
export function assertNeighbor(
  tx: WriteTransaction,
  host: HostRecord,
  neighbor: NonNullable<IfEntryItem["neighbor"]>,
  field: string,
  actor: CommandActor,
): void {
  const far =
    neighbor.type === "Host"
      ? findReachable(tx, hostKind, neighbor.id, actor)
      : findReachable(tx, ifEntryKind, neighbor.id, actor);
  if (far === null || far.network_id !== host.network_id)
    throw referenceInvalid(neighbor.type === "Host" ? hostKind : ifEntryKind, field, [neighbor.id]);
}

function withoutDuplicates(ids: readonly string[]): readonly string[] | undefined {
  return ids.length === 0 ? undefined : [...new Set(ids)];
}
