// Interface entry conversion, from requested to stored fields: defaults, kept values, references within the network.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable, getReferenced } from "../../access/reach.ts";
import { referenceInvalid } from "../../base/errors.ts";
import { pickFields, withoutNulls } from "../../base/fields.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertRequired, changedValues, customFieldInput, newValues } from "../custom-fields/write-values.ts";
import { fdbEntryKind } from "../fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../hosts/host.ts";
import { createOptions } from "../hosts/new-child.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { ItemPart } from "../issues.ts";
import { vlanKind } from "../vlans/vlan.ts";
import {
  IF_ENTRY_DEFAULTS,
  IF_ENTRY_WRITE_FIELDS,
  type IfEntryItem,
  type IfEntryRecord,
  ifEntryKind,
} from "./if-entry.ts";

/**
 * Adds an entry to a host, which may have been created in the same transaction.
 * @param part the item in the body; collects the errors of its references: entity_reference_invalid for an address of
 * another host, or for a VLAN or a neighbor of another network
 * @throws DomainError entity_already_exists for its id
 */
export function addIfEntry(
  tx: WriteTransaction,
  host: HostRecord,
  item: IfEntryItem,
  actor: CommandActor,
  part: ItemPart,
): IfEntryRecord {
  const entry = tx.create(
    ifEntryKind,
    actor.organizationId,
    {
      host_id: host.id,
      network_id: host.network_id,
      if_index: item.if_index,
      if_descr: item.if_descr,
      ...IF_ENTRY_DEFAULTS,
      ...givenFields(tx, host, item, actor, part),
      custom_fields: part.attempt(() => newValues(tx, customFieldInput(ifEntryKind, item, actor, part))) ?? undefined,
    },
    createOptions(tx, item),
  );
  syncForwarding(tx, entry, item.fdb_macs ?? undefined, actor);
  return entry;
}

/**
 * Updates an entry: omitted fields keep their values, null clears them.
 * @param part as for addIfEntry
 */
export function changeIfEntry(
  tx: WriteTransaction,
  host: HostRecord,
  entry: IfEntryRecord,
  item: IfEntryItem,
  actor: CommandActor,
  part: ItemPart,
): IfEntryRecord {
  const input = customFieldInput(ifEntryKind, item, actor, part);
  const values = part.attempt(() => changedValues(tx, entry.custom_fields, input));
  const changed = tx.update(ifEntryKind, entry.id, {
    ...givenFields(tx, host, item, actor, part),
    custom_fields: values ?? undefined,
  });
  syncForwarding(tx, changed, item.fdb_macs, actor);
  part.attempt(() => assertRequired(tx, changed, input));
  return changed;
}

/** Fields present in a write; null clears a field. */
function givenFields(tx: WriteTransaction, host: HostRecord, item: IfEntryItem, actor: CommandActor, part: ItemPart) {
  checkReferences(tx, host, item, actor, part);
  const given = withoutNulls(pickFields(item, ["if_index", "if_descr", ...IF_ENTRY_WRITE_FIELDS]));
  return { ...given, ...(item.vlan_ids === undefined ? {} : { vlan_ids: withoutDuplicates(item.vlan_ids ?? []) }) };
}

function checkReferences(
  tx: WriteTransaction,
  host: HostRecord,
  item: IfEntryItem,
  actor: CommandActor,
  part: ItemPart,
): void {
  const { ip_address_id, native_vlan_id, vlan_ids, neighbor } = item;
  if (isGiven(ip_address_id))
    part.attempt(() => assertAddressOfHost(tx, host, ip_address_id, part.field("ip_address_id"), actor));
  if (isGiven(native_vlan_id))
    part.attempt(() => assertVlansOfNetwork(tx, host, [native_vlan_id], part.field("native_vlan_id"), actor));
  if (isGiven(vlan_ids)) part.attempt(() => assertVlansOfNetwork(tx, host, vlan_ids, part.field("vlan_ids"), actor));
  if (isGiven(neighbor)) part.attempt(() => assertNeighbor(tx, host, neighbor, part.field("neighbor"), actor));
  for (const field of STACKED_FIELDS) {
    const id = item[field];
    if (isGiven(id)) part.attempt(() => assertInterfaceOfHost(tx, host, id, part.field(field), actor));
  }
}

/** References to other interface entries of the same host. */
export const STACKED_FIELDS = ["lag_id", "parent_id"] as const;

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
  const requested = new Set(macs ?? []);
  const existing = new Set<string>();
  for (const forwarding of tx.children(fdbEntryKind, "if_entry_n", entry.id)) {
    if (requested.has(forwarding.mac_address)) existing.add(forwarding.mac_address);
    else tx.remove(fdbEntryKind, forwarding.id);
  }
  for (const mac of requested) {
    if (existing.has(mac)) continue;
    tx.create(fdbEntryKind, actor.organizationId, {
      if_entry_id: entry.id,
      host_id: entry.host_id,
      network_id: entry.network_id,
      mac_address: mac,
      vlan_number: null,
    });
  }
  tx.setComposed(ifEntryKind, entry.id, requested.size > 0);
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

/** @throws DomainError entity_reference_invalid */
export function assertInterfaceOfHost(
  tx: WriteTransaction,
  host: HostRecord,
  id: string,
  field: string,
  actor: CommandActor,
): void {
  const entry = findReachable(tx, ifEntryKind, id, actor);
  if (entry === null || entry.host_id !== host.id) throw referenceInvalid(ifEntryKind, field, [id]);
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
 * Requires the far end to be in the same network: readers may not reach other networks.
 * @throws DomainError entity_reference_invalid
 */
export function assertNeighbor(
  tx: WriteTransaction,
  host: HostRecord,
  neighbor: NonNullable<IfEntryItem["neighbor"]>,
  field: string,
  actor: CommandActor,
): void {
  const farEnd =
    neighbor.type === "Host"
      ? findReachable(tx, hostKind, neighbor.id, actor)
      : findReachable(tx, ifEntryKind, neighbor.id, actor);
  if (farEnd === null || farEnd.network_id !== host.network_id)
    throw referenceInvalid(neighbor.type === "Host" ? hostKind : ifEntryKind, field, [neighbor.id]);
}

function withoutDuplicates(ids: readonly string[]): readonly string[] | undefined {
  return ids.length === 0 ? undefined : [...new Set(ids)];
}
