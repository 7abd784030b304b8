// Host neighborhoods compared with a naive model that knows every cable, at random timestamps and for callers with
// different access.

import { expect, test } from "bun:test";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const { clock, first, inTransaction, newHost, newIfEntry, newNetwork, newUser, owner } = applianceForEach();

const PORTS = 3;

interface Port {
  readonly id: string;
  readonly hostId: string;
}

/** State from a timestamp on. */
interface State {
  readonly at: number;
  readonly hosts: ReadonlySet<string>;
  /** The entered remote end, by port. */
  readonly far: ReadonlyMap<string, Port>;
}

/** A network with changing cables, and all its past states. */
class Cabling {
  readonly networkId: string;
  readonly states: State[] = [];
  readonly ports: Port[] = [];
  private readonly hosts = new Set<string>();
  private readonly far = new Map<string, Port>();

  constructor(networkId: string) {
    this.networkId = networkId;
  }

  async addHost(name: string): Promise<void> {
    clock.advance(1_000);
    const { id: hostId } = await newHost({ name, network_id: this.networkId });
    this.hosts.add(hostId);
    this.saveState();
    for (let k = 1; k <= PORTS; k += 1) {
      clock.advance(1_000);
      this.ports.push({ id: (await newIfEntry(hostId, { if_name: `Gi${k}` })).id, hostId });
    }
  }

  /** Enters or removes a remote end. */
  connect(port: Port, far: Port | null): void {
    clock.advance(1 + (this.states.length % 3));
    inTransaction((tx) =>
      tx.update(ifEntryKind, port.id, { neighbor: far === null ? undefined : { type: "IfEntry", id: far.id } }),
    );
    if (far === null) this.far.delete(port.id);
    else this.far.set(port.id, far);
    this.saveState();
  }

  remove(hostId: string): void {
    clock.advance(1_000);
    inTransaction((tx) => removeRecord(tx, hostKind, hostId, true));
    this.hosts.delete(hostId);
    for (const [id, far] of this.far)
      if (far.hostId === hostId || this.ports.find((port) => port.id === id)?.hostId === hostId) this.far.delete(id);
    this.saveState();
  }

  livePorts(): Port[] {
    return this.ports.filter(({ hostId }) => this.hosts.has(hostId));
  }

  /** Ids of nodes and links as of a timestamp, within a number of hops of a host; all without a center. */
  idsAt(at: number, center?: string, hops = 0): { readonly nodes: string[]; readonly links: string[] } {
    const state = this.states.findLast((state) => state.at <= at);
    const cables = new Map<string, [string, string]>();
    for (const [id, far] of state?.far ?? [])
      cables.set([id, far.id].sort().join("--"), [
        (this.ports.find((port) => port.id === id) as Port).hostId,
        far.hostId,
      ]);
    const nodes = new Set(center === undefined ? [...cables.values()].flat() : []);
    if (center !== undefined && state?.hosts.has(center) === true) nodes.add(center);
    for (let hop = 0; hop < hops; hop += 1) {
      const crossed = [...cables.values()].filter((ends) => ends.some((id) => nodes.has(id)));
      for (const id of crossed.flat()) nodes.add(id);
    }
    const links = [...cables].filter(([, ends]) => ends.every((id) => nodes.has(id))).map(([id]) => id);
    return { nodes: [...nodes].sort(), links: links.sort() };
  }

  private saveState(): void {
    this.states.push({ at: clock.now(), hosts: new Set(this.hosts), far: new Map(this.far) });
  }
}

function sortedIds(data: JsonRecord): { nodes: string[]; links: string[] } {
  const ids = (items: JsonRecord[]) => items.map(({ id }) => id).sort();
  return { nodes: ids(data.nodes), links: ids(data.links) };
}

test("a neighborhood contains everything within the given number of links, at every timestamp, for every caller", async () => {
  const random = seededRandom(17);
  const far = await newNetwork();
  const [near, outOfReach] = [new Cabling(first.networkId), new Cabling(far.id)];
  for (const [cabling, count] of [
    [near, 9],
    [outOfReach, 4],
  ] as const)
    for (let k = 0; k < count; k += 1) await cabling.addHost(`switch-${k}`);
  const hostIds = (cabling: Cabling) => [...new Set(cabling.ports.map(({ hostId }) => hostId))];
  for (let step = 0; step < 90; step += 1) {
    const cabling = step % 4 === 3 ? outOfReach : near;
    const port = random.pick(cabling.livePorts());
    if (step === 40) cabling.remove(port.hostId);
    else
      cabling.connect(
        port,
        random.integer(4) === 0 ? null : random.pick(cabling.livePorts().filter(({ id }) => id !== port.id)),
      );
  }
  const { client: member } = await newUser({ role: "Viewer", networkIds: [first.networkId] });
  let found = 0;
  const from = (near.states[0] as State).at - 1;
  for (let round = 0; round < 160; round += 1) {
    const client: Client = round % 2 === 0 ? owner : member;
    const cabling = round % 5 === 4 ? outOfReach : near;
    const at = round % 7 === 0 ? clock.now() : from + random.integer(clock.now() - from);
    const center = random.pick(hostIds(cabling));
    const hops = 1 + random.integer(4);
    const inNetwork = round % 3 === 0 ? `&network_id=${cabling.networkId}` : "";
    const topology = await expectOk(
      client.get(
        `topology?host_id=${center}&hops=${hops}${inNetwork}${round % 7 === 0 ? "" : `&at=${new Date(at).toISOString()}`}`,
      ),
    );
    const expected = client === owner || cabling === near ? cabling.idsAt(at, center, hops) : { nodes: [], links: [] };
    expect(sortedIds(topology), `turn ${round}`).toEqual(expected);
    expect(topology.network_id).toBe(expected.nodes.length > 0 || inNetwork !== "" ? cabling.networkId : null);
    found += expected.links.length;
  }
  expect(found).toBeGreaterThan(100);
  const [center] = hostIds(near);
  expect(sortedIds(await expectOk(owner.get(`topology?host_id=${center}&network_id=${far.id}`)))).toEqual({
    nodes: [],
    links: [],
  });
});
