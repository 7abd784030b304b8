// From what a write says of an interface entry to the entry's fields: defaults, kept values, references of the same network.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable, getReferenced } from "../../access/reach.ts";
import { referenceInvalid } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { fdbEntryKind } from "../fdb-entries/fdb-entry.ts";
import { entered } from "../host-children.ts";
import { hostKind, type HostRecord } from "../hosts/host.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { Place } from "../offenders.ts";
import { vlanKind } from "../vlans/vlan.ts";
import { ifEntryKind, type IfEntryItem, type IfEntryRecord } from "./if-entry.ts";

/**
 * A new entry of a host, which may be new itself.
 * @param place of the item in the body: gets what is wrong with its references, entity_reference_invalid for an address of another
 * host, a VLAN or a neighbor of another network
 * @throws DomainError entity_already_exists for its id
 */
export function addIfEntry(
  tx: WriteTransaction,
  host: HostRecord,
  item: IfEntryItem,
  actor: CommandActor,
  place: Place,
): IfEntryRecord {
  const entry = tx.create(
    ifEntryKind,
    actor.organizationId,
    { host_id: host.id, network_id: host.network_id, ...describedFields(tx, host, item, null, actor, place) },
    entered(tx, item),
  );
  syncForwarding(tx, entry, item.fdb_macs ?? undefined, actor);
  return entry;
}

/** An entry after a write: what the item leaves out keeps its value, null clears it. @param place as addIfEntry takes it */
export function changeIfEntry(
  tx: WriteTransaction,
  host: HostRecord,
  entry: IfEntryRecord,
  item: IfEntryItem,
  actor: CommandActor,
  place: Place,
): IfEntryRecord {
  const changed = tx.update(ifEntryKind, entry.id, describedFields(tx, host, item, entry, actor, place));
  syncForwarding(tx, changed, item.fdb_macs, actor);
  return changed;
}

type Fields = Omit<
  IfEntryRecord,
  "id" | "created_at" | "updated_at" | "valid_from" | "lineage_id" | "host_id" | "network_id" | "first_discovery_id"
>;

/**
 * The fields of an entry after a write: what it leaves out keeps its value, null clears it.
 * @param previous the entry as it is; null for a new one
 */
function describedFields(
  tx: WriteTransaction,
  host: HostRecord,
  item: IfEntryItem,
  previous: IfEntryRecord | null,
  actor: CommandActor,
  place: Place,
): Fields {
  const kept = <Name extends keyof Fields & keyof IfEntryItem>(name: Name): Fields[Name] => {
    const sent = item[name];
    if (sent === undefined) return previous?.[name] as Fields[Name];
    return (sent === null ? undefined : sent) as Fields[Name];
  };
  const fields: Fields = {
    if_index: item.if_index,
    if_descr: item.if_descr,
    if_name: kept("if_name"),
    if_alias: kept("if_alias"),
    if_type: item.if_type ?? previous?.if_type ?? 1,
    speed_bps: kept("speed_bps"),
    admin_status: item.admin_status ?? previous?.admin_status ?? "Up",
    oper_status: item.oper_status ?? previous?.oper_status ?? "Unknown",
    mac_address: kept("mac_address"),
    ip_address_id: kept("ip_address_id"),
    native_vlan_id: kept("native_vlan_id"),
    vlan_ids: withoutDuplicates(kept("vlan_ids")),
    lldp_chassis_id: kept("lldp_chassis_id"),
    lldp_port_id: kept("lldp_port_id"),
    lldp_sys_name: kept("lldp_sys_name"),
    lldp_sys_desc: kept("lldp_sys_desc"),
    lldp_port_desc: kept("lldp_port_desc"),
    lldp_mgmt_addr: kept("lldp_mgmt_addr"),
    cdp_device_id: kept("cdp_device_id"),
    cdp_port_id: kept("cdp_port_id"),
    cdp_platform: kept("cdp_platform"),
    cdp_address: kept("cdp_address"),
    neighbor: kept("neighbor"),
  };
  checkReferences(tx, host, item, actor, place);
  return fields;
}

function checkReferences(
  tx: WriteTransaction,
  host: HostRecord,
  item: IfEntryItem,
  actor: CommandActor,
  place: Place,
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

/** Makes the forwarding entries of an interface match the list. Left out they stay, null or an empty list clears them. */
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
  if (address === null || address.host_id !== host.id) throw referenceInvalid("ip_address", field, [id]);
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
      "vlan",
      field,
      foreign.map((vlan) => vlan.id),
    );
}

/** The far end is of the same network: what lies beyond may be out of other readers' reach. @throws DomainError entity_reference_invalid */
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
    throw referenceInvalid(neighbor.type === "Host" ? "host" : "if_entry", field, [neighbor.id]);
}

function withoutDuplicates(ids: readonly string[] | undefined): readonly string[] | undefined {
  return ids === undefined || ids.length === 0 ? undefined : [...new Set(ids)];
}
