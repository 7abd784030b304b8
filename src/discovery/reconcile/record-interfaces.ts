// Records a device's interfaces as entries: fields, VLANs, forwarding entries and announcements.

import { nonNull } from "../../base/fields.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import {
  FDB_MACS_DISCOVERED_MAX,
  FDB_MACS_MAX,
  IF_ENTRY_DEFAULTS,
  type IfEntryRecord,
  ifEntryKind,
} from "../../resources/if-entries/if-entry.ts";
import { type MoreLldpNeighbor, type MoreNeighbor, withFarEnd } from "../../resources/if-entries/more-neighbors.ts";
import { ignoredKind } from "../../resources/ignored/ignored.ts";
import { namesInSigns } from "../../resources/ignored/signs.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { CHILDREN_MAX, INT32_MAX } from "../../schemas/schemas.ts";
import type {
  CdpAnnouncement,
  DeviceAddress,
  DeviceInterface,
  ForwardingEntry,
  LldpAnnouncement,
  StackedInterface,
} from "../device.ts";
import type { RowReason } from "../rows.ts";
import { isFloodable } from "../topology/announcements.ts";
import { ReportedPlaces } from "./interface-addresses.ts";
import {
  type DeletedInterface,
  deletedInterfacesAmong,
  leftoversAmong,
  matchInterfaces,
} from "./interface-matching.ts";
import type { MissingParts } from "./missing-parts.ts";
import type { NetworkVlans } from "./network-vlans.ts";
import type { OmittedRows } from "./omitted-rows.ts";
import { setStale } from "./protected-records.ts";
import { isForwardingSetByUser, isSetByUser, wasWrittenByUser } from "./provenance.ts";
import { mergeReported, type Reported, type ReportedEach } from "./reported-fields.ts";
import { lineagesOfReturned } from "./returned-interfaces.ts";
import type { ScanWrite } from "./scan-write.ts";
import { StoredForwarding } from "./stored-forwarding.ts";

interface InterfaceContext {
  readonly addresses: ReadonlyMap<string, IpAddressRecord>;
  readonly reportedAddresses: readonly DeviceAddress[] | undefined;
  readonly polledAddress: string;
  /** True if the host may have an address that this device does not report. */
  readonly mayHave: (address: string) => boolean;
  /** ifIndexes with a row in ifXTable. */
  readonly extended: ReadonlySet<number>;
  /** True if ifTable and the forwarding table were read completely, and each row belongs to a reported interface. */
  readonly isForwardingComplete: boolean;
  /** True if the forwarding table may hold more entries. */
  readonly isForwardingPartial: boolean;
  readonly vlans: NetworkVlans;
  /** Members of aggregates and units of ports; undefined if unknown. */
  readonly stacking: readonly StackedInterface[] | undefined;
  readonly omitted: OmittedRows;
  /** Ends interfaces that the device no longer has; null if another device reports the host too. */
  readonly missingParts: MissingParts | null;
}

/** Per device: with interfaces, addresses and subnets within the limit of creations per transaction. */
export const FORWARDING_MAX = FDB_MACS_MAX;
/** Per interface and protocol. */
export const ANNOUNCEMENTS_MAX = 1_000;

