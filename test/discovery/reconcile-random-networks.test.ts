// Random networks with many kinds of false reports at once: rescans of an unchanged network, in any order, write
// nothing more.

import { expect, test } from "bun:test";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import type { AddressSighting, DeviceSighting } from "../../src/discovery/sightings.ts";
import { newAppliance } from "../support/appliance/appliance.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

/** False reports; each machine sends each of them with a probability of one half. */
const FAULTS =
  "virtual address,inner address,one MAC address,one name,no name,one serial number,one chassis id,proxy," +
  "another's address,wrong sightings,answers everywhere,seen everywhere";
const MACHINES = 12;
/** Number of machines that respond to SNMP: the first ones. */
const DEVICES = 8;
/** A virtual router, and its address. */
const VIRTUAL = { mac: "00:00:5e:00:01:0a", address: "10.0.0.250" } as const;

type Order = "original" | "reversed" | "shuffled";

class FaultyNetwork {
  private readonly random: SeededRandom;
  private readonly devices: DeviceSighting[] = [];
  private readonly swept: AddressSighting[] = [];
  private readonly learned: AddressSighting[] = [];

  constructor(seed: number) {
    this.random = seededRandom(seed * 7_919);
    for (let number = 0; number < MACHINES; number += 1) this.addMachine(number);
  }

  /** Commands of one scan, in order. */
  scan(order: Order): Parameters<ScanWriter["runAll"]>[0] {
    return [
      [
        "discovery.devices",
        { sightings: this.inOrder(this.devices, order).map((device) => ({ ...device, digest: digestOf(device) })) },
      ],
      ["discovery.addresses", { sightings: this.inOrder(this.swept, order) }],
      ["discovery.addresses", { sightings: this.learned }],
    ];
  }

  private addMachine(number: number): void {
    const faults = new Set<string>(FAULTS.split(",").filter(() => this.random.chance(0.5)));
    const ownAddress = `10.0.0.${number + 1}`;
    const macs = [
      faults.has("one MAC address") ? mac(1, 1) : mac(0, number + 20),
      faults.has("virtual address") ? VIRTUAL.mac : mac(1, number + 20),
    ] as const;
    const others = [
      ...(faults.has("inner address") ? ["192.168.1.1"] : []),
      ...(faults.has("virtual address") ? [VIRTUAL.address] : []),
      ...(faults.has("another's address") ? [`10.0.0.${1 + this.random.integer(MACHINES)}`] : []),
    ].filter((address) => address !== ownAddress);
    const seenMac = this.random.chance(0.4) ? null : faults.has("proxy") ? mac(0, 99) : macs[0];
    const serial = faults.has("one serial number") ? "SAME-SERIAL" : this.random.chance(0.5) ? `SER-${number}` : null;
    if (number < DEVICES) {
      const deviceSighting = deviceAt(
        ownAddress,
        {
          ...(faults.has("no name") ? {} : { sys_name: faults.has("one name") ? "switch-x" : `n-${number}` }),
          ...(serial === null ? {} : { serial_number: serial }),
          ...(faults.has("one chassis id") ? { chassis_id: { subtype: "MacAddress", value: mac(3, 3) } as const } : {}),
          interfaces: macs.map((mac_address, index) => ethernet(index + 1, { mac_address })),
          addresses: [ownAddress, ...others].map((ip_address, index) => address(ip_address, 1 + (index % 2))),
        },
        { mac_address: seenMac },
      );
      this.add(this.devices, deviceSighting);
      if (faults.has("answers everywhere"))
        for (const address of others)
          this.add(this.devices, {
            ...deviceSighting,
            ip_address: address,
            mac_address: this.random.chance(0.5) ? macs[1] : null,
          });
    }
    this.add(this.swept, seenAt(ownAddress, { mac_address: seenMac }));
    if (faults.has("seen everywhere"))
      for (const address of others)
        this.add(this.swept, seenAt(address, { mac_address: this.random.chance(0.5) ? macs[1] : null }));
    this.learned.push(
      seenAt(ownAddress, {
        mac_address: faults.has("wrong sightings") ? mac(1, 20 + this.random.integer(MACHINES)) : macs[0],
        answered: [],
      }),
    );
  }

  /** Adds a sighting, unless its address has one: a scan queries an address once. */
  private add<Sighting extends AddressSighting | DeviceSighting>(sightings: Sighting[], sighting: Sighting): void {
    if (!sightings.some(({ ip_address }) => ip_address === sighting.ip_address)) sightings.push(sighting);
  }

  private inOrder<T>(items: readonly T[], order: Order): T[] {
    if (order === "original") return [...items];
    if (order === "reversed") return items.toReversed();
    return this.random.shuffled(items);
  }
}

for (const seed of seedsOf(1, 2, 5, 28, 29, 73, 92, 126, 128, 137, 166, 471, 609, 998)) {
  test(`network ${seed} settles`, async () => {
    const appliance = await newAppliance();
    try {
      const scan = new ScanWriter(appliance);
      await appliance.owner.post("subnets", { network_id: appliance.first.networkId, cidr: "10.0.0.0/24" });
      const network = new FaultyNetwork(seed);
      const count = () =>
        (appliance.reader.db.query("SELECT count(*) AS count FROM history_versions").get() as { count: number }).count;
      const versionsWritten = async (order: Order) => {
        const before = count();
        await scan.runAll(network.scan(order));
        return count() - before;
      };
      for (const order of ["original", "original", "reversed"] as const) await versionsWritten(order);
      const later: number[] = [];
      for (const order of ["shuffled", "original", "shuffled", "reversed", "original"] as const)
        later.push(await versionsWritten(order));
      expect({ seed, later }).toEqual({ seed, later: [0, 0, 0, 0, 0] });
    } finally {
      await appliance.close();
    }
  });
}
