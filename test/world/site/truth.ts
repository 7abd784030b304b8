// Facts about a device at one point in time, as a perfect reader would find them: the entries of the world's log that
// the oracle uses.

import { attachmentOf } from "./forwarding.ts";
import {
  type Device,
  hasEntityMib,
  hearsNeighbors,
  IF_TYPE,
  isStarting,
  RESTART_MS,
  type Role,
  TABLES,
  type TableName,
  VIRTUAL_MAC,
} from "./machines.ts";
import type { Site } from "./site.ts";

export interface Truth {
  readonly device: string;
  readonly address: string;
  /** Tables read to their end, with all their rows. */
  readonly complete: ReadonlySet<TableName>;
  /** Table of which it served only the first rows, as if there were no others; null for none. */
  readonly short: TableName | null;
  /** Whether the agent has been running for less than ten minutes. */
  readonly isRestarted: boolean;
  readonly interfaces: readonly string[];
  /** Interfaces that no longer exist, and whose rows it still serves. */
  readonly ghosts: readonly string[];
  readonly addresses: ReadonlyArray<{ readonly ip: string; readonly mac: string | null }>;
  readonly vlans: readonly number[];
  readonly serials: readonly string[];
  /** Stations on the device's edge ports. */
  readonly stations: ReadonlyArray<{ readonly mac: string; readonly port: string }>;
  /** Interfaces at the far ends of its cables, each with its own interface there. */
  readonly neighbors: ReadonlyArray<{ readonly near: string; readonly device: string; readonly name: string }>;
  /** For a router: pairs of address and MAC address that it sees, with the real machine. */
  readonly heard: readonly Hearing[];
}

export interface Hearing {
  readonly ip: string;
  readonly mac: string;
  readonly machine: string;
}

export function truthOf(site: Site, device: Device): Truth {
  const { id, fault, interfaces, address, vlans, members } = device;
  const ghosts = device.ghosts.filter(({ until }) => until > site.now);
  return {
    device: id,
    address,
    complete: new Set(TABLES.filter((table) => table !== fault?.table && !isUnread(site, device, table))),
    short: fault?.kind === "shrunk" ? fault.table : null,
    isRestarted: site.now - device.bootedAt < RESTART_MS,
    interfaces: [...interfaces.keys()],
    ghosts: ghosts.map(({ name }) => name),
    addresses: [...interfaces.values()].flatMap(({ addresses, mac }) => addresses.map(({ ip }) => ({ ip, mac }))),
    neighbors: [...interfaces.values()].flatMap(({ name, far }) => (far === null ? [] : { near: name, ...far })),
    vlans: [...vlans.keys()],
    serials: hasEntityMib(device) ? members.map(({ serial }) => serial) : [],
    stations: device.role !== "Access" ? [] : stationsAt(site, id),
    heard: device.role !== "Core" ? [] : hearingsOf(site, site.heardBy(device)),
  };
}

/** Tables besides the one with the fault that lack rows. */
function isUnread(site: Site, device: Device, table: TableName): boolean {
  if (table !== "interfaces" && table !== "names") return false;
  return isStarting(device, site.now) || device.fault?.kind === "missing";
}

/** Details of a device's records. */
export interface Details {
  readonly device: string;
  readonly role: Role;
  readonly interfaces: ReadonlyArray<{
    readonly name: string;
    /** Null on a tunnel, whatever the agent reports. */
    readonly mac: string | null;
    readonly lag: string | null;
    /** Far end of its cable, if both ends speak LLDP. */
    readonly far: { readonly device: string; readonly name: string } | null;
    /** Whether the far end announces a chassis id of its port. */
    readonly isPortIdAnnounced: boolean;
  }>;
  readonly members: ReadonlyArray<{ readonly number: number; readonly serial: string }>;
  /** The address that moved to another interface, with the interface; null if none did. */
  readonly movedAddress: { readonly ip: string; readonly name: string; readonly mac: string | null } | null;
}

export function detailsOf(site: Site, device: Device): Details {
  const { id, role, interfaces, members, address, hasMovedAddress } = device;
  const moved = hasMovedAddress
    ? [...interfaces.values()].find(({ addresses }) => addresses.some(({ ip }) => ip === address))
    : undefined;
  return {
    device: id,
    role,
    interfaces: [...interfaces.values()].map(({ name, mac, type, lag, far }) => {
      const neighbor = far === null ? undefined : site.devices.get(far.device);
      const isHeard = neighbor !== undefined && !neighbor.isMute && hearsNeighbors(device);
      return {
        name,
        mac: type === IF_TYPE.tunnel ? null : mac,
        lag,
        far: isHeard ? far : null,
        isPortIdAnnounced: isHeard && neighbor.interfaces.get(far?.name ?? "")?.announcedId != null,
      };
    }),
    members:
      hasEntityMib(device) && members.length > 1 ? members.map(({ number, serial }) => ({ number, serial })) : [],
    movedAddress: moved === undefined ? null : { ip: address, name: moved.name, mac: moved.mac },
  };
}

/** Adds the true machine to each pair of address and MAC address; virtual addresses have none. */
export function hearingsOf(site: Site, heard: Iterable<readonly [ip: string, mac: string]>): Hearing[] {
  return [...heard].flatMap(([ip, mac]) => {
    const machine = site.ownerOfMac.get(mac);
    return machine === undefined || mac.startsWith(VIRTUAL_MAC) ? [] : [{ ip, mac, machine }];
  });
}

function stationsAt(site: Site, device: string): Array<{ mac: string; port: string }> {
  const found: Array<{ mac: string; port: string }> = [];
  for (const { mac, at, isOn } of site.stations.values()) {
    if (!isOn) continue;
    const place = attachmentOf(site, at);
    if (place.device !== device) continue;
    const aggregate = site.devices.get(device)?.interfaces.get(place.port)?.lag;
    found.push({ mac, port: aggregate ?? place.port });
  }
  return found;
}
