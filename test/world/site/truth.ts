// True state of a device at one point in time, as a perfect reader would find it: the log entries used by the oracle.

import { attachmentOf } from "./forwarding.ts";
import {
  type Device,
  hasEntityMib,
  IF_TYPE,
  isStarting,
  RESTART_MS,
  type Role,
  receivesLldp,
  TABLES,
  type TableName,
  VIRTUAL_MAC,
} from "./machines.ts";
import type { Site } from "./site.ts";

export interface Truth {
  readonly device: string;
  readonly address: string;
  /** Tables read completely, with all their rows. */
  readonly complete: ReadonlySet<TableName>;
  /** Table of which the agent served only the first rows, as if there were no others; null for none. */
  readonly short: TableName | null;
  /** Whether the agent has been running for less than ten minutes. */
  readonly isRestarted: boolean;
  readonly interfaces: readonly string[];
  /** Deleted interfaces whose rows the agent still serves. */
  readonly staleRows: readonly string[];
  readonly addresses: ReadonlyArray<{ readonly ip: string; readonly mac: string | null }>;
  readonly vlans: readonly number[];
  readonly serials: readonly string[];
  /** Stations on the device's edge ports. */
  readonly stations: ReadonlyArray<{ readonly mac: string; readonly port: string }>;
  /** Interfaces at the far ends of its cables, each with its own interface there. */
  readonly neighbors: ReadonlyArray<{ readonly near: string; readonly device: string; readonly name: string }>;
  /** For a router: its ARP entries, each with the machine that really has the MAC address. */
  readonly arpEntries: readonly NeighborEntry[];
}

export interface NeighborEntry {
  readonly ip: string;
  readonly mac: string;
  readonly machine: string;
}

export function truthOf(site: Site, device: Device): Truth {
  const { id, fault, interfaces, address, vlans, members } = device;
  const staleRows = device.staleRows.filter(({ until }) => until > site.now);
  return {
    device: id,
    address,
    complete: new Set(TABLES.filter((table) => table !== fault?.table && !isUnread(site, device, table))),
    short: fault?.kind === "shrunk" ? fault.table : null,
    isRestarted: site.now - device.bootedAt < RESTART_MS,
    interfaces: [...interfaces.keys()],
    staleRows: staleRows.map(({ name }) => name),
    addresses: [...interfaces.values()].flatMap(({ addresses, mac }) => addresses.map(({ ip }) => ({ ip, mac }))),
    neighbors: [...interfaces.values()].flatMap(({ name, farEnd }) =>
      farEnd === null ? [] : { near: name, ...farEnd },
    ),
    vlans: [...vlans.keys()],
    serials: hasEntityMib(device) ? members.map(({ serial }) => serial) : [],
    stations: device.role !== "Access" ? [] : stationsAt(site, id),
    arpEntries: device.role !== "Core" ? [] : neighborEntriesOf(site, site.arpTableOf(device)),
  };
}

/** Whether a table lacks rows for a reason other than the fault addressed to it. */
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
    /** Null on a tunnel, even if the agent reports one. */
    readonly mac: string | null;
    readonly lag: string | null;
    /** Far end of its cable, if both ends speak LLDP. */
    readonly farEnd: { readonly device: string; readonly name: string } | null;
    /** Whether the far end announces a port-specific chassis ID. */
    readonly isPortIdAnnounced: boolean;
  }>;
  readonly members: ReadonlyArray<{ readonly number: number; readonly serial: string }>;
  /** The address that moved to another interface, with that interface; null if none did. */
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
    interfaces: [...interfaces.values()].map(({ name, mac, type, lag, farEnd }) => {
      const neighbor = farEnd === null ? undefined : site.devices.get(farEnd.device);
      const isAnnounced = neighbor !== undefined && !neighbor.isLldpDisabled && receivesLldp(device);
      return {
        name,
        mac: type === IF_TYPE.tunnel ? null : mac,
        lag,
        farEnd: isAnnounced ? farEnd : null,
        isPortIdAnnounced: isAnnounced && neighbor.interfaces.get(farEnd?.name ?? "")?.announcedId != null,
      };
    }),
    members:
      hasEntityMib(device) && members.length > 1 ? members.map(({ number, serial }) => ({ number, serial })) : [],
    movedAddress: moved === undefined ? null : { ip: address, name: moved.name, mac: moved.mac },
  };
}

/** Adds the real machine to each pair of address and MAC address; virtual addresses have none. */
export function neighborEntriesOf(site: Site, pairs: Iterable<readonly [ip: string, mac: string]>): NeighborEntry[] {
  return [...pairs].flatMap(([ip, mac]) => {
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