/**
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
  const matched = matchInterfaces(interfaces, stored, inLastRead(write));
  const leftovers = leftoversAmong(interfaces, matched);
  const forwarding = interfaces.some((each) => each.forwarding !== undefined)
    ? new StoredForwarding(tx, host.id)
    : null;
  const places = reportedPlaces(context);
  const polledId = context.addresses.get(context.polledAddress)?.id ?? null;
  const isPresent = ({ id }: IfEntryRecord) => tx.find(ifEntryKind, id) !== null;
  const { missingParts } = context;
  if (missingParts !== null) {
    const current = new Set(matched.values());
    const missing = stored.filter((entry) => !current.has(entry) && isPresent(entry));
    missingParts.interfaces(missing, (entry) => keepAbsent(write, entry, context.omitted));
    // An interface that needs confirmation keeps no new forwarding entries if all rows belong to other interfaces.
    const waiting = missing.filter((entry) => isPresent(entry) && missingParts.isLacking(entry));
    for (const entry of context.isForwardingComplete ? waiting : []) {
      const learned = (forwarding?.of(entry.id) ?? []).filter(({ id }) => tx.find(fdbEntryKind, id) !== null);
      if (learned.length > 0)
        syncForwarding(write, entry, { reported: [], stored: learned, isRetained: null, omitted: context.omitted });
    }
  }
  const added = interfaces.filter((each) => !matched.has(each) && !leftovers.has(each));
  const deleted = deletedInterfacesAmong(added, interfaces, added.length === 0 ? [] : deletedInterfaces(write, host));
  const current = interfaces.filter((each) => !leftovers.has(each) && !deleted.has(each));
  const manualIndexes = freeIndexes(write, matched, stored.filter(isPresent), current);
  const lineages = lineagesOfReturned(write, host, added);
  let room = CHILDREN_MAX - stored.filter(isPresent).length;
  const left = { interfaces: 0, forwarding: 0, announcements: 0 };
  let forwardingRoom = FORWARDING_MAX;
  let isComplete = true;
  const recorded = new Map<number, IfEntryRecord>();
  const isRetained = context.isForwardingPartial
    ? forwardingRetention(FORWARDING_MAX - countReportedForwarding(interfaces), left)
    : null;
  for (const each of interfaces) {
    if (leftovers.has(each)) {
      countOmitted(context, each, "duplicate");
      continue;
    }
    const before = matched.get(each) ?? null;
    if (before === null && !deleted.has(each)) {
      room -= 1;
      if (room < 0) {
        left.interfaces += 1;
        countOmitted(context, each, "limit");
        continue;
      }
    }
    const isNumberTaken = before !== null && before.if_index !== each.if_index && manualIndexes.has(each.if_index);
    const fields = reportedFieldsOf(each, context.vlans);
    if (!write.mayChangeVlans(vlanChanges(write, before, fields.vlan_ids, deleted.has(each)))) {
      isComplete = false;
      fields.vlan_ids = undefined;
    }
    const reported = {
      ...fields,
      ...reportedAnnouncements(each, before),
      ...(isNumberTaken ? { if_index: undefined } : {}),
    };
    left.announcements +=
      Math.max(0, (each.lldp?.length ?? 0) - ANNOUNCEMENTS_MAX) +
      Math.max(0, (each.cdp?.length ?? 0) - ANNOUNCEMENTS_MAX);
    const ip_address_id = places.addressIdOf(each.if_index, before?.ip_address_id);
    // A device is trusted for the address at which it responds.
    const isPolled = [ip_address_id, before?.ip_address_id].includes(polledId);
    const entry =
      before === null
        ? write.create(
            ifEntryKind,
            {
              host_id: host.id,
              network_id: host.network_id,
              if_index: each.if_index,
              if_descr: "",
              ...IF_ENTRY_DEFAULTS,
              ...nonNull(reported),
              ip_address_id: ip_address_id ?? undefined,
              first_discovery_id: write.scanId,
            },
            deleted.has(each),
            lineages.get(each),
          )
        : write.update(
            ifEntryKind,
            before,
            { ...reported, ip_address_id },
            IF_ENTRY_DEFAULTS,
            isPolled ? ["ip_address_id"] : [],
          );
    if (entry === null) {
      countOmitted(context, each, "deleted");
      continue;
    }
    recorded.set(each.if_index, entry);
    context.omitted.add("lldp", "limit", (each.lldp?.length ?? 0) - ANNOUNCEMENTS_MAX);
    context.omitted.add("cdp", "limit", (each.cdp?.length ?? 0) - ANNOUNCEMENTS_MAX);
    const isNativeDeleted = typeof each.native_vlan === "number" && fields.native_vlan_id === null;
    context.omitted.add("vlans", "deleted", isNativeDeleted ? 1 : 0);
    write.index.recordSigns(host.id, { mac: entry.mac_address ?? null });
    if (each.forwarding === undefined) continue;
    const learned = each.forwarding.slice(0, forwardingRoom);
    forwardingRoom -= learned.length;
    left.forwarding += each.forwarding.length - learned.length;
    context.omitted.add("forwarding", "limit", each.forwarding.length - learned.length);
    if (entry.discovered?.fdb_macs === undefined && forwarding?.isSame(entry.id, learned) === true) continue;
    const known = forwarding?.of(entry.id) ?? [];
    syncForwarding(write, entry, { reported: learned, stored: known, isRetained, omitted: context.omitted });
  }
  if (context.stacking !== undefined) recordStacking(write, recorded, context.stacking);
  if (left.interfaces > 0) write.addLimitFinding(host, ifEntryKind.plural, left.interfaces, CHILDREN_MAX);
  if (left.forwarding > 0) write.addLimitFinding(host, fdbEntryKind.plural, left.forwarding, FORWARDING_MAX);
  if (left.announcements > 0) write.addLimitFinding(host, "neighbors", left.announcements, ANNOUNCEMENTS_MAX);
  return isComplete;
}

/** Marks an entry that is kept although its device lacks it, and clears its discovered data. */
function keepAbsent(write: ScanWrite, entry: IfEntryRecord, omitted: OmittedRows): void {
  const { tx } = write;
  const { id } = entry;
  syncForwarding(write, entry, {
    reported: [],
    stored: tx.children(fdbEntryKind, "if_entry_n", id),
    isRetained: null,
    omitted,
  });
  const now = tx.get(ifEntryKind, id);
  const cleared: Reported<IfEntryRecord> = {
    ...reportedAnnouncements({ lldp: [], cdp: [] }, now),
    ip_address_id: null,
    native_vlan_id: null,
    vlan_ids: null,
  };
  const changes = mergeReported(now, cleared, undefined, (field) => isSetByUser(tx, id, field, [null, ""]));
  setStale(tx, ifEntryKind, now, { ...changes, oper_status: "NotPresent" });
}

