// Current state of the simulated site, and a log of its changes. Events change it only through these methods, so that
// the log is complete.

import type { SeededRandom } from "../../support/injected/seeded-random.ts";
import type { Rates } from "../rates.ts";
import { forwardingOf } from "./forwarding.ts";
import {
  type Device,
  type Fault,
  IF_TYPE,
  type Interface,
  type Learned,
  netOf,
  SHARED_ADDRESS,
  type SiteState,
  type Station,
  VIRTUAL_MAC,
} from "./machines.ts";

/** Name of a subject whose change justifies new versions of its records. */
export type Subject =
  | `device ${string}`
  | `interface ${string} ${string}`
  | `mac ${string}`
  | `ip ${string}`
  | `vlan ${number}`
  /** Announcements by a device's neighbors: they change only its host, not its interfaces. */
  | `announced ${string}`;

/** Addresses from `.10` on that devices and stations of a VLAN get. */
const HOSTS_MAX = 240;

export class Site implements SiteState {
  readonly rates: Rates;
  readonly random: SeededRandom;
  now = 0;
  readonly devices = new Map<string, Device>();
  readonly stations = new Map<string, Station>();
  /** Time of the last change of each subject. */
  readonly changedAt = new Map<Subject, number>();
  /** Owner of each MAC address: the true machine. */
  readonly ownerOfMac = new Map<string, string>();
  /** Addresses with different MAC addresses in the routers' ARP tables: by router, the MAC address that it sees. */
  readonly disputed = new Map<string, ReadonlyMap<string, string>>();
  /** Machines whose records a user deletes before the next scan. */
  readonly deletions: string[] = [];
  /** Machines whose records a user deletes and ignores before the next scan. */
  readonly ignores: string[] = [];
  /** Interfaces to which a user adds a note before the next scan. */
  readonly notes: Array<{ readonly device: string; readonly name: string }> = [];
  /** Names of these interfaces. */
  readonly notedNames = new Set<string>();
  /** Incremented when the switches' forwarding changes. */
  private stationVersion = 0;
  private forwarding: {
    readonly version: number;
    readonly tables: ReadonlyMap<string, ReadonlyMap<string, Learned>>;
  } | null = null;
  private lastNumber = 0;

  constructor(rates: Rates, random: SeededRandom) {
    this.rates = rates;
    this.random = random;
  }

  /** A unique number. */
  next(): number {
    this.lastNumber += 1;
    return this.lastNumber;
  }

  /** A universally administered MAC address of a vendor. */
  newMac(oui: string): string {
    const hex = this.next().toString(16).padStart(6, "0");
    return `${oui}:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`;
  }

  /** An address of the VLAN that nothing has or ever had. */
  newAddress(vlan: number): string {
    // Beyond one /24, guests and short leases start over.
    for (;;) {
      const number = this.usedHosts.get(vlan) ?? 0;
      this.usedHosts.set(vlan, number + 1);
      const address = `${netOf(vlan)}${10 + (number % HOSTS_MAX)}`;
      if (number < HOSTS_MAX || !this.isInUse(address)) return address;
    }
  }

  private isInUse(address: string): boolean {
    return this.deviceAddresses.has(address) || this.stations.values().some(({ ip }) => ip === address);
  }

  /** All that devices have or had. */
  private readonly deviceAddresses = new Set<string>();
  private readonly usedHosts = new Map<number, number>();

  /** Logs that subjects changed now. */
  touch(...subjects: Subject[]): void {
    for (const subject of subjects) this.changedAt.set(subject, this.now);
  }

  addDevice(device: Device): Device {
    this.devices.set(device.id, device);
    this.changeDevice(device);
    return device;
  }

  /** Logs a change to all of a device's records. */
  changeDevice(device: Device): void {
    device.version += 1;
    this.stationVersion += 1;
    this.touch(`device ${device.id}`);
    for (const { mac, addresses, farEnd } of device.interfaces.values()) {
      if (mac !== null) {
        if (!this.ownerOfMac.has(mac)) this.ownerOfMac.set(mac, device.id);
        this.touch(`mac ${mac}`);
      }
      for (const { ip } of addresses) {
        this.deviceAddresses.add(ip);
        this.touch(`ip ${ip}`);
      }
      if (farEnd === null) continue;
      const neighbor = this.devices.get(farEnd.device);
      if (neighbor === undefined) continue;
      neighbor.version += 1;
      this.touch(`interface ${farEnd.device} ${farEnd.name}`);
    }
  }

