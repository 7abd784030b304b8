// Recording of a device's interfaces as entries: fields, VLANs, forwarding, announcements.

import { nonNull } from "../../base/fields.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import {
  FDB_MACS_BESIDE_MAX,
  FDB_MACS_MAX,
  type IfEntryRecord,
  ifEntryKind,
  UNSAID_IF_ENTRY,
} from "../../resources/if-entries/if-entry.ts";
import { type MoreLldpNeighbor, type MoreNeighbor, withFarEnd } from "../../resources/if-entries/more-neighbors.ts";
import { ignoredKind } from "../../resources/ignored/ignored.ts";
import { namesInSigns } from "../../resources/ignored/signs.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import type { CdpAnnouncement, DeviceAddress, DeviceInterface, ForwardingEntry, LldpAnnouncement } from "../device.ts";
import type { RowReason } from "../rows.ts";
import { isFloodable } from "../topology/announcements.ts";
import { type DeletedInterface, deletedAmong, matchInterfaces } from "./interface-matching.ts";
import type { LeftOut } from "./left-out.ts";
import { isForwardingSetByPerson, isSetByPerson, isTouchedByPerson } from "./provenance.ts";
import type { Reported, ReportedEach } from "./reported-fields.ts";
import type { ScanWrite } from "./scan-write.ts";
import type { VlanKeeper } from "./vlan-keeper.ts";

interface InterfaceContext {
  readonly addresses: ReadonlyMap<string, IpAddressRecord>;
  readonly reportedAddresses: readonly DeviceAddress[] | undefined;
  /** ifIndexes with a row in ifXTable. */
  readonly extended: ReadonlySet<number>;
  /** True if the forwarding table may hold more entries. */
  readonly isForwardingPartial: boolean;
  readonly vlans: VlanKeeper;
  readonly leftOut: LeftOut;
}

/** Per device: with interfaces, addresses and subnets within the limit of creations per transaction. */
export const FORWARDING_MAX = FDB_MACS_MAX;
/** Per interface and protocol. */
export const ANNOUNCEMENTS_MAX = 1_000;

/**
 * Entries of vanished interfaces stay and become stale.
 * @returns false if VLANs are left for another command
 */
