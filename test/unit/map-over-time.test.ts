// Incremental map of a network and its link ends, compared with a full rebuild after each change: random networks with
// few names, so that most changes affect other devices.

import { expect, test } from "bun:test";
import type { Announcement } from "../../src/discovery/topology/announcements.ts";
import type { FactsChange, NetworkFacts, ShownHost, ShownPort } from "../../src/discovery/topology/facts.ts";
import { ResolutionOverTime } from "../../src/discovery/topology/resolution-over-time.ts";
import { type PortResolution, resolveNeighbors } from "../../src/discovery/topology/resolve.ts";
import type { MapLink, MapNode } from "../../src/reports/topology/map.ts";
import { MapOverTime } from "../../src/reports/topology/map-over-time.ts";
import { neighborhoodOf } from "../../src/reports/topology/neighborhood.ts";
import { mapOf } from "../../src/reports/topology/whole-map.ts";
import type { Neighbor } from "../../src/resources/if-entries/more-neighbors.ts";
import { ADDRESSES_PER_MAC_MAX } from "../../src/resources/ip-addresses/shared-macs.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";

const NETWORK = "network";

interface World {
  readonly hosts: number;
  readonly portsOfHost: number;
  /** Number of names and addresses. */
  readonly names: number;
  readonly macs: number;
}

/** Hosts and interfaces that are added, removed and changed. */
class Facts {
  readonly hosts = new Map<string, ShownHost>();
  readonly ports = new Map<string, { readonly n: number; readonly port: ShownPort }>();
  private readonly random: SeededRandom;
  private readonly world: World;

  constructor(random: SeededRandom, world: World) {
    this.random = random;
    this.world = world;
  }

  all(): NetworkFacts {
    const hosts = [...this.hosts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, host]) => host);
    const ports = [...this.ports.values()].sort((a, b) => a.n - b.n).map(({ port }) => port);
    return { hosts, ports };
  }

  everything(): FactsChange {
    return { hosts: new Map(this.hosts), ports: new Map(this.ports) };
  }

  /** @param count of additions, removals and changes at once */
  change(count: number): FactsChange {
    const { random } = this;
    const hosts = new Map<string, ShownHost | null>();
    const ports = new Map<string, { readonly n: number; readonly port: ShownPort } | null>();
    for (let turn = 0; turn < count; turn += 1) {
      const host = random.integer(this.world.hosts);
      if (random.integer(4) === 0) {
        const isGone = random.integer(3) === 0;
        const isAlone = random.integer(2) === 0;
        hosts.set(hostId(host), isGone ? null : this.changedHost(host));
        // Often with all its interfaces; an interface without its host is not shown.
        if (!isAlone)
          for (let port = 0; port < this.world.portsOfHost; port += 1)
            ports.set(portId(host, port), isGone ? null : this.port(host, port));
      } else {
        const port = random.integer(this.world.portsOfHost);
        ports.set(portId(host, port), random.integer(6) === 0 ? null : this.changed(host, port));
      }
    }
    note(this.hosts, hosts);
    note(this.ports, ports);
    return { hosts, ports };
  }

  private host(k: number): ShownHost {
    const { random } = this;
    const name = this.name();
    return {
      id: hostId(k),
      name,
      hostname: random.pick([null, this.name()]),
      sys_name: random.pick([null, name, this.name()]),
      chassis_id: random.pick([null, this.mac(), "chassis 1"]),
      serial_number: random.pick([null, null, "FOC1234X0YZ"]),
      addresses: Array.from({ length: random.integer(3) }, () => ({
        ip_address: this.address(),
        mac_address: random.pick([null, this.mac()]),
      })),
      manufacturer: random.pick([null, "maker"]),
      model: null,
      management_url: random.pick([null, `https://${this.address()}/`]),
      stale_since: null,
    };
  }

  /** One field, or all of them. */
  private changedHost(k: number): ShownHost {
    const [known, anew] = [this.hosts.get(hostId(k)), this.host(k)];
    const field = this.random.pick(["name", "sys_name", "chassis_id", "addresses", "management_url"] as const);
    return known === undefined || this.random.integer(3) === 0 ? anew : { ...known, [field]: anew[field] };
  }

  /** Some fields, or all of them. */
  private changed(host: number, place: number): { readonly n: number; readonly port: ShownPort } {
    const known = this.ports.get(portId(host, place));
    const anew = this.port(host, place);
    if (known === undefined) return anew;
    const { speed_bps, oper_status, if_alias, neighbor, announcements, ownCount, moreNeighbors } = anew.port;
    const parts = [{ speed_bps, oper_status }, { if_alias }, { neighbor }, { announcements, ownCount, moreNeighbors }];
    return this.random.integer(3) === 0
      ? anew
      : { n: known.n, port: { ...known.port, ...this.random.pick(parts as Array<Partial<ShownPort>>) } };
  }

  private port(host: number, place: number): { readonly n: number; readonly port: ShownPort } {
    const { random } = this;
    const announcements = Array.from({ length: random.pick([0, 0, 1, 1, 1, 2, 3]) }, () => this.announcement());
    const ownCount = Math.min(1, announcements.length);
    const port: ShownPort = {
      id: portId(host, place),
      host_id: hostId(host),
      if_index: place + 1,
      if_descr: `GigabitEthernet0/${place + 1}`,
      if_name: random.pick([`Gi0/${place + 1}`, `Gi0/${place + 1}`, "Gi0/1", null]),
      if_alias: random.pick([null, "uplink"]),
      if_type: random.pick([6, 6, 6, 161]),
      mac_address: random.pick([null, this.mac()]),
      ip_address: random.pick([null, this.address()]),
      announcements,
      ownCount,
      speed_bps: random.pick([null, 1_000, 10_000]),
      oper_status: random.pick(["Up", "Down"] as const),
      stale_since: null,
      neighbor: random.integer(3) === 0 ? this.neighbor() : null,
      moreNeighbors: announcements.slice(ownCount).map(() => (random.integer(3) === 0 ? this.neighbor() : null)),
      fingerprint: "",
    };
    return { n: host * 100 + place, port };
  }

  private announcement(): Announcement {
    const { random } = this;
    const port = random.integer(this.world.portsOfHost + 1);
    const port_id = { subtype: "InterfaceName", value: `Gi0/${port}` } as const;
    const sign = random.pick([
      { sys_name: this.name() },
      { sys_name: this.name(), port_id },
      { sys_name: this.name(), port_id },
      { chassis_id: { subtype: "MacAddress", value: this.mac() }, port_id },
      { sys_name: this.name(), chassis_id: { subtype: "MacAddress", value: this.mac() }, port_id },
      { mgmt_addr: this.address(), port_desc: "uplink" },
      { sys_name: "phone", mgmt_addr: this.address(), port_id },
    ] as Array<Partial<Announcement>>);
    if (random.integer(3) > 0) return { protocol: "Lldp", ...sign };
    return { protocol: "Cdp", device_id: this.name(), port_id, address: this.address() };
  }

  private neighbor(): Neighbor {
    const host = this.random.integer(this.world.hosts);
    return this.random.integer(2) === 0
      ? { type: "Host", id: hostId(host) }
      : { type: "IfEntry", id: portId(host, this.random.integer(this.world.portsOfHost)) };
  }

  private name(): string {
    return `sw${this.random.integer(this.world.names)}${this.random.pick(["", "", ".example.net"])}`;
  }

  private mac(): string {
    return `00:1b:21:00:00:${this.random.integer(this.world.macs).toString(16).padStart(2, "0")}`;
  }

  private address(): string {
    return `192.0.2.${1 + this.random.integer(this.world.names)}`;
  }
}

