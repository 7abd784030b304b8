// Events of the simulated site, by name. Each changes the site once, through its logged methods; if the site has no
// candidate for it, it changes nothing and returns false.

import type { EventRate } from "../rates.ts";
import { addContainer, addEndpoint, addStation, vlanAt } from "../site/build-site.ts";
import { takePlace } from "../site/cables.ts";
import {
  ASKED_PORTS,
  type Device,
  type Fault,
  IF_TYPE,
  type Interface,
  masterOf,
  netOf,
  SHARED_ADDRESS,
  type Station,
  servedTables,
  shrinkableTables,
  type TableName,
  VLAN,
} from "../site/machines.ts";
import { addInterface, engineIdOf, macOfRole, newDevice, newMember } from "../site/new-device.ts";
import type { Site } from "../site/site.ts";

/** @returns false if there was no candidate */
export type Event = (site: Site) => boolean;

/** Picks a random item; null if there are none. */
function pick<T>(site: Site, items: readonly T[]): T | null {
  return items.length === 0 ? null : site.random.pick(items);
}

/** Moves a computer or laptop to another desk, where it gets a new address. */
const move: Event = (site) => {
  const station = pick(
    site,
    site.stationsOf("Computer", "Laptop").filter(({ id, isOn }) => isOn && !isVictim(site, id)),
  );
  const at = pick(site, site.freePorts());
  if (station === null || at === null) return false;
  relocate(site, station, at);
  return true;
};

function relocate(site: Site, station: Station, at: Station["at"]): void {
  const vlan = vlanAt(site, station.kind, at);
  site.changeStation(station, vlan === station.vlan ? { at } : { at, vlan, ip: site.newAddress(vlan) });
}

/** Excludes machines with a disputed address: their conflict must have a defined end. */
function isVictim(site: Site, id: string): boolean {
  const ip = site.stations.get(id)?.ip;
  return ip !== undefined && site.disputed.has(ip);
}

/** Replaces a device by new hardware with the same name, addresses and cables. */
const replacement: Event = (site) => {
  const former = pick(
    site,
    site
      .present("Access", "Server", "AccessPoint", "Printer")
      // A hypervisor would assign the same MAC addresses to the new machine.
      .filter(({ members, isLldpDisabled }) => members.length === 1 && !isLldpDisabled),
  );
  if (former === null) return false;
  takePlace(site, former, newDevice(site, former.role, former.name));
  return true;
};

/** Replaces a failed stack member, or swaps the numbers of two members. */
const stackChange: Event = (site) => {
  const stack = pick(
    site,
    site.present("Access", "Distribution").filter(({ members }) => members.length > 1),
  );
  if (stack === null) return false;
  const kind = site.random.pick(["replace", "swap", "fail"] as const);
  const [first, second] = [...stack.members].sort((a, b) => a.number - b.number) as [
    Device["members"][0],
    Device["members"][0],
  ];
  if (kind === "swap") {
    if (site.rates.hardships > 0) swapCards(stack, first.number, second.number);
    Object.assign(stack, {
      members: [
        { ...second, number: first.number },
        { ...first, number: second.number },
        ...stack.members.filter((each) => each !== first && each !== second),
      ],
    });
  } else if (kind === "replace" || stack.role === "Distribution") {
    stack.members[stack.members.indexOf(first)] = newMember(site, stack.role, first.number);
    if (site.rates.hardships > 0)
      for (const entry of portsOf(stack, first.number)) entry.mac = macOfRole(site, stack.role);
  } else failMember(site, stack, site.random.pick([first, second]));
  restack(site, stack);
  return true;
};

/** Physical ports of a member. */
function portsOf({ interfaces }: Device, member: number): Interface[] {
  return [...interfaces.values()].filter((each) => each.member === member && each.type === IF_TYPE.ethernet);
}

/** Swaps the numbers of two members: each number's ports become those of the other member. */
function swapCards(stack: Device, first: number, second: number): void {
  for (const entry of portsOf(stack, first)) {
    const other = stack.interfaces.get(entry.name.replace(`${first}/`, `${second}/`));
    if (other !== undefined && other.member === second) [entry.mac, other.mac] = [other.mac, entry.mac];
  }
}