export function recordInterfaces(
  write: ScanWrite,
  host: HostRecord,
  interfaces: readonly DeviceInterface[],
  context: InterfaceContext,
): boolean {
  const { tx } = write;
  const stored = tx.children(ifEntryKind, "host_n", host.id);
  const matched = matchInterfaces(interfaces, stored);
  const forwarding = interfaces.some((each) => each.forwarding !== undefined)
    ? byInterface(tx.children(fdbEntryKind, "host_n", host.id))
    : new Map<string, FdbEntryRecord[]>();
  const addressOf = new Map<number, IpAddressRecord>();
  for (const { if_index, ip_address } of context.reportedAddresses ?? []) {
    const record = context.addresses.get(ip_address);
    if (if_index !== null && record !== undefined && !addressOf.has(if_index)) addressOf.set(if_index, record);
  }
  const held = freeIndexes(write, matched, stored);
  const fresh = interfaces.filter((each) => !matched.has(each));
  const deleted = deletedAmong(fresh, interfaces, fresh.length === 0 ? [] : deletedInterfaces(write, host));
  let room = CHILDREN_MAX - stored.length;
  const left = { interfaces: 0, forwarding: 0, announcements: 0 };
  let forwardingRoom = FORWARDING_MAX;
  let isWhole = true;
  const isKept = context.isForwardingPartial
    ? keptForwarding(FORWARDING_MAX - countReportedForwarding(interfaces), left)
    : null;
  for (const each of interfaces) {
    const before = matched.get(each) ?? null;
    if (before === null && !deleted.has(each)) {
      room -= 1;
      if (room < 0) {
        left.interfaces += 1;
        leaveOut(context, each, "limit");
        continue;
      }
    }
    const isHeld = before !== null && before.if_index !== each.if_index && held.has(each.if_index);
    const fields = reportedFieldsOf(each, context.vlans);
    if (!write.mayChangeVlans(vlanChanges(write, before, fields.vlan_ids, deleted.has(each)))) {
      isWhole = false;
      fields.vlan_ids = undefined;
    }
    const reported = { ...fields, ...reportedAnnouncements(each, before), ...(isHeld ? { if_index: undefined } : {}) };
    left.announcements +=
      Math.max(0, (each.lldp?.length ?? 0) - ANNOUNCEMENTS_MAX) +
      Math.max(0, (each.cdp?.length ?? 0) - ANNOUNCEMENTS_MAX);
    const address = addressOf.get(each.if_index);
    const entry =
      before === null
        ? write.found(
            ifEntryKind,
            {
              host_id: host.id,
              network_id: host.network_id,
              if_index: each.if_index,
              if_descr: "",
              ...UNSAID_IF_ENTRY,
              ...nonNull(reported),
              ip_address_id: address?.id,
              first_discovery_id: write.scanId,
            },
            deleted.has(each),
          )
        : write.again(
            ifEntryKind,
            before,
            {
              ...reported,
              ...(before.ip_address_id === undefined && address !== undefined ? { ip_address_id: address.id } : {}),
            },
            UNSAID_IF_ENTRY,
          );
    if (entry === null) {
      leaveOut(context, each, "deleted");
      continue;
    }
    context.leftOut.add("lldp", "limit", (each.lldp?.length ?? 0) - ANNOUNCEMENTS_MAX);
    context.leftOut.add("cdp", "limit", (each.cdp?.length ?? 0) - ANNOUNCEMENTS_MAX);
    const isNativeDeleted = typeof each.native_vlan === "number" && fields.native_vlan_id === null;
    context.leftOut.add("vlans", "deleted", isNativeDeleted ? 1 : 0);
    write.index.note(host.id, { mac: entry.mac_address ?? null });
    if (each.forwarding === undefined) continue;
    const learned = each.forwarding.slice(0, forwardingRoom);
    forwardingRoom -= learned.length;
    left.forwarding += each.forwarding.length - learned.length;
    context.leftOut.add("forwarding", "limit", each.forwarding.length - learned.length);
    const known = forwarding.get(entry.id) ?? [];
    syncForwarding(write, entry, { reported: learned, stored: known, isKept, leftOut: context.leftOut });
  }
  if (left.interfaces > 0) write.tellLimit(host, ifEntryKind.plural, left.interfaces, CHILDREN_MAX);
  if (left.forwarding > 0) write.tellLimit(host, fdbEntryKind.plural, left.forwarding, FORWARDING_MAX);
  if (left.announcements > 0) write.tellLimit(host, "neighbors", left.announcements, ANNOUNCEMENTS_MAX);
  return isWhole;
}

type VlanIds = Reported<IfEntryRecord>["vlan_ids"];

/**
 * Counts the VLAN changes on an interface. Changes never written count as 0: they would fill every command, and the
 * device would never finish.
 * @param reported IDs, null for none; undefined if unknown
 * @param isDeleted true if a person deleted the interface
 */
function vlanChanges(write: ScanWrite, before: IfEntryRecord | null, reported: VlanIds, isDeleted: boolean): number {
  if (reported === undefined) return 0;
  if (before === null) return isDeleted ? 0 : countDifferent(undefined, reported);
  if (Bun.deepEquals(before.vlan_ids ?? null, reported)) return 0;
  if (write.isRepeat && before.vlan_ids !== undefined) return 0;
  return isSetByPerson(write.tx, before.id, "vlan_ids", [null, ""]) ? 0 : countDifferent(before.vlan_ids, reported);
}

/** Counts the IDs present in only one list. */
function countDifferent(before: readonly string[] | undefined, reported: VlanIds): number {
  const old = new Set(before);
  const now = new Set(reported);
  let fresh = 0;
  for (const id of now) if (!old.delete(id)) fresh += 1;
  return fresh + old.size;
}

/** Counts a dropped interface with its other rows, native VLAN and lists. */
function leaveOut({ leftOut, extended }: InterfaceContext, each: DeviceInterface, reason: RowReason): void {
  const { forwarding = [], lldp = [], cdp = [], native_vlan } = each;
  leftOut.add("interfaces", reason, 1);
  leftOut.add("interface_extensions", reason, extended.has(each.if_index) ? 1 : 0);
  leftOut.add("vlans", reason, typeof native_vlan === "number" ? 1 : 0);
  leftOut.add("forwarding", reason, forwarding.length);
  leftOut.add("lldp", reason, lldp.length);
  leftOut.add("cdp", reason, cdp.length);
}