function reportedPlaces({ addresses, reportedAddresses = [], mayHave }: InterfaceContext) {
  const places = reportedAddresses.flatMap(({ if_index, ip_address }) => {
    const record = addresses.get(ip_address);
    return if_index === null || record === undefined ? [] : [[if_index, record] as const];
  });
  const addressOf = new Map(addresses.values().map((each) => [each.id, each.ip_address]));
  return new ReportedPlaces(places, (id) => mayHave(addressOf.get(id) ?? ""));
}

/**
 * Narrows entries to those in the last read of their device, for matchInterfaces: seen in this scan, or in the newest
 * one before it.
 */
export function inLastRead({ tx, scanId }: ScanWrite): (entries: readonly IfEntryRecord[]) => readonly IfEntryRecord[] {
  const scanOf = (entry: IfEntryRecord) => tx.observedOf(entry.id).last_discovery_id;
  const seenAt = (entry: IfEntryRecord) => tx.observedOf(entry.id).last_seen_at ?? "";
  return (entries) => {
    const [newest] = entries
      .filter((entry) => scanOf(entry) !== scanId)
      .sort((some, other) => (seenAt(some) > seenAt(other) ? -1 : 1));
    const lastScan = newest === undefined ? scanId : scanOf(newest);
    return entries.filter((entry) => scanOf(entry) === scanId || scanOf(entry) === lastScan);
  };
}