/** Removes a stack member: its ports disappear and its stations move to other ports. The last member is kept. */
function failMember(site: Site, stack: Device, member: Device["members"][0]): void {
  stack.members = stack.members.filter((each) => each !== member);
  for (const entry of [...stack.interfaces.values()]) {
    if (entry.member !== member.number || entry.type !== IF_TYPE.ethernet || entry.lag !== null) continue;
    if (entry.farEnd !== null) entry.member = stack.members[0]?.number ?? 1;
    else {
      stack.interfaces.delete(entry.name);
      site.touch(`interface ${stack.id} ${entry.name}`);
    }
  }
  for (const station of [...site.stations.values()]) {
    if (station.at.device !== stack.id || stack.interfaces.has(station.at.port)) continue;
    const at = pick(site, site.freePorts());
    if (at === null) site.removeStation(station);
    else relocate(site, station, at);
  }
}

/**
 * The member with the lowest number is the stack's master: its MAC address is also that of the bridge and of the
 * management interface.
 */
function restack(site: Site, stack: Device): void {
  const former = stack.chassisMac;
  stack.chassisMac = masterOf(stack).mac;
  if (site.rates.hardships > 0 && stack.chassisMac !== former) stack.engineId = engineIdOf(stack.chassisMac);
  for (const entry of stack.interfaces.values()) if (entry.mac === former) entry.mac = stack.chassisMac;
  restart(site, stack);
}

/** Adds a server from the image of another: same system name, different hardware and address. */
const clone: Event = (site) => {
  const original = pick(site, site.present("Server"));
  if (original === null) return false;
  addEndpoint(site, "Server", original.name);
  return true;
};

/**
 * Adds two virtual machines on different computers, with the same MAC addresses, which their hypervisor assigns to
 * every machine.
 */
const commonCard: Event = (site) => {
  const pair = (site.next() % 200) + 2;
  const oui = `08:00:27:5d:${pair.toString(16).padStart(2, "0")}`;
  for (let count = 0; count < 2; count += 1) {
    const machine = addEndpoint(site, "Server", `vb-${site.next()}`);
    machine.isLldpDisabled = true;
    const shared = (name: string, mac: string, ip: string) =>
      addInterface(machine, name, { mac, isUp: true, addresses: [{ ip, prefix: 24 }] });
    shared("enp0s3", `${oui}:01`, `10.1.${pair}.15`);
    shared("enp0s8", `${oui}:02`, `192.168.${pair}.10`);
    site.changeDevice(machine);
  }
  return true;
};

const rename: Event = (site) => {
  const device = pick(site, site.present("Access", "Server", "Printer", "AccessPoint"));
  if (device === null) return false;
  device.name = `${device.name.split("-r")[0]}-r${site.next()}`;
  site.changeDevice(device);
  return true;
};

/** Gives a device another address in its subnet. */
const renumbering: Event = (site) => {
  const device = pick(site, site.present("Access", "Server", "Printer"));
  const entry = [...(device?.interfaces.values() ?? [])].find(({ addresses }) =>
    addresses.some(({ ip }) => ip === device?.address),
  );
  if (device == null || entry?.vlan == null) return false;
  site.touch(`ip ${device.address}`);
  device.address = site.newAddress(entry.vlan);
  entry.addresses = [{ ip: device.address, prefix: 24 }];
  site.changeDevice(device);
  return true;
};

/** Moves the address of a server to its second card, or back. */
const addressMove: Event = (site) => {
  const server = pick(
    site,
    site.present("Server").filter(({ isLldpDisabled }) => !isLldpDisabled),
  );
  const from = [...(server?.interfaces.values() ?? [])].find(({ addresses }) =>
    addresses.some(({ ip }) => ip === server?.address),
  );
  if (server === null || from === undefined) return false;
  const to = server.interfaces.get(from.name === "eno1" ? "eno2" : "eno1");
  if (to === undefined) return false;
  to.addresses = from.addresses;
  Object.assign(to, { vlan: from.vlan, isUp: true });
  from.addresses = [];
  server.hasMovedAddress = true;
  site.changeDevice(server);
  return true;
};