function deletedInterfaces({ tx }: ScanWrite, host: HostRecord): DeletedInterface[] {
  const records = tx.children(ignoredKind, "host_n", host.id).filter((record) => record.entity === ifEntryKind.name);
  return records.map(({ identity, signs }) => ({
    if_index: Number(identity.slice(identity.lastIndexOf("/") + 1)),
    ...namesInSigns(signs),
  }));
}

/**
 * Deletes the entry whose number another interface takes over: numbers are unique.
 * @returns the numbers of manual entries, which discovery must not delete
 */
function freeIndexes(
  write: ScanWrite,
  matched: ReadonlyMap<DeviceInterface, IfEntryRecord>,
  stored: readonly IfEntryRecord[],
): Set<number> {
  const held = new Set<number>();
  const kept = new Set(matched.values());
  const moving = new Set(
    [...matched]
      .filter(([reported, entry]) => reported.if_index !== entry.if_index)
      .map(([reported]) => reported.if_index),
  );
  for (const entry of stored) {
    if (kept.has(entry) || !moving.has(entry.if_index)) continue;
    if (entry.first_discovery_id === undefined && isTouchedByPerson(write.tx, entry.id)) {
      held.add(entry.if_index);
      write.tell({
        type: "Skipped",
        entity: ifEntryKind.name,
        id: entry.id,
        label: entry.if_name ?? entry.if_descr,
        reason: `the device gave its ifIndex ${entry.if_index} to another interface, which keeps its old one: a person entered this interface`,
      });
      continue;
    }
    write.close(
      ifEntryKind,
      entry,
      entry.if_name ?? entry.if_descr,
      `the device gave its ifIndex ${entry.if_index} to another interface`,
    );
  }
  return held;
}

/** Fields not derived from the interface's table row: ownership and neighbor announcements. */
type NotOfRow =
  | "host_id"
  | "network_id"
  | "ip_address_id"
  | "first_discovery_id"
  | "neighbor"
  | "more_neighbors"
  | "custom_fields"
  | `lldp_${string}`
  | `cdp_${string}`;

/** Returns the entry's fields, with VLANs as the network's VLAN records. */
function reportedFieldsOf(
  { native_vlan, vlans: numbers, ...row }: DeviceInterface,
  vlans: VlanKeeper,
): ReportedEach<IfEntryRecord, Exclude<keyof Reported<IfEntryRecord>, NotOfRow>> {
  return {
    if_index: row.if_index,
    if_descr: row.if_descr,
    if_name: row.if_name,
    if_alias: row.if_alias,
    if_type: row.if_type,
    speed_bps: row.speed_bps,
    admin_status: row.admin_status,
    oper_status: row.oper_status,
    mac_address: row.mac_address,
    native_vlan_id: native_vlan === undefined ? undefined : native_vlan === null ? null : vlans.idOf(native_vlan),
    vlan_ids:
      numbers === undefined
        ? undefined
        : listOrNone(numbers.map((number) => vlans.idOf(number)).filter((id) => id !== null)),
  };
}

/** The first announcement of each protocol has dedicated fields. */
function reportedAnnouncements(
  { lldp: announced, cdp: cached }: DeviceInterface,
  before: IfEntryRecord | null,
): Reported<IfEntryRecord> {
  if (announced === undefined && cached === undefined) return {};
  const cdp = cached?.slice(0, ANNOUNCEMENTS_MAX);
  const lldp = announced === undefined ? undefined : nearestFirst(announced).slice(0, ANNOUNCEMENTS_MAX);
  const reported: Reported<IfEntryRecord> = {
    ...(lldp === undefined ? {} : lldpFields(lldp[0], before)),
    ...(cdp === undefined ? {} : cdpFields(cdp[0])),
  };
  const stored = before?.more_neighbors ?? [];
  const known = new KnownNeighbors(stored);
  const more = [
    ...(lldp === undefined
      ? stored.filter((each) => each.protocol === "Lldp")
      : lldp.slice(1).map((each) => moreLldp(each, known))),
    ...(cdp === undefined
      ? stored.filter((each) => each.protocol === "Cdp")
      : cdp.slice(1).map((each) => known.withFarEnd({ protocol: "Cdp", ...each }))),
  ];
  reported.more_neighbors = listOrNone(more);
  // The far end is resolved again at the end of the scan.
  if (
    before?.neighbor !== undefined &&
    FAR_END.some((field) => reported[field] !== undefined && !Bun.deepEquals(reported[field], before[field] ?? null))
  )
    reported.neighbor = null;
  return reported;
}

