// Random networks with merges and splits by users, later scans, and undos: the inventory matches a model of which
// machines make up each host, its past does not change, and credentials reach no additional address.

import { expect, test } from "bun:test";
import { Credentials } from "../../src/discovery/scans/credentials.ts";
import { readKnownNetwork } from "../../src/discovery/scans/known-network.ts";
import type { SnmpCredential } from "../../src/discovery/snmp/credential.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import type { Client } from "../support/appliance/client.ts";
import {
  expectOk,
  type JsonRecord,
  newCredential,
  newMember,
  newSubnet,
  transactionCount,
} from "../support/appliance/factories.ts";
import { content, findingsOf, instant, tick } from "../support/appliance/past.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

const SEEDS = seedsOf(1, 2, 3, 4, 5, 6);
const ROUNDS = 9;

interface Machine {
  readonly number: number;
  readonly isDevice: boolean;
  readonly hasSerial: boolean;
  readonly ports: number;
  location: string;
  address: string;
  /** All addresses that it ever had. */
  readonly addresses: string[];
}

/** A transaction, and the assignment of machines to hosts before it. */
interface Step {
  readonly sequence: number;
  readonly groups: ReadonlyMap<string, readonly Machine[]>;
}

class RandomNetwork {
  readonly appliance: TestAppliance;
  private readonly random: SeededRandom;
  private readonly scans: ScanWriter;
  private readonly machines: Machine[] = [];
  /** Model: machines by host id. */
  private groups = new Map<string, readonly Machine[]>();
  private readonly steps: Step[] = [];
  private readonly remembered = new Map<string, unknown>();
  /** Host into which a past version was merged, or null, by version. */
  private readonly mergeTargets = new Map<string, string | null>();
  private lastAddress = 10;
  readonly done = { consolidated: 0, split: 0, reverted: 0 };

  private constructor(appliance: TestAppliance, seed: number) {
    this.appliance = appliance;
    this.random = seededRandom(seed);
    this.scans = new ScanWriter(appliance);
    for (let number = 1; number <= 9; number += 1) {
      const isDevice = number <= 6;
      const address = this.newAddress();
      this.machines.push({
        number,
        isDevice,
        hasSerial: this.random.integer(2) === 0,
        ports: 1 + this.random.integer(3),
        location: "here",
        address,
        addresses: [address],
      });
    }
  }

  static async open(seed: number): Promise<RandomNetwork> {
    const appliance = await newAppliance();
    const network = new RandomNetwork(appliance, seed);
    await newSubnet(appliance, { cidr: "10.0.0.0/16" });
    await network.scan();
    for (const host of await network.hosts())
      network.groups.set(
        host.id,
        network.machines.filter(({ address }) =>
          host.ip_addresses.some(({ ip_address }: JsonRecord) => ip_address === address),
        ),
      );
    expect(network.groups.size).toBe(network.machines.length);
    await network.assign();
    return network;
  }

  /** Assigns credentials to some hosts, for all or some of their addresses; some addresses become pending. */
  private async assign(): Promise<void> {
    const { client: member } = await newMember(this.appliance);
    const ids = [...this.groups.keys()];
    for (let count = 0; count < 4; count += 1) {
      tick(this.appliance);
      const hosts = new Set([this.random.pick(ids), this.random.pick(ids), this.random.pick(ids)]);
      const host_assignments: JsonRecord[] = [];
      for (const host_id of hosts) {
        const addresses = (await this.host(host_id)).ip_addresses.map(({ id }: JsonRecord) => id);
        host_assignments.push({
          host_id,
          ...(this.random.integer(2) === 0 ? {} : { ip_address_ids: [this.random.pick(addresses)] }),
        });
      }
      await newCredential(this.appliance, { host_assignments });
      await this.addPendingAddress(member, this.random.pick(ids));
    }
  }

  private async addPendingAddress(member: Client, host_id: string): Promise<void> {
    tick(this.appliance);
    await expectOk(member.post("ip-addresses", { host_id, ip_address: this.newAddress() }));
  }

  private newAddress(): string {
    this.lastAddress += 1;
    return `10.0.0.${this.lastAddress}`;
  }

  async hosts(): Promise<JsonRecord[]> {
    return (await expectOk(this.appliance.owner.get("hosts?limit=0"))) as JsonRecord[];
  }

  private host(id: string): Promise<JsonRecord> {
    return expectOk(this.appliance.owner.get(`hosts/${id}`));
  }