const swappedAddresses: Event = (site) => {
  const vlan = pick(site, [...new Set(site.stationsOf("Computer").map((each) => each.vlan))]);
  const [first, second] = site.random.shuffled(
    site.stationsOf("Computer").filter((each) => each.vlan === vlan && each.isOn && !isVictim(site, each.id)),
  );
  if (first === undefined || second === undefined) return false;
  const { ip } = first;
  site.changeStation(first, { ip: second.ip });
  site.changeStation(second, { ip });
  return true;
};

const migration: Event = (site) => {
  const vm = pick(site, site.stationsOf("Vm"));
  const target = pick(
    site,
    site.present("Hypervisor").filter(({ id }) => id !== vm?.at.device),
  );
  if (vm === null || target === null) return false;
  site.changeStation(vm, { at: { device: target.id, port: "" } });
  return true;
};

/**
 * Starts, stops or restarts a container: a restarted container's interface keeps its name and gets another ifIndex. Or
 * replaces all containers by the same number of new ones.
 */
const containerChange: Event = (site) => {
  const host = pick(site, site.present("ContainerHost"));
  const containers = [...(host?.interfaces.values() ?? [])].filter(({ name }) => name.startsWith("veth"));
  const container = containers.find(({ name }) => site.notedNames.has(name)) ?? pick(site, containers);
  if (host === null) return false;
  const kinds = ["comes", "goes", "restarts"] as const;
  const kind = site.random.pick(site.rates.hardships > 0 ? ([...kinds, "all"] as const) : kinds);
  if (kind === "all")
    for (const { name, ifIndex } of containers) {
      host.staleRows.push({ name, ifIndex, until: site.now + STALE_ROW_MS });
      addContainer(site, host);
      host.interfaces.delete(name);
    }
  else if (kind === "comes" || container === null) addContainer(site, host);
  else {
    host.staleRows.push({ name: container.name, ifIndex: container.ifIndex, until: site.now + STALE_ROW_MS });
    const highest = Math.max(...[...host.interfaces.values()].map(({ ifIndex }) => ifIndex));
    if (kind === "goes") host.interfaces.delete(container.name);
    else container.ifIndex = highest + 1;
  }
  site.changeDevice(host);
  return true;
};

/** Time for which snmpd serves a deleted interface. */
const STALE_ROW_MS = 300_000;

/** Adds a VLAN with an SVI to both core switches, or removes the oldest such VLAN. */
const vlanChange: Event = (site) => {
  const cores = site.present("Core");
  const extra = [...(cores[0]?.vlans.keys() ?? [])].filter((number) => number >= VLAN.extra);
  const [oldest] = extra;
  const added =
    oldest !== undefined && extra.length > (site.rates.hardships > 0 ? 1 : 3) ? null : VLAN.extra + (site.next() % 100);
  const number = added ?? (oldest as number);
  for (const core of cores) {
    if (added === null) {
      core.vlans.delete(number);
      core.interfaces.delete(`Vl${number}`);
    } else if (!core.vlans.has(number)) {
      core.vlans.set(number, `vlan-${number}`);
      addInterface(core, `Vl${number}`, {
        type: IF_TYPE.virtual,
        mac: core.chassisMac,
        isUp: true,
        vlan: number,
        addresses: [{ ip: `${netOf(number)}${core.name.endsWith("1") ? 2 : 3}`, prefix: 24 }],
      });
    }
    site.changeDevice(core);
  }
  site.touch(`vlan ${number}`);
  return cores.length > 0;
};

const plainRestart: Event = (site) => {
  const device = pick(site, site.present());
  if (device === null) return false;
  // The ARP table of a router cannot be interpreted without its interfaces.
  device.isSlowToStart = site.rates.hardships > 0 && !device.isRenumbered && device.role !== "Core";
  restart(site, device);
  return true;
};

