// The interfaces of a device as interface entries: fields, VLANs, what they forward to, what is announced on them.

import { fdbEntryKind, type FdbEntryRecord } from "../../resources/fdb-entries/fdb-entry.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { ifEntryKind, type IfEntryRecord } from "../../resources/if-entries/if-entry.ts";
import { withFarEnd, type MoreLldpNeighbor, type MoreNeighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import type { CdpAnnouncement, DeviceAddress, DeviceInterface, ForwardingEntry, LldpAnnouncement } from "../device.ts";
import { isFloodable } from "../topology/announcements.ts";
import { matchInterfaces } from "./interface-matching.ts";
import type { ScanWrite, Told } from "./scan-write.ts";
import type { VlanKeeper } from "./vlan-keeper.ts";

interface Around {
  /** The host's addresses, by address. */
  readonly addresses: ReadonlyMap<string, IpAddressRecord>;
  readonly toldAddresses: readonly DeviceAddress[] | undefined;
  readonly vlans: VlanKeeper;
}

/** What an entry has that nobody said anything about. */
const UNSAID = { if_type: 1, admin_status: "Up", oper_status: "Unknown" } as const;

/** Brings the interface entries of a host to what its device told. Entries of interfaces that it does not have any more stay: they become stale. */
export function recordInterfaces(write: ScanWrite, host: HostRecord, interfaces: readonly DeviceInterface[], around: Around): void {
  const { tx } = write;
  const stored = tx.children(ifEntryKind, "host_n", host.id);
  const matched = matchInterfaces(interfaces, stored);
  const forwarding = interfaces.some((each) => each.forwarding !== undefined) ? byInterface(tx.children(fdbEntryKind, "host_n", host.id)) : new Map<string, FdbEntryRecord[]>();
  const addressOf = new Map<number, IpAddressRecord>();
  for (const { if_index, ip_address } of around.toldAddresses ?? []) {
    const record = around.addresses.get(ip_address);
    if (if_index !== null && record !== undefined && !addressOf.has(if_index)) addressOf.set(if_index, record);
  }
  freeIndexes(write, matched, stored);
  for (const each of interfaces) {
    const before = matched.get(each) ?? null;
    const told = { ...toldFields(each, around.vlans), ...toldAnnouncements(each, before) };
    const address = addressOf.get(each.if_index);
    const entry =
      before === null
        ? write.found(ifEntryKind, { host_id: host.id, network_id: host.network_id, ...withDefaults(told), ip_address_id: address?.id })
        : write.again(ifEntryKind, before, { ...told, ...(before.ip_address_id === undefined && address !== undefined ? { ip_address_id: address.id } : {}) }, UNSAID);
    if (entry === null) continue;
    write.index.note(host.id, { mac: entry.mac_address ?? null });
    if (each.forwarding !== undefined) syncForwarding(write, entry, each.forwarding, forwarding.get(entry.id) ?? []);
  }
}

/** An interface that takes over the number of one that is gone ends that entry: two of one number there cannot be. */
function freeIndexes(write: ScanWrite, matched: ReadonlyMap<DeviceInterface, IfEntryRecord>, stored: readonly IfEntryRecord[]): void {
  const kept = new Set(matched.values());
  const moving = new Set([...matched].filter(([told, entry]) => told.if_index !== entry.if_index).map(([told]) => told.if_index));
  for (const entry of stored) {
    if (kept.has(entry) || !moving.has(entry.if_index)) continue;
    write.close(ifEntryKind, entry, entry.if_name ?? entry.if_descr, `the device gave its number ${entry.if_index} to another interface`);
  }
}

function toldFields(each: DeviceInterface, vlans: VlanKeeper): Told {
  const { if_index, if_descr, if_name, if_alias, if_type, speed_bps, admin_status, oper_status, mac_address, native_vlan, vlans: numbers } = each;
  return {
    if_index,
    if_descr,
    if_name,
    if_alias,
    if_type,
    speed_bps,
    admin_status,
    oper_status,
    mac_address,
    native_vlan_id: native_vlan === undefined ? undefined : native_vlan === null ? null : vlans.idOf(native_vlan),
    vlan_ids: numbers === undefined ? undefined : listOrNone(numbers.map((number) => vlans.idOf(number)).filter((id) => id !== null)),
  };
}

function withDefaults(told: Told): Told {
  const given = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined && value !== null));
  return { if_descr: "", ...UNSAID, ...given };
}

