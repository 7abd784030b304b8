// One run of the simulated site: its days and scans, with figures on the product after each scan.

import { seededRandom } from "../support/injected/seeded-random.ts";
import { calendarOf, type Day, EventRunner } from "./events/calendar.ts";
import { Figures } from "./figures/figures.ts";
import type { Change } from "./figures/versions.ts";
import { type Expectations, KINDS } from "./oracle/expectation.ts";
import { aliasOf, SWEEP } from "./oracle/neighbor-reports.ts";
import { Oracle } from "./oracle/oracle.ts";
import type { Place } from "./oracle/places.ts";
import { checkDevice } from "./product/device-details.ts";
import { Ledger } from "./product/ledger.ts";
import { PastResponses } from "./product/past-responses.ts";
import { WorldAppliance } from "./product/world-appliance.ts";
import { WorldProbes } from "./product/world-probes.ts";
import type { Rates } from "./rates.ts";
import { Agents } from "./render/agent.ts";
import { buildSite } from "./site/build-site.ts";
import { netOf, TABLES, VLAN } from "./site/machines.ts";
import type { Site } from "./site/site.ts";
import { type Details, detailsOf, type NeighborEntry, neighborEntriesOf, type Truth, truthOf } from "./site/truth.ts";

const DAY_MS = 86_400_000;
/** A day after the time at which a test appliance is set up. */
const START = Date.UTC(2026, 10, 22);
/** Time between the reads of a scan. */
const READ_MS = 200;

/** Runs all days of a seed. */
export async function runWorld(seed: number, rates: Rates): Promise<Figures> {
  const run = new WorldRun(seed, rates, buildSite(rates, seed, START));
  try {
    return await run.run();
  } finally {
    await run.close();
  }
}

class WorldRun {
  private readonly rates: Rates;
  private readonly site: Site;
  private readonly random;
  private readonly oracle: Oracle;
  private readonly figures = new Figures();
  private readonly probes: WorldProbes;
  private readonly days: readonly Day[];
  private readonly events = new EventRunner();
  private product!: WorldAppliance;
  private ledger!: Ledger;
  private past!: PastResponses;
  /** Devices and addresses that the running scan has seen. */
  private seen: { readonly devices: Truth[]; readonly details: Details[]; entries: NeighborEntry[] } = newSightings();
  /** Machines ignored by users. */
  private readonly ignoredMachines = new Set<string>();
  /** Former hosts of machines whose host a user deleted, until they return. */
  private readonly formerHosts = new Map<string, string>();
  /** Interface entries with users' notes. */
  private readonly entryIdsWithNotes: string[] = [];

  constructor(seed: number, rates: Rates, site: Site) {
    this.rates = rates;
    this.site = site;
    this.random = seededRandom(seed + 1_000_000);
    this.days = calendarOf(rates, this.random);
    this.oracle = new Oracle(site.changedAt);
    this.probes = new WorldProbes({
      site,
      agents: new Agents(site),
      random: this.random,
      onRead: (device) => {
        this.site.now += READ_MS;
        const truth = truthOf(site, device);
        this.seen.devices.push(truth);
        if (truth.complete.size === TABLES.length) this.seen.details.push(detailsOf(site, device));
        if (truth.complete.has("arp")) this.seen.entries.push(...truth.arpEntries);
        this.oracle.read({ ...truth, arpEntries: this.withoutIgnored(truth.arpEntries) }, site.now);
      },
    });
  }