/** Makes the agent assign new ifIndex values. */
const renumberedRestart: Event = (site) => {
  const device = pick(site, site.present("Access", "Server", "Hypervisor", "ContainerHost"));
  if (device === null) return false;
  const entries = site.random.shuffled([...device.interfaces.values()]);
  for (const [index, entry] of entries.entries()) entry.ifIndex = 1 + index;
  Object.assign(device, { isSlowToStart: false, isRenumbered: true });
  // ifIndex values are unique: renumbered rows may take values of other rows.
  if (site.rates.hardships > 0) device.fault = null;
  restart(site, device);
  return true;
};

function restart(site: Site, device: Device): void {
  device.bootedAt = site.now;
  site.changeDevice(device);
}

/** Makes the next read of a device end early, or its agent serve only the first rows of a table, or none. */
const faultyTable: Event = (site) => {
  const kind = site.random.pick(site.rates.hardships > 0 ? HARD_FAULT_KINDS : FAULT_KINDS);
  const faults = site
    .present()
    .filter(({ fault, isRenumbered }) => fault === null && (site.rates.hardships === 0 || !isRenumbered))
    .map((device) => ({ device, tables: faultyTables(device, kind) }));
  const chosen = pick(
    site,
    faults.filter(({ tables }) => tables.length > 0),
  );
  if (chosen === null) return false;
  site.setFault(chosen.device, { table: site.random.pick(chosen.tables), kind });
  return true;
};

function faultyTables(device: Device, kind: Fault["kind"]): readonly TableName[] {
  if (kind === "cut") return servedTables(device);
  if (kind === "shrunk") return shrinkableTables(device);
  return device.role === "Core" || device.interfaces.size < 3 ? [] : ["interfaces"];
}

const FAULT_KINDS = ["cut", "shrunk"] as const;
const HARD_FAULT_KINDS = ["cut", "cut", "cut", "shrunk", "shrunk", "missing", "short", "short"] as const;

const silence: Event = (site) => {
  const device = pick(
    site,
    site.present().filter(({ silentUntil }) => silentUntil <= site.now),
  );
  if (device === null) return false;
  device.silentUntil = site.now + site.rates.daysPerSilence * 86_400_000;
  return true;
};

/** Moves the virtual address of the firewall pair to the other firewall. */
const failover: Event = (site) => {
  const pair = site.present("Firewall");
  const active = pair.find(({ interfaces }) => interfaces.has("carp0"));
  const standby = pair.find((each) => each !== active);
  const shared = active?.interfaces.get("carp0");
  if (active === undefined || standby === undefined || shared === undefined) return false;
  active.interfaces.delete("carp0");
  addInterface(standby, "carp0", { ...shared, ifIndex: 900, addresses: [{ ip: SHARED_ADDRESS, prefix: 24 }] });
  site.changeDevice(active);
  site.changeDevice(standby);
  return true;
};

/** Lets a machine use the address of a computer: one core switch sees the machine, the other the computer. */
const intruder: Event = (site) => {
  const [first, second] = site.present("Core");
  const victim = pick(
    site,
    site.stationsOf("Computer").filter(({ isOn, id }) => isOn && !isVictim(site, id)),
  );
  const guest = victim === null ? null : addStation(site, "Intruder");
  if (victim === null || guest === null || first === undefined || second === undefined) return false;
  site.changeStation(guest, { ip: victim.ip });
  site.disputed.set(
    victim.ip,
    new Map([
      [first.id, victim.mac],
      [second.id, guest.mac],
    ]),
  );
  return true;
};

/** Removes the longest-present intruder. */
export const intruderLeaves: Event = (site) => {
  const [ip] = site.disputed.keys();
  if (ip === undefined) return false;
  site.disputed.delete(ip);
  for (const guest of site.stationsOf("Intruder")) if (guest.ip === ip) site.removeStation(guest);
  return true;
};

