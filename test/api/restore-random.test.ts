// Restores and reverts over a random history: a host restored to a timestamp equals its state then; a transaction
// reverted at once leaves the state before it, a revert of the revert the state after it; the plan equals the writes;
// and the ledger verifies after each.

import { afterEach, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import {
  expectOk,
  type JsonRecord,
  newCredential,
  newHost,
  newNetwork,
  newSubnet,
  newTag,
  newVlan,
  tcp,
  transactionCount,
} from "../support/appliance/factories.ts";
import { content, instant, restore, revert } from "../support/appliance/past.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";

let inventory: RandomInventory;

afterEach(() => inventory.appliance.close());

const SEEDS = seedsOf(1, 2, 3, 4);

test.each(SEEDS)("a host restored to a random timestamp equals its state at that time (seed %i)", async (seed) => {
  inventory = await RandomInventory.open(seed);
  const { random, appliance } = inventory;
  const { owner } = appliance;
  const instants: string[] = [];
  let restored = 0;
  for (let round = 0; round < 12; round += 1) {
    for (let change = 0; change < 4; change += 1) {
      await inventory.changeHost();
      instants.push(instant(appliance));
    }
    const [id, at] = [random.pick(inventory.hostIds), random.pick(instants)];
    const past = await owner.get(`hosts/${id}?at=${at}`);
    if (past.status === 404) {
      expect((await restore(owner, "hosts", id, at)).status).toBe(404);
      continue;
    }
    const pastEntries = (await owner.get(`if-entries?host_id=${id}&limit=0&at=${at}`)).data;
    const before = await inventory.snapshot();
    const count = transactionCount(appliance);
    const dry = await expectOk(restore(owner, "hosts", id, at, { dry_run: true }));
    expect(transactionCount(appliance)).toBe(count);
    const done = await expectOk(restore(owner, "hosts", id, at));
    expect<unknown>({ ...done, applied: false, sequence: null }).toEqual(dry);
    expect(done.sequence).toBe(done.actions.every((action: JsonRecord) => action.action === "Skip") ? null : count + 1);
    const current = await expectOk(owner.get(`hosts/${id}`));
    const currentEntries = (await owner.get(`if-entries?host_id=${id}&limit=0`)).data;
    expect(byIdentity(current, currentEntries)).toEqual(byIdentity(past.data, pastEntries));
    inventory.assertVerified();
    restored += 1;
    appliance.clock.advance(1_000);
    if (done.sequence !== null && random.integer(2) === 0) {
      await expectOk(revert(owner, done.sequence));
      expect(await inventory.snapshot()).toEqual(before);
    }
  }
  expect(restored).toBeGreaterThan(3);
});

test.each(SEEDS)(
  "an immediate revert yields the state before, and reverting that yields the state after (seed %i)",
  async (seed) => {
    inventory = await RandomInventory.open(seed);
    const { appliance } = inventory;
    const { owner } = appliance;
    let reverted = 0;
    for (let round = 0; round < 16; round += 1) {
      const before = await inventory.snapshot();
      const count = transactionCount(appliance);
      await inventory.changeAny();
      appliance.clock.advance(1_000);
      if (transactionCount(appliance) !== count + 1) continue;
      const after = await inventory.snapshot();
      const dry = await expectOk(revert(owner, count + 1, { dry_run: true }));
      const undone = await expectOk(revert(owner, count + 1));
      expect<unknown>({ ...undone, applied: false, sequence: null }).toEqual(dry);
      expect(await inventory.snapshot()).toEqual(before);
      appliance.clock.advance(1_000);
      await expectOk(revert(owner, undone.sequence));
      expect(await inventory.snapshot()).toEqual(after);
      inventory.assertVerified();
      reverted += 1;
    }
    expect(reverted).toBeGreaterThan(5);
  },
);

test.each(SEEDS)(
  "an old transaction is reverted as planned, or refused for the planned reasons without a write (seed %i)",
  async (seed) => {
    inventory = await RandomInventory.open(seed);
    const { appliance, random } = inventory;
    const { owner } = appliance;
    const start = transactionCount(appliance);
    const outcomes = { done: 0, refused: 0 };
    const isOneSided = () => Math.min(outcomes.done, outcomes.refused) === 0;
    // Names continue from test to test, and the random inventory depends on them too.
    for (let round = 0; round < 24 || (isOneSided() && round < 96); round += 1) {
      for (let change = 0; change < 2; change += 1) await inventory.changeAny();
      appliance.clock.advance(1_000);
      const count = transactionCount(appliance);
      const sequence = start + 1 + random.integer(count - start);
      const dry = await expectOk(revert(owner, sequence, { dry_run: true }));
      expect(transactionCount(appliance)).toBe(count);
      const response = await revert(owner, sequence);
      if (dry.conflicts.length > 0) {
        expect(response).toMatchObject({ status: 409, body: { params: { conflicts: dry.conflicts } } });
        expect(transactionCount(appliance)).toBe(count);
        outcomes.refused += 1;
      } else {
        expect({ ...response.data, applied: false, sequence: null }).toEqual(dry);
        outcomes.done += 1;
      }
      inventory.assertVerified();
    }
    expect(isOneSided(), JSON.stringify(outcomes)).toBe(false);
  },
);

/** An inventory with random changes through the API. */
class RandomInventory {
  readonly appliance: TestAppliance;
  readonly random: SeededRandom;
  readonly hostIds: string[] = [];
  private readonly tags: string[] = [];
  private readonly vlans: string[] = [];
  private readonly credentials: JsonRecord[] = [];

  private constructor(appliance: TestAppliance, seed: number) {
    this.appliance = appliance;
    this.random = seededRandom(seed);
  }

  static async open(seed: number): Promise<RandomInventory> {
    const appliance = await newAppliance();
    const opened = new RandomInventory(appliance, seed);
    await newSubnet(appliance, { cidr: "10.9.0.0/16" });
    await expectOk(appliance.owner.post("custom-fields", { key: "rack", type: "text", kinds: ["host"] }));
    await expectOk(
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
    for (let count = 0; count < 3; count += 1) await opened.createHost();
    return opened;
  }

  /** One write, with or without an effect, of a host and its children. */
  async changeHost(): Promise<void> {
    const { owner } = this.appliance;
    const id = this.random.pick(this.hostIds);
    const response = await owner.get(`hosts/${id}`);
    if (response.status !== 200) {
      await this.createHost();
      return;
    }
    const host = response.data as JsonRecord;
    const steps: Array<() => Promise<unknown>> = [
      () => expectOk(owner.put(`hosts/${id}`, { id, ...this.randomFields(), ...this.children(host) })),
      () => expectOk(owner.put(`hosts/${id}`, { id, ...this.randomFields() })),
      () => this.changeEntry(host),
      () => this.changeEntry(host),
      () => this.changeCredential(host),
      () => this.renumberChildren(host),
      () => this.renumberChildren(host),
      () => this.removeChild(host),
      () => (this.random.integer(3) === 0 ? expectOk(owner.delete(`hosts/${id}`)) : this.changeEntry(host)),
    ];
    await this.random.pick(steps)();
  }

  /** One write of any kind, including the containers of hosts. */
  async changeAny(): Promise<void> {
    const { owner, first } = this.appliance;
    const networkId = first.networkId;
    const live = async (plural: string): Promise<JsonRecord[]> => (await owner.get(`${plural}?limit=1000`)).data;
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
      () => expectOk(owner.put(`tags/${this.random.pick(tags).id}`, { name: `tag ${number}`, color: "Red" })),
      () => expectOk(owner.delete(`tags/${this.random.pick(tags).id}`)),
      () => expectOk(owner.delete(`vlans/${this.random.pick(vlans).id}?cascade=true`)),
      () => expectOk(owner.delete(`subnets/${this.random.pick(subnets).id}?cascade=true`)),
      () =>
        owner.post("subnets", {
          network_id: networkId,
          cidr: this.random.pick(["10.9.0.0/16", "10.9.1.0/24", "10.9.0.0/24"]),
        }),
      () => newVlan(this.appliance).then((vlan) => this.vlans.push(vlan.id)),
      () => newTag(this.appliance).then((tag) => this.tags.push(tag.id)),
      () => newNetwork(this.appliance, { tags: this.sample(tags.map((tag) => tag.id)) }),
      () =>
        networks.length < 2
          ? newNetwork(this.appliance)
          : expectOk(owner.delete(`networks/${(networks.at(-1) as JsonRecord).id}?cascade=true`)),
      () =>
        expectOk(
          owner.post(
            "hosts/bulk",
            [1, 2].map((number) => ({
              network_id: this.random.pick(networks).id,
              name: `bulk ${number}`,
              interfaces: [{ if_index: number, if_descr: "x", fdb_macs: this.macs() }],
            })),
          ),
        ),
      () => expectOk(owner.delete(`credentials/${this.random.pick(this.credentials).id}?cascade=true`)),
    ];
    try {
      await this.random.pick(steps)();
    } catch {
      // Refused, so not a change.
    }
    this.tags.splice(0, this.tags.length, ...(await live("tags")).map((tag) => tag.id));
    this.vlans.splice(0, this.vlans.length, ...(await live("vlans")).map((vlan) => vlan.id));
  }

  /** All live records, as returned. */
  async snapshot(): Promise<JsonRecord> {
    const all: JsonRecord = {};
    for (const plural of ["networks", "subnets", "vlans", "tags", "credentials", "hosts", "if-entries"])
      all[plural] = (await this.appliance.owner.get(`${plural}?limit=0`)).data;
    return content(all);
  }

  assertVerified(): void {
    const db = openReadOnly(this.appliance.databasePath);
    try {
      expect(verifyLedger(db, KINDS).findings).toEqual([]);
    } finally {
      db.$client.close();
    }
  }

  private async createHost(): Promise<void> {
    const host = await newHost(this.appliance, { ...this.randomFields(), ...this.children({}) });
    this.hostIds.push(host.id);
  }

  private randomFields(): JsonRecord {
    return {
      name: `switch ${this.random.integer(3)}`,
      hidden: this.random.integer(2) === 0,
      tags: this.sample(this.tags),
      hostname: this.random.pick([null, "a.example", "b.example"]),
      description: this.random.pick([null, "", "text"]),
      custom_fields: this.random.pick<JsonRecord>([{}, { rack: null }, { rack: "R1" }, { rack: "R2", height: 2.5 }]),
    };
  }

  /** Lists that remove and add children of the host. */
  private children(host: JsonRecord): JsonRecord {
    const retained = (field: string): JsonRecord[] => this.sample((host[field] ?? []) as JsonRecord[]);
    const addresses = [
      ...retained("ip_addresses").map(({ id, ip_address, name }) => ({ id, ip_address, name })),
      { ip_address: `10.9.${this.random.integer(2)}.${1 + this.random.integer(6)}`, name: this.random.pick(["", "x"]) },
    ];
    const ports = [
      ...retained("ports").map(({ id, number, protocol }) => ({ id, number, protocol })),
      { number: 1 + this.random.integer(5), protocol: this.random.pick(["Tcp", "Udp"]) },
    ];
    const byAddress = new Map(addresses.map((address) => [address.ip_address, address]));
    const byPort = new Map(ports.map((port) => [`${port.number}/${port.protocol}`, port]));
    const targets = [
      ...[...byPort.values()]
        .filter((port) => "id" in port)
        .map((port) => ({ type: "Port", port_id: (port as JsonRecord).id, ip_address_id: null })),
      ...[...byAddress.values()]
        .filter((address) => "id" in address)
        .map((address) => ({ type: "IpAddress", ip_address_id: (address as JsonRecord).id })),
    ];
    const services = ["web", "ssh"]
      .filter(() => this.random.integer(3) > 0)
      .map((name) => ({ name, service_definition: "D", tags: this.sample(this.tags), bindings: this.sample(targets) }));
    return { ip_addresses: [...byAddress.values()], ports: [...byPort.values()], services };
  }

  private async changeEntry(host: JsonRecord): Promise<void> {
    const { owner } = this.appliance;
    const entries = host.interfaces as JsonRecord[];
    const addresses = (host.ip_addresses as JsonRecord[]).map((address) => address.id as string);
    const optional = {
      if_alias: this.random.pick([null, "uplink", "access"]),
      ip_address_id: this.random.pick([null, ...addresses]),
      native_vlan_id: this.random.pick([null, ...this.vlans]),
      vlan_ids: this.sample(this.vlans),
      fdb_macs: this.macs(),
      neighbor:
        entries.length === 0 ? null : this.random.pick([null, { type: "IfEntry", id: this.random.pick(entries).id }]),
    };
    const if_index = 1 + this.random.integer(4);
    const existing = entries.find((entry) => entry.if_index === if_index);
    if (existing === undefined)
      await expectOk(
        owner.post("if-entries", { host_id: host.id, if_index, if_descr: `port ${if_index}`, ...optional }),
      );
    else
      await expectOk(owner.put(`if-entries/${existing.id}`, { if_index, if_descr: `port ${if_index}`, ...optional }));
  }

  private async changeCredential(host: JsonRecord): Promise<void> {
    const addresses = (host.ip_addresses as JsonRecord[]).map((address) => address.id as string);
    const live = (await this.appliance.owner.get("credentials")).data.map((credential: JsonRecord) => credential.id);
    const assignments = this.sample(live as string[]).map((credential_id) => {
      const sample = this.sample(addresses);
      return { credential_id, ...(sample.length === 0 ? {} : { ip_address_ids: sample }) };
    });
    const { id, name, hidden, tags } = host;
    await expectOk(
      this.appliance.owner.put(`hosts/${id}`, { id, name, hidden, tags, credential_assignments: assignments }),
    );
  }

  /** Gives children another address, number or name under the same ids; refused if taken. */
  private async renumberChildren(host: JsonRecord): Promise<void> {
    const { owner } = this.appliance;
    const [addresses, ports, services] = [host.ip_addresses, host.ports, host.services] as [
      JsonRecord[],
      JsonRecord[],
      JsonRecord[],
    ];
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

  private async removeChild(host: JsonRecord): Promise<void> {
    const parts = [
      ["ip-addresses", host.ip_addresses],
      ["ports", host.ports],
      ["services", host.services],
      ["if-entries", host.interfaces],
    ] as Array<[string, JsonRecord[]]>;
    const [plural, records] = this.random.pick(parts);
    if (records.length > 0) await expectOk(this.appliance.owner.delete(`${plural}/${this.random.pick(records).id}`));
  }

  private sample<T>(items: readonly T[]): T[] {
    return items.filter(() => this.random.integer(2) === 0);
  }

  private macs(): string[] {
    return this.sample([1, 2, 3]).map((number) => `00:00:5e:00:53:0${number}`);
  }
}

/** A host by the identity of its children: neither their incarnation nor their order matters. */
function byIdentity(host: JsonRecord, entries: readonly JsonRecord[]): unknown {
  const names = new Map<string, string>();
  for (const address of host.ip_addresses) names.set(address.id, `address ${address.ip_address}`);
  for (const port of host.ports) names.set(port.id, `port ${port.number}/${port.protocol}`);
  for (const service of host.services) names.set(service.id, `service ${service.name}`);
  for (const entry of host.interfaces) names.set(entry.id, `interface ${entry.if_index}`);
  for (const service of host.services)
    for (const binding of service.bindings)
      names.set(
        binding.id,
        `binding ${names.get(binding.service_id)} ${names.get(binding.port_id)} ${names.get(binding.ip_address_id)}`,
      );
  const text = JSON.stringify(content({ host, entries })).replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => names.get(id) ?? id,
  );
  const { host: namedHost, entries: namedEntries } = JSON.parse(text) as JsonRecord;
  const sorted = (list: JsonRecord[]): JsonRecord[] =>
    list
      .map(({ created_at: _made, lineage_id: _first, ...rest }) => rest)
      .sort((a, b) => (String(a.id ?? a.credential_id) < String(b.id ?? b.credential_id) ? -1 : 1));
  return {
    ...namedHost,
    ...Object.fromEntries(["ip_addresses", "ports", "interfaces"].map((field) => [field, sorted(namedHost[field])])),
    services: sorted(
      namedHost.services.map((service: JsonRecord) => ({ ...service, bindings: sorted(service.bindings) })),
    ),
    credential_assignments: sorted(namedHost.credential_assignments),
    entries: sorted(namedEntries),
  };
}
