// Topology over a period, compared with queries at each transaction: intervals to the millisecond, and last shown
// states.

import { beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { TOPOLOGY_POINTS_MAX } from "../../src/reports/topology/topology-over-time.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { DAY_MS } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, inTransaction, newHost, newIfEntry, newNetwork, newSubnet, newUser, owner, prune, tick } =
  appliance;

interface Port {
  readonly id: string;
  readonly name: string;
  readonly host: JsonRecord;
}

/** Timestamps of all transactions. */
function instants(): number[] {
  return appliance.reader.db
    .query<{ at: number }, []>("SELECT at FROM history_transactions ORDER BY sequence")
    .all()
    .map(({ at }) => at);
}

/** By id. */
type ItemsById = Record<string, JsonRecord>;

/** Items by id, without positions that are not stored: each response computes those. */
function itemsById(items: readonly JsonRecord[]): ItemsById {
  const storedIds = new Set(
    appliance.reader.db
      .query<{ id: string }, []>("SELECT node_id AS id FROM map_positions")
      .all()
      .map(({ id }) => id),
  );
  const withoutComputed = ({ position, ...rest }: JsonRecord): JsonRecord =>
    position === undefined || storedIds.has(rest.id) ? { position, ...rest } : rest;
  return Object.fromEntries(items.map((item) => [item.id, withoutComputed(item)]));
}

/** Expected result of a period, from queries at its start and at each transaction in it. */
async function expectedOverTime(
  client: Client,
  query: string,
  from: number,
  to: number | null,
): Promise<{ nodes: ItemsById; links: ItemsById }> {
  const union: { nodes: ItemsById; links: ItemsById } = { nodes: {}, links: {} };
  const visible: { nodes: Set<string>; links: Set<string> } = { nodes: new Set(), links: new Set() };
  const points = [from, ...instants().filter((at) => at > from && (to === null || at < to))];
  for (const point of points) {
    const at = formatInstant(point);
    const map = await expectOk(client.get(`topology?${query}&at=${at}`));
    for (const collection of ["nodes", "links"] as const) {
      const current = itemsById(map[collection]);
      for (const id of visible[collection]) {
        if (current[id] !== undefined) continue;
        visible[collection].delete(id);
        (union[collection][id] as JsonRecord).intervals.at(-1).to = at;
      }
      for (const [id, item] of Object.entries(current)) {
        const intervals = union[collection][id]?.intervals ?? [];
        if (!visible[collection].has(id)) intervals.push({ from: at, to: to === null ? null : formatInstant(to) });
        visible[collection].add(id);
        union[collection][id] = { ...item, intervals };
      }
    }
  }
  return union;
}

async function overTime(client: Client, query: string, from: number, to: number | null): Promise<JsonRecord> {
  const end = to === null ? "" : `&to=${formatInstant(to)}`;
  return expectOk(client.get(`topology?${query}&from=${formatInstant(from)}${end}`));
}

/** Random changes of every kind shown on a map. */
class RandomChanges {
  readonly hosts: JsonRecord[] = [];
  readonly ports: Port[] = [];
  private readonly random: SeededRandom;
  private readonly networkId: string;

  constructor(random: SeededRandom, networkId: string) {
    this.random = random;
    this.networkId = networkId;
  }

  async addHost(address: string): Promise<void> {
    tick();
    const name = `sw-${this.hosts.length + 1}`;
    const host = await newHost({
      name,
      sys_name: name,
      network_id: this.networkId,
      ip_addresses: [{ ip_address: address }],
    });
    this.hosts.push(host);
    for (const port of ["Gi1", "Gi2", "Gi3"]) {
      tick();
      this.ports.push({ id: (await newIfEntry(host.id, { if_name: port, if_type: 6 })).id, name: port, host });
    }
  }

  changeRandomly(): void {
    const { random } = this;
    clock.advance(1 + random.integer(3));
    const [port, far] = [random.pick(this.ports), random.pick(this.ports)];
    inTransaction((tx) => {
      switch (random.integer(6)) {
        case 0:
          tx.update(hostKind, port.host.id, { model: `model ${random.integer(100)}` });
          break;
        case 1:
          tx.update(hostKind, port.host.id, { name: `name-${random.integer(20)}` });
          // Announcements of others refer to it by this name.
          if (random.integer(2) === 0) tx.update(hostKind, port.host.id, { sys_name: `sw-${1 + random.integer(6)}` });
          break;
        case 2:
          tx.update(ipAddressKind, port.host.ip_addresses[0].id, {
            mac_address: `02:00:00:00:00:0${random.integer(10)}`,
          });
          break;
        default:
          tx.update(ifEntryKind, port.id, this.fieldsOf(port, far));
      }
    });
  }

  private fieldsOf(port: Port, far: Port): Partial<IfEntryRecord> {
    const { random } = this;
    const cleared = { neighbor: undefined, lldp_sys_name: undefined, lldp_port_id: undefined };
    const choices: ReadonlyArray<Partial<IfEntryRecord>> = [
      { neighbor: far.id === port.id ? undefined : { type: "IfEntry", id: far.id } },
      cleared,
      { ...cleared, lldp_sys_name: "phone" },
      {
        neighbor: undefined,
        lldp_sys_name: far.host.sys_name,
        lldp_port_id: { subtype: "InterfaceName", value: far.name },
      },
      { oper_status: random.pick(["Up", "Down", "Dormant"] as const), speed_bps: random.integer(1_000) },
    ];
    return random.pick(choices);
  }

  remove(): void {
    const host = this.random.pick(this.hosts);
    tick();
    inTransaction((tx) => removeRecord(tx, hostKind, host.id, true));
    this.hosts.splice(this.hosts.indexOf(host), 1);
    for (const port of this.ports.filter(({ host: { id } }) => id === host.id))
      this.ports.splice(this.ports.indexOf(port), 1);
  }
}

let near: RandomChanges;
let far: RandomChanges;
let random: SeededRandom;
let farId: string;

beforeEach(async () => {
  random = seededRandom(1_117);
  farId = (await newNetwork()).id;
  await newSubnet({ cidr: "192.0.2.0/24" });
  await newSubnet({ cidr: "198.51.100.0/24", network_id: farId });
  [near, far] = [new RandomChanges(random, first.networkId), new RandomChanges(random, farId)];
});

async function addHosts(count = 5): Promise<void> {
  for (let k = 1; k <= count; k += 1) await near.addHost(`192.0.2.${k}`);
  for (let k = 1; k <= 2; k += 1) await far.addHost(`198.51.100.${k}`);
}

describe("the topology over a period", () => {
  test("equals a request at each transaction, for a network and around a host, for every caller", async () => {
    await addHosts();
    for (let k = 0; k < 90; k += 1) {
      if (k === 45 || k === 75) near.remove();
      if (k === 60) await near.addHost("192.0.2.100");
      (k % 5 === 4 ? far : near).changeRandomly();
    }
    const everything = await overTime(owner, `network_id=${first.networkId}&include_isolated=true`, 0, null);
    const hostIds: string[] = everything.nodes
      .filter(({ kind }: JsonRecord) => kind === "Known")
      .map(({ id }: JsonRecord) => id);
    tick();
    const { client: viewer } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
    const points = instants();
    const [begin, end] = [points[0] as number, points.at(-1) as number];
    let intervals = 0;
    for (let round = 0; round < 14; round += 1) {
      const [a, b] = [begin + random.integer(end - begin), begin + random.integer(end - begin)];
      const exact = [points[points.length - 60] as number, points[points.length - 20] as number] as const;
      const [from, to] = round % 4 === 3 ? exact : [Math.min(a, b), round % 4 === 0 ? null : Math.max(a, b) + 1];
      const network = round % 5 === 4 ? farId : first.networkId;
      const query = [
        `network_id=${network}`,
        `network_id=${network}&include_isolated=true`,
        `host_id=${random.pick(hostIds)}&hops=${1 + random.integer(3)}`,
        `host_id=${random.pick(hostIds)}&network_id=${network}`,
      ][round % 3 === 0 ? 0 : random.integer(4)] as string;
      const client = round % 2 === 0 ? owner : viewer;
      const expected = await expectedOverTime(client, query, from, to);
      const found = await overTime(client, query, from, to);
      expect({ nodes: itemsById(found.nodes), links: itemsById(found.links) }, `${round}: ${query}`).toEqual(expected);
      expect([found.truncated, found.next_from, found.from, found.to]).toEqual([
        false,
        null,
        formatInstant(from),
        to === null ? null : formatInstant(to),
      ]);
      intervals += found.links.flatMap((link: JsonRecord) => link.intervals).length;
    }
    expect(intervals).toBeGreaterThan(50);
    expect(await overTime(viewer, `network_id=${farId}`, begin, null)).toMatchObject({ nodes: [], links: [] });
    expect(await overTime(viewer, `host_id=${far.hosts[0]?.id}`, begin, null)).toMatchObject({
      network_id: null,
      nodes: [],
      links: [],
    });
  });

  test("may start at the beginning of the ledger, and shows a deleted network", async () => {
    await addHosts(2);
    const [port, farPort] = far.ports.filter(({ name }) => name === "Gi1") as [Port, Port];
    clock.advance(7);
    inTransaction((tx) => tx.update(ifEntryKind, port.id, { neighbor: { type: "IfEntry", id: farPort.id } }));
    const plugged = clock.text();
    clock.advance(11);
    await expectOk(owner.delete(`networks/${farId}?cascade=true`).then((deletion) => ({ ...deletion, status: 200 })));
    const removedAt = formatInstant(instants().at(-1) as number);
    clock.advance(60_000);
    const result = await expectOk(owner.get(`topology?network_id=${farId}&to=${clock.text()}`));
    expect([result.from, result.links.map(({ intervals }: JsonRecord) => intervals)]).toEqual([
      null,
      [[{ from: plugged, to: removedAt }]],
    ]);
    expect(await expectOk(owner.get(`topology?host_id=${port.host.id}&from=-1d`))).toMatchObject({
      network_id: farId,
      nodes: [{ id: port.host.id }, { id: farPort.host.id }],
      links: [{ intervals: [{ from: plugged, to: removedAt }] }],
    });
  });

  test("compares kept states in thinned history, with a notice", async () => {
    await addHosts(3);
    for (let day = 0; day < 4; day += 1) {
      for (let k = 0; k < 12; k += 1) near.changeRandomly();
      if (day === 1) near.remove();
      clock.advance(DAY_MS);
    }
    const from = instants()[0] as number;
    await newHost();
    prune(clock.now() - DAY_MS, "daily");
    clock.advance(60_000);
    for (const query of [`network_id=${first.networkId}`, `host_id=${near.hosts[0]?.id}&hops=2`]) {
      const expected = await expectedOverTime(owner, query, from, null);
      const found = await overTime(owner, query, from, null);
      expect({ nodes: itemsById(found.nodes), links: itemsById(found.links) }).toEqual(expected);
    }
    const { body } = await owner.get(`topology?network_id=${first.networkId}&from=${formatInstant(from)}`);
    expect(Date.parse(body.meta.thinned_until)).toBeGreaterThan(from);
  });

  test("ends after a limited number of changes, not counting statuses, with a cursor", async () => {
    await addHosts(2);
    const [port, farPort] = near.ports.filter(({ name }) => name === "Gi1") as [Port, Port];
    const begin = clock.now();
    const plugs: string[] = [];
    for (let k = 0; k < TOPOLOGY_POINTS_MAX + 4; k += 1) {
      clock.advance(1);
      const neighbor = k % 2 === 0 ? { type: "IfEntry" as const, id: farPort.id } : undefined;
      inTransaction((tx) => tx.update(ifEntryKind, port.id, { neighbor }));
      plugs.push(clock.text());
      clock.advance(1);
      inTransaction((tx) => tx.update(ifEntryKind, port.id, { speed_bps: k + 1 }));
    }
    clock.advance(1_000);
    const query = `network_id=${first.networkId}`;
    const full = await overTime(owner, query, begin, null);
    const cut = plugs[TOPOLOGY_POINTS_MAX] as string;
    expect([full.truncated, full.next_from, full.to]).toEqual([true, cut, null]);
    const pluggedAt = plugs.filter((_at, k) => k % 2 === 0);
    const unpluggedAt = plugs.filter((_at, k) => k % 2 === 1);
    const [link] = full.links;
    expect(link.intervals).toEqual(
      pluggedAt.slice(0, TOPOLOGY_POINTS_MAX / 2).map((from, k) => ({ from, to: unpluggedAt[k] })),
    );
    // The state at the end of the last interval, not at its start.
    expect(link.speed_bps).toBe(TOPOLOGY_POINTS_MAX - 1);
    const rest = await expectOk(owner.get(`topology?${query}&from=${cut}`));
    expect([rest.truncated, rest.next_from, rest.links[0].intervals]).toEqual([
      false,
      null,
      [
        { from: cut, to: unpluggedAt.at(-2) },
        { from: pluggedAt.at(-1), to: unpluggedAt.at(-1) },
      ],
    ]);
    // With one point fewer it is complete.
    const last = Date.parse(cut);
    expect((await overTime(owner, query, begin, last)).truncated).toBe(false);
    expect((await overTime(owner, query, begin, last + 1)).next_from).toBe(cut);
  });

  test("refuses parameters that do not apply", async () => {
    const query = `network_id=${first.networkId}`;
    for (const [parameters, path] of [
      ["from=-1d&at=-1h", "/at"],
      ["to=-1h&format=mermaid", "/format"],
      ["from=-1d&format=graphml", "/format"],
      ["from=-1h&to=-1d", "/from"],
      ["from=2099-01-01T00:00:00Z", "/from"],
      ["from=yesterday", "/from"],
    ]) {
      const { status, body } = await owner.get(`topology?${query}&${parameters}`);
      expect([status, body.params.issues.map((issue: JsonRecord) => issue.path)], parameters).toEqual([400, [path]]);
    }
    expect((await owner.get(`topology?${query}&from=-1d&format=json`)).status).toBe(200);
  });
});
