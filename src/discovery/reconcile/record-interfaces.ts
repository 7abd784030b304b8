// The interfaces of a device as interface entries: fields, VLANs, what they forward to, what is announced on them.

import { CHILDREN_MAX } from "../../http/schemas.ts";
import { fdbEntryKind, type FdbEntryRecord } from "../../resources/fdb-entries/fdb-entry.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { ifEntryKind, type IfEntryRecord } from "../../resources/if-entries/if-entry.ts";
import { withFarEnd, type MoreLldpNeighbor, type MoreNeighbor } from "../../resources/if-entries/more-neighbors.ts";
import { ignoredKind } from "../../resources/ignored/ignored.ts";
import { namesInSigns } from "../../resources/ignored/signs.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import type { CdpAnnouncement, DeviceAddress, DeviceInterface, ForwardingEntry, LldpAnnouncement } from "../device.ts";
import { isFloodable } from "../topology/announcements.ts";
import { deletedAmong, matchInterfaces, type DeletedInterface } from "./interface-matching.ts";
import { isTouchedByPerson } from "./provenance.ts";
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

/** Forwarding entries of one device: with its interfaces, addresses and subnets no more than one transaction may create. */
export const FORWARDING_MAX = 50_000;
/** Announcements on one interface, of each protocol. */
export const ANNOUNCEMENTS_MAX = 1_000;

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
  const held = freeIndexes(write, matched, stored);
  const fresh = interfaces.filter((each) => !matched.has(each));
  const deleted = deletedAmong(fresh, interfaces, fresh.length === 0 ? [] : deletedInterfaces(write, host));
  let room = CHILDREN_MAX - stored.length;
  const left = { interfaces: 0, forwarding: 0, announcements: 0 };
  let forwardingRoom = FORWARDING_MAX;
  for (const each of interfaces) {
    const before = matched.get(each) ?? null;
    if (before === null && !deleted.has(each)) {
      room -= 1;
      if (room < 0) {
        left.interfaces += 1;
        continue;
      }
    }
    const isHeld = before !== null && before.if_index !== each.if_index && held.has(each.if_index);
    const told: Record<string, unknown> = { ...toldFields(each, around.vlans), ...toldAnnouncements(each, before), ...(isHeld ? { if_index: undefined } : {}) };
    left.announcements += Math.max(0, (each.lldp?.length ?? 0) - ANNOUNCEMENTS_MAX) + Math.max(0, (each.cdp?.length ?? 0) - ANNOUNCEMENTS_MAX);
    const address = addressOf.get(each.if_index);
    const entry =
      before === null
        ? write.found(ifEntryKind, { host_id: host.id, network_id: host.network_id, ...withDefaults(told), ip_address_id: address?.id }, deleted.has(each))
        : write.again(ifEntryKind, before, { ...told, ...(before.ip_address_id === undefined && address !== undefined ? { ip_address_id: address.id } : {}) }, UNSAID);
    if (entry === null) continue;
    write.index.note(host.id, { mac: entry.mac_address ?? null });
    if (each.forwarding === undefined) continue;
    const learned = each.forwarding.slice(0, forwardingRoom);
    forwardingRoom -= learned.length;
    left.forwarding += each.forwarding.length - learned.length;
    syncForwarding(write, entry, learned, forwarding.get(entry.id) ?? []);
  }
  if (left.interfaces > 0) write.tellLimit(host, ifEntryKind.plural, left.interfaces, CHILDREN_MAX);
  if (left.forwarding > 0) write.tellLimit(host, fdbEntryKind.plural, left.forwarding, FORWARDING_MAX);
  if (left.announcements > 0) write.tellLimit(host, "neighbors", left.announcements, ANNOUNCEMENTS_MAX);
}

/** What people have deleted of a host's interfaces. */
function deletedInterfaces({ tx }: ScanWrite, host: HostRecord): DeletedInterface[] {
  const records = tx.children(ignoredKind, "host_n", host.id).filter((record) => record.entity === ifEntryKind.name);
  return records.map(({ identity, signs }) => ({ if_index: Number(identity.slice(identity.lastIndexOf("/") + 1)), ...namesInSigns(signs) }));
}

