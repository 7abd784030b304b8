// Incremental map of a network and its link ends, compared with a full rebuild after each change, for random networks
// with few names, so that most changes affect other devices.

import { expect, test } from "bun:test";
import type { Announcement } from "../../src/discovery/topology/announcements.ts";
import type { FactsChange, MapHost, MapPort, NetworkFacts } from "../../src/discovery/topology/facts.ts";
import { ResolutionOverTime } from "../../src/discovery/topology/resolution-over-time.ts";
import { type PortResolution, resolveNeighbors } from "../../src/discovery/topology/resolve.ts";
import { IncrementalMap } from "../../src/reports/topology/incremental-map.ts";
import type { MapLink, MapNode } from "../../src/reports/topology/map.ts";
import { neighborhoodOf } from "../../src/reports/topology/neighborhood.ts";
import { mapOf } from "../../src/reports/topology/whole-map.ts";
import type { Neighbor } from "../../src/resources/if-entries/more-neighbors.ts";
import { ADDRESSES_PER_MAC_MAX } from "../../src/resources/ip-addresses/shared-macs.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";

const NETWORK = "network";

interface NetworkSize {
  readonly hosts: number;
  readonly portsPerHost: number;
  /** Number of names and addresses. */
  readonly names: number;
  readonly macs: number;
}

/** Hosts and interfaces that are added, removed and changed. */
class Facts {
  readonly hosts = new Map<string, MapHost>();
  readonly ports = new Map<string, { readonly n: number; readonly port: MapPort }>();
  private readonly random: SeededRandom;
  private readonly size: NetworkSize;

  constructor(random: SeededRandom, size: NetworkSize) {
    this.random = random;
    this.size = size;
  }