  /** Scans all machines and queries all agents, in random order and small batches. @returns number of transactions */
  async scan(): Promise<number> {
    const before = transactionCount(this.appliance);
    const sightings = this.random
      .shuffled(this.machines)
      .map(({ address, number }) => seenAt(address, { mac_address: mac(1, number) }));
    await this.scans.addresses(...sightings);
    const deviceSightings = this.random.shuffled(this.machines.filter(({ isDevice }) => isDevice)).map((machine) =>
      deviceAt(
        machine.address,
        {
          sys_name: `machine-${machine.number}`,
          sys_location: machine.location,
          ...(machine.hasSerial ? { serial_number: `SERIAL-${machine.number}` } : {}),
          interfaces: Array.from({ length: machine.ports }, (_, port) =>
            ethernet(port + 1, { mac_address: mac(port + 1, machine.number) }),
          ),
          addresses: [{ ip_address: machine.address, prefix_length: 16, if_index: 1 }],
        },
        { mac_address: mac(1, machine.number) },
      ),
    );
    for (let start = 0; start < deviceSightings.length; start += 4)
      await this.scans.devices(...deviceSightings.slice(start, start + 4));
    return transactionCount(this.appliance) - before;
  }

  /** Changes the network itself. */
  mutate(): void {
    const machine = this.random.pick(this.machines);
    if (machine.isDevice) machine.location = `place ${this.random.integer(1_000)}`;
    else {
      machine.address = this.newAddress();
      machine.addresses.push(machine.address);
    }
  }

  /** Compares the inventory with the model. */
  async expectMatchesModel({ isScanned = true } = {}): Promise<void> {
    const hosts = await this.hosts();
    expect(new Set(hosts.map(({ id }) => id))).toEqual(new Set(this.groups.keys()));
    for (const [id, machines] of this.groups) {
      const host = hosts.find((host) => host.id === id) as JsonRecord;
      const addresses = new Set(host.ip_addresses.map(({ ip_address }: JsonRecord) => ip_address));
      for (const machine of this.machines) expect(addresses.has(machine.address)).toBe(machines.includes(machine));
      // Only the device's own agents describe it.
      const names = machines.filter(({ isDevice }) => isDevice).map(({ number }) => `machine-${number}`);
      if (isScanned && names.length > 0) expect(names).toContain(host.sys_name);
      const ownMacs = new Set(
        machines.flatMap(({ number, ports }) => Array.from({ length: ports }, (_, port) => mac(port + 1, number))),
      );
      for (const entry of host.interfaces) if (machines.length > 0) expect(ownMacs.has(entry.mac_address)).toBe(true);
    }
    this.remembered.set(instant(this.appliance), past(hosts));
  }

  /** Past states are immutable. */
  async expectPastUnchanged(): Promise<void> {
    for (const [at, hosts] of this.remembered) {
      const found = (await expectOk(this.appliance.owner.get(`hosts?limit=0&at=${at}`))) as JsonRecord[];
      expect(past(found)).toEqual(hosts);
      for (const { id, valid_from, valid_to, consolidated_into: mergedInto } of found) {
        if (valid_to === null) {
          expect(mergedInto).toBeNull();
          continue;
        }
        const version = `${id} from ${valid_from} to ${valid_to}`;
        expect([version, this.mergeTargets.has(version) ? this.mergeTargets.get(version) : mergedInto]).toEqual([
          version,
          mergedInto,
        ]);
        this.mergeTargets.set(version, mergedInto);
      }
    }
  }

  /** Credentials with the addresses that a scan would send them to. */
  pairs(): string[] {
    const known = readKnownNetwork(this.appliance.reader, this.appliance.first.networkId);
    if (known === null) throw new Error("network not found");
    const opened = (id: string) => ({ ok: true as const, credential: { credential_id: id } as SnmpCredential });
    const credentials = new Credentials(known, [], opened, () => false);
    return [...known.byAddress.keys()]
      .flatMap((address) =>
        credentials.at(address).credentials.map(({ credential_id }) => `${credential_id} ${address}`),
      )
      .sort();
  }

  /** @returns the action; the next scan completes an undo */
  async act(): Promise<"done" | "undone" | "nothing"> {
    const before = this.pairs();
    const choice = this.random.integer(5);
    const isDone = choice < 2 ? await this.consolidate() : choice < 4 ? await this.split() : await this.undo();
    if (isDone && choice < 4) {
      expect(this.pairs()).toEqual(before);
      // Undo and redo restore the state.
      if (this.random.integer(3) === 0) await this.undoAndRedo(before);
    }
    return !isDone ? "nothing" : choice < 4 ? "done" : "undone";
  }

