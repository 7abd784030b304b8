// Cables between devices: aggregates between switches, and single cables to devices at the edge.

import { type Device, IF_TYPE, type Interface, VLAN } from "./machines.ts";
import { addInterface, macOfRole } from "./new-device.ts";
import type { Site } from "./site.ts";

/** Connects a switch to its parent by an aggregate, or by one cable if there is only one member. */
export function connect(site: Site, child: Device, parent: Device, cables: number): void {
  const trunk = (device: Device, number: number, lag: string | null): Interface => {
    const member = device.members[(number - 1) % device.members.length]?.number ?? 1;
    return addInterface(device, `Te${member}/1/${uplinksOf(device) + 1}`, {
      mac: macOfRole(site, device.role),
      isUp: true,
      isTrunk: true,
      vlan: VLAN.native,
      lag,
      member,
    });
  };
  const aggregate = (device: Device): string => {
    const name = `Po${1 + aggregatesOf(device)}`;
    addInterface(device, name, {
      type: IF_TYPE.lag,
      mac: macOfRole(site, device.role),
      isUp: true,
      isTrunk: true,
      vlan: VLAN.native,
    });
    return name;
  };
  const lags = cables > 1 ? { child: aggregate(child), parent: aggregate(parent) } : { child: null, parent: null };
  for (let number = 1; number <= cables; number += 1) {
    const [near, farEnd] = [trunk(child, number, lags.child), trunk(parent, number, lags.parent)];
    near.farEnd = { device: parent.id, name: farEnd.name };
    farEnd.farEnd = { device: child.id, name: near.name };
    child.uplink = lags.child ?? near.name;
  }
  site.changeDevice(child);
  site.changeDevice(parent);
}

/** Connects a device by its first two interfaces, which form an aggregate at both ends, to an access switch. */
export function attachBond(site: Site, device: Device, bond: Interface, vlan: number): void {
  const pairs = [...Map.groupBy(site.freePorts(), (each) => each.device)].filter(([, all]) => all.length > 1);
  if (pairs.length === 0) return;
  const [access, ports] = site.random.pick(pairs);
  const parent = site.devices.get(access) as Device;
  const aggregate = addInterface(parent, `Po${1 + aggregatesOf(parent)}`, {
    type: IF_TYPE.lag,
    mac: macOfRole(site, parent.role),
    isUp: true,
    vlan,
  });
  const members = [...device.interfaces.values()].filter(({ lag }) => lag === bond.name);
  for (const [index, near] of members.entries()) {
    const farEnd = parent.interfaces.get(ports[index]?.port ?? "");
    if (farEnd === undefined) continue;
    near.farEnd = { device: parent.id, name: farEnd.name };
    Object.assign(farEnd, { farEnd: { device: device.id, name: near.name }, lag: aggregate.name, vlan, isUp: true });
    site.changeInterface(parent, farEnd);
  }
  device.uplink = bond.name;
}

function aggregatesOf({ interfaces }: Device): number {
  return [...interfaces.values()].filter(({ type }) => type === IF_TYPE.lag).length;
}

function uplinksOf({ interfaces }: Device): number {
  return [...interfaces.keys()].filter((name) => name.startsWith("Te")).length;
}

/** Connects a device at the edge to a random free port, and puts the port into the device's VLAN. */
export function attachEndpoint(site: Site, device: Device, vlan: number): void {
  const free = site.freePorts();
  const [first] = device.interfaces.values();
  if (free.length === 0 || first === undefined) return;
  const at = site.random.pick(free);
  const access = site.devices.get(at.device);
  const port = access?.interfaces.get(at.port);
  if (access === undefined || port === undefined) return;
  Object.assign(port, { farEnd: { device: device.id, name: first.name }, vlan, isUp: true });
  first.farEnd = { device: access.id, name: port.name };
  device.uplink = first.name;
  site.changeInterface(access, port);
}

/** Replaces a device by another machine, which takes over its cables, names and addresses. */
export function takePlace(site: Site, former: Device, successor: Device): void {
  Object.assign(successor, { name: former.name, address: former.address, uplink: former.uplink });
  for (const [number, name] of former.vlans) successor.vlans.set(number, name);
  for (const entry of former.interfaces.values()) {
    const { addresses, ...rest } = entry;
    const isSwitched = entry.mac === former.chassisMac || entry.mac === null;
    successor.interfaces.set(entry.name, {
      ...rest,
      addresses: [...addresses],
      mac: isSwitched ? successor.chassisMac : macOfRole(site, successor.role),
    });
    if (entry.farEnd === null) continue;
    const farEnd = site.devices.get(entry.farEnd.device)?.interfaces.get(entry.farEnd.name);
    if (farEnd !== undefined) farEnd.farEnd = { device: successor.id, name: entry.name };
    entry.farEnd = null;
  }
  for (const station of site.stations.values())
    if (station.at.device === former.id) site.changeStation(station, { at: { ...station.at, device: successor.id } });
  former.isRetired = true;
  site.changeDevice(former);
  site.addDevice(successor);
}
