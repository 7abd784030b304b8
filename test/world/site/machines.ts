// Machines of the simulated site: devices that respond to SNMP, and stations. Plain state without behavior.

export type Role =
  | "Core"
  | "Distribution"
  | "Access"
  | "Firewall"
  | "Server"
  | "Hypervisor"
  | "ContainerHost"
  | "Controller"
  | "AccessPoint"
  | "Printer";

/** IANAifType numbers that the site uses. */
export const IF_TYPE = {
  ethernet: 6,
  loopback: 24,
  virtual: 53,
  vlan: 136,
  lag: 161,
  bridge: 209,
  tunnel: 131,
} as const;

export interface Address {
  readonly ip: string;
  readonly prefix: number;
}

export interface Interface {
  /** ifName: unique on its device. */
  readonly name: string;
  readonly type: number;
  /** ifPhysAddress; null if it has none. */
  mac: string | null;
  ifIndex: number;
  alias: string;
  isUp: boolean;
  addresses: Address[];
  /** VLAN of untagged frames; null if it is not a bridge port. */
  vlan: number | null;
  /** Whether it carries every VLAN of the device. */
  readonly isTrunk: boolean;
  /** Name of the aggregate that it is a member of. */
  lag: string | null;
  /** Number of the stack member that has it. */
  member: number;
  /** LLDP chassis id that it announces, as a MAC address; null for that of the device. */
  readonly announcedId: string | null;
  /** Far end of the cable, by device id and interface name; null for a station or an empty port. */
  far: { readonly device: string; readonly name: string } | null;
}

/** Chassis of a device; a stack has several. */
export interface Member {
  number: number;
  readonly serial: string;
  readonly mac: string;
}

/** Something that an agent does wrong at its next read. */
export interface Fault {
  readonly table: TableName;
  /**
   * cut: no response after half of the rows. shrunk: only the first rows, as if there were no others. missing: no rows,
   * for the interfaces and their names. short: fewer rows than the agent counts.
   */
  readonly kind: "cut" | "shrunk" | "missing" | "short";
}

/** Tables of a read, as the oracle distinguishes them. */
export const TABLES = ["interfaces", "names", "addresses", "vlans", "entity", "forwarding", "arp", "lldp"] as const;
export type TableName = (typeof TABLES)[number];

export interface Device {
  /** The true machine: never used for another one. */
  readonly id: string;
  readonly role: Role;
  name: string;
  /** Address of its SNMP agent, one of its own addresses. */
  address: string;
  members: Member[];
  readonly model: string;
  readonly objectId: string;
  readonly descr: string;
  /** lldpLocChassisId; also dot1dBaseBridgeAddress of a switch. */
  chassisMac: string;
  /** Of a stack, that of its master. */
  engineId: string;
  readonly interfaces: Map<string, Interface>;
  /** VLAN numbers with names. */
  readonly vlans: Map<number, string>;
  /** Interface toward the root of the site; null for the root. */
  uplink: string | null;
  /** Neither sends nor receives LLDP. */
  isMute: boolean;
  bootedAt: number;
  /** Routers have it in their ARP tables from then on: a new device has talked to none yet. */
  heardFrom: number;
  /** Until ten minutes after its start, its agent serves only the first interfaces. */
  isSlowToStart: boolean;
  /** Its agent has assigned other ifIndexes since the last read, which is then a whole one. */
  isRenumbered: boolean;
  /** Open TCP ports. */
  readonly openPorts: Set<number>;
  /** Its address has moved to another interface. */
  hasMovedAddress: boolean;
  /** Its agent does not respond until then. */
  silentUntil: number;
  isRetired: boolean;
  fault: Fault | null;
  /** Rows of deleted interfaces that the agent still serves, down, under their names. */
  ghosts: Array<{ readonly name: string; readonly ifIndex: number; readonly until: number }>;
  /** Increased with every change. */
  version: number;
}