  /** Logs that one interface changed. */
  changeInterface(device: Device, entry: Interface): void {
    device.version += 1;
    this.stationVersion += 1;
    this.touch(`interface ${device.id} ${entry.name}`, ...entry.addresses.map(({ ip }) => `ip ${ip}` as const));
  }

  addStation(station: Station): Station {
    this.stations.set(station.id, station);
    this.ownerOfMac.set(station.mac, station.id);
    this.changeStation(station, {});
    return station;
  }

  /** Changes a station and the links of its old and new port, and logs all three. */
  changeStation(station: Station, changes: Partial<Pick<Station, "ip" | "vlan" | "at" | "isOn">>): void {
    const before = { ...station };
    Object.assign(station, changes);
    this.stationVersion += 1;
    this.touch(`mac ${station.mac}`, `ip ${before.ip}`, `ip ${station.ip}`);
    for (const { device, port } of [before.at, station.at]) this.updateLink(device, port);
  }

  removeStation(station: Station): void {
    this.changeStation(station, { isOn: false });
    this.stations.delete(station.id);
  }

  setFault(device: Device, fault: Fault): void {
    device.fault = fault;
  }

  /** Installed devices. */
  present(...roles: readonly Device["role"][]): Device[] {
    return [...this.devices.values()].filter(
      (each) => !each.isRetired && (roles.length === 0 || roles.includes(each.role)),
    );
  }

  /** Installed device with this agent address. */
  agentAt(ip: string): Device | undefined {
    return this.present().find((each) => each.address === ip && each.silentUntil <= this.now);
  }

  stationsOf(...kinds: readonly Station["kind"][]): Station[] {
    return [...this.stations.values()].filter((each) => kinds.includes(each.kind));
  }

  /** Edge ports of access switches without a cable or a station. */
  freePorts(): Array<{ device: string; port: string }> {
    const taken = new Set([...this.stations.values()].map(({ at }) => `${at.device} ${at.port}`));
    return this.present("Access").flatMap(({ id, interfaces }) =>
      [...interfaces.values()]
        .filter(
          ({ name, type, farEnd, isTrunk, lag }) =>
            type === IF_TYPE.ethernet && farEnd === null && !isTrunk && lag === null && !taken.has(`${id} ${name}`),
        )
        .map(({ name }) => ({ device: id, port: name })),
    );
  }

  /** Learned MAC addresses of a switch, with VLAN and interface name. */
  learnedBy(device: Device): ReadonlyMap<string, Learned> {
    if (this.forwarding?.version !== this.stationVersion)
      this.forwarding = { version: this.stationVersion, tables: forwardingOf(this) };
    return this.forwarding.tables.get(device.id) ?? NOTHING;
  }

  /** Identifies the state of forwarding and of the ARP tables. */
  get stationRevision(): number {
    return this.stationVersion;
  }

  /** ARP table of a router: stations that are on, installed devices, and virtual addresses. */
  arpTableOf(router: Device): Map<string, string> {
    const table = new Map<string, string>();
    for (const { address, interfaces, id, inArpFrom } of this.present())
      if (id !== router.id && this.now >= inArpFrom)
        for (const { mac, addresses } of interfaces.values())
          for (const { ip } of addresses) if (ip === address && mac !== null) table.set(ip, mac);
    for (const { ip, mac, isOn, kind } of this.stations.values()) if (isOn && kind !== "Intruder") table.set(ip, mac);
    for (const { addresses, type } of router.interfaces.values())
      for (const { ip } of addresses)
        if (type === IF_TYPE.virtual) table.set(`${ip.slice(0, ip.lastIndexOf("."))}.1`, `${VIRTUAL_MAC}:01`);
    if (this.present("Firewall").some(({ interfaces }) => interfaces.has("carp0")))
      table.set(SHARED_ADDRESS, `${VIRTUAL_MAC}:05`);
    for (const [ip, macs] of this.disputed) {
      const mac = macs.get(router.id);
      if (mac !== undefined) table.set(ip, mac);
    }
    return table;
  }

  /**
   * Addresses that respond to a sweep by an appliance connected to every link. If two machines have one address, the
   * first responds.
   */
  sweepEntries(): Map<string, string> {
    const [router] = this.present("Core");
    return router === undefined ? new Map() : this.arpTableOf(router);
  }

  private updateLink(deviceId: string, port: string): void {
    const device = this.devices.get(deviceId);
    const entry = device?.interfaces.get(port);
    if (device === undefined || entry === undefined || device.role !== "Access") return;
    entry.isUp = [...this.stations.values()].some(({ at, isOn }) => isOn && at.device === deviceId && at.port === port);
    this.changeInterface(device, entry);
  }
}

const NOTHING: ReadonlyMap<string, Learned> = new Map();