/** Directly attached neighbors first. */
function nearestFirst(announced: readonly LldpAnnouncement[]): readonly LldpAnnouncement[] {
  if (announced.length < 2) return announced;
  const isBeyond = ({ mgmt_addr: _address, ...each }: LldpAnnouncement) => isFloodable({ protocol: "Lldp", ...each });
  return [...announced.filter((each) => !isBeyond(each)), ...announced.filter(isBeyond)];
}

const FAR_END = ["lldp_chassis_id", "lldp_port_id", "cdp_device_id", "cdp_port_id"] as const;

/** Entry fields for the first neighbor of a protocol. */
type FieldsOf<Protocol extends string> = ReportedEach<
  IfEntryRecord,
  Extract<keyof Reported<IfEntryRecord>, `${Protocol}_${string}`>
>;

function lldpFields(first: LldpAnnouncement | undefined, before: IfEntryRecord | null): FieldsOf<"lldp"> {
  // If the address is unknown, the same neighbor keeps its stored one.
  const isKept =
    first?.mgmt_addr === null &&
    Bun.deepEquals([first.chassis_id, first.port_id], [before?.lldp_chassis_id, before?.lldp_port_id]);
  return {
    lldp_chassis_id: first?.chassis_id ?? null,
    lldp_port_id: first?.port_id ?? null,
    lldp_sys_name: first?.sys_name ?? null,
    lldp_sys_desc: first?.sys_desc ?? null,
    lldp_port_desc: first?.port_desc ?? null,
    lldp_mgmt_addr: isKept ? undefined : (first?.mgmt_addr ?? null),
  };
}

function cdpFields(first: CdpAnnouncement | undefined): FieldsOf<"cdp"> {
  return {
    cdp_device_id: first?.device_id ?? null,
    cdp_port_id: first?.port_id ?? null,
    cdp_platform: first?.platform ?? null,
    cdp_address: first?.address ?? null,
  };
}

function moreLldp({ mgmt_addr, ...announced }: LldpAnnouncement, known: KnownNeighbors): MoreNeighbor {
  const more: MoreLldpNeighbor = { protocol: "Lldp", ...announced };
  if (typeof mgmt_addr === "string") return known.withFarEnd({ ...more, mgmt_addr });
  const before = mgmt_addr === undefined ? undefined : known.atWhateverAddress(more);
  return before ?? known.withFarEnd(more);
}

/** An entry's further neighbors, indexed by announcement: there may be hundreds. */
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

  /** Keeps the far end of an unchanged announcement. */
  withFarEnd(announced: MoreNeighbor): MoreNeighbor {
    const before = this.byText.size === 0 ? undefined : this.byText.get(textOf(announced));
    return before?.neighbor === undefined ? announced : withFarEnd(announced, before.neighbor);
  }

  atWhateverAddress(announced: MoreLldpNeighbor): MoreNeighbor | undefined {
    return this.byTextWithoutAddress.get(textOf(announced));
  }
}

/** Serializes in a fixed order. */
function textOf(announced: MoreNeighbor): string {
  const { neighbor: _farEnd, ...rest } = announced;
  return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function putFirst<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}

/** True if an unreported entry stays. @param here entries reported on the same interface */
type IsKept = (record: ForwardingEntry, here: readonly ForwardingEntry[]) => boolean;

interface LearnedThere {
  readonly reported: readonly ForwardingEntry[];
  readonly stored: readonly FdbEntryRecord[];
  /** Null for a complete table: unreported entries are gone. */
  readonly isKept: IsKept | null;
  readonly leftOut: LeftOut;
}

