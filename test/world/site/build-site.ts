// Initial state of the site: a tree of switches with the other devices and the stations at its edge.

import { seededRandom } from "../../support/injected/seeded-random.ts";
import type { Rates } from "../rates.ts";
import { attachBond, attachEndpoint, connect } from "./cables.ts";
import { type Device, IF_TYPE, type Role, SHARED_ADDRESS, type Station, VIRTUAL_MAC, VLAN } from "./machines.ts";
import { addInterface, addMemberPorts, macOfRole, newDevice } from "./new-device.ts";
import { Site } from "./site.ts";

/** @param start first timestamp of the run */
export function buildSite(rates: Rates, seed: number, start: number): Site {
  const site = new Site(rates, seededRandom(seed));
  site.now = start;
  const blocks = Math.max(1, rates.devices.distributionStacks);
  const userVlans = Array.from({ length: blocks * 2 }, (_, index) => VLAN.users + index);
  const cores = [1, 2].map((number) =>
    addCore(site, number, [VLAN.management, VLAN.servers, VLAN.phones, VLAN.guests, ...userVlans]),
  );
  const [core, second] = cores as [Device, Device];
  connect(site, second, core, 2);
  for (let block = 0; block < rates.devices.distributionStacks; block += 1) {
    const vlans = [
      VLAN.management,
      VLAN.servers,
      VLAN.phones,
      VLAN.guests,
      ...userVlans.slice(block * 2, block * 2 + 2),
    ];
    const distribution = addSwitch(site, "Distribution", `dist-${block + 1}`, 2, vlans);
    connect(site, distribution, core, 2);
    for (let index = block; index < rates.devices.accessStacks; index += rates.devices.distributionStacks) {
      const members = 1 + (index % 3 === 0 ? 1 : 0) + (index % 6 === 0 ? 1 : 0);
      const access = addSwitch(site, "Access", `acc-${index + 1}`, members, vlans);
      for (const { number } of access.members) addMemberPorts(site, access, number, vlans[4 + (number % 2)] as number);
      connect(site, access, distribution, members > 1 ? 2 : 1);
    }
  }
  const endpoints = [
    ["Firewall", rates.devices.firewalls],
    ["Server", rates.devices.servers],
    ["Hypervisor", rates.devices.hypervisors],
    ["ContainerHost", rates.devices.containerHosts],
    ["Controller", rates.devices.controllers],
    ["AccessPoint", rates.devices.accessPoints],
    ["Printer", rates.devices.printers],
  ] as const satisfies readonly (readonly [Role, number])[];
  for (const [role, count] of endpoints)
    for (let number = 1; number <= count; number += 1) addEndpoint(site, role, `${PREFIX[role]}-${number}`);
  activateFirst(site);
  const kinds = [
    ["Computer", rates.stations.computers],
    ["Laptop", rates.stations.laptops],
    ["Vm", rates.stations.virtualMachines],
  ] as const;
  for (const [kind, count] of kinds) for (let number = 0; number < count; number += 1) addStation(site, kind);
  addPhones(site);
  for (const device of site.devices.values()) device.inArpFrom = start;
  return site;
}

const PREFIX = {
  Firewall: "fw",
  Server: "srv",
  Hypervisor: "hv",
  ContainerHost: "docker",
  Controller: "wlc",
  AccessPoint: "ap",
  Printer: "prn",
} as const;

function addCore(site: Site, number: number, vlans: readonly number[]): Device {
  const core = newDevice(site, "Core", `core-${number}`);
  core.vlans.set(VLAN.native, "default");
  for (const vlan of vlans) {
    core.vlans.set(vlan, `vlan-${vlan}`);
    addInterface(core, `Vl${vlan}`, {
      type: IF_TYPE.virtual,
      mac: core.chassisMac,
      isUp: true,
      vlan,
      addresses: [{ ip: site.newAddress(vlan), prefix: 24 }],
    });
  }
  core.address = core.interfaces.get(`Vl${VLAN.management}`)?.addresses[0]?.ip ?? "";
  return site.addDevice(core);
}

function addSwitch(site: Site, role: Role, name: string, members: number, vlans: readonly number[]): Device {
  const device = newDevice(site, role, name, members);
  device.vlans.set(VLAN.native, "default");
  for (const vlan of vlans) device.vlans.set(vlan, `vlan-${vlan}`);
  device.address = site.newAddress(VLAN.management);
  addInterface(device, `Vl${VLAN.management}`, {
    type: IF_TYPE.virtual,
    mac: device.chassisMac,
    isUp: true,
    vlan: VLAN.management,
    addresses: [{ ip: device.address, prefix: 24 }],
  });
  return site.addDevice(device);
}

