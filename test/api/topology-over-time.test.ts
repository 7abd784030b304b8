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
import { made, type Wire } from "../support/appliance/factories.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { DAY_MS } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, inTransaction, newHost, newIfEntry, newNetwork, newSubnet, newUser, owner, pruned, tick } =
  appliance;

interface Port {
  readonly id: string;
  readonly name: string;
  readonly host: Wire;
}

/** Timestamps of all transactions. */
function instants(): number[] {
  return appliance.reader.db
    .query<{ at: number }, []>("SELECT at FROM history_transactions ORDER BY sequence")
    .all()
    .map(({ at }) => at);
}

/** By id. */
type Told = Record<string, Wire>;

/** Items by id, without positions that are not stored: each answer computes those. */
function told(items: readonly Wire[]): Told {
  const kept = new Set(
    appliance.reader.db
      .query<{ id: string }, []>("SELECT node_id AS id FROM map_positions")
      .all()
      .map(({ id }) => id),
  );
  const shown = ({ position, ...rest }: Wire): Wire =>
    position === undefined || kept.has(rest.id) ? { position, ...rest } : rest;
  return Object.fromEntries(items.map((item) => [item.id, shown(item)]));
}

/** Expected result of a period, from queries at its start and at each transaction in it. */
async function asked(
  client: Client,
  query: string,
  from: number,
  to: number | null,
): Promise<{ nodes: Told; links: Told }> {
  const union: { nodes: Told; links: Told } = { nodes: {}, links: {} };
  const shown: { nodes: Set<string>; links: Set<string> } = { nodes: new Set(), links: new Set() };
  const points = [from, ...instants().filter((at) => at > from && (to === null || at < to))];
  for (const point of points) {
    const at = formatInstant(point);
    const map = await made(client.get(`topology?${query}&at=${at}`));
    for (const sort of ["nodes", "links"] as const) {
      const now = told(map[sort]);
      for (const id of shown[sort]) {
        if (now[id] !== undefined) continue;
        shown[sort].delete(id);
        (union[sort][id] as Wire).intervals.at(-1).to = at;
      }
      for (const [id, item] of Object.entries(now)) {
        const intervals = union[sort][id]?.intervals ?? [];
        if (!shown[sort].has(id)) intervals.push({ from: at, to: to === null ? null : formatInstant(to) });
        shown[sort].add(id);
        union[sort][id] = { ...item, intervals };
      }
    }
  }
  return union;
}

async function overTime(client: Client, query: string, from: number, to: number | null): Promise<Wire> {
  const end = to === null ? "" : `&to=${formatInstant(to)}`;
  return made(client.get(`topology?${query}&from=${formatInstant(from)}${end}`));
}

/** Random changes of every kind shown on a map. */
class Happenings {
  readonly hosts: Wire[] = [];
  readonly ports: Port[] = [];
  private readonly random: SeededRandom;
  private readonly networkId: string;

  constructor(random: SeededRandom, networkId: string) {
    this.random = random;
    this.networkId = networkId;
  }

