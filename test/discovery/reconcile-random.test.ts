// Random networks, rescanned in random order while machines move: every machine stays one host, and a rescan without
// changes writes nothing.

import { expect, test } from "bun:test";
import { neighborSightingsOf } from "../../src/discovery/reconcile/neighbor-tables.ts";
import type { AddressSighting, DeviceSighting } from "../../src/discovery/sightings.ts";
import { newAppliance } from "../support/appliance/appliance.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

interface Machine {
  readonly number: number;
  /** Responds to SNMP. */
  readonly isDevice: boolean;
  readonly hasSerial: boolean;
  readonly hasPtr: boolean;
  /** On a link of the appliance, which sees its MAC address. */
  readonly isNear: boolean;
  name: string;
  addresses: string[];
  ports: number[];
  location: string;
}

class RandomNetwork {
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
        hasSerial: this.random.chance(0.6),
        hasPtr: this.random.chance(0.5),
        isNear: this.random.chance(0.6),
        name: `m-${number}`,
        addresses: Array.from({ length: isDevice ? 1 + this.random.integer(3) : 1 }, () => this.newAddress()),
        ports: this.random.chance(0.7) ? [22, 80].slice(0, 1 + this.random.integer(2)) : [],
        location: "here",
      });
    }
  }

  newAddress(): string {
    this.lastAddress += 1;
    return `10.0.${this.lastAddress >> 8}.${this.lastAddress & 255}`;
  }

  /** Changes a random machine. */
  mutate(): void {
    const machine = this.machines[this.random.integer(this.machines.length)] as Machine;
    const choice = this.random.integer(5);
    if (choice === 0 && !machine.isDevice && machine.isNear) {
      machine.addresses = [this.newAddress()];
      return;
    }
    if (choice === 1 && !machine.isDevice && machine.isNear) {
      const other = this.random
        .shuffled(this.machines)
        .find((candidate) => candidate !== machine && !candidate.isDevice && candidate.isNear);
      if (other !== undefined) [machine.addresses, other.addresses] = [other.addresses, machine.addresses];
      return;
    }
    if (choice === 2 && machine.isDevice) {
      machine.addresses = [...machine.addresses, this.newAddress()];
      return;
    }
    if (choice === 3 && machine.isDevice) {
      machine.location = `place ${this.random.integer(1_000)}`;
      return;
    }
    machine.ports = [22, 80, 443].filter(() => this.random.chance(0.5));
  }

  sweep(): AddressSighting[] {
    return this.random.shuffled(
      this.machines.flatMap((machine) =>
        machine.addresses.map((address, position) => this.sighting(machine, address, position)),
      ),
    );
  }

  private sighting(machine: Machine, address: string, position: number): AddressSighting {
    return seenAt(address, {
      mac_address: machine.isNear ? mac(position, machine.number) : null,
      hostname: machine.hasPtr ? `${machine.name}-${position}.example` : null,
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
    return this.random.shuffled(
      this.machines
        .filter((machine) => machine.isDevice)
        .flatMap((machine) => machine.addresses.map((address) => this.deviceSighting(machine, address))),
    );
  }

  private deviceSighting(machine: Machine, probed: string): DeviceSighting {
    const position = machine.addresses.indexOf(probed);
    const arp =
      machine.number > 2
        ? []
        : this.machines
            .filter(({ isDevice }) => !isDevice)
            .map((machine) => ({
              ip_address: machine.addresses[0] ?? "",
              mac_address: mac(0, machine.number),
              if_index: 1,
            }));
    return deviceAt(
      probed,
      {
        sys_name: machine.name,
        sys_location: machine.location,
        ...(machine.hasSerial ? { serial_number: `SERIAL${machine.number}` } : {}),
        interfaces: machine.addresses.map((_, index) =>
          ethernet(index + 1, { mac_address: mac(index, machine.number) }),
        ),
        addresses: machine.addresses.map((ip_address, index) => address(ip_address, index + 1)),
        arp,
      },
      { mac_address: machine.isNear ? mac(position, machine.number) : null },
    );
  }
}

for (const seed of seedsOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)) {
  test(`every machine of network ${seed} stays one host`, async () => {
    const appliance = await newAppliance();
    try {
      const scan = new ScanWriter(appliance);
      const network = new RandomNetwork(seed);
      const known = new Map<string, string>();
      const fullScan = async (): Promise<number> => {
        let written = 0;
        const count = (outcome: { sequence: number | null }) => {
          if (outcome.sequence !== null) written += 1;
        };
        count(await scan.addresses(...network.sweep()));
        const devices = network.devices();
        // In several writes, in order.
        for (let start = 0; start < devices.length; start += 5)
          count(await scan.devices(...devices.slice(start, start + 5)));
        count(await scan.addresses(...devices.flatMap(({ device }) => neighborSightingsOf(device).sightings)));
        return written;
      };
      await fullScan();
      for (let round = 0; round < 8; round += 1) {
        expect({ seed, round, written: await fullScan() }).toEqual({ seed, round, written: 0 });
        const hosts = (await appliance.owner.get("hosts?limit=0")).data as JsonRecord[];
        const hostByAddress = new Map(
          hosts.flatMap((host) =>
            host.ip_addresses.map(({ ip_address }: JsonRecord) => [ip_address, host.id] as const),
          ),
        );
        for (const machine of network.machines) {
          const ids = new Set(machine.addresses.map((address) => hostByAddress.get(address)));
          const subject = { seed, round, machine: machine.name };
          expect({ ...subject, hosts: ids.size }).toEqual({ ...subject, hosts: 1 });
          const [id] = [...ids] as [string];
          expect({ ...subject, id }).toEqual({ ...subject, id: known.get(machine.name) ?? id });
          known.set(machine.name, id);
        }
        expect(new Set(known.values()).size).toBe(network.machines.length);
        expect(hosts).toHaveLength(network.machines.length);
        for (let event = 0; event < 3; event += 1) network.mutate();
        await fullScan();
      }
    } finally {
      await appliance.close();
    }
  });
}
