// Brings a host to what its agent told: who it is, its own fields, addresses, VLANs, interfaces. A table that was not read to its end
// leaves what it does not say as it is.

import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";
import { ipAddressKind, type IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { DISCOVERED } from "../../resources/source.ts";
import type { Device } from "../device.ts";
import type { DeviceSighting } from "../sightings.ts";
import { vendorOf } from "../vendors/vendor.ts";
import { AddressBook } from "./addresses.ts";
import { rememberCredential } from "./credential-memory.ts";
import { ignoredHost, newHost } from "./hosts.ts";
import { identify } from "./identity.ts";
import { recordInterfaces } from "./record-interfaces.ts";
import { recordOpenPorts } from "./record-ports.ts";
import type { ScanWrite } from "./scan-write.ts";
import { isOwnAddress, signsOfDevice } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";
import { rememberTelling, seenAsBefore } from "./tellings.ts";
import { VlanKeeper } from "./vlan-keeper.ts";

/** Of texts of a host that are shown in one line. */
const NAME_MAX = 255;
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
  if (before !== null) write.sawHost(host.id, asked, "answered SNMP");
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
  const known = identify(signs, write.index.candidates(signs));
  if (known === null && ignoredHost(write, signs, asked, device.sys_name ?? asked)) return null;
  write.seenIds = new Set();
  const told = toldHost(device, sighting);
  const host = known === null ? newHost(write, { ...told, name: nameOf(device, sighting), source: DISCOVERED }) : changedHost(write, known.id, told, device);
  write.index.note(host.id, { host });
  write.index.noteSeenAt(host.id, asked);
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
  const mac = device.bridge_address ?? mac_address ?? device.interfaces?.find((each) => typeof each.mac_address === "string")?.mac_address ?? null;
  const manufacturer = device.manufacturer ?? (mac === null ? undefined : (vendorOf(mac) ?? undefined));
  return {
    sys_name,
    sys_descr,
    sys_object_id,
    sys_location,
    sys_contact,
    manufacturer,
    model,
    serial_number,
    chassis_id: device.chassis_id === undefined ? undefined : (device.chassis_id?.value ?? null),
    hostname: hostname === null ? undefined : hostname,
  };
}

function nameOf(device: Device, { hostname, ip_address }: DeviceSighting): string {
  return oneLine(device.sys_name ?? "") || oneLine(hostname ?? "") || ip_address;
}

function changedHost(write: ScanWrite, id: string, told: ReturnType<typeof toldHost>, device: Device): HostRecord {
  const host = write.tx.get(hostKind, id);
  const { hostname, ...others } = told;
  // One name of several addresses: the first that was found stays.
  const named = { ...others, ...(host.hostname === null ? { hostname } : {}) };
  const name = oneLine(device.sys_name ?? "");
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
}

/** Without what a name may not have. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim().slice(0, NAME_MAX);
}