/**
 * An interface that takes over the number of one that is gone ends that entry: two of one number there cannot be.
 * @returns the numbers of entries that a person has entered, which are not discovery's to end
 */
function freeIndexes(write: ScanWrite, matched: ReadonlyMap<DeviceInterface, IfEntryRecord>, stored: readonly IfEntryRecord[]): Set<number> {
  const held = new Set<number>();
  const kept = new Set(matched.values());
  const moving = new Set([...matched].filter(([told, entry]) => told.if_index !== entry.if_index).map(([told]) => told.if_index));
  for (const entry of stored) {
    if (kept.has(entry) || !moving.has(entry.if_index)) continue;
    if (entry.first_discovery_id === undefined && isTouchedByPerson(write.tx, entry.id)) {
      held.add(entry.if_index);
      write.tell({ type: "Skipped", entity: ifEntryKind.name, id: entry.id, label: entry.if_name ?? entry.if_descr, reason: `the device gave its number ${entry.if_index} to another interface, which keeps the one that it had: a person entered this one` });
      continue;
    }
    write.close(ifEntryKind, entry, entry.if_name ?? entry.if_descr, `the device gave its number ${entry.if_index} to another interface`);
  }
  return held;
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
function toldAnnouncements({ lldp: announced, cdp: cached }: DeviceInterface, before: IfEntryRecord | null): Told {
  if (announced === undefined && cached === undefined) return {};
  const cdp = cached?.slice(0, ANNOUNCEMENTS_MAX);
  const lldp = announced === undefined ? undefined : nearestFirst(announced).slice(0, ANNOUNCEMENTS_MAX);
  const told: Record<string, unknown> = {};
  if (lldp !== undefined) Object.assign(told, lldpFields(lldp[0], before));
  if (cdp !== undefined) Object.assign(told, cdpFields(cdp[0]));
  const stored = before?.more_neighbors ?? [];
  const known = new KnownNeighbors(stored);
  const more = [
    ...(lldp === undefined ? stored.filter((each) => each.protocol === "Lldp") : lldp.slice(1).map((each) => moreLldp(each, known))),
    ...(cdp === undefined ? stored.filter((each) => each.protocol === "Cdp") : cdp.slice(1).map((each) => known.withFarEnd({ protocol: "Cdp", ...each }))),
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

function moreLldp({ mgmt_addr, ...announced }: LldpAnnouncement, known: KnownNeighbors): MoreNeighbor {
  const more: MoreLldpNeighbor = { protocol: "Lldp", ...announced };
  if (typeof mgmt_addr === "string") return known.withFarEnd({ ...more, mgmt_addr });
  // Where nobody knows whether it has one, the one that it had stays.
  const before = mgmt_addr === undefined ? undefined : known.atWhateverAddress(more);
  return before ?? known.withFarEnd(more);
}

/** What an entry says of its further neighbors, to be found by what they announce: there may be hundreds. */
class KnownNeighbors {
  private readonly byText = new Map<string, MoreNeighbor>();
  private readonly byTextWithoutAddress = new Map<string, MoreNeighbor>();

  constructor(known: readonly MoreNeighbor[]) {
    for (const each of known) {
      putFirst(this.byText, textOf(each), each);
      if (each.protocol !== "Lldp") continue;
      const { mgmt_addr: _address, ...rest } = each;
      putFirst(this.byTextWithoutAddress, textOf(rest), each);
    }
  }

  /** What was announced before is where it was before. */
  withFarEnd(announced: MoreNeighbor): MoreNeighbor {
    const before = this.byText.size === 0 ? undefined : this.byText.get(textOf(announced));
    return before?.neighbor === undefined ? announced : withFarEnd(announced, before.neighbor);
  }

  atWhateverAddress(announced: MoreLldpNeighbor): MoreNeighbor | undefined {
    return this.byTextWithoutAddress.get(textOf(announced));
  }
}

/** All that is announced, in one order. */
function textOf(announced: MoreNeighbor): string {
  const { neighbor: _farEnd, ...rest } = announced;
  return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function putFirst<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (!map.has(key)) map.set(key, value);
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