/** A manual list stays, with a differing table stored as discovered. */
function syncForwarding(
  write: ScanWrite,
  entry: IfEntryRecord,
  { reported, stored, isKept, leftOut }: LearnedThere,
): void {
  const { tx } = write;
  const isAll = isKept === null;
  const before = entry.discovered?.fdb_macs as readonly string[] | undefined;
  // A partial table cannot be compared with a manual list.
  if (!isAll && before !== undefined) return leaveOutBeside(leftOut, "withheld", reported, stored, before);
  const wanted = new Map(reported.map((each) => [keyOf(each), each]));
  const gone = stored.filter((record) => !wanted.delete(keyOf(record)) && (isAll || !isKept(record, reported)));
  if (gone.length + wanted.size > 0 && isForwardingSetByPerson(tx, entry.id)) {
    const beside = isAll ? keepBeside(write, entry, reported, stored) : [];
    return leaveOutBeside(leftOut, isAll ? "limit" : "withheld", reported, stored, beside);
  }
  if (before !== undefined) keepBeside(write, entry, [], []);
  const left = stored.length - gone.length + wanted.size;
  for (const record of gone) tx.remove(fdbEntryKind, record.id);
  for (const { mac_address, vlan_number } of wanted.values()) {
    tx.create(fdbEntryKind, write.actor.organizationId, {
      if_entry_id: entry.id,
      host_id: entry.host_id,
      network_id: entry.network_id,
      mac_address,
      vlan_number,
    });
  }
  const isComposed = left > 0;
  if (isComposed !== stored.length > 0) tx.setComposed(ifEntryKind, entry.id, isComposed);
}

/**
 * Counts rows that are neither in a manual list nor in the discovered one. A list of MAC addresses has each once,
 * whatever the VLANs.
 */
function leaveOutBeside(
  leftOut: LeftOut,
  reason: RowReason,
  reported: readonly ForwardingEntry[],
  stored: readonly FdbEntryRecord[],
  beside: readonly string[],
): void {
  const entries = new Set(stored.map(keyOf));
  const others = reported.filter((each) => !entries.has(keyOf(each)));
  const reportedAsStored = new Set(reported.filter((each) => entries.has(keyOf(each))).map((each) => each.mac_address));
  const macs = new Set(others.map((each) => each.mac_address)).difference(reportedAsStored);
  const known = new Set([...stored.map((each) => each.mac_address), ...beside]);
  leftOut.add("forwarding", "duplicate", others.length - macs.size);
  leftOut.add("forwarding", reason, macs.difference(known).size);
}

/**
 * A manual list of MAC addresses has no VLANs.
 * @returns the discovered MAC addresses stored with it
 */
function keepBeside(
  { tx }: ScanWrite,
  entry: IfEntryRecord,
  reported: readonly ForwardingEntry[],
  stored: readonly FdbEntryRecord[],
): readonly string[] {
  const macs = [...new Set(reported.map((each) => each.mac_address))].sort();
  const own = new Set(stored.map((each) => each.mac_address));
  const isSame = macs.length === own.size && macs.every((mac) => own.has(mac));
  const { fdb_macs: before, ...others } = entry.discovered ?? {};
  const beside = isSame ? undefined : macs.slice(0, FDB_MACS_BESIDE_MAX);
  if (Bun.deepEquals(before, beside)) return beside ?? [];
  const kept = beside === undefined ? others : { ...others, fdb_macs: beside };
  const sorted = Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1));
  tx.update(ifEntryKind, entry.id, { discovered: sorted.length === 0 ? undefined : Object.fromEntries(sorted) });
  return beside ?? [];
}

function countReportedForwarding(interfaces: readonly DeviceInterface[]): number {
  return interfaces.reduce((total, { forwarding = [] }) => total + forwarding.length, 0);
}

/**
 * Retention rule for a partial forwarding table. VLAN-aware tables are complete, so an unreported entry with a VLAN is
 * gone. One without a VLAN stays unless its MAC address was reported on the same interface.
 * @param room maximum number of entries kept
 * @param left counts entries beyond it
 */
export function keptForwarding(room: number, left: { forwarding: number }): IsKept {
  let kept = 0;
  return (record, here) => {
    if (record.vlan_number !== null) return false;
    if (here.some(({ mac_address }) => mac_address === record.mac_address)) return false;
    if (kept >= room) {
      left.forwarding += 1;
      return false;
    }
    kept += 1;
    return true;
  };
}

function keyOf({ mac_address, vlan_number }: ForwardingEntry): string {
  return `${mac_address}/${vlan_number ?? ""}`;
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

function listOrNone<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}
