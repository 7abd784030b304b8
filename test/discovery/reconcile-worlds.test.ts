// Random networks with many kinds of false reports at once: whatever the scan accepts, a rescan of the same network in
// any order has the same result.

import { expect, test } from "bun:test";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import type { AddressSighting, DeviceSighting } from "../../src/discovery/sightings.ts";
import { newAppliance } from "../support/appliance/appliance.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedsOf } from "../support/injected/seeds.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

/** Each is reported by every second machine. */
const LIES = [
  "virtual address",
  "inner address",
  "one MAC address",
  "one name",
  "no name",
  "one serial number",
  "one chassis id",
  "proxy",
  "another's address",
  "wrong hearsay",
  "answers everywhere",
  "seen everywhere",
] as const;
const MACHINES = 12;
/** The first ones answer SNMP. */
const DEVICES = 8;
/** A virtual router, and its address. */
const VIRTUAL = { mac: "00:00:5e:00:01:0a", address: "10.0.0.250" } as const;

type Order = "as made" | "reversed" | "shuffled";

class LyingWorld {
  private readonly random: SeededRandom;
  private readonly devices: DeviceSighting[] = [];
  private readonly swept: AddressSighting[] = [];
  private readonly heard: AddressSighting[] = [];

  constructor(seed: number) {
    this.random = seededRandom(seed * 7_919);
    for (let number = 0; number < MACHINES; number += 1) this.addMachine(number);
  }

  /** Commands of one scan, in order. */
  scan(order: Order): Parameters<ScanWriter["whole"]>[0] {
    return [
      [
        "discovery.devices",
        { sightings: this.inOrder(this.devices, order).map((each) => ({ ...each, digest: digestOf(each) })) },
      ],
      ["discovery.addresses", { sightings: this.inOrder(this.swept, order) }],
      ["discovery.addresses", { sightings: this.heard }],
    ];
  }

  private addMachine(number: number): void {
    const lies = new Set<string>(LIES.filter(() => this.chance(0.5)));
    const at = `10.0.0.${number + 1}`;
    const macs = [
      lies.has("one MAC address") ? mac(1, 1) : mac(0, number + 20),
      lies.has("virtual address") ? VIRTUAL.mac : mac(1, number + 20),
    ] as const;
    const others = [
      ...(lies.has("inner address") ? ["192.168.1.1"] : []),
      ...(lies.has("virtual address") ? [VIRTUAL.address] : []),
      ...(lies.has("another's address") ? [`10.0.0.${1 + this.random.integer(MACHINES)}`] : []),
    ].filter((address) => address !== at);
    const seen = this.chance(0.4) ? null : lies.has("proxy") ? mac(0, 99) : macs[0];
    const serial = lies.has("one serial number") ? "SAME-SERIAL" : this.chance(0.5) ? `SER-${number}` : null;
    if (number < DEVICES) {
      const telling = deviceAt(
        at,
        {
          ...(lies.has("no name") ? {} : { sys_name: lies.has("one name") ? "switch-x" : `n-${number}` }),
          ...(serial === null ? {} : { serial_number: serial }),
          ...(lies.has("one chassis id") ? { chassis_id: { subtype: "MacAddress", value: mac(3, 3) } as const } : {}),
          interfaces: macs.map((each, place) => ethernet(place + 1, { mac_address: each })),
          addresses: [at, ...others].map((address, place) => ({
            ip_address: address,
            prefix_length: 24,
            if_index: 1 + (place % 2),
          })),
        },
        { mac_address: seen },
      );
      this.add(this.devices, telling);
      if (lies.has("answers everywhere"))
        for (const address of others)
          this.add(this.devices, { ...telling, ip_address: address, mac_address: this.chance(0.5) ? macs[1] : null });
    }
    this.add(this.swept, seenAt(at, { mac_address: seen }));
    if (lies.has("seen everywhere"))
      for (const address of others)
        this.add(this.swept, seenAt(address, { mac_address: this.chance(0.5) ? macs[1] : null }));
    this.heard.push(
      seenAt(at, {
        mac_address: lies.has("wrong hearsay") ? mac(1, 20 + this.random.integer(MACHINES)) : macs[0],
        answered: [],
      }),
    );
  }

  /** A scan queries an address once. */
  private add<Sighting extends AddressSighting | DeviceSighting>(sightings: Sighting[], sighting: Sighting): void {
    if (!sightings.some((each) => each.ip_address === sighting.ip_address)) sightings.push(sighting);
  }

  private inOrder<T>(items: readonly T[], order: Order): T[] {
    if (order === "as made") return [...items];
    if (order === "reversed") return items.toReversed();
    return items
      .map((item) => ({ item, key: this.random.integer(65_536) }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }

  private chance(probability: number): boolean {
    return this.random.integer(1_000) < probability * 1_000;
  }
}

for (const seed of seedsOf(1, 2, 5, 28, 29, 73, 92, 126, 128, 137, 166, 471, 609, 998)) {
  test(`network ${seed} settles`, async () => {
    const appliance = await newAppliance();
    try {
      const scan = new ScanWriter(appliance);
      await appliance.owner.post("subnets", { network_id: appliance.first.networkId, cidr: "10.0.0.0/24" });
      const world = new LyingWorld(seed);
      const count = () =>
        (appliance.reader.db.query("SELECT count(*) AS count FROM history_versions").get() as { count: number }).count;
      const written = async (order: Order) => {
        const before = count();
        await scan.whole(world.scan(order));
        return count() - before;
      };
      for (const order of ["as made", "as made", "reversed"] as const) await written(order);
      const later: number[] = [];
      for (const order of ["shuffled", "as made", "shuffled", "reversed", "as made"] as const)
        later.push(await written(order));
      expect({ seed, later }).toEqual({ seed, later: [0, 0, 0, 0, 0] });
    } finally {
      await appliance.close();
    }
  });
}
