// Restores and reverts over a random history: a host restored to a timestamp equals its state then; a transaction
// reverted at once leaves the state before it, a revert of the revert the state after it; the plan equals the writes;
// and the ledger verifies after each.

import { afterEach, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import {
  made,
  newCredential,
  newHost,
  newNetwork,
  newSubnet,
  newTag,
  newVlan,
  tcp,
  transactionCount,
  type Wire,
} from "../support/appliance/factories.ts";
import { content, instant, restore, revert } from "../support/appliance/past.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";

let world: RandomWorld;

afterEach(() => world.appliance.close());

const SEEDS = seedsOf(1, 2, 3, 4);

test.each(SEEDS)("a host restored to a random instant equals its state at that time (seed %i)", async (seed) => {
  world = await RandomWorld.open(seed);
  const { random, appliance } = world;
  const { owner } = appliance;
  const instants: string[] = [];
  let restored = 0;
  for (let round = 0; round < 12; round += 1) {
    for (let change = 0; change < 4; change += 1) {
      await world.changeHost();
      instants.push(instant(appliance));
    }
    const [id, at] = [random.pick(world.hostIds), random.pick(instants)];
    const then = await owner.get(`hosts/${id}?at=${at}`);
    if (then.status === 404) {
      expect((await restore(owner, "hosts", id, at)).status).toBe(404);
      continue;
    }
    const thenEntries = (await owner.get(`if-entries?host_id=${id}&limit=0&at=${at}`)).data;
    const before = await world.everything();
    const count = transactionCount(appliance);
    const dry = await made(restore(owner, "hosts", id, at, { dry_run: true }));
    expect(transactionCount(appliance)).toBe(count);
    const done = await made(restore(owner, "hosts", id, at));
    expect<unknown>({ ...done, applied: false, sequence: null }).toEqual(dry);
    expect(done.sequence).toBe(done.actions.every((action: Wire) => action.action === "Skip") ? null : count + 1);
    const now = await made(owner.get(`hosts/${id}`));
    const nowEntries = (await owner.get(`if-entries?host_id=${id}&limit=0`)).data;
    expect(byIdentity(now, nowEntries)).toEqual(byIdentity(then.data, thenEntries));
    world.assertInOrder();
    restored += 1;
    appliance.clock.advance(1_000);
    if (done.sequence !== null && random.integer(2) === 0) {
      await made(revert(owner, done.sequence));
      expect(await world.everything()).toEqual(before);
    }
  }
  expect(restored).toBeGreaterThan(3);
});

test.each(SEEDS)(
  "an immediate revert yields the state before, and reverting that the state after (seed %i)",
  async (seed) => {
    world = await RandomWorld.open(seed);
    const { appliance } = world;
    const { owner } = appliance;
    let reverted = 0;
    for (let round = 0; round < 16; round += 1) {
      const before = await world.everything();
      const count = transactionCount(appliance);
      await world.changeAny();
      appliance.clock.advance(1_000);
      if (transactionCount(appliance) !== count + 1) continue;
      const after = await world.everything();
      const dry = await made(revert(owner, count + 1, { dry_run: true }));
      const undone = await made(revert(owner, count + 1));
      expect<unknown>({ ...undone, applied: false, sequence: null }).toEqual(dry);
      expect(await world.everything()).toEqual(before);
      appliance.clock.advance(1_000);
      await made(revert(owner, undone.sequence));
      expect(await world.everything()).toEqual(after);
      world.assertInOrder();
      reverted += 1;
    }
    expect(reverted).toBeGreaterThan(5);
  },
);

test.each(SEEDS)(
  "an old transaction is reverted as planned, or refused for the planned reasons without a write (seed %i)",
  async (seed) => {
    world = await RandomWorld.open(seed);
    const { appliance, random } = world;
    const { owner } = appliance;
    const start = transactionCount(appliance);
    const outcomes = { done: 0, refused: 0 };
    const isOneSided = () => Math.min(outcomes.done, outcomes.refused) === 0;
    // Names continue from test to test, and the random world depends on them too.
    for (let round = 0; round < 24 || (isOneSided() && round < 96); round += 1) {
      for (let change = 0; change < 2; change += 1) await world.changeAny();
      appliance.clock.advance(1_000);
      const count = transactionCount(appliance);
      const sequence = start + 1 + random.integer(count - start);
      const dry = await made(revert(owner, sequence, { dry_run: true }));
      expect(transactionCount(appliance)).toBe(count);
      const answer = await revert(owner, sequence);
      if (dry.conflicts.length > 0) {
        expect(answer).toMatchObject({ status: 409, body: { params: { conflicts: dry.conflicts } } });
        expect(transactionCount(appliance)).toBe(count);
        outcomes.refused += 1;
      } else {
        expect({ ...answer.data, applied: false, sequence: null }).toEqual(dry);
        outcomes.done += 1;
      }
      world.assertInOrder();
    }
    expect(isOneSided(), JSON.stringify(outcomes)).toBe(false);
  },
);

/** An inventory with random changes through the API. */
class RandomWorld {
  readonly appliance: TestAppliance;
  readonly random: SeededRandom;
  readonly hostIds: string[] = [];
  private readonly tags: string[] = [];
  private readonly vlans: string[] = [];
  private readonly credentials: Wire[] = [];

  private constructor(appliance: TestAppliance, seed: number) {
    this.appliance = appliance;
    this.random = seededRandom(seed);
  }

  static async open(seed: number): Promise<RandomWorld> {
    const appliance = await newAppliance();
    const opened = new RandomWorld(appliance, seed);
    await newSubnet(appliance, { cidr: "10.9.0.0/16" });
    await made(appliance.owner.post("custom-fields", { key: "rack", type: "text", kinds: ["host"] }));
    await made(
      appliance.owner.post("custom-fields", {
        key: "height",
        type: "number",
        kinds: ["host"],
        default: 1,
        required: true,
      }),
    );
    for (let count = 0; count < 3; count += 1) {
      opened.tags.push((await newTag(appliance)).id);
      opened.vlans.push((await newVlan(appliance)).id);
      opened.credentials.push(
        await newCredential(appliance, {
          credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path: "c" } },
        }),
      );
    }
    for (let count = 0; count < 3; count += 1) await opened.makeHost();
    return opened;
  }

  /** One write, with or without an effect, of a host and its children. */
  async changeHost(): Promise<void> {
    const { owner } = this.appliance;
    const id = this.random.pick(this.hostIds);
    const answer = await owner.get(`hosts/${id}`);
    if (answer.status !== 200) {
      await this.makeHost();
      return;
    }
    const host = answer.data as Wire;
    const steps: Array<() => Promise<unknown>> = [
      () => made(owner.put(`hosts/${id}`, { id, ...this.described(), ...this.children(host) })),
      () => made(owner.put(`hosts/${id}`, { id, ...this.described() })),
      () => this.changeEntry(host),
      () => this.changeEntry(host),
      () => this.changeCredential(host),
      () => this.renumberOne(host),
      () => this.renumberOne(host),
      () => this.removeOne(host),
      () => (this.random.integer(3) === 0 ? made(owner.delete(`hosts/${id}`)) : this.changeEntry(host)),
    ];
    await this.random.pick(steps)();
  }

  /** One write of any kind, including the containers of hosts. */
  async changeAny(): Promise<void> {
    const { owner, first } = this.appliance;
    const networkId = first.networkId;
    const live = async (plural: string): Promise<Wire[]> => (await owner.get(`${plural}?limit=1000`)).data;
    const [tags, vlans, subnets, networks] = [
      await live("tags"),
      await live("vlans"),
      await live("subnets"),
      await live("networks"),
    ];
    const number = this.random.integer(4_000) + 1;
    const steps: Array<() => Promise<unknown>> = [
      () => this.changeHost(),
      () => this.changeHost(),
      () => made(owner.put(`tags/${this.random.pick(tags).id}`, { name: `tag ${number}`, color: "Red" })),
      () => made(owner.delete(`tags/${this.random.pick(tags).id}`)),
      () => made(owner.delete(`vlans/${this.random.pick(vlans).id}?cascade=true`)),
      () => made(owner.delete(`subnets/${this.random.pick(subnets).id}?cascade=true`)),
      () =>
        owner.post("subnets", {
          network_id: networkId,
          cidr: this.random.pick(["10.9.0.0/16", "10.9.1.0/24", "10.9.0.0/24"]),
        }),
      () => newVlan(this.appliance).then((vlan) => this.vlans.push(vlan.id)),
      () => newTag(this.appliance).then((tag) => this.tags.push(tag.id)),
      () => newNetwork(this.appliance, { tags: this.some(tags.map((tag) => tag.id)) }),
      () =>
        networks.length < 2
          ? newNetwork(this.appliance)
          : made(owner.delete(`networks/${(networks.at(-1) as Wire).id}?cascade=true`)),
      () =>
        made(
          owner.post(
            "hosts/bulk",
            [1, 2].map((each) => ({
              network_id: this.random.pick(networks).id,
              name: `bulk ${each}`,
              interfaces: [{ if_index: each, if_descr: "x", fdb_macs: this.macs() }],
            })),
          ),
        ),
      () => made(owner.delete(`credentials/${this.random.pick(this.credentials).id}?cascade=true`)),
    ];
    try {
      await this.random.pick(steps)();
    } catch {
      // Refused, so not a change.
    }
    this.tags.splice(0, this.tags.length, ...(await live("tags")).map((tag) => tag.id));
    this.vlans.splice(0, this.vlans.length, ...(await live("vlans")).map((vlan) => vlan.id));
  }

  /** All live records, as answered. */
  async everything(): Promise<Wire> {
    const all: Wire = {};
    for (const plural of ["networks", "subnets", "vlans", "tags", "credentials", "hosts", "if-entries"])
      all[plural] = (await this.appliance.owner.get(`${plural}?limit=0`)).data;
    return content(all);
  }

  assertInOrder(): void {
    const db = openReadOnly(this.appliance.databasePath);
    try {
      expect(verifyLedger(db, KINDS).findings).toEqual([]);
    } finally {
      db.$client.close();
    }
  }

  private async makeHost(): Promise<void> {
    const host = await newHost(this.appliance, { ...this.described(), ...this.children({}) });
    this.hostIds.push(host.id);
  }

  private described(): Wire {
    return {
      name: `switch ${this.random.integer(3)}`,
      hidden: this.random.integer(2) === 0,
      tags: this.some(this.tags),
      hostname: this.random.pick([null, "a.example", "b.example"]),
      description: this.random.pick([null, "", "text"]),
      custom_fields: this.random.pick<Wire>([{}, { rack: null }, { rack: "R1" }, { rack: "R2", height: 2.5 }]),
    };
  }

  /** Lists that remove and add children of the host. */
  private children(host: Wire): Wire {
    const kept = (field: string): Wire[] => this.some((host[field] ?? []) as Wire[]);
    const addresses = [
      ...kept("ip_addresses").map(({ id, ip_address, name }) => ({ id, ip_address, name })),
      { ip_address: `10.9.${this.random.integer(2)}.${1 + this.random.integer(6)}`, name: this.random.pick(["", "x"]) },
    ];
    const ports = [
      ...kept("ports").map(({ id, number, protocol }) => ({ id, number, protocol })),
      { number: 1 + this.random.integer(5), protocol: this.random.pick(["Tcp", "Udp"]) },
    ];
    const byAddress = new Map(addresses.map((each) => [each.ip_address, each]));
    const byPort = new Map(ports.map((each) => [`${each.number}/${each.protocol}`, each]));
    const targets = [
      ...[...byPort.values()]
        .filter((port) => "id" in port)
        .map((port) => ({ type: "Port", port_id: (port as Wire).id, ip_address_id: null })),
      ...[...byAddress.values()]
        .filter((address) => "id" in address)
        .map((address) => ({ type: "IpAddress", ip_address_id: (address as Wire).id })),
    ];
    const services = ["web", "ssh"]
      .filter(() => this.random.integer(3) > 0)
      .map((name) => ({ name, service_definition: "D", tags: this.some(this.tags), bindings: this.some(targets) }));
    return { ip_addresses: [...byAddress.values()], ports: [...byPort.values()], services };
  }

  private async changeEntry(host: Wire): Promise<void> {
    const { owner } = this.appliance;
    const entries = host.interfaces as Wire[];
    const addresses = (host.ip_addresses as Wire[]).map((each) => each.id as string);
    const optional = {
      if_alias: this.random.pick([null, "uplink", "access"]),
      ip_address_id: this.random.pick([null, ...addresses]),
      native_vlan_id: this.random.pick([null, ...this.vlans]),
      vlan_ids: this.some(this.vlans),
      fdb_macs: this.macs(),
      neighbor:
        entries.length === 0 ? null : this.random.pick([null, { type: "IfEntry", id: this.random.pick(entries).id }]),
    };
    const if_index = 1 + this.random.integer(4);
    const there = entries.find((entry) => entry.if_index === if_index);
    if (there === undefined)
      await made(owner.post("if-entries", { host_id: host.id, if_index, if_descr: `port ${if_index}`, ...optional }));
    else await made(owner.put(`if-entries/${there.id}`, { if_index, if_descr: `port ${if_index}`, ...optional }));
  }

  private async changeCredential(host: Wire): Promise<void> {
    const addresses = (host.ip_addresses as Wire[]).map((each) => each.id as string);
    const live = (await this.appliance.owner.get("credentials")).data.map((credential: Wire) => credential.id);
    const assignments = this.some(live as string[]).map((credential_id) => {
      const some = this.some(addresses);
      return { credential_id, ...(some.length === 0 ? {} : { ip_address_ids: some }) };
    });
    const { id, name, hidden, tags } = host;
    await made(
      this.appliance.owner.put(`hosts/${id}`, { id, name, hidden, tags, credential_assignments: assignments }),
    );
  }

  /** Another address, number or name for a child under the same id; refused if taken. */
  private async renumberOne(host: Wire): Promise<void> {
    const { owner } = this.appliance;
    const [addresses, ports, services] = [host.ip_addresses, host.ports, host.services] as [Wire[], Wire[], Wire[]];
    if (addresses.length > 0)
      await owner.put(`ip-addresses/${this.random.pick(addresses).id}`, {
        ip_address: `10.9.0.${1 + this.random.integer(6)}`,
      });
    if (ports.length > 0) await owner.put(`ports/${this.random.pick(ports).id}`, tcp(1 + this.random.integer(5)));
    if (services.length > 0)
      await owner.put(`services/${this.random.pick(services).id}`, {
        name: this.random.pick(["web", "ssh", "dns"]),
        service_definition: "D",
      });
  }

  private async removeOne(host: Wire): Promise<void> {
    const parts = [
      ["ip-addresses", host.ip_addresses],
      ["ports", host.ports],
      ["services", host.services],
      ["if-entries", host.interfaces],
    ] as Array<[string, Wire[]]>;
    const [plural, records] = this.random.pick(parts);
    if (records.length > 0) await made(this.appliance.owner.delete(`${plural}/${this.random.pick(records).id}`));
  }

  private some<T>(items: readonly T[]): T[] {
    return items.filter(() => this.random.integer(2) === 0);
  }

  private macs(): string[] {
    return this.some([1, 2, 3]).map((number) => `00:00:5e:00:53:0${number}`);
  }
}