/** Adds a device at the edge of the network: a hypervisor by two cables, all others by one. */
export function addEndpoint(site: Site, role: Role, name: string): Device {
  const device = newDevice(site, role, name);
  if (role === "Hypervisor") return addHypervisor(site, device);
  const vlan = role === "AccessPoint" || role === "Printer" || role === "Controller" ? VLAN.management : VLAN.servers;
  device.address = site.newAddress(vlan);
  addInterface(device, PORT_OF[role] ?? "eth0", {
    mac: device.chassisMac,
    isUp: true,
    vlan,
    addresses: [{ ip: device.address, prefix: 24 }],
  });
  if (role === "Server" && site.rates.hardships > 0) addInterface(device, "eno2", { mac: macOfRole(site, role), vlan });
  if (role === "Firewall") addSharedInterfaces(device);
  if (role === "ContainerHost") {
    addInterface(device, "docker0", {
      type: IF_TYPE.bridge,
      mac: localMac(site),
      isUp: true,
      addresses: [{ ip: "172.17.0.1", prefix: 16 }],
    });
    for (let index = 1; index <= (site.rates.hardships > 0 ? 12 : 6); index += 1) addContainer(site, device);
  }
  attachEndpoint(site, device, vlan);
  return site.addDevice(device);
}

function addHypervisor(site: Site, device: Device): Device {
  device.address = site.newAddress(VLAN.servers);
  for (const name of ["eno1", "eno2"])
    addInterface(device, name, {
      mac: device.chassisMac,
      isUp: true,
      lag: "bond0",
      announcedId: site.rates.hardships > 0 ? localMac(site) : null,
    });
  const addresses = [{ ip: device.address, prefix: 24 }];
  const bond = { type: IF_TYPE.lag, mac: device.chassisMac, isUp: true, vlan: VLAN.servers, addresses };
  attachBond(site, device, addInterface(device, "bond0", bond), VLAN.servers);
  return site.addDevice(device);
}

/** Both firewalls of a pair have one cluster MAC address and address, and a tunnel with an IP address as MAC. */
function addSharedInterfaces(device: Device): void {
  const cluster = { mac: "00:09:0f:09:00:03", isUp: true, addresses: [{ ip: "10.9.9.2", prefix: 24 }] };
  addInterface(device, "wan1", cluster);
  addInterface(device, "gre0", { type: IF_TYPE.tunnel, mac: "c0:a8:07:01:00:00", isUp: true });
}

const PORT_OF: Partial<Record<Role, string>> = {
  Server: "eno1",
  ContainerHost: "eno1",
  Firewall: "igb0",
};

/** Adds the virtual interface of a new container. */
export function addContainer(site: Site, host: Device): void {
  addInterface(host, `veth${site.next().toString(16).padStart(7, "0")}`, { mac: localMac(site), isUp: true });
}

/** An unused locally administered MAC address. */
export function localMac(site: Site): string {
  return `0${site.newMac("2:9a:1c")}`;
}

/** Assigns the virtual address of the firewall pair to the first firewall. */
function activateFirst(site: Site): void {
  const [first] = site.present("Firewall");
  if (first === undefined) return;
  addInterface(first, "carp0", {
    type: IF_TYPE.virtual,
    mac: `${VIRTUAL_MAC}:05`,
    isUp: true,
    addresses: [{ ip: SHARED_ADDRESS, prefix: 24 }],
  });
  site.changeDevice(first);
}

/** Adds a station at a free port, or at a random host of its kind; null if there is none. */
export function addStation(site: Site, kind: Station["kind"]): Station | null {
  const at = placeFor(site, kind);
  if (at === null) return null;
  const vlan = vlanAt(site, kind, at);
  const mac = kind === "Guest" ? localMac(site) : site.newMac(VENDOR[kind]);
  return site.addStation({ id: `${kind}-${site.next()}`, kind, mac, ip: site.newAddress(vlan), vlan, at, isOn: true });
}

const VENDOR = {
  Computer: "3c:52:82",
  Laptop: "8c:16:45",
  Phone: "00:04:f2",
  Vm: "00:50:56",
  Intruder: "b8:27:eb",
} as const;

function placeFor(site: Site, kind: Station["kind"]): Station["at"] | null {
  const hosts = site.present(kind === "Vm" ? "Hypervisor" : "AccessPoint");
  const places =
    kind === "Vm" || kind === "Guest" ? hosts.map(({ id }) => ({ device: id, port: "" })) : site.freePorts();
  return places.length === 0 ? null : site.random.pick(places);
}

/** VLAN of a station at an attachment point. */
export function vlanAt(site: Site, kind: Station["kind"], at: Station["at"]): number {
  if (kind === "Vm") return VLAN.servers;
  if (kind === "Guest") return VLAN.guests;
  if (kind === "Phone") return VLAN.phones;
  return site.devices.get(at.device)?.interfaces.get(at.port)?.vlan ?? VLAN.users;
}

/** Phones share the ports of computers. */
function addPhones(site: Site): void {
  const desks = site.random.shuffled(site.stationsOf("Computer")).slice(0, site.rates.stations.phones);
  for (const { at } of desks)
    site.addStation({
      id: `Phone-${site.next()}`,
      kind: "Phone",
      mac: site.newMac(VENDOR.Phone),
      ip: site.newAddress(VLAN.phones),
      vlan: VLAN.phones,
      at,
      isOn: true,
    });
}
