// Recording of an agent's report on its host: fields, addresses, VLANs and interfaces. A partial table clears nothing.

import { isLocallyAdministered, isOneDevices } from "../../base/mac.ts";
import { vendorOf } from "../../base/vendors/vendor.ts";
import { cover } from "../../resources/credential-assignments/coverage.ts";
import {
  assignmentKey,
  credentialAssignmentKind,
} from "../../resources/credential-assignments/credential-assignment.ts";
import { type DeviceField, type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { DISCOVERED } from "../../resources/source.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import { DEVICE_TABLES, type Device, type DeviceInterface, type DeviceTable } from "../device.ts";
import type { DeviceSighting } from "../sightings.ts";
import { AddressBook } from "./addresses.ts";
import { tellUnknownLists, unknownLists, withoutLists } from "./bridge-ports.ts";
import { rememberCredential } from "./credential-memory.ts";
import { ignoredHost, isUnwanted, newHost } from "./hosts.ts";
import { identify, isOtherwise, likeness } from "./identity.ts";
import { matchInterfaces } from "./interface-matching.ts";
import { LeftOut, tellRows } from "./left-out.ts";
import { lineOf } from "./line.ts";
import { recordInterfaces } from "./record-interfaces.ts";
import { recordOpenPorts } from "./record-ports.ts";
import type { Reported, ReportedEach } from "./reported-fields.ts";
import { rememberReport, reportedAsBefore } from "./reports.ts";
import type { ScanWrite } from "./scan-write.ts";
import { missedClause, rememberServed } from "./served-memory.ts";
import { isOwnAddress, type Signs, signsOfDevice } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";
import { VlanKeeper } from "./vlan-keeper.ts";

const SNMP_PORT = { number: 161, protocol: "Udp", service: { name: "SNMP", service_definition: "snmp" } } as const;

/** @returns the host; null if a person deleted it */
export function recordDevice(write: ScanWrite, subnets: SubnetPlacer, sighting: DeviceSighting): HostRecord | null {
  const asked = sighting.ip_address;
  write.isContinued = sighting.is_continued === true;
  const before = reportedAsBefore(write, sighting);
  const gone = before === null ? goThrough(write, subnets, sighting) : { ...before, isBeside: false };
  if (gone === null) return null;
  const { host, leftOut } = gone;
  if (before !== null) {
    write.heardHost(host.id);
    write.sawHost(host.id, asked, "answered SNMP");
  }
  rememberCredential(write, asked, sighting.credential);
  coverReported(write, host, sighting);
  if (!gone.isBeside) rememberServed(write, host, sighting.device);
  for (const table of DEVICE_TABLES) {
    const { state, problem } = sighting.device.tables[table];
    if (state !== "partial" && state !== "failed") continue;
    const missed = missedClause(write, host, sighting.device, table);
    const reason = [problem ?? state, ...(missed === null ? [] : [missed])].join("; ");
    write.tell({ type: "Partial", entity: hostKind.name, id: host.id, label: `${host.name}: ${table}`, reason });
  }
  const unknown = unknownLists(write, host, sighting.device);
  tellUnknownLists(write, host, unknown);
  tellRows(write, host, sighting.device, leftOut, unknown);
  write.devices.push({ ip_address: asked, host_id: host.id, name: host.name });
  return host;
}

interface GoneThrough {
  readonly host: HostRecord;
  readonly leftOut: LeftOut;
  /** True if another device reports the host and this one was consolidated into it. */
  readonly isBeside: boolean;
}

function goThrough(write: ScanWrite, subnets: SubnetPlacer, sighting: DeviceSighting): GoneThrough | null {
  const { device, ip_address: asked } = sighting;
  const book = new AddressBook(write, subnets);
  const signs = signsOfDevice(device, asked, seenMacOf(write, sighting));
  const known = identified(write, signs, sighting);
  if (
    known === null &&
    (ignoredHost(write, signs, asked, device.sys_name ?? asked) ||
      isUnwanted(write, subnets, device.sys_name ?? asked, signs.addresses))
  )
    return null;
  write.seenIds = new Set();
  // In a continued command this device already reported the host: the first command decides.
  const isSecond = () => known !== null && !write.index.isConsolidated(known.id) && write.wasHeard(known.id, asked);
  const isBeside = known !== null && isFormerBeside(write, book, known, asked);
  write.isRepeat = isBeside || (write.isContinued ? sighting.is_repeat === true : isSecond());
  try {
    return writeReported(write, { book, sighting, known, isBeside });
  } finally {
    write.isRepeat = false;
  }
}

/**
 * True if a device matches the former signs of a consolidated host that reports itself elsewhere: it then only adds
 * data, or both devices would overwrite each other in every scan. Otherwise, as after a replacement, the host takes the
 * new data.
 */
function isFormerBeside(
  write: ScanWrite,
  book: AddressBook,
  { id, formerSigns }: NonNullable<ReturnType<typeof identified>>,
  asked: string,
): boolean {
  if (formerSigns === null) return false;
  for (const [address, record] of book.of(id))
    if (
      address !== asked &&
      !formerSigns.addresses.has(address) &&
      write.index.reportersAt(address).includes(id) &&
      write.index.isOwnVoice(id, address) &&
      book.isClaimed(record)
    )
      return true;
  return false;
}

interface Recognized {
  readonly book: AddressBook;
  readonly sighting: DeviceSighting;
  /** Null for a new host. */
  readonly known: ReturnType<typeof identified>;
  readonly isBeside: boolean;
}

function writeReported(write: ScanWrite, { book, sighting, known, isBeside }: Recognized): GoneThrough {
  const { device, ip_address: asked } = sighting;
  const leftOut = new LeftOut();
  const reported = reportedHost(device, sighting);
  const host =
    known === null
      ? newHost(write, { ...reported, name: nameOf(device, sighting), source: DISCOVERED })
      : changedHost(write, known.id, reported, device);
  write.index.note(host.id, { host });
  write.index.noteSeenAt(host.id, asked);
  if (!isBeside) write.heardHost(host.id);
  write.sawHost(
    host.id,
    asked,
    known === null ? "answered SNMP" : `answered SNMP; known by its ${known.likeness.reason}`,
  );

  const present = book.of(host.id);
  recordAddresses(write, book, host, sighting, present, leftOut);
  let isWhole = true;
  const vlans = new VlanKeeper(write);
  if (device.vlans !== undefined) {
    // Only the host's main device names the network's VLANs.
    if (!isBeside) vlans.name(host.id, device.vlans, !isBroken(device, "vlans"));
    leftOut.add("vlans", "deleted", device.vlans.filter(({ number }) => vlans.idOf(number) === null).length);
  }
  if (device.interfaces !== undefined) {
    const reported = withoutLists(device.interfaces, unknownLists(write, host, device));
    const interfaces = isBeside ? ownInterfaces(write, host, reported) : reported;
    if (isBeside) leftOut.add("interfaces", "contradicted", reported.length - interfaces.length);
    // The remaining interfaces are this device's own: its data counts there.
    write.isRepeat &&= !isBeside;
    const isForwardingPartial = device.is_forwarding_partial === true;
    const reportedAddresses = device.addresses;
    const extended = new Set(device.extended_interfaces);
    const around = { addresses: present, reportedAddresses, extended, isForwardingPartial, vlans, leftOut };
    isWhole = recordInterfaces(write, host, interfaces, around);
  }
  recordOpenPorts(write, host, [SNMP_PORT]);
  if (isWhole) rememberReport(write, sighting, host, write.seenIds, leftOut);
  else write.leaveUnfinished(asked);
  return { host, leftOut, isBeside };
}

/**
 * Returns the MAC address seen at the answering address as a sign. If the device's MAC addresses are unknown, one that
 * no host has is ignored: the device may have answered by another interface.
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
): ReportedEach<HostRecord, DeviceField | "hostname"> {
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
    hostname: lineOf(hostname ?? "") || undefined,
  };
}

/** Returns the manufacturer by the device's own interfaces, else by the MAC address seen. */
function makerByMac(device: Device, seenMac: string | null): string | undefined {
  const own = [device.bridge_address, ...(device.interfaces ?? []).map((each) => each.mac_address), seenMac];
  const mac = own.find((each) => typeof each === "string" && isOneDevices(each) && !isLocallyAdministered(each));
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
  const named = {
    ...others,
    ...(host.hostname === null ? { hostname } : {}),
    ...(isMakerReported ? { manufacturer } : {}),
  };
  const name = lineOf(device.sys_name ?? "");
  const source = host.source.type === "Inferred" ? { source: DISCOVERED } : {};
  // An unnamed host takes the name of any device that reports one.
  const open = host.sys_name === null ? (["name"] as const) : [];
  return write.again(hostKind, host, { ...named, ...(name === "" ? {} : { name }), ...source }, {}, open);
}

/** Drops interfaces whose number or name another interface of the host already has. */
function ownInterfaces(
  write: ScanWrite,
  host: HostRecord,
  interfaces: readonly DeviceInterface[],
): readonly DeviceInterface[] {
  const stored = write.tx.children(ifEntryKind, "host_n", host.id);
  const matched = matchInterfaces(interfaces, stored);
  const numbers = new Set(stored.map((entry) => entry.if_index));
  return interfaces.filter((each) => {
    const entry = matched.get(each);
    if (entry === undefined) return !numbers.has(each.if_index);
    const isNamedOtherwise = typeof each.if_name === "string" && (entry.if_name ?? each.if_name) !== each.if_name;
    const isOtherMac =
      typeof each.mac_address === "string" && (entry.mac_address ?? each.mac_address) !== each.mac_address;
    return entry.if_index === each.if_index && !isNamedOtherwise && !isOtherMac;
  });
}

/** Writes the reported addresses and the one that answered: they differ behind NAT. */
function recordAddresses(
  write: ScanWrite,
  book: AddressBook,
  host: HostRecord,
  { device, ip_address: asked, mac_address }: DeviceSighting,
  present: Map<string, IpAddressRecord>,
  leftOut: LeftOut,
): void {
  const byIndex = new Map((device.interfaces ?? []).map((each) => [each.if_index, each]));
  const own = device.addresses ?? [];
  // Without interfaces, an address keeps its MAC address: the one seen may belong to another interface.
  const isSure = !isBroken(device, "addresses") && !isBroken(device, "interfaces");
  const orKept = (address: string, mac: string | undefined) =>
    isSure || (present.get(address)?.mac_address ?? null) === null ? mac : undefined;
  const macs = new Set(byIndex.values().map((each) => each.mac_address));
  for (const each of own) {
    const at = each.if_index === null ? undefined : byIndex.get(each.if_index);
    const seen = each.ip_address === asked ? mac_address : null;
    const reported = orKept(each.ip_address, at?.mac_address ?? seen ?? undefined);
    const isAsked = each.ip_address === asked;
    const mac = isDisputed(write, host, present.get(each.ip_address), reported, macs, isAsked) ? undefined : reported;
    const name = at === undefined ? undefined : (at.if_name ?? at.if_descr);
    const { ip_address, prefix_length } = each;
    book.give(host, { ip_address, mac_address: mac, prefix_length, name, isAsked }, present);
  }
  if (!own.some((each) => each.ip_address === asked)) {
    const mac = orKept(asked, mac_address ?? undefined);
    book.give(host, { ip_address: asked, mac_address: mac, prefix_length: null, isAsked: true }, present);
  }
  for (const address of new Set([asked, ...own.map((each) => each.ip_address).filter(isOwnAddress)])) {
    for (const other of write.index.atAddress(address)) book.absorb(host, other, present);
    // Answering proves possession, not configuration: NAT and router pairs answer too.
    if (address === asked && present.has(address)) book.takeFromOthers(address, host, write.index.atAddress(address));
  }
  const stored = present.get(asked);
  if (stored !== undefined) write.see(ipAddressKind, stored.id);
  const left = own.filter((each) => !present.has(each.ip_address)).length;
  leftOut.add("addresses", present.size >= CHILDREN_MAX ? "limit" : "deleted", left);
  if (left > 0 && present.size >= CHILDREN_MAX) write.tellLimit(host, ipAddressKind.plural, left, CHILDREN_MAX);
}

/**
 * True if the reported MAC address of a shared or polled address differs while the old one is still on an interface:
 * then the old one stays. Routers sharing an address each report their own interface, and if merged into one host, the
 * order of responses would decide.
 */
function isDisputed(
  write: ScanWrite,
  host: HostRecord,
  known: IpAddressRecord | undefined,
  reported: string | undefined,
  macs: ReadonlySet<string | null | undefined>,
  isAsked: boolean,
): boolean {
  if (
    known === undefined ||
    known.mac_address === null ||
    reported === undefined ||
    reported === known.mac_address ||
    !macs.has(known.mac_address)
  )
    return false;
  if (!isAsked && write.index.reportersAt(known.ip_address).includes(host.id)) return true;
  return write.index.holdersOf(known.ip_address).some((id) => id !== host.id);
}

function identified(write: ScanWrite, signs: Signs, sighting: DeviceSighting): ReturnType<typeof identify<string>> {
  let candidates = write.index.candidates(signs, sighting.ip_address);
  for (;;) {
    const known = identify(signs, candidates);
    if (known === null) return sighting.device.broken === undefined ? null : reportedThere(write, signs, sighting);
    // A person consolidated them: keep the match.
    if (write.index.isConsolidated(known.id) || !isAnother(write, known.id, sighting)) return known;
    candidates = candidates.filter(({ id }) => id !== known.id);
  }
}

/** Missing tables mean missing signs: falls back to the host that last reported there, unless a sign differs. */
function reportedThere(write: ScanWrite, signs: Signs, sighting: DeviceSighting): ReturnType<typeof identify<string>> {
  for (const id of write.index.reportersAt(sighting.ip_address)) {
    const known = write.index.signsOf(id);
    if (known === null || isAnother(write, id, sighting)) continue;
    const like = likeness(signs, known);
    if (like.addressCount > 0 && !isOtherwise(signs, known)) return { id, likeness: like, formerSigns: null };
  }
  return null;
}

/**
 * True if the host already reported itself in this scan with another name or other MAC addresses: then this is a
 * different device, whatever signs they share. Merged, they would change the host in every scan.
 */
function isAnother(
  write: ScanWrite,
  hostId: string,
  { device: { sys_name, sys_object_id, interfaces = [] }, ip_address: asked }: DeviceSighting,
): boolean {
  const host = write.tx.find(hostKind, hostId);
  if (host === null || !write.wasHeard(hostId, asked)) return false;
  const said = (field: "sys_name" | "sys_object_id") => (host.discovered?.[field] ?? host[field]) as string | null;
  const isSaid = (now: string | null | undefined, before: string | null) =>
    typeof now === "string" && before !== null && now !== before;
  if (isSaid(sys_name, said("sys_name")) || isSaid(sys_object_id, said("sys_object_id"))) return true;
  const macs = new Map(
    write.tx.children(ifEntryKind, "host_n", hostId).map((each) => [each.if_index, each.mac_address]),
  );
  let [same, other] = [0, 0];
  for (const { if_index, mac_address } of interfaces) {
    const before = macs.get(if_index);
    if (typeof mac_address !== "string" || before === undefined) continue;
    if (mac_address !== before) other += 1;
    else if (isOneDevices(mac_address)) same += 1;
  }
  return other > 0 && other >= same;
}

/** Read once per write; subnets created by this write do not count. */
const READ = new WeakMap<ScanWrite, AcceptingSubnets>();

/**
 * Covers the host's own reported addresses: a device polled with an assigned credential may then be polled there too,
 * in subnets that accept credentials.
 * @param host the device as a host record
 */
function coverReported(write: ScanWrite, host: HostRecord, { device, credential }: DeviceSighting): void {
  if (credential === null) return;
  const { tx, networkId } = write;
  const key = assignmentKey({ credential_id: credential.credential_id, network_id: networkId, host_id: host.id });
  const assignment = tx.findByIdentity(credentialAssignmentKind, key);
  if (assignment === null) return;
  const subnets = READ.get(write) ?? new AcceptingSubnets(tx.children(subnetKind, "network_n", networkId));
  READ.set(write, subnets);
  const own = (device.addresses ?? []).map((each) => each.ip_address).filter((address) => subnets.accepts(address));
  cover(tx, assignment.id, own, "Told");
}
