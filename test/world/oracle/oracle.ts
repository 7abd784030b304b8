// Oracle for the expected inventory after each scan, derived only from the log of the simulated site and the reads.

import { TABLES } from "../site/machines.ts";
import type { Subject } from "../site/site.ts";
import type { Truth } from "../site/truth.ts";
import { DeviceTables } from "./device-tables.ts";
import { type Expectations, newExpectations } from "./expectation.ts";
import { EXPIRY_MS, NeighborReports, type View } from "./neighbor-reports.ts";
import { Places } from "./places.ts";

export class Oracle {
  readonly places = new Places();
  readonly neighborReports = new NeighborReports();
  private readonly tables = new DeviceTables();
  /** MAC addresses of stations that a switch has reported together with its neighbors. */
  private readonly reported = new Set<string>();
  /** Machines that a sweep saw without a MAC address, and that have not been seen with one since. */
  private readonly withoutMac = new Set<string>();
  private readonly incarnations = new Map<string, number>();
  /** Addresses that were ever in conflict. */
  private readonly disputes = new Set<string>();
  private readonly changedAt: ReadonlyMap<Subject, number>;
  private readonly readAt = new Map<string, number>();
  /** Last read of each device with all tables: anything missing from an earlier one is new. */
  private readonly completeReadAt = new Map<string, number>();
  /** By device as a subject: the last read with all tables, if its last read but one lacked some of them. */
  private readonly caughtUpFrom = new Map<Subject, number>();
  /** Device last read at each address. */
  private readonly lastDeviceByAddress = new Map<string, string>();
  private readonly neighborsOf = new Map<string, Truth["neighbors"]>();
  /** Time of the last report that revealed something new about a subject. */
  private readonly revealedAt = new Map<Subject, number>();

  /** @param changedAt log of the site: time of the last change of each subject */
  constructor(changedAt: ReadonlyMap<Subject, number>) {
    this.changedAt = changedAt;
  }

  /** Records a read of a device. */
  read(truth: Truth, now: number): void {
    const isShortAgain = this.tables.read(truth);
    this.places.read(truth);
    if (truth.arpEntries.length > 0 && truth.complete.has("arp"))
      this.observe({ reporter: truth.device, covers: () => true, entries: truth.arpEntries }, now);
    // Until a changed far end is read, each report from the near end may add information about the link.
    for (const { near, device } of truth.neighbors) {
      if (!this.isUnread(device)) continue;
      this.revealedAt.set(`interface ${truth.device} ${near}`, now);
      this.revealedAt.set(`announced ${device}`, now);
    }
    // Phones announce themselves to their switch.
    for (const { mac } of truth.stations) {
      if (!this.reported.has(mac)) this.revealedAt.set(`mac ${mac}`, now);
      if (truth.complete.has("lldp")) this.reported.add(mac);
    }
    for (const { device } of truth.neighbors)
      if (!this.tables.hasRead(device)) this.revealedAt.set(`device ${device}`, now);
    // A device's own report resolves the links to it, and identifies it as the owner of addresses seen by others.
    this.neighborsOf.set(truth.device, truth.neighbors);
    if (this.isUnread(truth.device)) this.reveal(truth.device, now);
    const complete = this.completeReadAt.get(truth.device) ?? 0;
    const wasPartial = (this.readAt.get(truth.device) ?? 0) > complete;
    this.caughtUpFrom.set(`device ${truth.device}`, wasPartial ? complete : now);
    this.readAt.set(truth.device, now);
    if (isShortAgain) {
      this.reveal(truth.device, now);
      this.completeReadAt.delete(truth.device);
    } else if (TABLES.every((table) => truth.complete.has(table))) this.completeReadAt.set(truth.device, now);
    // The first report of a replacement reveals that the former device is gone.
    const former = this.lastDeviceByAddress.get(truth.address);
    if (former !== undefined && former !== truth.device) this.reveal(former, now);
    this.lastDeviceByAddress.set(truth.address, truth.device);
  }

