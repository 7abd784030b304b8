// Brings a host to what its agent told: who it is, its own fields, addresses, VLANs, interfaces. A table that was not read to its end
// leaves what it does not say as it is.

import { isLocallyAdministered, isOneDevices } from "../../base/mac.ts";
import { CHILDREN_MAX } from "../../http/schemas.ts";
import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ipAddressKind, type IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { DISCOVERED } from "../../resources/source.ts";
import type { Device } from "../device.ts";
import type { DeviceSighting } from "../sightings.ts";
import { vendorOf } from "../vendors/vendor.ts";
import { AddressBook } from "./addresses.ts";
import { rememberCredential } from "./credential-memory.ts";
import { ignoredHost, isUnwanted, newHost } from "./hosts.ts";
import { identify } from "./identity.ts";
import { lineOf } from "./line.ts";
import { recordInterfaces } from "./record-interfaces.ts";
import { recordOpenPorts } from "./record-ports.ts";
import type { ScanWrite } from "./scan-write.ts";
import { isOwnAddress, signsOfDevice, type Signs } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";
import { rememberTelling, seenAsBefore } from "./tellings.ts";
import { VlanKeeper } from "./vlan-keeper.ts";

const SNMP_PORT = { number: 161, protocol: "Udp", service: { name: "SNMP", service_definition: "snmp" } } as const;

/**
 * Writes a device that answered.
 * @returns its host; null for one that a person has deleted
 */
export function recordDevice(write: ScanWrite, subnets: SubnetPlacer, sighting: DeviceSighting): HostRecord | null {
  const asked = sighting.ip_address;
  const before = seenAsBefore(write, sighting);
  const host = before ?? goThrough(write, subnets, sighting);
  if (host === null) return null;
  if (before !== null) {
    write.heardHost(host.id);
    write.sawHost(host.id, asked, "answered SNMP");
  }
  rememberCredential(write, asked, sighting.credential);
  for (const [table, { state, problem }] of Object.entries(sighting.device.tables)) {
    if (state !== "partial" && state !== "failed") continue;
    write.tell({ type: "Partial", entity: hostKind.name, id: host.id, label: `${host.name}: ${table}`, reason: problem ?? state });
  }
  return host;
}

function goThrough(write: ScanWrite, subnets: SubnetPlacer, sighting: DeviceSighting): HostRecord | null {
  const { device, ip_address: asked } = sighting;
  const book = new AddressBook(write, subnets);
  const signs = signsOfDevice(device, asked, sighting.mac_address);
  const known = identified(write, signs, sighting);
  if (known === null && (ignoredHost(write, signs, asked, device.sys_name ?? asked) || isUnwanted(write, subnets, device.sys_name ?? asked, signs.addresses))) return null;
  write.seenIds = new Set();
  const told = toldHost(device, sighting);
  const host = known === null ? newHost(write, { ...told, name: nameOf(device, sighting), source: DISCOVERED }) : changedHost(write, known.id, told, device);
  write.index.note(host.id, { host });
  write.index.noteSeenAt(host.id, asked);
  write.heardHost(host.id);
  write.sawHost(host.id, asked, known === null ? "answered SNMP" : `answered SNMP; known by its ${known.likeness.reason}`);

  const present = book.of(host.id);
  recordAddresses(write, book, host, sighting, present);
  const vlans = new VlanKeeper(write);
  if (device.vlans !== undefined) vlans.name(host.id, device.vlans);
  if (device.interfaces !== undefined) recordInterfaces(write, host, device.interfaces, { addresses: present, toldAddresses: device.addresses, vlans });
  recordOpenPorts(write, host, [SNMP_PORT]);
  rememberTelling(write, sighting, host, write.seenIds);
  return host;
}