/** @param recorded the device's interfaces by ifIndex: each may be part of one recorded after it */
function recordStacking(
  write: ScanWrite,
  recorded: ReadonlyMap<number, IfEntryRecord>,
  stacking: readonly StackedInterface[],
): void {
  const byIndex = new Map(stacking.map((each) => [each.if_index, each]));
  const idOf = (ifIndex: number | undefined) => (ifIndex === undefined ? undefined : recorded.get(ifIndex)?.id);
  const ids = new Set(recorded.values().map(({ id }) => id));
  // An interface missing from the read may still exist until the next read confirms its end.
  const isWaiting = (id: unknown) => {
    const other = typeof id !== "string" || ids.has(id) ? null : write.tx.find(ifEntryKind, id);
    return other !== null && (other.stale_since ?? null) === null;
  };
  for (const [ifIndex, entry] of recorded) {
    const stacked = byIndex.get(ifIndex);
    const reportedId = (field: "lag_id" | "parent_id", other: number | undefined) =>
      idOf(other) ?? (isWaiting(entry.discovered?.[field] ?? entry[field]) ? undefined : null);
    const lag_id = reportedId("lag_id", stacked?.lag_if_index);
    const parent_id = reportedId("parent_id", stacked?.parent_if_index);
    const isKnown = (field: "lag_id" | "parent_id", id: string | null | undefined) =>
      id === undefined || ((entry[field] ?? null) === id && entry.discovered?.[field] === undefined);
    if (!isKnown("lag_id", lag_id) || !isKnown("parent_id", parent_id))
      write.update(ifEntryKind, entry, { lag_id, parent_id }, IF_ENTRY_DEFAULTS);
  }
}

type VlanIds = Reported<IfEntryRecord>["vlan_ids"];

/**
 * Counts the VLAN changes on an interface. Changes that are never written count as 0: otherwise they would fill every
 * command, and the device would never finish.
 * @param reported IDs, null for none; undefined if unknown
 * @param isDeleted true if a user deleted the interface
 */
function vlanChanges(write: ScanWrite, before: IfEntryRecord | null, reported: VlanIds, isDeleted: boolean): number {
  if (reported === undefined) return 0;
  if (before === null) return isDeleted ? 0 : countDifferent(undefined, reported);
  if (Bun.deepEquals(before.vlan_ids ?? null, reported)) return 0;
  if (write.isRepeat && before.vlan_ids !== undefined) return 0;
  return isSetByUser(write.tx, before.id, "vlan_ids", [null, ""]) ? 0 : countDifferent(before.vlan_ids, reported);
}

/** Counts the IDs present in only one list. */
function countDifferent(before: readonly string[] | undefined, reported: VlanIds): number {
  const old = new Set(before);
  const now = new Set(reported);
  let added = 0;
  for (const id of now) if (!old.delete(id)) added += 1;
  return added + old.size;
}

/** Counts a dropped interface with its other rows, native VLAN and lists. */
function countOmitted({ omitted, extended }: InterfaceContext, each: DeviceInterface, reason: RowReason): void {
  const { forwarding = [], lldp = [], cdp = [], native_vlan } = each;
  omitted.add("interfaces", reason, 1);
  omitted.add("interface_extensions", reason, extended.has(each.if_index) ? 1 : 0);
  omitted.add("vlans", reason, typeof native_vlan === "number" ? 1 : 0);
  omitted.add("forwarding", reason, forwarding.length);
  omitted.add("lldp", reason, lldp.length);
  omitted.add("cdp", reason, cdp.length);
}

function deletedInterfaces({ tx }: ScanWrite, host: HostRecord): DeletedInterface[] {
  const records = tx.children(ignoredKind, "host_n", host.id).filter((record) => record.entity === ifEntryKind.name);
  return records.map(({ identity, signs }) => ({
    if_index: Number(identity.slice(identity.lastIndexOf("/") + 1)),
    ...namesInSigns(signs),
  }));
}

/**
 * Gives an entry whose ifIndex another interface takes over one that no device uses, since ifIndexes are unique: the
 * device renumbered its interfaces, and the read lacks this one, or it is stale.
 * @returns the ifIndexes of manual entries, which keep them
 */