function hostId(host: number): string {
  return `host-${String(host).padStart(3, "0")}`;
}

function portId(host: number, port: number): string {
  return `port-${String(host).padStart(3, "0")}-${port}`;
}

function plain(resolution: PortResolution | undefined): object | null {
  if (resolution === undefined) return null;
  const { neighbor, announced, claims } = resolution;
  return { neighbor, announced, claims: claims.map(({ claim, ...rest }) => ({ places: claim.places, ...rest })) };
}

function byId<Item extends { readonly id: string }>(items: Iterable<Item>): Item[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Applies changes to a map of known items. */
function note<Item>(known: Map<string, Item>, changes: ReadonlyMap<string, Item | null>): void {
  for (const [id, item] of changes) {
    if (item === null) known.delete(id);
    else known.set(id, item);
  }
}

const WORLDS: Record<string, World & { readonly turns: number }> = {
  "a few hosts with many interfaces": { hosts: 6, portsOfHost: 6, names: 8, macs: 8, turns: 500 },
  "hosts with almost unique names": { hosts: 20, portsOfHost: 4, names: 24, macs: 24, turns: 300 },
  "hosts sharing a name beyond the limit": { hosts: 110, portsOfHost: 2, names: 2, macs: 9, turns: 40 },
};

/** A host with one address and one interface, without neighbors. */
function plainHost(k: number, mac: string | null): { readonly host: ShownHost; readonly port: ShownPort } {
  const id = hostId(k);
  const nothing = { hostname: null, chassis_id: null, serial_number: null, manufacturer: null, model: null };
  const host = { ...nothing, id, name: id, sys_name: null, management_url: null, stale_since: null };
  const own = { if_name: "Gi0/1", if_alias: null, if_type: 6, mac_address: null, ip_address: null };
  const heard = { announcements: [], ownCount: 0, neighbor: null, moreNeighbors: [], fingerprint: "" };
  const state = { speed_bps: null, oper_status: "Up", stale_since: null } as const;
  const port = { id: portId(k, 0), host_id: id, if_index: 1, if_descr: "Gi0/1", ...own, ...heard, ...state };
  return { host: { ...host, addresses: [{ ip_address: `192.0.2.${k + 1}`, mac_address: mac }] }, port };
}

test("ignores a MAC address as an identifier while too many answer with it, and uses it again later", () => {
  const mac = "02:00:00:00:00:01";
  const [near, far] = [plainHost(0, null), plainHost(1, null)];
  const announcement: Announcement = {
    protocol: "Lldp",
    chassis_id: { subtype: "MacAddress", value: mac },
    mgmt_addr: "192.0.2.2",
  };
  const hearing = { ...near.port, announcements: [announcement], ownCount: 1 };
  const hosts = new Map([near.host, far.host].map((host) => [host.id, host]));
  const ports = new Map([hearing, far.port].map((port, n) => [port.id, { n, port }]));
  const resolution = new ResolutionOverTime();
  resolution.revise({ hosts, ports });
  const found: (string | null)[] = [];
  const many = 2 * ADDRESSES_PER_MAC_MAX;
  for (let step = 0; step < 2 * many; step += 1) {
    const { host } = plainHost(2 + (step % many), mac);
    if (step < many) hosts.set(host.id, host);
    else hosts.delete(host.id);
    resolution.revise({ hosts: new Map([[host.id, step < many ? host : null]]), ports: new Map() });
    const all = [...ports.values()].map(({ port }) => port);
    const [now, anew] = [resolution.of(hearing.id), resolveNeighbors([...hosts.values()], all).get(hearing.id)];
    expect([step, plain(now)]).toEqual([step, plain(anew)]);
    found.push(now?.neighbor?.id ?? null);
  }
  // By address only while the MAC address identifies no host.
  expect(found.slice(ADDRESSES_PER_MAC_MAX - 1, ADDRESSES_PER_MAC_MAX + 1)).toEqual([null, far.host.id]);
  expect(found.slice(many, many + ADDRESSES_PER_MAC_MAX).slice(-2)).toEqual([far.host.id, null]);
});

for (const [name, world] of Object.entries(WORLDS)) {
  test(`equals a full redraw after each change: ${name}`, () => {
    const random = seededRandom(1_118 + world.hosts);
    const facts = new Facts(random, world);
    facts.change(world.hosts * 12);
    const resolution = new ResolutionOverTime();
    const resolved = new Map<string, object | null>();
    const maps = [true, false].map((includeIsolated) => ({
      includeIsolated,
      map: new MapOverTime(NETWORK, includeIsolated),
      nodes: new Map<string, MapNode>(),
      links: new Map<string, MapLink>(),
    }));
    const met: Record<string, number> = {};
    for (let turn = 0; turn < world.turns; turn += 1) {
      const change = turn === 0 ? facts.everything() : facts.change(1 + random.integer(3));
      const all = facts.all();
      // Records not named are unchanged.
      for (const id of resolution.revise(change)) resolved.set(id, plain(resolution.of(id)));
      const anew = resolveNeighbors(all.hosts, all.ports);
      for (const { id } of all.ports)
        expect({ turn, id, resolved: resolved.get(id) ?? null }).toEqual({ turn, id, resolved: plain(anew.get(id)) });
      for (const { includeIsolated, map, nodes, links } of maps) {
        const changed = map.revise(change);
        note(nodes, changed.nodes);
        note(links, changed.links);
        const drawn = mapOf(NETWORK, all, includeIsolated);
        const shown = { nodes: byId(drawn.nodes), links: byId(drawn.links) };
        expect({ nodes: byId(nodes.values()), links: byId(links.values()) }).toEqual(shown);
        const center = { hostId: hostId(random.integer(world.hosts)), hops: 1 + random.integer(3) };
        const around = neighborhoodOf(drawn, center);
        const found = map.around(center.hostId, center.hops);
        expect([byId(found.nodes), byId(found.links)]).toEqual([byId(around.nodes), byId(around.links)]);
      }
      for (const { certainty } of maps[0]?.links.values() ?? []) met[certainty] = (met[certainty] ?? 0) + 1;
      for (const { kind } of maps[0]?.nodes.values() ?? []) met[kind] = (met[kind] ?? 0) + 1;
    }
    for (const each of ["Interfaces", "Announced", "Known", "Unknown"])
      expect(met[each]).toBeGreaterThan(world.turns / 10);
  });
}