  async run(): Promise<Figures> {
    const { rates, site, figures } = this;
    this.product = await WorldAppliance.open(this.probes, this.nets());
    this.ledger = new Ledger(this.product);
    this.past = new PastResponses(this.product, figures);
    const scans = this.days.flatMap(({ number, isOff }) =>
      isOff ? [] : Array.from({ length: rates.scansPerDay }, (_, index) => number * rates.scansPerDay + index),
    );
    const pastScans = new Set(this.random.shuffled(scans).slice(0, rates.periods.pastInstants));
    await this.ledger.update();
    if (rates.hardships > 0) await this.sweepRemotely();
    for (const day of this.days) {
      const groups = this.groupsOf();
      const sweepAt = this.random.integer(rates.scansPerDay);
      for (const [index, events] of day.slots.entries()) {
        site.now = Math.max(site.now, START + day.number * DAY_MS + ((index + 0.5) * DAY_MS) / rates.scansPerDay);
        this.events.run(site, day, events);
        for (const ip of site.disputed.keys()) this.oracle.dispute(ip);
        await this.applyUserActions();
        if (day.isOff) continue;
        await this.scan(day, () => this.product.scan("snmp", this.addressesOf(groups, index)));
        if (index === sweepAt) await this.sweep(day);
        if (pastScans.has(day.number * rates.scansPerDay + index)) await this.past.query();
      }
    }
    await this.past.repeatQueries();
    return figures;
  }

  async close(): Promise<void> {
    await this.product?.close();
  }

  /** Assigns each device to one of the day's scans. */
  private groupsOf(): string[][] {
    const groups = Array.from({ length: this.rates.scansPerDay }, (): string[] => []);
    for (const { id } of this.random.shuffled(this.site.present())) this.random.pick(groups).push(id);
    return groups;
  }

  /** Addresses of a group. Half of the devices added since the groups were drawn are read immediately. */
  private addressesOf(groups: string[][], index: number): string[] {
    const drawn = new Set(groups.flat());
    const fresh = this.site.present().filter(({ id }) => !drawn.has(id) && this.random.chance(0.5));
    groups[index]?.push(...fresh.map(({ id }) => id));
    return this.site.present().flatMap(({ id, address }) => (groups[index]?.includes(id) ? [address] : []));
  }

  private nets(): string[] {
    const users = Array.from(
      { length: Math.max(1, this.rates.devices.distributionStacks) * 2 },
      (_, index) => VLAN.users + index,
    );
    return [VLAN.management, VLAN.servers, VLAN.phones, VLAN.guests, ...users].map(netOf);
  }

  /**
   * The first scan, before the appliance is connected to the links. Phones are excluded: they are known from LLDP too.
   */
  private async sweepRemotely(): Promise<void> {
    const [first] = this.days;
    this.probes.isRemote = true;
    if (first !== undefined)
      await this.sweep(
        first,
        this.nets().filter((net) => net !== netOf(VLAN.phones)),
      );
    this.probes.isRemote = false;
  }

  private async sweep(day: Day, swept = this.someNets()): Promise<void> {
    await this.scan(day, async () => {
      const covers = (ip: string) => swept.some((net) => ip.startsWith(net));
      const entries = neighborEntriesOf(
        this.site,
        [...this.site.sweepEntries()].filter(([ip]) => covers(ip)),
      );
      this.seen.entries.push(...entries);
      const view = { reporter: SWEEP, covers, entries: this.withoutIgnored(entries) };
      if (this.probes.isRemote) this.oracle.observeRemotely(view, this.site.now);
      else this.oracle.observe(view, this.site.now);
      await this.product.scan(
        "sweep",
        swept.map((net) => `${net}0/24`),
      );
    });
  }

  private someNets(): string[] {
    const nets = this.random.shuffled(this.nets());
    return nets.slice(0, Math.ceil(nets.length / 2));
  }

  private async scan(day: Day, run: () => Promise<unknown>): Promise<void> {
    this.product.moveTo(this.site);
    await run();
    this.site.now = Math.max(this.site.now, this.product.now) + READ_MS;
    this.product.moveTo(this.site);
    const changes = await this.ledger.update();
    await this.attribute();
    this.checkDetails();
    this.oracle.endScan(this.site.now);
    const expected = this.oracle.expected();
    this.compare(expected);
    for (const change of changes) this.classify(change, expected, day);
    const { required, tolerated } = this.oracle.conflicts();
    const listed = (await this.product.list("conflicts", "&accepted=false&type=Address&type=Mac")).map(
      ({ type, value }) => `${type} ${value}`,
    );
    this.figures.conflicts.add(new Set(listed), required, tolerated);
    await this.checkLocations();
  }