function freeIndexes(
  write: ScanWrite,
  matched: ReadonlyMap<DeviceInterface, IfEntryRecord>,
  stored: readonly IfEntryRecord[],
  interfaces: readonly DeviceInterface[],
): Set<number> {
  const manualIndexes = new Set<number>();
  const retained = new Set(matched.values());
  const moved = interfaces.filter((each) => matched.get(each)?.if_index !== each.if_index);
  const moving = new Set(moved.map(({ if_index }) => if_index));
  const used = new Set([...interfaces, ...stored].map(({ if_index }) => if_index));
  let free = INT32_MAX;
  for (const entry of stored) {
    if (retained.has(entry) || !moving.has(entry.if_index)) continue;
    if (entry.first_discovery_id === undefined && wasWrittenByUser(write.tx, entry.id)) {
      manualIndexes.add(entry.if_index);
      write.addFinding({
        type: "Skipped",
        entity: ifEntryKind.name,
        id: entry.id,
        label: entry.if_name ?? entry.if_descr,
        reason: `the device gave its ifIndex ${entry.if_index} to another interface, which keeps its old one: a user entered this interface`,
      });
      continue;
    }
    while (used.has(free)) free -= 1;
    used.add(free);
    write.tx.update(ifEntryKind, entry.id, { if_index: free });
  }
  return manualIndexes;
}

/** Fields not derived from the interface's table row: ownership, other interfaces and neighbor announcements. */
type NonRowField =
  | "host_id"
  | "network_id"
  | "ip_address_id"
  | "first_discovery_id"
  | "neighbor"
  | "more_neighbors"
  | "lag_id"
  | "parent_id"
  | "custom_fields"
  | `lldp_${string}`
  | `cdp_${string}`;

/** Returns the entry's fields, with VLANs as the network's VLAN records. */
function reportedFieldsOf(
  { native_vlan, vlans: numbers, ...row }: DeviceInterface,
  vlans: NetworkVlans,
): ReportedEach<IfEntryRecord, Exclude<keyof Reported<IfEntryRecord>, NonRowField>> {
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
        : listOrNull(numbers.map((number) => vlans.idOf(number)).filter((id) => id !== null)),
  };
}

/** The first announcement of each protocol has dedicated fields. */
function reportedAnnouncements(
  { lldp: announced, cdp: cached }: Pick<DeviceInterface, "lldp" | "cdp">,
  before: IfEntryRecord | null,
): Reported<IfEntryRecord> {
  if (announced === undefined && cached === undefined) return {};
  if ((announced ?? []).length + (cached ?? []).length === 0 && before !== null && !hasNeighbors(before)) return {};
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
  reported.more_neighbors = listOrNull(more);
  // The far end is resolved again at the end of the scan.
  if (
    before?.neighbor !== undefined &&
    FAR_END.some((field) => reported[field] !== undefined && !Bun.deepEquals(reported[field], before[field] ?? null))
  )
    reported.neighbor = null;
  return reported;
}

/** True if the entry has neighbor data, or overrides some. */
function hasNeighbors(entry: IfEntryRecord): boolean {
  return entry.discovered !== undefined || NEIGHBOR_FIELDS.some((field) => (entry[field] ?? null) !== null);
}

/** Directly attached neighbors first. */
function nearestFirst(announced: readonly LldpAnnouncement[]): readonly LldpAnnouncement[] {
  if (announced.length < 2) return announced;
  const isRemote = ({ mgmt_addr: _address, ...each }: LldpAnnouncement) => isFloodable({ protocol: "Lldp", ...each });
  return [...announced.filter((each) => !isRemote(each)), ...announced.filter(isRemote)];
}

const NEIGHBOR_FIELDS = [
  "neighbor",
  "more_neighbors",
  ...(Object.keys(lldpFields(undefined, null)) as (keyof FieldsOf<"lldp">)[]),
  ...(Object.keys(cdpFields(undefined)) as (keyof FieldsOf<"cdp">)[]),
] as const;
const FAR_END = ["lldp_chassis_id", "lldp_port_id", "cdp_device_id", "cdp_port_id"] as const;

/** Entry fields for the first neighbor of a protocol. */
type FieldsOf<Protocol extends string> = ReportedEach<
  IfEntryRecord,
  Extract<keyof Reported<IfEntryRecord>, `${Protocol}_${string}`>
