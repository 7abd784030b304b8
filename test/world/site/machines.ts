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
  farEnd: { readonly device: string; readonly name: string } | null;
}

/** Chassis of a device; a stack has several. */
export interface Member {
  number: number;
  readonly serial: string;
  readonly mac: string;
}

/** Misbehavior of an agent at its next read. */
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
  /** Id of the real machine, never reused. */
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
  /** For a stack, that of its master. */
  engineId: string;
  readonly interfaces: Map<string, Interface>;
  /** VLAN numbers with names. */
  readonly vlans: Map<number, string>;
  /** Interface toward the root of the site; null for the root. */
  uplink: string | null;
  /** Neither sends nor receives LLDP. */
  isLldpDisabled: boolean;
  bootedAt: number;
  /** Time from which routers have it in their ARP tables: a new device has not communicated with any yet. */
  inArpFrom: number;
  /** Whether its agent serves only the first interfaces until ten minutes after its start. */
  isSlowToStart: boolean;
  /** Whether its agent has assigned new ifIndex values since the last read; the next read is then complete. */
  isRenumbered: boolean;
  /** Open TCP ports. */
  readonly openPorts: Set<number>;
  /** Whether its address has moved to another interface. */
  hasMovedAddress: boolean;
  /** Time until which its agent does not respond. */
  silentUntil: number;
  isRetired: boolean;
  fault: Fault | null;
  /** Rows of deleted interfaces that the agent still serves as down, under their names. */
  staleRows: Array<{ readonly name: string; readonly ifIndex: number; readonly until: number }>;
  /** Increased with every change. */
  version: number;
}

export interface Station {
  /** Id of the real machine. */
  readonly id: string;
  readonly kind: "Computer" | "Laptop" | "Phone" | "Vm" | "Guest" | "Intruder";
  readonly mac: string;
  ip: string;
  vlan: number;
  /** Device and interface to which it is connected: for a VM its hypervisor, for a guest its access point. */
  at: { device: string; port: string };
  isOn: boolean;
}

/** Prefix of the MAC addresses of virtual routers (VRRP, CARP), which belong to no machine. */
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

/** Tables with at least one row served by the device's agent. */
export function servedTables(device: Device): TableName[] {
  const { role, vlans, isLldpDisabled, interfaces } = device;
  const isServed: Partial<Record<TableName, boolean>> = {
    vlans: vlans.size > 0,
    forwarding: vlans.size > 0,
    entity: hasEntityMib(device),
    arp: role === "Core",
    lldp: !isLldpDisabled && [...interfaces.values()].some(({ farEnd }) => farEnd !== null),
  };
  return TABLES.filter((table) => isServed[table] !== false);
}

/**
 * Tables whose missing rows are detectable: ifNumber contradicts a short ifTable, and other tables lose most of many
 * rows.
 */
export function shrinkableTables({ interfaces, vlans }: Device): TableName[] {
  const addresses = [...interfaces.values()].flatMap((each) => each.addresses);
  const rows: Partial<Record<TableName, number>> = { addresses: addresses.length, vlans: vlans.size };
  return TABLES.filter((table) =>
    table === "interfaces" ? interfaces.size > 2 : (rows[table] ?? 0) >= SHRINKABLE_ROWS,
  );
}

/** Minimum size: a third of these rows is less than half of them, and at least 8 fewer. */
const SHRINKABLE_ROWS = 12;

/** Time for which agents fill their tables after a start. */
export const RESTART_MS = 600_000;

/** True while the agent serves only part of its interfaces. */
export function isStarting({ isSlowToStart, bootedAt, interfaces }: Device, now: number): boolean {
  return isSlowToStart && now - bootedAt < RESTART_MS && interfaces.size > 2;
}

/** TCP ports of servers that a sweep probes. */
export const ASKED_PORTS: readonly number[] = [22, 80, 443, 5432, 8080];

/** Virtual switches only send LLDP. */
export function receivesLldp({ isLldpDisabled, interfaces }: Device): boolean {
  return !isLldpDisabled && ![...interfaces.values()].some(({ announcedId }) => announcedId !== null);
}

/** Linux agents serve no ENTITY-MIB. */
export function hasEntityMib({ role }: Device): boolean {
  return role !== "Server" && role !== "Hypervisor" && role !== "ContainerHost";
}

/** Chassis with the lowest number, whose serial number and MAC address represent the whole stack. */
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
  /** Installed devices of these roles, or of all. */
  present(...roles: readonly Role[]): Device[];
}