  all(): NetworkFacts {
    const hosts = [...this.hosts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, host]) => host);
    const ports = [...this.ports.values()].sort((a, b) => a.n - b.n).map(({ port }) => port);
    return { hosts, ports };
  }

  allAsChange(): FactsChange {
    return { hosts: new Map(this.hosts), ports: new Map(this.ports) };
  }

  /** @param count number of additions, removals and changes */
  change(count: number): FactsChange {
    const { random } = this;
    const hosts = new Map<string, MapHost | null>();
    const ports = new Map<string, { readonly n: number; readonly port: MapPort } | null>();
    for (let round = 0; round < count; round += 1) {
      const host = random.integer(this.size.hosts);
      if (random.integer(4) === 0) {
        const isGone = random.integer(3) === 0;
        const isHostOnly = random.integer(2) === 0;
        hosts.set(hostId(host), isGone ? null : this.changedHost(host));
        // Often with all its interfaces; an interface without its host is not shown.
        if (!isHostOnly)
          for (let port = 0; port < this.size.portsPerHost; port += 1)
            ports.set(portId(host, port), isGone ? null : this.randomPort(host, port));
      } else {
        const port = random.integer(this.size.portsPerHost);
        ports.set(portId(host, port), random.integer(6) === 0 ? null : this.changedPort(host, port));
      }
    }
    applyChanges(this.hosts, hosts);
    applyChanges(this.ports, ports);
    return { hosts, ports };
  }

  private randomHost(number: number): MapHost {
    const { random } = this;
    const name = this.randomName();
    return {
      id: hostId(number),
      name,
      hostname: random.pick([null, this.randomName()]),
      sys_name: random.pick([null, name, this.randomName()]),
      chassis_id: random.pick([null, this.randomMac(), "chassis 1"]),
      bridge_address: random.pick([null, this.randomMac()]),
      serial_number: random.pick([null, null, "FOC1234X0YZ"]),
      addresses: Array.from({ length: random.integer(3) }, () => ({
        ip_address: this.randomAddress(),
        mac_address: random.pick([null, this.randomMac()]),
      })),
      manufacturer: random.pick([null, "manufacturer"]),
      model: null,
      management_url: random.pick([null, `https://${this.randomAddress()}/`]),
      stale_since: null,
      device_type: "Unknown",
      device_type_source: null,
    };
  }

  /** Changes one field of a host, or all of them. */
  private changedHost(number: number): MapHost {
    const [existing, fresh] = [this.hosts.get(hostId(number)), this.randomHost(number)];
    const field = this.random.pick(["name", "sys_name", "chassis_id", "addresses", "management_url"] as const);
    return existing === undefined || this.random.integer(3) === 0 ? fresh : { ...existing, [field]: fresh[field] };
  }

  /** Changes some fields of an interface, or all of them. */
  private changedPort(host: number, index: number): { readonly n: number; readonly port: MapPort } {
    const existing = this.ports.get(portId(host, index));
    const fresh = this.randomPort(host, index);
    if (existing === undefined) return fresh;
    const { speed_bps, oper_status, if_alias, neighbor, announcements, ownCount, moreNeighbors } = fresh.port;
    const { lag_id, parent_id } = fresh.port;
    const stacked = { lag_id, parent_id };
    const parts = [
      { speed_bps, oper_status },
      { if_alias },
      { neighbor },
      stacked,
      { announcements, ownCount, moreNeighbors },
    ];
    return this.random.integer(3) === 0
      ? fresh
      : { n: existing.n, port: { ...existing.port, ...this.random.pick(parts as Array<Partial<MapPort>>) } };
  }

  private randomPort(host: number, index: number): { readonly n: number; readonly port: MapPort } {
    const { random } = this;
    const announcements = Array.from({ length: random.pick([0, 0, 1, 1, 1, 2, 3]) }, () => this.randomAnnouncement());
    const ownCount = Math.min(1, announcements.length);
    const port: MapPort = {
      id: portId(host, index),
      host_id: hostId(host),
      if_index: index + 1,
      if_descr: `GigabitEthernet0/${index + 1}`,
      if_name: random.pick([`Gi0/${index + 1}`, `Gi0/${index + 1}`, "Gi0/1", null]),
      if_alias: random.pick([null, "uplink"]),
      if_type: random.pick([6, 6, 6, 161]),
      mac_address: random.pick([null, this.randomMac()]),
      ip_address: random.pick([null, this.randomAddress()]),
      announcements,
      described: announcements.map(() => null),
      ownCount,
      lag_id: random.pick([null, null, null, portId(host, random.integer(this.size.portsPerHost))]),
      parent_id: random.pick([null, null, null, portId(host, random.integer(this.size.portsPerHost))]),
      speed_bps: random.pick([null, 1_000, 10_000]),
      oper_status: random.pick(["Up", "Down"] as const),
      stale_since: null,
      neighbor: random.integer(3) === 0 ? this.randomNeighbor() : null,
      moreNeighbors: announcements.slice(ownCount).map(() => (random.integer(3) === 0 ? this.randomNeighbor() : null)),
      fingerprint: "",
    };
    return { n: host * 100 + index, port };
  }

  private randomAnnouncement(): Announcement {
    const { random } = this;
    const port = random.integer(this.size.portsPerHost + 1);
    const port_id = { subtype: "InterfaceName", value: `Gi0/${port}` } as const;
    const identity = random.pick([
      { sys_name: this.randomName() },
      { sys_name: this.randomName(), port_id },
      { sys_name: this.randomName(), port_id },
      { chassis_id: { subtype: "MacAddress", value: this.randomMac() }, port_id },
      { sys_name: this.randomName(), chassis_id: { subtype: "MacAddress", value: this.randomMac() }, port_id },
      { mgmt_addr: this.randomAddress(), port_desc: "uplink" },
      { sys_name: "phone", mgmt_addr: this.randomAddress(), port_id },
    ] as Array<Partial<Announcement>>);
    if (random.integer(3) > 0) return { protocol: "Lldp", ...identity };
    return { protocol: "Cdp", device_id: this.randomName(), port_id, address: this.randomAddress() };
  }

  private randomNeighbor(): Neighbor {
    const host = this.random.integer(this.size.hosts);
    return this.random.integer(2) === 0
      ? { type: "Host", id: hostId(host) }
      : { type: "IfEntry", id: portId(host, this.random.integer(this.size.portsPerHost)) };
  }

  private randomName(): string {
    return `sw${this.random.integer(this.size.names)}${this.random.pick(["", "", ".example.net"])}`;
  }

  private randomMac(): string {
    return `00:1b:21:00:00:${this.random.integer(this.size.macs).toString(16).padStart(2, "0")}`;
  }

  private randomAddress(): string {
    return `192.0.2.${1 + this.random.integer(this.size.names)}`;
  }
}