const leaseRotation: Event = (site) => {
  const station = pick(
    site,
    site.stationsOf("Computer", "Laptop").filter(({ id, isOn }) => isOn && !isVictim(site, id)),
  );
  if (station === null) return false;
  site.changeStation(station, { ip: site.newAddress(station.vlan) });
  return true;
};

const laptopSwitch: Event = (site) => {
  const laptop = pick(site, site.stationsOf("Laptop"));
  if (laptop === null) return false;
  site.changeStation(laptop, { isOn: !laptop.isOn });
  return true;
};

export const guestArrives: Event = (site) => addStation(site, "Guest") !== null;

/** Removes all guests, each of whom stays for a day. */
export const guestsLeave: Event = (site) => {
  for (const guest of site.stationsOf("Guest")) site.removeStation(guest);
  return true;
};

/** Lets a user delete the host of a machine in use: of a station, or of a device that responds to SNMP. */
const deletionByPerson: Event = (site) => {
  const stations = site.stationsOf("Computer").filter(({ isOn, id }) => isOn && !isVictim(site, id));
  const devices = site.present("Access", "Server", "Printer", "AccessPoint");
  const machine = pick<{ readonly id: string }>(site, site.random.pick([stations, devices]));
  if (machine === null) return false;
  site.deletions.push(machine.id);
  return true;
};

/** Lets a user delete the host of a computer and ignore it from then on. */
const ban: Event = (site) => {
  const station = pick(
    site,
    site.stationsOf("Computer").filter(({ isOn, id }) => isOn && !isVictim(site, id)),
  );
  if (station === null || site.deletions.includes(station.id)) return false;
  site.ignores.push(station.id);
  return true;
};

/** Lets a user add a note to the interface of a container. */
const note: Event = (site) => {
  const host = pick(site, site.present("ContainerHost"));
  const container = pick(
    site,
    [...(host?.interfaces.keys() ?? [])].filter((name) => name.startsWith("veth")),
  );
  if (host === null || container === null) return false;
  site.notes.push({ device: host.id, name: container });
  site.notedNames.add(container);
  return true;
};

/** Stops one service of a server, and starts another. */
const serviceChange: Event = (site) => {
  const server = pick(
    site,
    site.present("Server").filter(({ openPorts }) => openPorts.size > 0),
  );
  const stopped = pick(site, [...(server?.openPorts ?? [])]);
  if (server === null || stopped === null) return false;
  const started = pick(
    site,
    ASKED_PORTS.filter((port) => !server.openPorts.has(port)),
  );
  server.openPorts.delete(stopped);
  if (started !== null) server.openPorts.add(started);
  site.changeDevice(server);
  return true;
};

/** Events with the rate that sets their number per run. To add one: a function above, a rate, and a line here. */
export const EVENTS: ReadonlyArray<{ readonly rate: EventRate; readonly run: Event }> = [
  { rate: "moves", run: move },
  { rate: "replacements", run: replacement },
  { rate: "stackChanges", run: stackChange },
  { rate: "clones", run: clone },
  { rate: "commonCards", run: commonCard },
  { rate: "renames", run: rename },
  { rate: "renumberings", run: renumbering },
  { rate: "swappedAddresses", run: swappedAddresses },
  { rate: "migrations", run: migration },
  { rate: "vlanChanges", run: vlanChange },
  { rate: "containerChanges", run: containerChange },
  { rate: "restarts", run: plainRestart },
  { rate: "renumberedRestarts", run: renumberedRestart },
  { rate: "faultyTables", run: faultyTable },
  { rate: "silences", run: silence },
  { rate: "failovers", run: failover },
  { rate: "intruders", run: intruder },
  { rate: "leaseRotations", run: leaseRotation },
  { rate: "laptopSwitches", run: laptopSwitch },
  { rate: "deletionsByPeople", run: deletionByPerson },
  { rate: "bans", run: ban },
  { rate: "notes", run: note },
  { rate: "addressMoves", run: addressMove },
  { rate: "serviceChanges", run: serviceChange },
];
