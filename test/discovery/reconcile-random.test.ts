// Random networks, rescanned in any order while machines move: every machine stays one host, and a rescan without
// changes writes nothing.

import { expect, test } from "bun:test";
import { heardOf } from "../../src/discovery/reconcile/neighbor-tables.ts";
import type { AddressSighting, DeviceSighting } from "../../src/discovery/sightings.ts";
import { newAppliance } from "../support/appliance/appliance.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

interface Machine {
  readonly number: number;
  /** Answers SNMP. */
  readonly isDevice: boolean;
  readonly hasSerial: boolean;
  readonly hasPtr: boolean;
  /** On a link of the appliance: its MAC address is visible. */
  readonly isNear: boolean;
  name: string;
  addresses: string[];
  ports: number[];
  location: string;
}

class World {
  private readonly random: SeededRandom;
  readonly machines: Machine[] = [];
  private lastAddress = 10;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    for (let number = 1; number <= 24; number += 1) {
      const isDevice = number <= 8;
      this.machines.push({
        number,
        isDevice,
        hasSerial: this.chance(0.6),
        hasPtr: this.chance(0.5),
        isNear: this.chance(0.6),
        name: `m-${number}`,
        addresses: Array.from({ length: isDevice ? 1 + this.below(3) : 1 }, () => this.newAddress()),
        ports: this.chance(0.7) ? [22, 80].slice(0, 1 + this.below(2)) : [],
        location: "here",
      });
    }
  }

  below(limit: number): number {
    return this.random.integer(limit);
  }

  chance(probability: number): boolean {
    return this.below(1_000) < probability * 1_000;
  }

  newAddress(): string {
    this.lastAddress += 1;
    return `10.0.${this.lastAddress >> 8}.${this.lastAddress & 255}`;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, key: this.below(65_536) }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }

  /** Moves something. */
  happen(): void {
    const machine = this.machines[this.below(this.machines.length)] as Machine;
    const what = this.below(5);
    if (what === 0 && !machine.isDevice && machine.isNear) {
      machine.addresses = [this.newAddress()];
      return;
    }
    if (what === 1 && !machine.isDevice && machine.isNear) {
      const other = this.shuffled(this.machines).find((each) => each !== machine && !each.isDevice && each.isNear);
      if (other !== undefined) [machine.addresses, other.addresses] = [other.addresses, machine.addresses];
      return;
    }
    if (what === 2 && machine.isDevice) {
      machine.addresses = [...machine.addresses, this.newAddress()];
      return;
    }
    if (what === 3 && machine.isDevice) {
      machine.location = `place ${this.below(1_000)}`;
      return;
    }
    machine.ports = [22, 80, 443].filter(() => this.chance(0.5));
  }

  sweep(): AddressSighting[] {
    return this.shuffled(
      this.machines.flatMap((machine) =>
        machine.addresses.map((address, place) => this.sighting(machine, address, place)),
      ),
    );
  }

  private sighting(machine: Machine, address: string, place: number): AddressSighting {
    return seenAt(address, {
      mac_address: machine.isNear ? mac(place, machine.number) : null,
      hostname: machine.hasPtr ? `${machine.name}-${place}.example` : null,
      ports: {
        asked: [22, 80, 443],
        open: machine.ports.map((number) => ({
          number,
          protocol: "Tcp",
          service: { name: `service ${number}`, service_definition: `s${number}` },
        })),
      },
    });
  }

  devices(): DeviceSighting[] {
    return this.shuffled(
      this.machines
        .filter((machine) => machine.isDevice)
        .flatMap((machine) => machine.addresses.map((address) => this.telling(machine, address))),
    );
  }

  private telling(machine: Machine, asked: string): DeviceSighting {
    const place = machine.addresses.indexOf(asked);
    const arp =
      machine.number > 2
        ? []
        : this.machines
            .filter((each) => !each.isDevice)
            .map((each) => ({
              ip_address: each.addresses[0] as string,
              mac_address: mac(0, each.number),
              if_index: 1,
            }));
    return deviceAt(
      asked,
      {
        sys_name: machine.name,
        sys_location: machine.location,
        ...(machine.hasSerial ? { serial_number: `SERIAL${machine.number}` } : {}),
        interfaces: machine.addresses.map((_, index) =>
          ethernet(index + 1, { mac_address: mac(index, machine.number) }),
        ),
        addresses: machine.addresses.map((address, index) => ({
          ip_address: address,
          prefix_length: 24,
          if_index: index + 1,
        })),
        arp,
      },
      { mac_address: machine.isNear ? mac(place, machine.number) : null },
    );
  }
}

for (const seed of seedsOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)) {
  test(`every machine of network ${seed} is one host, consistently`, async () => {
    const appliance = await newAppliance();
    try {
      const scan = new ScanWriter(appliance);
      const world = new World(seed);
      const known = new Map<string, string>();
      const full = async (): Promise<number> => {
        let written = 0;
        const count = (outcome: { sequence: number | null }) => {
          if (outcome.sequence !== null) written += 1;
        };
        count(await scan.addresses(...world.sweep()));
        const devices = world.devices();
        // In several writes, in order.
        for (let start = 0; start < devices.length; start += 5)
          count(await scan.devices(...devices.slice(start, start + 5)));
        count(await scan.addresses(...devices.flatMap((each) => heardOf(each.device).sightings)));
        return written;
      };
      await full();
      for (let round = 0; round < 8; round += 1) {
        const again = await full();
        expect({ seed, round, again }).toEqual({ seed, round, again: 0 });
        const hosts = (await appliance.owner.get("hosts?limit=0")).data as Wire[];
        const at = new Map(
          hosts.flatMap((host) => host.ip_addresses.map((each: Wire) => [each.ip_address, host.id] as const)),
        );
        for (const machine of world.machines) {
          const ids = new Set(machine.addresses.map((address) => at.get(address)));
          expect({ seed, round, machine: machine.name, hosts: ids.size }).toEqual({
            seed,
            round,
            machine: machine.name,
            hosts: 1,
          });
          const [id] = [...ids] as [string];
          if (known.has(machine.name))
            expect({ seed, round, machine: machine.name, id }).toEqual({
              seed,
              round,
              machine: machine.name,
              id: known.get(machine.name) as string,
            });
          known.set(machine.name, id);
        }
        expect(new Set(known.values()).size).toBe(world.machines.length);
        expect(hosts).toHaveLength(world.machines.length);
        for (let event = 0; event < 3; event += 1) world.happen();
        await full();
      }
    } finally {
      await appliance.close();
    }
  });
}