/** A host by the identity of its children: neither their incarnation nor their order matters. */
function byIdentity(host: Wire, entries: readonly Wire[]): unknown {
  const names = new Map<string, string>();
  for (const each of host.ip_addresses) names.set(each.id, `address ${each.ip_address}`);
  for (const each of host.ports) names.set(each.id, `port ${each.number}/${each.protocol}`);
  for (const each of host.services) names.set(each.id, `service ${each.name}`);
  for (const each of host.interfaces) names.set(each.id, `interface ${each.if_index}`);
  for (const service of host.services)
    for (const each of service.bindings)
      names.set(
        each.id,
        `binding ${names.get(each.service_id)} ${names.get(each.port_id)} ${names.get(each.ip_address_id)}`,
      );
  const text = JSON.stringify(content({ host, entries })).replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => names.get(id) ?? id,
  );
  const { host: named, entries: namedEntries } = JSON.parse(text) as Wire;
  const sorted = (list: Wire[]): Wire[] =>
    list
      .map(({ created_at: _made, lineage_id: _first, ...rest }) => rest)
      .sort((a, b) => (String(a.id ?? a.credential_id) < String(b.id ?? b.credential_id) ? -1 : 1));
  return {
    ...named,
    ...Object.fromEntries(["ip_addresses", "ports", "interfaces"].map((field) => [field, sorted(named[field])])),
    services: sorted(named.services.map((service: Wire) => ({ ...service, bindings: sorted(service.bindings) }))),
    credential_assignments: sorted(named.credential_assignments),
    entries: sorted(namedEntries),
  };
}