  /** Compares the present records with the expected ones, in total and per device. */
  private compare(expected: Expectations): void {
    const { figures, ledger, site } = this;
    const wrong = new Map<string, string>();
    for (const kind of KINDS)
      for (const key of figures.presence[kind].add(ledger.keys(kind), expected[kind]))
        if (kind !== "vlan") wrong.set(key.split("/", 1)[0] ?? "", `${kind} ${key}`);
    for (const device of site.devices.keys()) {
      const key = this.oracle.keyOf(device);
      if (expected.host.required.has(key)) figures.exactDevices.add(!wrong.has(key), wrong.get(key));
    }
  }

  /** Finds the host to which each sighting of the scan was assigned. */
  private async attribute(): Promise<void> {
    const { ledger, figures, oracle } = this;
    const deviceIds = new Set(this.seen.devices.map(({ device }) => device));
    for (const { device, address, serials } of this.seen.devices) {
      const isOwn = (_: unknown, host: any) =>
        host !== undefined && (serials.includes(host.serial_number) || host.sys_name !== null);
      const host = await ledger.hostAt(address, isOwn);
      figures.devices.add(oracle.keyOf(device), host);
      if (host !== null) ledger.assign(oracle.keyOf(device), host);
    }
    const entries = new Map(this.seen.entries.map((entry) => [`${entry.ip} ${entry.mac}`, entry]));
    for (const { ip, mac, machine } of entries.values()) {
      if (this.ignoredMachines.has(machine)) {
        await this.checkIgnored(ip, mac);
        continue;
      }
      const host = await ledger.hostAt(ip, (address) => address.mac_address === mac || address.mac_address === null);
      const key = oracle.keyOf(machine);
      const known = ledger.hostOfMachine(key);
      if (!this.site.devices.has(machine)) {
        figures.stations.add(key, host);
        this.checkStation(machine, mac, host);
      } else if (deviceIds.has(machine) || host === known) continue;
      if (host !== null)
        ledger.assign(this.site.devices.has(machine) && known !== undefined ? aliasOf(key, mac) : key, host);
    }
  }

  /** Checks the name of a station's host, and its lineage if a user deleted the previous host. */
  private checkStation(machine: string, mac: string, host: string | null): void {
    const { details } = this.figures;
    const record = host === null ? undefined : this.ledger.record("host", host);
    if (record !== undefined && !this.probes.isRemote)
      details.names.add(record.name.endsWith(mac), `${record.name} instead of ${mac}`);
    const former = this.formerHosts.get(machine);
    if (former === undefined || host === former) return;
    details.lineages.add(record?.lineage_id === former, `${machine}: ${host}`);
    this.formerHosts.delete(machine);
  }

  /** Checks that an ignored machine has no host, and that its address counts as in use. */
  private async checkIgnored(ip: string, mac: string): Promise<void> {
    const { details } = this.figures;
    details.ignores.add(
      (await this.ledger.hostAt(ip, (address) => address.mac_address === mac)) === null,
      `${mac} ${ip}`,
    );
    details.usedAddresses.add(!(await this.product.freeNear(ip)).includes(ip), ip);
  }

  /** Checks the records of the devices and servers that the scan saw. */
  private checkDetails(): void {
    const { ledger, oracle, site, seen } = this;
    const { details } = this.figures;
    const hostOf = (device: string) =>
      oracle.hasRead(device) ? ledger.hostOfMachine(oracle.keyOf(device)) : undefined;
    for (const each of seen.details) {
      const host = hostOf(each.device);
      if (host === undefined) continue;
      for (const [detail, isCorrect, example] of checkDevice(each, host, ledger, hostOf))
        details[detail].add(isCorrect, example);
    }
    for (const { machine } of seen.devices.length > 0 ? [] : seen.entries) {
      const host = hostOf(machine);
      const open = site.devices.get(machine)?.openPorts;
      if (host === undefined || open === undefined || open.size === 0) continue;
      // A port is kept while the host has another address at which it has responded.
      if (ledger.partsOf("address", host).length > 1) continue;
      const found = new Set(ledger.tcpPortsOf(host));
      details.openPorts.add(found.symmetricDifference(open).size === 0, `${machine} ${[...found]}`);
    }
    for (const id of this.entryIdsWithNotes) details.notes.add(ledger.record("interface", id) !== undefined, id);
    this.seen = newSightings();
  }