  /** Records which machines were seen with which addresses. */
  observe(view: View, now: number): void {
    for (const machine of this.neighborReports.observe(view, now)) this.reveal(machine, now);
    for (const { machine } of view.entries) if (this.withoutMac.delete(machine)) this.reveal(machine, now);
    for (const { ip, machine } of view.entries) this.tables.seenElsewhere(ip, machine);
  }

  /** Records which machines responded to a sweep that saw no MAC addresses. */
  observeRemotely(view: View, now: number): void {
    this.observe(view, now);
    for (const { machine } of view.entries) this.withoutMac.add(machine);
  }

  /** True if the device has responded to SNMP. */
  hasRead(device: string): boolean {
    return this.tables.hasRead(device);
  }

  dispute(ip: string): void {
    this.disputes.add(ip);
  }

  /** Records that a user deleted a machine's host: host and links return as new records once the machine is seen. */
  deleted(machine: string, now: number): void {
    this.reveal(machine, now);
    this.completeReadAt.delete(machine);
    this.tables.forget(machine);
    this.neighborReports.forget(machine);
    this.places.forget(machine);
    this.startIncarnation(machine);
  }

  /** Records that a user edited an interface. */
  noteAdded(device: string, name: string): void {
    this.tables.keep(device, name);
  }

  endScan(now: number): void {
    for (const machine of this.neighborReports.endScan(now))
      if (!this.tables.hasRead(machine)) this.startIncarnation(machine);
  }

  /** Key of a machine; changes when its host is expected to become a new record. */
  keyOf(machine: string): string {
    const incarnation = this.incarnations.get(machine) ?? 0;
    return incarnation === 0 ? machine : `${machine}#${incarnation}`;
  }

  expected(): Expectations {
    const expectations = newExpectations();
    const keyOf = (machine: string) => this.keyOf(machine);
    this.tables.expect(expectations, keyOf);
    this.neighborReports.expect(expectations, keyOf, (machine) =>
      this.tables.hasRead(machine) ? this.readAt.get(machine) : undefined,
    );
    return expectations;
  }

  /** Conflicts that must be listed, and conflicts that may be: `Address 10.0.101.7`, `Mac 3c:52:…`. */
  conflicts(): { readonly required: ReadonlySet<string>; readonly tolerated: ReadonlySet<string> } {
    const seen = this.neighborReports.disputed();
    return {
      required: new Set(seen.filter((ip) => this.disputes.has(ip)).map((ip) => `Address ${ip}`)),
      tolerated: new Set([
        ...seen.map((ip) => `Address ${ip}`),
        // A device's own report may be newer or older than the routers' ARP entries.
        ...this.tables
          .ownAddresses()
          .filter(([ip, mac]) => mac !== null && this.neighborReports.hasOther(ip, mac))
          .map(([ip]) => `Address ${ip}`),
        ...this.places.listedTwice().map((mac) => `Mac ${mac}`),
      ]),
    };
  }

  /**
   * Whether one of these subjects changed, or was first reported, after a timestamp, or changed since the last read with
   * all tables of a device among them, if later ones lacked some: what they lacked may come now.
   */
  hasChanged(subjects: readonly Subject[], since: number): boolean {
    const from = Math.min(since, ...subjects.flatMap((each) => this.caughtUpFrom.get(each) ?? []));
    return subjects.some((each) => (this.changedAt.get(each) ?? 0) > from || (this.revealedAt.get(each) ?? 0) > since);
  }

  /** Whether a device has changed since its last complete report. */
  private isUnread(device: string): boolean {
    return (this.changedAt.get(`device ${device}`) ?? 0) >= (this.completeReadAt.get(device) ?? 0);
  }

  /** Whether the device with this key is due to become stale. */
  isLongUnread(key: string, now: number): boolean {
    const at = [...this.readAt].find(([device]) => this.keyOf(device) === key)?.[1];
    return at !== undefined && now - at >= EXPIRY_MS;
  }

  private reveal(device: string, now: number): void {
    this.revealedAt.set(`device ${device}`, now);
    for (const each of this.neighborsOf.get(device) ?? [])
      this.revealedAt.set(`interface ${each.device} ${each.name}`, now);
  }

  private startIncarnation(machine: string): void {
    this.incarnations.set(machine, (this.incarnations.get(machine) ?? 0) + 1);
  }
}
