// Factory state of devices: chassis, interfaces and identifiers by role, without a location.

import { type Device, IF_TYPE, type Interface, type Role } from "./machines.ts";
import type { Site } from "./site.ts";

interface Product {
  readonly oui: string;
  readonly model: string;
  readonly objectId: string;
  readonly descr: string;
}

const PRODUCTS: Readonly<Record<Role, Product>> = {
  Core: product("00:1b:54", "RX-9504", "9.1.1745", "Core switch, release 17.9"),
  Distribution: product("00:1b:54", "RX-5524", "9.1.2494", "Distribution switch, release 17.9"),
  Access: product("00:1b:54", "RX-2912", "9.1.2134", "Access switch, release 15.2"),
  Firewall: product("00:0d:b9", "FW-600", "12325.1.1.2.1.1", "Firewall appliance 7.2"),
  Server: product("d4:be:d9", "R-440", "8072.3.2.10", "Linux 6.1.0-18-amd64 x86_64"),
  Hypervisor: product("d4:be:d9", "R-740", "8072.3.2.10", "Linux 6.8.4-2-pve x86_64"),
  ContainerHost: product("d4:be:d9", "R-640", "8072.3.2.10", "Linux 6.1.0-20-amd64 x86_64"),
  Controller: product("00:0b:86", "WC-7205", "14823.1.1.32", "Wireless controller 8.10"),
  AccessPoint: product("00:0b:86", "AP-305", "14823.1.2.80", "Access point 8.10"),
  Printer: product("00:1b:a9", "LP-6510", "2435.2.3.9.1", "Laser printer, firmware 1.74"),
};

function product(oui: string, model: string, objectId: string, descr: string): Product {
  return { oui, model, objectId: `1.3.6.1.4.1.${objectId}`, descr };
}

/** Under adverse conditions, numbers after the second member have a gap, as if a member had been removed. */
function numberOf({ rates: { hardships } }: Site, index: number): number {
  return hardships > 0 && index > 1 ? index + 2 : index + 1;
}

/** Longer than a scan. */
const ARP_DELAY_MS = 300_000;

/** A new device of a role with this many chassis; its name and address are set, its cables are not. */
export function newDevice(site: Site, role: Role, name: string, members = 1): Device {
  const { oui, model, objectId, descr } = PRODUCTS[role];
  const id = `${role}-${site.next()}`;
  const chassis = Array.from({ length: members }, (_, index) => newMember(site, role, numberOf(site, index)));
  const [first] = chassis;
  const mac = first?.mac ?? site.newMac(oui);
  const device: Device = {
    id,
    role,
    name,
    model,
    objectId,
    descr,
    address: "",
    members: chassis,
    chassisMac: mac,
    engineId: engineIdOf(mac),
    interfaces: new Map(),
    vlans: new Map(),
    uplink: null,
    isLldpDisabled: role === "Printer" || role === "Firewall",
    bootedAt: site.now - 30 * 86_400_000,
    inArpFrom: site.rates.hardships > 0 ? site.now + ARP_DELAY_MS : 0,
    isSlowToStart: false,
    isRenumbered: false,
    openPorts: new Set(role === "Server" && site.rates.hardships > 0 ? [22, 443] : []),
    hasMovedAddress: false,
    silentUntil: 0,
    isRetired: false,
    fault: null,
    staleRows: [],
    version: 0,
  };
  return device;
}

/** snmpEngineID by a MAC address (RFC 3411), as text. */
export function engineIdOf(mac: string): string {
  return `80001f8803${mac.replaceAll(":", "")}`;
}

/** A new chassis of a role. */
export function newMember(site: Site, role: Role, number: number) {
  return {
    number,
    serial: `S${role.slice(0, 2).toUpperCase()}${100_000 + site.next()}`,
    mac: site.newMac(PRODUCTS[role].oui),
  };
}

/** A new MAC address of the vendor of a role. */
export function macOfRole(site: Site, role: Role): string {
  return site.newMac(PRODUCTS[role].oui);
}

/** Adds an interface with the next free ifIndex; by default an Ethernet port that is down. */
export function addInterface(device: Device, name: string, fields: Partial<Interface> = {}): Interface {
  const highest = Math.max(0, ...[...device.interfaces.values()].map(({ ifIndex }) => ifIndex));
  const entry: Interface = {
    name,
    type: IF_TYPE.ethernet,
    mac: null,
    ifIndex: highest + 1,
    alias: "",
    isUp: false,
    addresses: [],
    vlan: null,
    isTrunk: false,
    lag: null,
    member: 1,
    announcedId: null,
    farEnd: null,
    ...fields,
  };
  device.interfaces.set(name, entry);
  return entry;
}

/** Adds the access ports of a chassis: `Gi2/0/1`, … */
export function addMemberPorts(site: Site, device: Device, number: number, vlan: number): void {
  for (let port = 1; port <= site.rates.devices.portsPerMember; port += 1)
    addInterface(device, `Gi${number}/0/${port}`, { mac: macOfRole(site, device.role), vlan, member: number });
}
