// Records an agent's report on its host: fields, components, addresses, VLANs and interfaces. A partial table clears
// nothing.

import { isLocallyAdministered, isSingleDevice } from "../../base/mac.ts";
import { vendorOf } from "../../base/vendors/vendor.ts";
import { cover } from "../../resources/credential-assignments/coverage.ts";
import {
  assignmentKey,
  credentialAssignmentKind,
} from "../../resources/credential-assignments/credential-assignment.ts";
import { type DeviceField, type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { DISCOVERED } from "../../resources/source.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import { DEVICE_TABLES, type Device, type DeviceInterface, type DeviceTable } from "../device.ts";
import { isOctetsOf } from "../mib/link-addresses.ts";
import type { AddressSighting, DeviceSighting } from "../sightings.ts";
import { AddressBook } from "./address-book.ts";
import { AddressClaims, UNKNOWN_MAC } from "./address-claims.ts";
import { reportUnknownLists, unknownLists, withoutLists } from "./bridge-ports.ts";
import { rememberAdditional } from "./complete-reads.ts";
import { lineOf } from "./device-text.ts";
import { reportedType, TYPE_DEFAULTS } from "./device-types.ts";
import { renameDerived } from "./host-names.ts";
import { ignoredHost, isInDeletedSubnets, newHost } from "./hosts.ts";
import { type IdentifiedHost, identifyDevice } from "./identification.ts";
import { matchInterfaces } from "./interface-matching.ts";
import { countUnchanged, moveAddress, splitLastReporter } from "./machine-split.ts";
import { MissingParts } from "./missing-parts.ts";
import { NetworkVlans } from "./network-vlans.ts";
import { OmittedRows, reportRows } from "./omitted-rows.ts";
import { recordComponents } from "./record-components.ts";
import { inLastRead, recordInterfaces } from "./record-interfaces.ts";
import { recordOpenPorts } from "./record-ports.ts";
import { recordSightings } from "./record-sightings.ts";
import { endReplacedForwarding } from "./replaced-devices.ts";
import type { Reported, ReportedEach } from "./reported-fields.ts";
import { rememberReport, unchangedReport } from "./reports.ts";
import type { ScanWrite } from "./scan-write.ts";
import { missedClause, rememberServed } from "./served-data.ts";
import { countRead, countSameRead } from "./sign-counts.ts";
import { isOwnAddress, type Signs, signsOfDevice } from "./signs.ts";
import type { SubnetAssigner } from "./subnet-assignment.ts";
import { rememberCredential } from "./working-credentials.ts";

const SNMP_PORT = { number: 161, protocol: "Udp", service: { name: "SNMP", service_definition: "snmp" } } as const;

/** @returns the host; null if a user deleted it */
export function recordDevice(write: ScanWrite, subnets: SubnetAssigner, sighting: DeviceSighting): HostRecord | null {
  const polledAddress = sighting.ip_address;
  write.isContinued = sighting.is_continued === true;
  const before = unchangedReport(write, sighting);
  const recorded = before === null ? recordReport(write, subnets, sighting) : { ...before, isAdditional: false };
  if (!write.isContinued) recordSightings(write, recorded?.host ?? null, sighting, before !== null);
  if (recorded === null) return null;
  const { host, omitted } = recorded;
  if (before !== null) {
    countSameRead(write, before.digest.sign_groups);
    countUnchanged(write, host.id);
    write.markReported(host.id);
    write.recordSeen(host.id, polledAddress, "responded to SNMP");
  }
  rememberCredential(write, polledAddress, sighting.credential);
  coverReported(write, host, sighting);
  if (!recorded.isAdditional) rememberServed(write, host, sighting.device);
  for (const table of DEVICE_TABLES) {
    const { state, problem } = sighting.device.tables[table];
    if (state !== "partial" && state !== "failed") continue;
    const missed = missedClause(write, host, sighting.device, table);
    const reason = [problem ?? state, ...(missed === null ? [] : [missed])].join("; ");
    write.addFinding({ type: "Partial", entity: hostKind.name, id: host.id, label: `${host.name}: ${table}`, reason });
  }
  const unknown = unknownLists(write, host, sighting.device);
  reportUnknownLists(write, host, unknown);
  reportRows(write, host, sighting.device, omitted, unknown);
  write.devices.push({ ip_address: polledAddress, host_id: host.id, name: host.name });
  return host;
}

interface RecordedDevice {
  readonly host: HostRecord;
  readonly omitted: OmittedRows;
  /** True if another device reports the host and this one was consolidated into it. */
  readonly isAdditional: boolean;
}

function recordReport(write: ScanWrite, subnets: SubnetAssigner, sighting: DeviceSighting): RecordedDevice | null {
  const { device, ip_address: polledAddress } = sighting;
  const book = new AddressBook(write, subnets);
  const signs = signsOfDevice(device, polledAddress, seenMacOf(write, sighting));
  const { known, split, conclude } = identifyDevice(write, signs, sighting);
  if (
    known === null &&
    (ignoredHost(write, signs, polledAddress, device.sys_name ?? polledAddress) ||
      isInDeletedSubnets(write, subnets, device.sys_name ?? polledAddress, signs.addresses))
  )
    return null;
  const splitFrom = split === null ? null : write.tx.get(hostKind, split.id);
  if (splitFrom !== null && known !== null) splitLastReporter(write, book, splitFrom, signs);
  write.seenIds = new Set();
  // In a continued command, this device has already reported the host: the first command decides.
  const isRepeated = () =>
    known !== null &&
    split === null &&
    !write.index.isConsolidated(known.id) &&
    write.wasReported(known.id, polledAddress);
  const isAdditional = known !== null && isAdditionalDevice(write, book, known, polledAddress);
  write.isRepeat = isAdditional || (write.isContinued ? sighting.is_repeat === true : isRepeated());
  try {
    const recorded = writeReported(write, { book, sighting, signs, known, splitFrom, isAdditional });
    if (splitFrom !== null && known === null)
      moveAddress(write, book, polledAddress, { from: splitFrom, to: recorded.host });
    if (write.isContinued) return recorded;
    if (known !== null && !write.isRepeat) countRead(write, known.similarity);
    conclude(recorded.host);
    return recorded;
  } finally {
    write.isRepeat = false;
  }
}

/**
 * True if a device matches the former signs of a consolidated host that reports itself elsewhere. It then only adds
 * data: otherwise both devices would overwrite each other in every scan. In other cases, as after a replacement, the
 * host takes over the new data.
 */
function isAdditionalDevice(
  write: ScanWrite,
  book: AddressBook,
  { id, formerSigns }: IdentifiedHost,
  polledAddress: string,
): boolean {
  if (formerSigns === null) return false;
  for (const [address, record] of book.ofHost(id))
    if (
      address !== polledAddress &&
      !formerSigns.addresses.has(address) &&
      write.index.reportersAt(address).includes(id) &&
      write.index.reportsCurrentSigns(id, address) &&
      book.isClaimed(record)
    )
      return true;
  return false;
}

interface Recognized {
  readonly book: AddressBook;
  readonly sighting: DeviceSighting;
  readonly signs: Signs;
  /** Null for a new host. */
  readonly known: IdentifiedHost | null;
  /** The host from which a new host was split. */
  readonly splitFrom: HostRecord | null;
  readonly isAdditional: boolean;
}

function writeReported(
  write: ScanWrite,
  { book, sighting, signs, known, splitFrom, isAdditional }: Recognized,
): RecordedDevice {
  const { device, ip_address: polledAddress } = sighting;
  const omitted = new OmittedRows();
  const reported = reportedHost(device, sighting);
  const host =
    known === null
      ? newHost(
          write,
          {
            ...reported,
            ...reportedType(device, null),
            name: nameOf(device, sighting),
            source: DISCOVERED,
            split_from: splitFrom?.id,
          },
          signs,
        )
      : changedHost(write, known.id, reported, device);
  write.index.recordSigns(host.id, { host });
  write.index.recordSeenAt(host.id, polledAddress);
  write.index.recordReportedAt(host.id, polledAddress);
  if (!isAdditional) write.markReported(host.id);
  write.recordSeen(
    host.id,
    polledAddress,
    known === null ? reasonOfNew(splitFrom) : `responded to SNMP; identified by its ${known.similarity.reason}`,
  );

  if (!isAdditional) endReplacedForwarding(write, host, polledAddress);
  const present = book.ofHost(host.id);
  const contested = recordAddresses(write, book, host, sighting, present, omitted);
  const isFirst = !isAdditional && !write.isRepeat;
  const missingParts = isFirst ? new MissingParts(write, host, device, polledAddress) : null;
  if (missingParts !== null) {
    const own = new Set([polledAddress, ...(device.addresses ?? []).map((each) => each.ip_address)]);
    missingParts.addresses([...present.values()].filter((each) => !own.has(each.ip_address)));
    for (const [address, { id }] of present)
      if (write.tx.find(ipAddressKind, id) === null) {
        present.delete(address);
        write.index.forget(host.id);
      }
  }
  if (device.components !== undefined) recordComponents(write, host, device.components, { omitted, missingParts });
  write.index.recordSigns(host.id, { host });
  let isComplete = true;
  const vlans = new NetworkVlans(write);
  if (device.vlans !== undefined) {
    // Only the host's main device determines the names of the network's VLANs.
    if (!isAdditional) vlans.name(host.id, device.vlans, !isBroken(device, "vlans"));
    omitted.add("vlans", "deleted", device.vlans.filter(({ number }) => vlans.idOf(number) === null).length);
  }
  if (device.interfaces !== undefined) {
    const reported = withoutLists(device.interfaces, unknownLists(write, host, device));
    const interfaces = isAdditional ? ownInterfaces(write, host, reported) : reported;
    if (isAdditional) omitted.add("interfaces", "contradicted", reported.length - interfaces.length);
    // The remaining interfaces belong to this device alone: its data applies to them.
    write.isRepeat &&= !isAdditional;
    isComplete = recordInterfaces(write, host, interfaces, {
      addresses: present,
      reportedAddresses: device.addresses?.filter((each) => !contested.has(each.ip_address)),
      polledAddress,
      mayHave: (address) =>
        isBroken(device, "addresses") ||
        (address !== polledAddress && write.index.reportersAt(address).includes(host.id)),
      extended: new Set(device.extended_interfaces),
      isForwardingComplete: ["interfaces", "forwarding"].every(
        (table) => device.tables[table as DeviceTable].state === "complete",
      ),
      isForwardingPartial: device.is_forwarding_partial === true,
      stacking: isAdditional ? undefined : device.stacking,
      vlans,
      omitted,
      missingParts,
    });
  }
  if (missingParts !== null) missingParts.remember();
  else if (!write.isContinued) rememberAdditional(write.tx, host.id, device);
  recordOpenPorts(write, host, [SNMP_PORT]);
  if (lineOf(device.sys_name ?? "") === "") renameDerived(write, write.tx.get(hostKind, host.id), present);
  if (!isComplete || missingParts?.isUnfinished === true) write.markUnfinished(polledAddress);
  else rememberReport(write, sighting, host, write.seenIds, omitted, missingParts);
  return { host, omitted, isAdditional };
}

function reasonOfNew(splitFrom: HostRecord | null): string {
  const split = splitFrom === null ? "" : `; split from ${splitFrom.name}, as two machines responded as one host`;
  return `responded to SNMP${split}`;
}

/**
 * Returns the MAC address seen at the responding address as a sign. If the device's own MAC addresses are unknown,
 * ignores an address that no host has: the device may have responded through another interface.
 */
function seenMacOf(write: ScanWrite, { device, mac_address: mac }: DeviceSighting): string | null {
  return mac !== null && isBroken(device, "interfaces") && write.index.atMac(mac).length === 0 ? null : mac;
}

function isBroken({ broken = [] }: Device, table: DeviceTable): boolean {
  return broken.includes(table);
}

function reportedHost(
  device: Device,
  { hostname, mac_address }: DeviceSighting,
): ReportedEach<HostRecord, DeviceField | "bridge_address" | "engine_id" | "hostname"> {
  const { sys_name, sys_descr, sys_object_id, sys_location, sys_contact, model, serial_number } = device;
  return {
    sys_name,
    sys_descr,
    sys_object_id,
    sys_location,
    sys_contact,
    manufacturer: device.manufacturer ?? makerByMac(device, mac_address),
    model,
    serial_number,
    chassis_id: device.chassis_id === undefined ? undefined : (device.chassis_id?.value ?? null),
    bridge_address: device.bridge_address,
    engine_id: device.engine_id,
    hostname: lineOf(hostname ?? "") || undefined,
  };
}

/** Returns the manufacturer by the device's own interfaces, else by the MAC address seen at its address. */
function makerByMac(device: Device, seenMac: string | null): string | undefined {
  const own = [device.bridge_address, ...(device.interfaces ?? []).map((each) => each.mac_address), seenMac];
  const mac = own.find((each) => typeof each === "string" && isSingleDevice(each) && !isLocallyAdministered(each));
  return typeof mac === "string" ? (vendorOf(mac) ?? undefined) : undefined;
}

function nameOf(device: Device, { hostname, ip_address }: DeviceSighting): string {
  return lineOf(device.sys_name ?? "") || lineOf(hostname ?? "") || ip_address;
}

function changedHost(write: ScanWrite, id: string, reported: Reported<HostRecord>, device: Device): HostRecord {
  const host = write.tx.get(hostKind, id);
  const { hostname, manufacturer, ...others } = reported;
  // Keep the first hostname and manufacturer found.
  const isMakerReported = typeof device.manufacturer === "string" || host.manufacturer === null;
  const changes = {
    ...others,
    ...(host.hostname === null ? { hostname } : {}),
    ...(isMakerReported ? { manufacturer } : {}),
    ...reportedType(device, host),
  };
  const name = lineOf(device.sys_name ?? "");
  const source = host.source.type === "Inferred" ? { source: DISCOVERED } : {};
  // An unnamed host takes the name of any device that reports one.
  const overridable = host.sys_name === null ? (["name"] as const) : [];
  return write.update(
    hostKind,
    host,
    { ...changes, ...(name === "" ? {} : { name }), ...source },
    TYPE_DEFAULTS,
    overridable,
  );
}

/** Drops interfaces whose number or name another interface of the host already has. */
function ownInterfaces(
  write: ScanWrite,
  host: HostRecord,
  interfaces: readonly DeviceInterface[],
): readonly DeviceInterface[] {
  const stored = write.tx.children(ifEntryKind, "host_n", host.id);
  const matched = matchInterfaces(interfaces, stored, inLastRead(write));
  const numbers = new Set(stored.map((entry) => entry.if_index));
  return interfaces.filter((each) => {
    const entry = matched.get(each);
    if (entry === undefined) return !numbers.has(each.if_index);
    const hasOtherName = typeof each.if_name === "string" && (entry.if_name ?? each.if_name) !== each.if_name;
    const hasOtherMac =
      typeof each.mac_address === "string" && (entry.mac_address ?? each.mac_address) !== each.mac_address;
    return entry.if_index === each.if_index && !hasOtherName && !hasOtherMac;
  });
}

/**
 * Writes the reported addresses and the one that responded, which differ behind NAT.
 * @returns the addresses whose interface is kept because another report has it
 */
function recordAddresses(
  write: ScanWrite,
  book: AddressBook,
  host: HostRecord,
  { device, ip_address: polledAddress, mac_address }: DeviceSighting,
  present: Map<string, IpAddressRecord>,
  omitted: OmittedRows,
): ReadonlySet<string> {
  const contested = new Set<string>();
  const byIndex = new Map((device.interfaces ?? []).map((each) => [each.if_index, each]));
  const own = device.addresses ?? [];
  // Without interfaces, an address keeps its MAC address: the one seen may belong to another interface.
  const isConclusive = !isBroken(device, "addresses") && !isBroken(device, "interfaces");
  const unlessStored = (address: string, mac: string | undefined) =>
    isConclusive || (present.get(address)?.mac_address ?? null) === null ? mac : undefined;
  const macs = new Set(byIndex.values().map((each) => each.mac_address));
  for (const each of own) {
    const onInterface = each.if_index === null ? undefined : byIndex.get(each.if_index);
    const seen = each.ip_address === polledAddress ? mac_address : null;
    const reported = unlessStored(each.ip_address, onInterface?.mac_address ?? seen ?? undefined);
    const isPolled = each.ip_address === polledAddress;
    const known = present.get(each.ip_address);
    const isContested = isDisputed(write, host, known, reported, macs, isPolled);
    if (isContested) contested.add(each.ip_address);
    const hasNoMac = isConclusive && onInterface?.mac_address === null;
    const mac = isContested ? undefined : (reported ?? (hasNoMac ? clearedMac(write, host, known) : undefined));
    const isNameUnread = onInterface?.if_name === undefined && isBroken(device, "interface_extensions");
    const name = isContested || isNameUnread ? undefined : (onInterface?.if_name ?? onInterface?.if_descr);
    const { ip_address, prefix_length } = each;
    book.assign(host, { ip_address, mac_address: mac, prefix_length, name, isPolled }, present);
  }
  if (!own.some((each) => each.ip_address === polledAddress)) {
    const mac = unlessStored(polledAddress, mac_address ?? undefined);
    book.assign(host, { ip_address: polledAddress, mac_address: mac, prefix_length: null, isPolled: true }, present);
  }
  for (const address of new Set([polledAddress, ...own.map((each) => each.ip_address).filter(isOwnAddress)])) {
    for (const other of write.index.atAddress(address)) book.absorb(host, other, present);
    // A response proves possession, not configuration: NAT devices and redundant routers respond too.
    const polled = address === polledAddress ? present.get(address) : undefined;
    if (polled !== undefined)
      book.takeFromOthers(address, host, write.index.atAddress(address), {
        claims: new AddressClaims(write, address, answerOf(polled)),
        isNew: true,
      });
  }
  const stored = present.get(polledAddress);
  if (stored !== undefined) write.markSeen(ipAddressKind, stored.id);
  const dropped = own.filter((each) => !present.has(each.ip_address)).length;
  omitted.add("addresses", present.size >= CHILDREN_MAX ? "limit" : "deleted", dropped);
  if (dropped > 0 && present.size >= CHILDREN_MAX)
    write.addLimitFinding(host, ipAddressKind.plural, dropped, CHILDREN_MAX);
  return contested;
}

/** Response of a device at an address that it has. */
function answerOf({ ip_address, mac_address }: IpAddressRecord): AddressSighting {
  return { ip_address, mac_address: mac_address ?? UNKNOWN_MAC, answered: ["Snmp"] };
}

/**
 * Returns null for a stored MAC address that cannot belong to an address on an interface without one: that of its
 * previous interface, or of the address itself. Returns undefined to keep others, which neighbors reported.
 */
function clearedMac({ tx }: ScanWrite, host: HostRecord, known: IpAddressRecord | undefined): null | undefined {
  if (known === undefined || known.mac_address === null) return undefined;
  const isFormer = ({ ip_address_id, if_name, if_descr, mac_address }: IfEntryRecord) =>
    (ip_address_id === known.id || (if_name ?? if_descr) === known.name) && mac_address === known.mac_address;
  const isCleared =
    isOctetsOf(known.mac_address, known.ip_address) || tx.children(ifEntryKind, "host_n", host.id).some(isFormer);
  return isCleared ? null : undefined;
}

/**
 * True if the reported MAC address of a shared or polled address differs while the stored one is still on an interface:
 * then the stored one is kept. Routers sharing an address each report their own interface, and if they were merged into
 * one host, the order of responses would decide.
 */
function isDisputed(
  write: ScanWrite,
  host: HostRecord,
  known: IpAddressRecord | undefined,
  reported: string | undefined,
  macs: ReadonlySet<string | null | undefined>,
  isPolled: boolean,
): boolean {
  if (
    known === undefined ||
    known.mac_address === null ||
    reported === undefined ||
    reported === known.mac_address ||
    !macs.has(known.mac_address)
  )
    return false;
  if (!isPolled && write.index.reportersAt(known.ip_address).includes(host.id)) return true;
  return write.index.holdersOf(known.ip_address).some((id) => id !== host.id);
}

/** Read once per write; subnets created by this write do not count. */
const CACHE = new WeakMap<ScanWrite, AcceptingSubnets>();

/**
 * Confirms the host's own reported addresses: a device polled with an assigned credential may then be polled there too,
 * in subnets that accept credentials.
 * @param host the device as a host record
 */
function coverReported(write: ScanWrite, host: HostRecord, { device, credential }: DeviceSighting): void {
  if (credential === null) return;
  const { tx, networkId } = write;
  const key = assignmentKey({ credential_id: credential.credential_id, network_id: networkId, host_id: host.id });
  const assignment = tx.findByIdentity(credentialAssignmentKind, key);
  if (assignment === null) return;
  const subnets = CACHE.get(write) ?? new AcceptingSubnets(tx.children(subnetKind, "network_n", networkId));
  CACHE.set(write, subnets);
  const own = (device.addresses ?? []).map((each) => each.ip_address).filter((address) => subnets.accepts(address));
  cover(tx, assignment.id, own, "Told");
}