>;

function lldpFields(first: LldpAnnouncement | undefined, before: IfEntryRecord | null): FieldsOf<"lldp"> {
  // If the address is unknown, the same neighbor keeps its stored one.
  const isRetained =
    first?.mgmt_addr === null &&
    Bun.deepEquals([first.chassis_id, first.port_id], [before?.lldp_chassis_id, before?.lldp_port_id]);
  return {
    lldp_chassis_id: first?.chassis_id ?? null,
    lldp_port_id: first?.port_id ?? null,
    lldp_sys_name: first?.sys_name ?? null,
    lldp_sys_desc: first?.sys_desc ?? null,
    lldp_port_desc: first?.port_desc ?? null,
    lldp_mgmt_addr: isRetained ? undefined : (first?.mgmt_addr ?? null),
    lldp_capabilities: first?.capabilities ?? null,
  };
}

function cdpFields(first: CdpAnnouncement | undefined): FieldsOf<"cdp"> {
  return {
    cdp_device_id: first?.device_id ?? null,
    cdp_port_id: first?.port_id ?? null,
    cdp_platform: first?.platform ?? null,
    cdp_address: first?.address ?? null,
    cdp_capabilities: first?.capabilities ?? null,
  };
}

function moreLldp({ mgmt_addr, ...announced }: LldpAnnouncement, known: KnownNeighbors): MoreNeighbor {
  const more: MoreLldpNeighbor = { protocol: "Lldp", ...announced };
  if (typeof mgmt_addr === "string") return known.withFarEnd({ ...more, mgmt_addr });
  const before = mgmt_addr === undefined ? undefined : known.atAnyAddress(more);
  return before ?? known.withFarEnd(more);
}

/** An entry's additional neighbors, indexed by announcement: there may be hundreds. */
class KnownNeighbors {
  private readonly byText = new Map<string, MoreNeighbor>();
  private readonly byTextWithoutAddress = new Map<string, MoreNeighbor>();

  constructor(known: readonly MoreNeighbor[]) {
    for (const each of known) {
      setIfAbsent(this.byText, textOf(each), each);
      if (each.protocol !== "Lldp") continue;
      const { mgmt_addr: _address, ...rest } = each;
      setIfAbsent(this.byTextWithoutAddress, textOf(rest), each);
    }
  }

  /** Keeps the far end of an unchanged announcement. */
  withFarEnd(announced: MoreNeighbor): MoreNeighbor {
    const before = this.byText.size === 0 ? undefined : this.byText.get(textOf(announced));
    return before?.neighbor === undefined ? announced : withFarEnd(announced, before.neighbor);
  }

  atAnyAddress(announced: MoreLldpNeighbor): MoreNeighbor | undefined {
    return this.byTextWithoutAddress.get(textOf(announced));
  }
}

/** Serializes in a fixed order. */
function textOf(announced: MoreNeighbor): string {
  const { neighbor: _farEnd, ...rest } = announced;
  return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function setIfAbsent<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}

/** True if an unreported entry stays. @param onSameInterface entries reported on the same interface */
type RetentionRule = (record: ForwardingEntry, onSameInterface: readonly ForwardingEntry[]) => boolean;

interface ForwardingSync {
  readonly reported: readonly ForwardingEntry[];
  readonly stored: readonly FdbEntryRecord[];
  /** Null for a complete table: unreported entries are gone. */
  readonly isRetained: RetentionRule | null;
  readonly omitted: OmittedRows;
}