  async grow(address: string): Promise<void> {
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

  happen(): void {
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
    const nothing = { neighbor: undefined, lldp_sys_name: undefined, lldp_port_id: undefined };
    const choices: ReadonlyArray<Partial<IfEntryRecord>> = [
      { neighbor: far.id === port.id ? undefined : { type: "IfEntry", id: far.id } },
      nothing,
      { ...nothing, lldp_sys_name: "phone" },
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

let near: Happenings;
let far: Happenings;
let random: SeededRandom;
let farId: string;

beforeEach(async () => {
  random = seededRandom(1_117);
  farId = (await newNetwork()).id;
  await newSubnet({ cidr: "192.0.2.0/24" });
  await newSubnet({ cidr: "198.51.100.0/24", network_id: farId });
  [near, far] = [new Happenings(random, first.networkId), new Happenings(random, farId)];
});

async function grown(count = 5): Promise<void> {
  for (let k = 1; k <= count; k += 1) await near.grow(`192.0.2.${k}`);
  for (let k = 1; k <= 2; k += 1) await far.grow(`198.51.100.${k}`);
}

describe("the topology over a period", () => {
  test("equals a request at each transaction, for a network and around a host, for every caller", async () => {
    await grown();
    for (let k = 0; k < 90; k += 1) {
      if (k === 45 || k === 75) near.remove();
      if (k === 60) await near.grow("192.0.2.100");
      (k % 5 === 4 ? far : near).happen();
    }
    const everything = await overTime(owner, `network_id=${first.networkId}&include_isolated=true`, 0, null);
    const hostIds: string[] = everything.nodes.filter(({ kind }: Wire) => kind === "Known").map(({ id }: Wire) => id);
    tick();
    const { client: viewer } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
    const points = instants();
    const [begin, end] = [points[0] as number, points.at(-1) as number];
    let intervals = 0;
    for (let turn = 0; turn < 14; turn += 1) {
      const [one, other] = [begin + random.integer(end - begin), begin + random.integer(end - begin)];
      const exact = [points[points.length - 60] as number, points[points.length - 20] as number] as const;
      const [from, to] =
        turn % 4 === 3 ? exact : [Math.min(one, other), turn % 4 === 0 ? null : Math.max(one, other) + 1];
      const network = turn % 5 === 4 ? farId : first.networkId;
      const query = [
        `network_id=${network}`,
        `network_id=${network}&include_isolated=true`,
        `host_id=${random.pick(hostIds)}&hops=${1 + random.integer(3)}`,
        `host_id=${random.pick(hostIds)}&network_id=${network}`,
      ][turn % 3 === 0 ? 0 : random.integer(4)] as string;
      const client = turn % 2 === 0 ? owner : viewer;
      const expected = await asked(client, query, from, to);
      const found = await overTime(client, query, from, to);
      expect({ nodes: told(found.nodes), links: told(found.links) }, `${turn}: ${query}`).toEqual(expected);
      expect([found.truncated, found.next_from, found.from, found.to]).toEqual([
        false,
        null,
        formatInstant(from),
        to === null ? null : formatInstant(to),
      ]);
      intervals += found.links.flatMap((link: Wire) => link.intervals).length;
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
    await grown(2);
    const [one, other] = far.ports.filter(({ name }) => name === "Gi1") as [Port, Port];
    clock.advance(7);
    inTransaction((tx) => tx.update(ifEntryKind, one.id, { neighbor: { type: "IfEntry", id: other.id } }));
    const plugged = clock.text();
    clock.advance(11);
    await made(owner.delete(`networks/${farId}?cascade=true`).then((answer) => ({ ...answer, status: 200 })));
    const ended = formatInstant(instants().at(-1) as number);
    clock.advance(60_000);
    const shown = await made(owner.get(`topology?network_id=${farId}&to=${clock.text()}`));
    expect([shown.from, shown.links.map(({ intervals }: Wire) => intervals)]).toEqual([
      null,
      [[{ from: plugged, to: ended }]],
    ]);
    expect(await made(owner.get(`topology?host_id=${one.host.id}&from=-1d`))).toMatchObject({
      network_id: farId,
      nodes: [{ id: one.host.id }, { id: other.host.id }],
      links: [{ intervals: [{ from: plugged, to: ended }] }],
    });
  });

  test("compares kept states in thinned history, with a notice", async () => {
    await grown(3);
    for (let day = 0; day < 4; day += 1) {
      for (let k = 0; k < 12; k += 1) near.happen();
      if (day === 1) near.remove();
      clock.advance(DAY_MS);
    }
    const from = instants()[0] as number;
    await newHost();
    pruned(clock.now() - DAY_MS, "daily");
    clock.advance(60_000);
    for (const query of [`network_id=${first.networkId}`, `host_id=${near.hosts[0]?.id}&hops=2`]) {
      const expected = await asked(owner, query, from, null);
      const found = await overTime(owner, query, from, null);
      expect({ nodes: told(found.nodes), links: told(found.links) }).toEqual(expected);
    }
    const { body } = await owner.get(`topology?network_id=${first.networkId}&from=${formatInstant(from)}`);
    expect(Date.parse(body.meta.thinned_until)).toBeGreaterThan(from);
  });

  test("ends after a limited number of changes, not counting statuses, with a cursor", async () => {
    await grown(2);
    const [one, other] = near.ports.filter(({ name }) => name === "Gi1") as [Port, Port];
    const begin = clock.now();
    const plugs: string[] = [];
    for (let k = 0; k < TOPOLOGY_POINTS_MAX + 4; k += 1) {
      clock.advance(1);
      const neighbor = k % 2 === 0 ? { type: "IfEntry" as const, id: other.id } : undefined;
      inTransaction((tx) => tx.update(ifEntryKind, one.id, { neighbor }));
      plugs.push(clock.text());
      clock.advance(1);
      inTransaction((tx) => tx.update(ifEntryKind, one.id, { speed_bps: k + 1 }));
    }
    clock.advance(1_000);
    const query = `network_id=${first.networkId}`;
    const whole = await overTime(owner, query, begin, null);
    const cut = plugs[TOPOLOGY_POINTS_MAX] as string;
    expect([whole.truncated, whole.next_from, whole.to]).toEqual([true, cut, null]);
    const on = plugs.filter((_at, k) => k % 2 === 0);
    const off = plugs.filter((_at, k) => k % 2 === 1);
    const [link] = whole.links;
    expect(link.intervals).toEqual(on.slice(0, TOPOLOGY_POINTS_MAX / 2).map((from, k) => ({ from, to: off[k] })));
    // The state at the end of the last interval, not at its start.
    expect(link.speed_bps).toBe(TOPOLOGY_POINTS_MAX - 1);
    const rest = await made(owner.get(`topology?${query}&from=${cut}`));
    expect([rest.truncated, rest.next_from, rest.links[0].intervals]).toEqual([
      false,
      null,
      [
        { from: cut, to: off.at(-2) },
        { from: on.at(-1), to: off.at(-1) },
      ],
    ]);
    // With one point fewer it is complete.
    const last = Date.parse(cut);
    expect((await overTime(owner, query, begin, last)).truncated).toBe(false);
    expect((await overTime(owner, query, begin, last + 1)).next_from).toBe(cut);
  });

  test("refuses parameters that do not apply", async () => {
    const query = `network_id=${first.networkId}`;
    for (const [more, path] of [
      ["from=-1d&at=-1h", "/at"],
      ["to=-1h&format=mermaid", "/format"],
      ["from=-1d&format=graphml", "/format"],
      ["from=-1h&to=-1d", "/from"],
      ["from=2099-01-01T00:00:00Z", "/from"],
      ["from=yesterday", "/from"],
    ]) {
      const { status, body } = await owner.get(`topology?${query}&${more}`);
      expect([status, body.params.issues.map((issue: Wire) => issue.path)], more).toEqual([400, [path]]);
    }
    expect((await owner.get(`topology?${query}&from=-1d&format=json`)).status).toBe(200);
  });
});