  /** Checks that a version is justified: its record changed, or was due to end or become stale. */
  private classify(change: Change, expected: Expectations, day: Day): void {
    const { subjects, since, kind, key } = this.ledger.aboutOf(change);
    if (!change.byScan) return;
    const isEnd = change.operation === "Deleted" && kind !== null && !expected[kind].required.has(key);
    if (change.operation === "Deleted" && kind !== null) this.figures.correctEnds.add(isEnd, `${kind} ${key}`);
    const isStale = change.fields.includes("stale_since") && this.oracle.isLongUnread(key, this.site.now);
    this.figures.versions.add(
      change,
      since === null || isEnd || isStale || this.oracle.hasChanged(subjects, since),
      day.isSettled,
    );
  }

  /** Locates a sample of stations and compares the results with their real locations. */
  private async checkLocations(): Promise<void> {
    for (const mac of this.random.shuffled(this.oracle.places.known()).slice(0, this.rates.placesPerScan)) {
      const place = this.oracle.places.of(mac);
      if (place === undefined) continue;
      const { candidates, last_seen } = await this.product.get(`locate?mac=${mac}`);
      const [first] = candidates;
      // At an uplink, the station is behind that port: then, and for a machine that is off, the last known location
      // counts.
      const found = first?.port?.role === "Edge" ? first : (last_seen ?? first);
      const textOf = ({ device, port }: Place) => `${this.ledger.hostOfMachine(this.oracle.keyOf(device))} ${port}`;
      const other = this.oracle.places.alternativeOf(mac);
      const expected = textOf(place);
      const actual = found?.port == null ? "nowhere" : `${found.switch?.id} ${found.port.name}`;
      this.figures.places.add(
        actual === expected || (other !== undefined && actual === textOf(other)),
        actual === "nowhere" ? actual : `${mac}: ${actual} instead of ${expected}`,
      );
    }
  }

  /** Sightings of machines that are not ignored. */
  private withoutIgnored(entries: readonly NeighborEntry[]): readonly NeighborEntry[] {
    return entries.filter(({ machine }) => !this.ignoredMachines.has(machine));
  }

  /** Applies pending edits and deletions by users. */
  private async applyUserActions(): Promise<void> {
    for (const { device, name } of this.site.notes.splice(0)) await this.note(device, name);
    for (const machine of this.site.deletions.splice(0)) await this.deleteHost(machine, "");
    for (const machine of this.site.ignores.splice(0))
      if (await this.deleteHost(machine, "?ignore=true")) this.ignoredMachines.add(machine);
  }

  private async note(device: string, name: string): Promise<void> {
    const host = this.ledger.hostOfMachine(this.oracle.keyOf(device));
    const entry = this.ledger.partsOf("interface", host ?? "").find((each) => each.if_name === name);
    if (entry === undefined || this.entryIdsWithNotes.includes(entry.id)) return;
    this.product.moveTo(this.site);
    await this.product.note(entry.id, "do not reuse");
    this.entryIdsWithNotes.push(entry.id);
    this.oracle.noteAdded(device, name);
    this.site.touch(`interface ${device} ${name}`);
    // A scan's next version follows from the note: the version of the note itself does not count as the previous one.
    await this.ledger.update();
  }

  /** @returns false if the machine has no host */
  private async deleteHost(machine: string, query: string): Promise<boolean> {
    const host = this.ledger.hostOfMachine(this.oracle.keyOf(machine));
    if (host === undefined || this.ignoredMachines.has(machine)) return false;
    this.product.moveTo(this.site);
    await this.product.delete(`hosts/${host}${query}`);
    this.oracle.deleted(machine, this.site.now);
    if (query === "") this.formerHosts.set(machine, this.ledger.record("host", host)?.lineage_id ?? host);
    await this.seeChanges();
    return true;
  }

  private async seeChanges(): Promise<void> {
    for (const change of await this.ledger.update()) this.ledger.aboutOf(change);
  }
}

function newSightings(): { readonly devices: Truth[]; readonly details: Details[]; entries: NeighborEntry[] } {
  return { devices: [], details: [], entries: [] };
}