export interface Station {
  /** The true machine. */
  readonly id: string;
  readonly kind: "Computer" | "Laptop" | "Phone" | "Vm" | "Guest" | "Intruder";
  readonly mac: string;
  ip: string;
  vlan: number;
  /** Device and interface that it is connected to; a VM at its hypervisor, a guest at its access point. */
  at: { device: string; port: string };
  isOn: boolean;
}

/** Start of the MAC addresses of virtual routers (VRRP, CARP): they belong to no machine. */
export const VIRTUAL_MAC = "00:00:5e:00:01";

/** VLANs of the site. */
export const VLAN = {
  native: 1,
  management: 10,
  servers: 20,
  users: 101,
  phones: 200,
  guests: 210,
  extra: 400,
} as const;

/** Virtual address of the firewall pair. */
export const SHARED_ADDRESS = "10.0.20.5";

/** The /24 of a VLAN: `10.0.101.` for VLAN 101, `10.4.0.` for VLAN 400. */
export function netOf(vlan: number): string {
  return `10.${vlan < 256 ? 0 : Math.floor(vlan / 100)}.${vlan < 256 ? vlan : vlan % 100}.`;
}

/** Tables of which the device's agent serves at least one row. */
export function servedTables(device: Device): TableName[] {
  const { role, vlans, isMute, interfaces } = device;
  const isServed: Partial<Record<TableName, boolean>> = {
    vlans: vlans.size > 0,
    forwarding: vlans.size > 0,
    entity: hasEntityMib(device),
    arp: role === "Core",
    lldp: !isMute && [...interfaces.values()].some(({ far }) => far !== null),
  };
  return TABLES.filter((table) => isServed[table] !== false);
}

/** Tables whose absent rows show: ifNumber contradicts a short ifTable, and other tables lose most of many rows. */
export function shrinkableTables({ interfaces, vlans }: Device): TableName[] {
  const addresses = [...interfaces.values()].flatMap((each) => each.addresses);
  const rows: Partial<Record<TableName, number>> = { addresses: addresses.length, vlans: vlans.size };
  return TABLES.filter((table) =>
    table === "interfaces" ? interfaces.size > 2 : (rows[table] ?? 0) >= SHRINKABLE_ROWS,
  );
}

/** A third of these is less than half of them, and at least 8 fewer. */
const SHRINKABLE_ROWS = 12;

/** Agents fill their tables for this long after a start. */
export const RESTART_MS = 600_000;

/** True while the agent serves only part of its interfaces. */
export function isStarting({ isSlowToStart, bootedAt, interfaces }: Device, now: number): boolean {
  return isSlowToStart && now - bootedAt < RESTART_MS && interfaces.size > 2;
}

/** TCP ports that a sweep asks servers for. */
export const ASKED_PORTS: readonly number[] = [22, 80, 443, 5432, 8080];

/** Virtual switches only send LLDP. */
export function hearsNeighbors({ isMute, interfaces }: Device): boolean {
  return !isMute && ![...interfaces.values()].some(({ announcedId }) => announcedId !== null);
}

/** Linux agents serve no ENTITY-MIB. */
export function hasEntityMib({ role }: Device): boolean {
  return role !== "Server" && role !== "Hypervisor" && role !== "ContainerHost";
}

/** Chassis with the lowest number, whose serial number and MAC address speak for the whole stack. */
export function masterOf(device: Device): Member {
  return device.members.reduce((first, each) => (each.number < first.number ? each : first));
}

/** Port on which a switch learned a MAC address. */
export interface Learned {
  readonly vlan: number;
  readonly port: string;
}

/** Machines of a site. */
export interface SiteState {
  readonly devices: ReadonlyMap<string, Device>;
  readonly stations: ReadonlyMap<string, Station>;
  /** Devices that are in the racks, of these roles or all. */
  present(...roles: readonly Role[]): Device[];
}