  private async consolidate(): Promise<boolean> {
    const [destination, other] = this.random.shuffled([...this.groups.keys()]);
    if (destination === undefined || other === undefined) return false;
    tick(this.appliance);
    const path = `hosts/${destination}/consolidate/${other}`;
    const dry = await expectOk(this.appliance.owner.put(`${path}?dry_run=true`, {}));
    const plan = await expectOk(this.appliance.owner.put(path, {}));
    expect(plan.actions).toEqual(dry.actions);
    this.recordStep(plan.sequence);
    const machines = [...(this.groups.get(destination) ?? []), ...(this.groups.get(other) ?? [])];
    this.groups.delete(other);
    this.groups.set(destination, machines);
    this.done.consolidated += 1;
    return true;
  }

  private async split(): Promise<boolean> {
    const large = [...this.groups].filter(([, machines]) => machines.length > 1);
    if (large.length === 0) return false;
    const [id, machines] = this.random.pick(large);
    const machine = this.random.pick(machines);
    const host = await this.host(id);
    const cards = Array.from({ length: machine.ports }, (_, port) => mac(port + 1, machine.number));
    tick(this.appliance);
    const plan = await expectOk(
      this.appliance.owner.post(`hosts/${id}/split`, {
        name: `split ${machine.number}`,
        ip_address_ids: idsWhere(host.ip_addresses, ({ ip_address }) => machine.addresses.includes(ip_address)),
        if_entry_ids: idsWhere(host.interfaces, ({ mac_address }) => cards.includes(mac_address)),
      }),
    );
    this.recordStep(plan.sequence);
    this.groups.set(
      id,
      machines.filter((other) => other !== machine),
    );
    this.groups.set(plan.host_id, [machine]);
    this.done.split += 1;
    return true;
  }

  private recordStep(sequence: number): void {
    this.steps.push({ sequence, groups: new Map(this.groups) });
  }

  /** Reverts the latest action, regardless of what scans have written since. */
  private async undo(): Promise<boolean> {
    const step = this.steps.pop();
    if (step === undefined) return false;
    tick(this.appliance);
    await expectOk(this.appliance.owner.post(`transactions/${step.sequence}/revert`, {}));
    this.groups = new Map(step.groups);
    this.done.reverted += 1;
    return true;
  }

  private async undoAndRedo(pairs: readonly string[]): Promise<void> {
    const { sequence } = this.steps.at(-1) as Step;
    const after = (await this.hosts()).map(content);
    tick(this.appliance);
    const reverted = await expectOk(this.appliance.owner.post(`transactions/${sequence}/revert`, {}));
    expect(this.pairs()).toEqual([...pairs]);
    tick(this.appliance);
    await expectOk(this.appliance.owner.post(`transactions/${reverted.sequence}/revert`, {}));
    expect(sorted((await this.hosts()).map(content))).toEqual(sorted(after));
    expect(this.pairs()).toEqual([...pairs]);
    // Two reverts follow the step: it is no longer the latest.
    this.steps.length = 0;
  }
}

function idsWhere(records: readonly JsonRecord[], isSelected: (record: JsonRecord) => boolean): string[] {
  return records.filter(isSelected).map(({ id }) => id);
}

function sorted(hosts: readonly JsonRecord[]): JsonRecord[] {
  return [...hosts].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Omits the end of a version, which may be set later. */
function past(hosts: readonly JsonRecord[]): unknown {
  return JSON.parse(
    JSON.stringify(sorted(hosts), (name, value) =>
      name === "valid_to" || name === "consolidated_into" || name === "last_seen_at" || name === "last_discovery_id"
        ? undefined
        : value,
    ),
  );
}

test.each(SEEDS)(
  "consolidated hosts stay merged, split hosts stay separate, and undone actions leave no trace (seed %i)",
  async (seed) => {
    const network = await RandomNetwork.open(seed);
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        if ((await network.act()) !== "undone") await network.expectMatchesModel({ isScanned: false });
        for (let scan = 0; scan < 2; scan += 1) {
          await network.scan();
          await network.expectMatchesModel();
        }
        // Known machines are only observed again.
        expect({ seed, round, written: await network.scan() }).toEqual({ seed, round, written: 0 });
        network.mutate();
        if (round % 4 === 3) await network.expectPastUnchanged();
        await network.scan();
        await network.expectMatchesModel();
      }
      await network.expectPastUnchanged();
      expect(findingsOf(network.appliance)).toEqual([]);
      expect(network.done.consolidated).toBeGreaterThan(0);
    } finally {
      await network.appliance.close();
    }
  },
);