function hostId(host: number): string {
  return `host-${String(host).padStart(3, "0")}`;
}

function portId(host: number, port: number): string {
  return `port-${String(host).padStart(3, "0")}-${port}`;
}

function comparable(resolution: PortResolution | undefined): object | null {
  if (resolution === undefined) return null;
  const { neighbor, announced } = resolution;
  const claims = resolution.claims.map(({ claim, ...rest }) => ({ indexes: claim.announcementIndexes, ...rest }));
  return { neighbor, announced, claims };
}

function byId<Item extends { readonly id: string }>(items: Iterable<Item>): Item[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Applies changes to a map of known items. */
function applyChanges<Item>(existing: Map<string, Item>, changes: ReadonlyMap<string, Item | null>): void {
  for (const [id, item] of changes) {
    if (item === null) existing.delete(id);
    else existing.set(id, item);
  }
}

const NETWORK_SIZES: Record<string, NetworkSize & { readonly rounds: number }> = {
  "a few hosts with many interfaces": { hosts: 6, portsPerHost: 6, names: 8, macs: 8, rounds: 500 },
  "hosts with almost unique names": { hosts: 20, portsPerHost: 4, names: 24, macs: 24, rounds: 300 },
  "hosts sharing a name beyond the limit": { hosts: 110, portsPerHost: 2, names: 2, macs: 9, rounds: 40 },
};

/** A host with one address and one interface, without neighbors. */
function plainHost(number: number, mac: string | null): { readonly host: MapHost; readonly port: MapPort } {
  const id = hostId(number);
  const hostFields = {
    hostname: null,
    chassis_id: null,
    bridge_address: null,
    serial_number: null,
    manufacturer: null,
    model: null,
  };
  const type = { device_type: "Unknown", device_type_source: null } as const;
  const host = { ...hostFields, ...type, id, name: id, sys_name: null, management_url: null, stale_since: null };
  const ids = { id: portId(number, 0), host_id: id, if_index: 1, if_descr: "Gi0/1" };
  const portFields = { if_name: "Gi0/1", if_alias: null, if_type: 6, mac_address: null, ip_address: null };
  const neighborFields = {
    announcements: [],
    described: [],
    ownCount: 0,
    neighbor: null,
    moreNeighbors: [],
    fingerprint: "",
    lag_id: null,
    parent_id: null,
  };
  const state = { speed_bps: null, oper_status: "Up", stale_since: null } as const;
  const port = { ...ids, ...portFields, ...neighborFields, ...state };
  return { host: { ...host, addresses: [{ ip_address: `192.0.2.${number + 1}`, mac_address: mac }] }, port };
}

test("a MAC address does not identify a host while too many hosts have it, but does again later", () => {
  const mac = "02:00:00:00:00:01";
  const [near, far] = [plainHost(0, null), plainHost(1, null)];
  const chassis_id = { subtype: "MacAddress", value: mac } as const;
  const announcement: Announcement = { protocol: "Lldp", chassis_id, mgmt_addr: "192.0.2.2" };
  const receiver = { ...near.port, announcements: [announcement], ownCount: 1 };
  const hosts = new Map([near.host, far.host].map((host) => [host.id, host]));
  const ports = new Map([receiver, far.port].map((port, n) => [port.id, { n, port }]));
  const resolution = new ResolutionOverTime();
  resolution.update({ hosts, ports });
  const found: (string | null)[] = [];
  const hostCount = 2 * ADDRESSES_PER_MAC_MAX;
  for (let step = 0; step < 2 * hostCount; step += 1) {
    const { host } = plainHost(2 + (step % hostCount), mac);
    if (step < hostCount) hosts.set(host.id, host);
    else hosts.delete(host.id);
    resolution.update({ hosts: new Map([[host.id, step < hostCount ? host : null]]), ports: new Map() });
    const all = [...ports.values()].map(({ port }) => port);
    const [current, fresh] = [resolution.get(receiver.id), resolveNeighbors([...hosts.values()], all).get(receiver.id)];
    expect([step, comparable(current)]).toEqual([step, comparable(fresh)]);
    found.push(current?.neighbor?.id ?? null);
  }
  // Matched by address only while the MAC address identifies no host.
  expect(found.slice(ADDRESSES_PER_MAC_MAX - 1, ADDRESSES_PER_MAC_MAX + 1)).toEqual([null, far.host.id]);
  expect(found.slice(hostCount, hostCount + ADDRESSES_PER_MAC_MAX).slice(-2)).toEqual([far.host.id, null]);
});

for (const [name, size] of Object.entries(NETWORK_SIZES)) {
  test(`the incremental map equals a full redraw after each change: ${name}`, () => {
    const random = seededRandom(1_118 + size.hosts);
    const facts = new Facts(random, size);
    facts.change(size.hosts * 12);
    const resolution = new ResolutionOverTime();
    const resolved = new Map<string, object | null>();
    const maps = [true, false].map((includeIsolated) => ({
      includeIsolated,
      map: new IncrementalMap(NETWORK, includeIsolated),
      nodes: new Map<string, MapNode>(),
      links: new Map<string, MapLink>(),
    }));
    const seenCounts: Record<string, number> = {};
    for (let round = 0; round < size.rounds; round += 1) {
      const change = round === 0 ? facts.allAsChange() : facts.change(1 + random.integer(3));
      const all = facts.all();
      // Records not named are unchanged.
      for (const id of resolution.update(change)) resolved.set(id, comparable(resolution.get(id)));
      const fresh = resolveNeighbors(all.hosts, all.ports);
      for (const { id } of all.ports)
        expect([round, id, resolved.get(id) ?? null]).toEqual([round, id, comparable(fresh.get(id))]);
      for (const { includeIsolated, map, nodes, links } of maps) {
        const changed = map.revise(change);
        applyChanges(nodes, changed.nodes);
        applyChanges(links, changed.links);
        const full = mapOf(NETWORK, all, includeIsolated);
        const expected = { nodes: byId(full.nodes), links: byId(full.links) };
        expect({ nodes: byId(nodes.values()), links: byId(links.values()) }).toEqual(expected);
        const center = { hostId: hostId(random.integer(size.hosts)), hops: 1 + random.integer(3) };
        const neighborhood = neighborhoodOf(full, center);
        const found = map.neighborhood(center.hostId, center.hops);
        expect([byId(found.nodes), byId(found.links)]).toEqual([byId(neighborhood.nodes), byId(neighborhood.links)]);
      }
      for (const { certainty } of maps[0]?.links.values() ?? [])
        seenCounts[certainty] = (seenCounts[certainty] ?? 0) + 1;
      for (const { kind } of maps[0]?.nodes.values() ?? []) seenCounts[kind] = (seenCounts[kind] ?? 0) + 1;
    }
    for (const label of ["Interfaces", "Announced", "Known", "Unknown"])
      expect(seenCounts[label]).toBeGreaterThan(size.rounds / 10);
  });
}