/** The first of each protocol in fields of its own, the others beside them. */
function toldAnnouncements({ lldp: announced, cdp }: DeviceInterface, before: IfEntryRecord | null): Told {
  if (announced === undefined && cdp === undefined) return {};
  const lldp = announced === undefined ? undefined : nearestFirst(announced);
  const told: Record<string, unknown> = {};
  if (lldp !== undefined) Object.assign(told, lldpFields(lldp[0], before));
  if (cdp !== undefined) Object.assign(told, cdpFields(cdp[0]));
  const known = before?.more_neighbors ?? [];
  const more = [
    ...(lldp === undefined ? known.filter((each) => each.protocol === "Lldp") : lldp.slice(1).map((each) => moreLldp(each, known))),
    ...(cdp === undefined ? known.filter((each) => each.protocol === "Cdp") : cdp.slice(1).map((each) => moreCdp(each, known))),
  ];
  told["more_neighbors"] = listOrNone(more);
  // Who was at the other end is not who is: it is worked out anew at the end of the scan.
  if (before?.neighbor !== undefined && FAR_END.some((field) => told[field] !== undefined && !Bun.deepEquals(told[field], before[field] ?? null))) told["neighbor"] = null;
  return told;
}

/** Who is surely at the other end of the cable before who may be beyond it. */
function nearestFirst(announced: readonly LldpAnnouncement[]): readonly LldpAnnouncement[] {
  if (announced.length < 2) return announced;
  const isBeyond = ({ mgmt_addr: _address, ...each }: LldpAnnouncement) => isFloodable({ protocol: "Lldp", ...each });
  return [...announced.filter((each) => !isBeyond(each)), ...announced.filter(isBeyond)];
}

const FAR_END = ["lldp_chassis_id", "lldp_port_id", "cdp_device_id", "cdp_port_id"] as const;

function lldpFields(first: LldpAnnouncement | undefined, before: IfEntryRecord | null): Told {
  // Where nobody knows whether it has an address, the one that the same neighbor had stays.
  const isKept = first?.mgmt_addr === null && Bun.deepEquals([first.chassis_id, first.port_id], [before?.lldp_chassis_id, before?.lldp_port_id]);
  return {
    lldp_chassis_id: first?.chassis_id ?? null,
    lldp_port_id: first?.port_id ?? null,
    lldp_sys_name: first?.sys_name ?? null,
    lldp_sys_desc: first?.sys_desc ?? null,
    lldp_port_desc: first?.port_desc ?? null,
    lldp_mgmt_addr: isKept ? undefined : (first?.mgmt_addr ?? null),
  };
}

function cdpFields(first: CdpAnnouncement | undefined): Told {
  return { cdp_device_id: first?.device_id ?? null, cdp_port_id: first?.port_id ?? null, cdp_platform: first?.platform ?? null, cdp_address: first?.address ?? null };
}

function moreLldp({ mgmt_addr, ...announced }: LldpAnnouncement, known: readonly MoreNeighbor[]): MoreNeighbor {
  const more: MoreLldpNeighbor = { protocol: "Lldp", ...announced };
  if (typeof mgmt_addr === "string") return withKnownFarEnd({ ...more, mgmt_addr }, known);
  // Where nobody knows whether it has one, the one that it had stays.
  const before = mgmt_addr === undefined ? undefined : known.find((each) => each.protocol === "Lldp" && Bun.deepEquals(withoutAddress(each), more));
  return before ?? withKnownFarEnd(more, known);
}

function withoutAddress(each: MoreLldpNeighbor): MoreNeighbor {
  const { mgmt_addr: _address, ...rest } = each;
  return withFarEnd(rest, null);
}

function moreCdp(announced: CdpAnnouncement, known: readonly MoreNeighbor[]): MoreNeighbor {
  return withKnownFarEnd({ protocol: "Cdp", ...announced }, known);
}

/** What was announced before is where it was before. */
function withKnownFarEnd(announced: MoreNeighbor, known: readonly MoreNeighbor[]): MoreNeighbor {
  const before = known.find((each) => Bun.deepEquals(withFarEnd(each, null), announced));
  return before?.neighbor === undefined ? announced : withFarEnd(announced, before.neighbor);
}

function syncForwarding(write: ScanWrite, entry: IfEntryRecord, told: readonly ForwardingEntry[], stored: readonly FdbEntryRecord[]): void {
  const { tx } = write;
  const wanted = new Map(told.map((each) => [`${each.mac_address}/${each.vlan_number ?? ""}`, each]));
  for (const record of stored) if (!wanted.delete(`${record.mac_address}/${record.vlan_number ?? ""}`)) tx.remove(fdbEntryKind, record.id);
  for (const { mac_address, vlan_number } of wanted.values()) {
    tx.create(fdbEntryKind, write.actor.organizationId, { if_entry_id: entry.id, host_id: entry.host_id, network_id: entry.network_id, mac_address, vlan_number });
  }
  const isComposed = told.length > 0;
  if (isComposed !== stored.length > 0) tx.setComposed(ifEntryKind, entry.id, isComposed);
}

function byInterface(entries: readonly FdbEntryRecord[]): Map<string, FdbEntryRecord[]> {
  const grouped = new Map<string, FdbEntryRecord[]>();
  for (const entry of entries) {
    const group = grouped.get(entry.if_entry_id);
    if (group === undefined) grouped.set(entry.if_entry_id, [entry]);
    else group.push(entry);
  }
  return grouped;
}

/** An empty list is none. */
function listOrNone<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}
