// One run of the simulated site: its days and scans, with the product's figures at the end of each scan.

import { seededRandom } from "../support/injected/seeded-random.ts";
import { calendarOf, type Day, EventRunner } from "./events/calendar.ts";
import { Figures } from "./figures/figures.ts";
import type { Change } from "./figures/versions.ts";
import { type Expectations, KINDS } from "./oracle/expectation.ts";
import { aliasOf, SWEEP } from "./oracle/hearsay.ts";
import { Oracle } from "./oracle/oracle.ts";
import type { Place } from "./oracle/places.ts";
import { Ledger } from "./product/ledger.ts";
import { PastAnswers } from "./product/past-responses.ts";
import { WorldAppliance } from "./product/world-appliance.ts";
import { WorldProbes } from "./product/world-probes.ts";
import type { Rates } from "./rates.ts";
import { Agents } from "./render/agent.ts";
import { buildSite } from "./site/build-site.ts";
import { netOf, VLAN } from "./site/machines.ts";
import type { Site } from "./site/site.ts";
import { type Hearing, hearingsOf, type Truth, truthOf } from "./site/truth.ts";

const DAY_MS = 86_400_000;
/** A day after the time at which a test appliance is set up. */
const START = Date.UTC(2026, 10, 22);
/** Distance between the reads of a scan. */
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
  private past!: PastAnswers;
  /** Devices and addresses that the running scan has seen. */
  private seen: { readonly devices: Truth[]; hearings: Hearing[] } = { devices: [], hearings: [] };

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
        if (truth.complete.has("arp")) this.seen.hearings.push(...truth.heard);
        this.oracle.read(truth, site.now);
      },
    });
  }

  async run(): Promise<Figures> {
    const { rates, site, figures } = this;
    this.product = await WorldAppliance.open(this.probes, this.nets());
    this.ledger = new Ledger(this.product);
    this.past = new PastAnswers(this.product, figures);
    const scans = this.days.flatMap(({ number, isOff }) =>
      isOff ? [] : Array.from({ length: rates.scansPerDay }, (_, index) => number * rates.scansPerDay + index),
    );
    const asked = new Set(this.random.shuffled(scans).slice(0, rates.periods.pastInstants));
    await this.ledger.update();
    for (const day of this.days) {
      const groups = this.groupsOf();
      const sweepAt = this.random.integer(rates.scansPerDay);
      for (const [index, events] of day.slots.entries()) {
        site.now = Math.max(site.now, START + day.number * DAY_MS + ((index + 0.5) * DAY_MS) / rates.scansPerDay);
        this.events.run(site, day, events);
        for (const ip of site.disputed.keys()) this.oracle.dispute(ip);
        await this.deleteRecords();
        if (day.isOff) continue;
        await this.scan(day, () => this.product.scan("snmp", this.addressesOf(groups, index)));
        if (index === sweepAt) await this.sweep(day);
        if (asked.has(day.number * rates.scansPerDay + index)) await this.past.ask();
      }
    }
    await this.past.askAgain();
    return figures;
  }

  async close(): Promise<void> {
    await this.product?.close();
  }

  /** Every device is read once a day, by one of the day's scans. */
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

  private async sweep(day: Day): Promise<void> {
    const nets = this.random.shuffled(this.nets());
    const swept = nets.slice(0, Math.ceil(nets.length / 2));
    await this.scan(day, async () => {
      const covers = (ip: string) => swept.some((net) => ip.startsWith(net));
      const hearings = hearingsOf(
        this.site,
        [...this.site.heardByAppliance()].filter(([ip]) => covers(ip)),
      );
      this.seen.hearings.push(...hearings);
      this.oracle.look({ reporter: SWEEP, covers, hearings }, this.site.now);
      await this.product.scan(
        "sweep",
        swept.map((net) => `${net}0/24`),
      );
    });
  }

  private async scan(day: Day, run: () => Promise<unknown>): Promise<void> {
    this.product.moveTo(this.site);
    await run();
    this.site.now = Math.max(this.site.now, this.product.now) + READ_MS;
    this.product.moveTo(this.site);
    const changes = await this.ledger.update();
    await this.attribute();
    this.oracle.endScan(this.site.now);
    const expected = this.oracle.expected();
    for (const kind of KINDS) this.figures.presence[kind].add(this.ledger.keys(kind), expected[kind]);
    for (const change of changes) this.judge(change, expected, day);
    const { required, tolerated } = this.oracle.conflicts();
    const listed = (await this.product.list("conflicts", "&accepted=false&type=Address&type=Mac")).map(
      ({ type, value }) => `${type} ${value}`,
    );
    this.figures.conflicts.add(new Set(listed), required, tolerated);
    await this.askPlaces();
  }

  /** Finds the host to which each sighting of the scan went. */
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
    const heard = new Map(this.seen.hearings.map((hearing) => [`${hearing.ip} ${hearing.mac}`, hearing]));
    for (const { ip, mac, machine } of heard.values()) {
      const host = await ledger.hostAt(ip, (address) => address.mac_address === mac || address.mac_address === null);
      const key = oracle.keyOf(machine);
      const known = ledger.hostOfMachine(key);
      if (!this.site.devices.has(machine)) figures.stations.add(key, host);
      else if (deviceIds.has(machine) || host === known) continue;
      if (host !== null)
        ledger.assign(this.site.devices.has(machine) && known !== undefined ? aliasOf(key, mac) : key, host);
    }
    this.seen = { devices: [], hearings: [] };
  }

  /** A version is founded if its record changed, or ends as it must. */
  private judge(change: Change, expected: Expectations, day: Day): void {
    const { subjects, since, kind, key } = this.ledger.aboutOf(change);
    if (!change.byScan) return;
    const isEnd = change.operation === "Deleted" && kind !== null && !expected[kind].required.has(key);
    this.figures.versions.add(
      change,
      since === null || isEnd || this.oracle.hasChanged(subjects, since),
      day.isSettled,
    );
  }

  /** Locates some stations, wherever they are. */
  private async askPlaces(): Promise<void> {
    for (const mac of this.random.shuffled(this.oracle.places.known()).slice(0, this.rates.placesPerScan)) {
      const place = this.oracle.places.of(mac);
      if (place === undefined) continue;
      const { candidates, last_seen } = await this.product.get(`locate?mac=${mac}`);
      const [first] = candidates;
      // At an uplink it is somewhere beyond: then, and for a machine that is off, the last place counts.
      const found = first?.port?.role === "Edge" ? first : (last_seen ?? first);
      const textOf = ({ device, port }: Place) => `${this.ledger.hostOfMachine(this.oracle.keyOf(device))} ${port}`;
      const other = this.oracle.places.orElse(mac);
      const expected = textOf(place);
      const actual = found?.port == null ? "nowhere" : `${found.switch?.id} ${found.port.name}`;
      this.figures.addPlace(
        actual === expected || (other !== undefined && actual === textOf(other)),
        actual === "nowhere" ? actual : `${mac}: ${actual} instead of ${expected}`,
      );
    }
  }

  private async deleteRecords(): Promise<void> {
    for (const machine of this.site.deletions.splice(0)) {
      const host = this.ledger.hostOfMachine(this.oracle.keyOf(machine));
      if (host === undefined) continue;
      this.product.moveTo(this.site);
      await this.product.delete(`hosts/${host}`);
      this.oracle.deleted(machine, this.site.now);
      for (const change of await this.ledger.update()) this.ledger.aboutOf(change);
    }
  }
}