function toldHost(device: Device, { hostname, mac_address }: DeviceSighting) {
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

/** By whom the device's own network interfaces are, else by the one that was seen where it was asked. */
function makerByMac(device: Device, seenMac: string | null): string | undefined {
  const own = [device.bridge_address, ...(device.interfaces ?? []).map((each) => each.mac_address), seenMac];
  const mac = own.find((each) => typeof each === "string" && isOneDevices(each) && !isLocallyAdministered(each));
  return typeof mac === "string" ? (vendorOf(mac) ?? undefined) : undefined;
}

function nameOf(device: Device, { hostname, ip_address }: DeviceSighting): string {
  return lineOf(device.sys_name ?? "") || lineOf(hostname ?? "") || ip_address;
}

function changedHost(write: ScanWrite, id: string, told: ReturnType<typeof toldHost>, device: Device): HostRecord {
  const host = write.tx.get(hostKind, id);
  const { hostname, manufacturer, ...others } = told;
  // Of the names of several addresses, and the makers of several network interfaces, the first that was found stays.
  const isMakerTold = typeof device.manufacturer === "string" || host.manufacturer === null;
  const named = { ...others, ...(host.hostname === null ? { hostname } : {}), ...(isMakerTold ? { manufacturer } : {}) };
  const name = lineOf(device.sys_name ?? "");
  return write.again(hostKind, host, { ...named, ...(name === "" ? {} : { name }), ...(host.source.type === "Inferred" ? { source: DISCOVERED } : {}) });
}

/** What it says that it has, and the address under which it answered: behind a translator of addresses they are not the same. */
function recordAddresses(write: ScanWrite, book: AddressBook, host: HostRecord, { device, ip_address: asked, mac_address }: DeviceSighting, present: Map<string, IpAddressRecord>): void {
  const byIndex = new Map((device.interfaces ?? []).map((each) => [each.if_index, each]));
  const own = device.addresses ?? [];
  for (const each of own) {
    const at = each.if_index === null ? undefined : byIndex.get(each.if_index);
    const mac = at?.mac_address ?? (each.ip_address === asked ? mac_address : null) ?? undefined;
    book.give(host, { ip_address: each.ip_address, mac_address: mac, prefix_length: each.prefix_length, name: at === undefined ? undefined : (at.if_name ?? at.if_descr) }, present);
  }
  if (!own.some((each) => each.ip_address === asked)) book.give(host, { ip_address: asked, mac_address: mac_address ?? undefined, prefix_length: null }, present);
  for (const address of new Set([asked, ...own.map((each) => each.ip_address).filter(isOwnAddress)])) {
    for (const other of write.index.atAddress(address)) book.absorb(host, other, present);
    // That it answered there is proof; that it has it configured is not: so do others behind a translator, and both routers of a pair.
    if (address === asked && present.has(address)) book.takeFromOthers(address, host, write.index.atAddress(address));
  }
  const stored = present.get(asked);
  if (stored !== undefined) write.see(ipAddressKind, stored.id);
  const left = own.filter((each) => !present.has(each.ip_address)).length;
  if (left > 0 && present.size >= CHILDREN_MAX) write.tellLimit(host, ipAddressKind.plural, left, CHILDREN_MAX);
}

/** The host that a device is. */
function identified(write: ScanWrite, signs: Signs, sighting: DeviceSighting): ReturnType<typeof identify<string>> {
  let candidates = write.index.candidates(signs, sighting.ip_address);
  for (;;) {
    const known = identify(signs, candidates);
    if (known === null || !isAnother(write, known.id, sighting)) return known;
    candidates = candidates.filter(({ id }) => id !== known.id);
  }
}

/**
 * Whether a host has told of itself in this scan, and calls itself otherwise, or has other MAC addresses on its interfaces: then what answers now is
 * another device, though it may have its serial number, its name or some of its MAC addresses. Else the two would be one host that changes with every scan.
 */
function isAnother(write: ScanWrite, hostId: string, { device: { sys_name, sys_object_id, interfaces = [] }, ip_address: asked }: DeviceSighting): boolean {
  const host = write.tx.find(hostKind, hostId);
  if (host === null || !write.wasHeard(hostId, asked)) return false;
  const said = (field: "sys_name" | "sys_object_id") => (host.discovered?.[field] ?? host[field]) as string | null;
  const isSaid = (now: string | null | undefined, before: string | null) => typeof now === "string" && before !== null && now !== before;
  if (isSaid(sys_name, said("sys_name")) || isSaid(sys_object_id, said("sys_object_id"))) return true;
  const macs = new Map(write.tx.children(ifEntryKind, "host_n", hostId).map((each) => [each.if_index, each.mac_address]));
  let [same, other] = [0, 0];
  for (const { if_index, mac_address } of interfaces) {
    const before = macs.get(if_index);
    if (typeof mac_address !== "string" || before === undefined) continue;
    if (mac_address !== before) other += 1;
    else if (isOneDevices(mac_address)) same += 1;
  }
  return other > 0 && other >= same;
}