/** Keeps a manual list, and stores a differing table as discovered. */
function syncForwarding(
  write: ScanWrite,
  entry: IfEntryRecord,
  { reported, stored, isRetained, omitted }: ForwardingSync,
): void {
  const { tx } = write;
  const isFullTable = isRetained === null;
  const before = entry.discovered?.fdb_macs as readonly string[] | undefined;
  // A partial table cannot be compared with a manual list.
  if (!isFullTable && before !== undefined) return countUnlisted(omitted, "withheld", reported, stored, before);
  const pending = new Map(reported.map((each) => [keyOf(each), each]));
  const removed = stored.filter(
    (record) => !pending.delete(keyOf(record)) && (isFullTable || !isRetained(record, reported)),
  );
  if (removed.length + pending.size > 0 && isForwardingSetByUser(tx, entry.id)) {
    const discoveredMacs = isFullTable ? storeDiscoveredMacs(write, entry, reported, stored) : [];
    return countUnlisted(omitted, isFullTable ? "limit" : "withheld", reported, stored, discoveredMacs);
  }
  if (before !== undefined) storeDiscoveredMacs(write, entry, [], []);
  const left = stored.length - removed.length + pending.size;
  for (const record of removed) tx.remove(fdbEntryKind, record.id);
  const place = { if_entry_id: entry.id, host_id: entry.host_id, network_id: entry.network_id };
  for (const { mac_address, vlan_number } of pending.values())
    tx.create(fdbEntryKind, write.actor.organizationId, { ...place, mac_address, vlan_number });
  const isComposed = left > 0;
  if (isComposed !== stored.length > 0) tx.setComposed(ifEntryKind, entry.id, isComposed);
}

/**
 * Counts rows that are neither in a manual list nor in the discovered one. A list of MAC addresses has each once,
 * regardless of VLANs.
 */
function countUnlisted(
  omitted: OmittedRows,
  reason: RowReason,
  reported: readonly ForwardingEntry[],
  stored: readonly FdbEntryRecord[],
  discoveredMacs: readonly string[],
): void {
  const entries = new Set(stored.map(keyOf));
  const others = reported.filter((each) => !entries.has(keyOf(each)));
  const reportedAsStored = new Set(reported.filter((each) => entries.has(keyOf(each))).map((each) => each.mac_address));
  const macs = new Set(others.map((each) => each.mac_address)).difference(reportedAsStored);
  const known = new Set([...stored.map((each) => each.mac_address), ...discoveredMacs]);
  omitted.add("forwarding", "duplicate", others.length - macs.size);
  omitted.add("forwarding", reason, macs.difference(known).size);
}

/**
 * A manual list of MAC addresses has no VLANs.
 * @returns the discovered MAC addresses stored with it
 */
function storeDiscoveredMacs(
  { tx }: ScanWrite,
  entry: IfEntryRecord,
  reported: readonly ForwardingEntry[],
  stored: readonly FdbEntryRecord[],
): readonly string[] {
  const macs = [...new Set(reported.map((each) => each.mac_address))].sort();
  const own = new Set(stored.map((each) => each.mac_address));
  const isSame = macs.length === own.size && macs.every((mac) => own.has(mac));
  const { fdb_macs: before, ...others } = entry.discovered ?? {};
  const discoveredMacs = isSame ? undefined : macs.slice(0, FDB_MACS_DISCOVERED_MAX);
  if (Bun.deepEquals(before, discoveredMacs)) return discoveredMacs ?? [];
  const retained = discoveredMacs === undefined ? others : { ...others, fdb_macs: discoveredMacs };
  const sorted = Object.entries(retained).sort(([a], [b]) => (a < b ? -1 : 1));
  tx.update(ifEntryKind, entry.id, { discovered: sorted.length === 0 ? undefined : Object.fromEntries(sorted) });
  return discoveredMacs ?? [];
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
export function forwardingRetention(room: number, left: { forwarding: number }): RetentionRule {
  let retained = 0;
  return (record, onSameInterface) => {
    if (record.vlan_number !== null) return false;
    if (onSameInterface.some(({ mac_address }) => mac_address === record.mac_address)) return false;
    if (retained >= room) {
      left.forwarding += 1;
      return false;
    }
    retained += 1;
    return true;
  };
}

function keyOf({ mac_address, vlan_number }: ForwardingEntry): string {
  return `${mac_address}/${vlan_number ?? ""}`;
}

function listOrNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}
