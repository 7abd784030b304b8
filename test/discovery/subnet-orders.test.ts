// Subnets of addresses, independent of the order of responses.

import { expect, test } from "bun:test";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { seedCount } from "../support/injected/seeds.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, mac, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({});
const { get } = inventoryOf(appliance);

const at = (ip_address: string, prefix_length: number | null) =>
  deviceAt(ip_address, { sys_name: ip_address, addresses: [{ ip_address, prefix_length, if_index: 1 }] });

/** Addresses with the prefix of their subnet. */
async function placed(from: Pick<TestAppliance, "owner"> = appliance): Promise<string[]> {
  const { get } = inventoryOf(from);
  const cidrs = new Map((await get("subnets")).map(({ id, cidr }: JsonRecord) => [id, cidr]));
  expect(cidrs.size).toBe(new Set((await get("ip-addresses")).map(({ subnet_id }: JsonRecord) => subnet_id)).size);
  return (await get("ip-addresses"))
    .map((each: JsonRecord) => `${each.ip_address} ${cidrs.get(each.subnet_id)}`)
    .sort();
}

test.each([
  ["without a prefix", null],
  ["with a prefix of one address", 32],
  ["with a default route's prefix", 0],
])("an address %s is in the subnet that another device reports, in any order", async (_case, prefix) => {
  const devices = [at("10.0.0.9", prefix), at("10.0.0.2", 24), at("10.7.0.1", prefix)];
  const expected = ["10.0.0.2 10.0.0.0/24", "10.0.0.9 10.0.0.0/24", "10.7.0.1 10.7.0.1/32"];
  const scan = new ScanWriter(appliance);
  for (const device of devices) await scan.devices(device);
  expect(await placed()).toEqual(expected);
  for (const device of devices.toReversed()) expect((await scan.devices(device)).result.records).toEqual({});
  expect(await placed()).toEqual(expected);
});

test("a subnet of one address that a user edited is kept", async () => {
  const scan = new ScanWriter(appliance);
  await scan.devices(at("10.0.0.9", null));
  const [{ id, network_id, cidr }] = await get("subnets");
  expect((await appliance.owner.put(`subnets/${id}`, { network_id, cidr, name: "Anycast" })).status).toBe(200);
  await scan.devices(at("10.0.0.2", 24));
  expect(await placed()).toEqual(["10.0.0.2 10.0.0.0/24", "10.0.0.9 10.0.0.9/32"]);
});

/** Devices with prefixes of many lengths, some wider or narrower than those of others, and without any. */
const MIXED = [
  at("10.0.0.2", 24),
  at("10.0.0.9", null),
  at("10.0.1.7", 32),
  at("10.0.0.200", 16),
  at("10.0.2.1", 25),
  at("10.0.2.9", null),
  at("10.0.2.130", 24),
  at("10.9.0.1", null),
  at("10.9.4.1", 22),
  at("172.16.0.5", 32),
  at("172.16.0.1", 23),
  at("192.0.2.1", 0),
  deviceAt("10.0.3.1", {
    sys_name: "10.0.3.1",
    addresses: [
      { ip_address: "127.0.0.1", prefix_length: 24, if_index: 1 },
      { ip_address: "::1", prefix_length: 128, if_index: 1 },
      { ip_address: "169.254.7.1", prefix_length: 24, if_index: 2 },
      { ip_address: "fe80::1", prefix_length: 10, if_index: 2 },
      { ip_address: "10.0.3.1", prefix_length: 24, if_index: 3 },
    ],
  }),
  at("127.0.0.9", 8),
  at("fe80::9", 64),
];
const MIXED_SUBNETS = [
  "10.0.0.2 10.0.0.0/24",
  "10.0.0.200 10.0.0.0/16",
  "10.0.0.9 10.0.0.0/24",
  "10.0.1.7 10.0.0.0/16",
  "10.0.2.1 10.0.2.0/25",
  "10.0.2.130 10.0.2.0/24",
  "10.0.2.9 10.0.2.0/25",
  "10.0.3.1 10.0.3.0/24",
  "10.9.0.1 10.9.0.0/20",
  "10.9.4.1 10.9.4.0/22",
  "127.0.0.1 127.0.0.0/8",
  "127.0.0.9 127.0.0.0/8",
  "169.254.7.1 169.254.0.0/16",
  "172.16.0.1 172.16.0.0/23",
  "172.16.0.5 172.16.0.0/23",
  "192.0.2.1 192.0.2.1/32",
  "::1 ::1/128",
  "fe80::1 fe80::/64",
  "fe80::9 fe80::/64",
];
/** Targets of the scan: the first contains no address of a reported subnet, the others are within or around one. */
const TARGETS = ["10.9.0.0/20", "10.0.0.0/25", "172.16.0.0/22", "172.16.0.0/24"];

for (let seed = 1; seed <= seedCount(8, 50); seed += 1)
  test(`order ${seed} of devices in random commands yields the same subnets, which a second scan keeps`, async () => {
    const appliance = await newAppliance();
    try {
      const random = seededRandom(seed * 7_919);
      const scan = new ScanWriter(appliance);
      const scanAll = async () => {
        const rest = random.shuffled(MIXED);
        const commands: Array<readonly ["discovery.devices", object]> = [];
        while (rest.length > 0) {
          const some = rest.splice(0, 1 + random.integer(random.pick([1, 3, rest.length])));
          const sightings = some.map((each) => ({ ...each, digest: digestOf(each) }));
          commands.push(["discovery.devices", { sightings, blocks: TARGETS, are_blocks_accepting: true }]);
        }
        const [first, ...others] = commands;
        if (first !== undefined) await scan.runAll([first, ...others]);
      };
      await scanAll();
      expect(await placed(appliance)).toEqual(MIXED_SUBNETS);
      const subnets = async () =>
        (await appliance.owner.get("subnets?order_by=cidr")).data.map((each: JsonRecord) =>
          [each.cidr, each.source.type, each.accepts_credentials].join(" "),
        );
      expect(await subnets()).toEqual([
        "10.0.0.0/16 Discovery false",
        "10.0.0.0/24 Discovery false",
        "10.0.2.0/24 Discovery false",
        "10.0.2.0/25 Discovery false",
        "10.0.3.0/24 Discovery false",
        "10.9.0.0/20 Inferred true",
        "10.9.4.0/22 Discovery false",
        "127.0.0.0/8 Discovery false",
        "169.254.0.0/16 Discovery false",
        "172.16.0.0/23 Discovery false",
        "192.0.2.1/32 Discovery false",
        "::1/128 Discovery false",
        "fe80::/64 Discovery false",
      ]);
      const { sequence } = (await appliance.owner.get("transactions?limit=1")).data[0];
      await scanAll();
      expect(await placed(appliance)).toEqual(MIXED_SUBNETS);
      expect((await appliance.owner.get("transactions?limit=1")).data[0].sequence).toBe(sequence);
    } finally {
      await appliance.close();
    }
  });

test("an address learned from a neighbor table is in the subnet that its device then reports, unless a user has placed it", async () => {
  const scan = new ScanWriter(appliance);
  const machines = [9, 10].map((number) => seenAt(`10.0.0.${number}`, { mac_address: mac(number) }));
  await scan.run("discovery.addresses", { sightings: machines, blocks: ["10.0.0.0/16"] });
  const [{ id, host_id, network_id }] = await get("ip-addresses?search=10.0.0.10");
  const subnet = (await appliance.owner.post("subnets", { network_id, cidr: "10.0.0.0/20" })).data;
  const item = { host_id, subnet_id: subnet.id, ip_address: "10.0.0.10" };
  expect((await appliance.owner.put(`ip-addresses/${id}`, item)).status).toBe(200);
  await scan.devices(...[9, 10].map((number) => ({ ...at(`10.0.0.${number}`, 24), mac_address: mac(number) })));
  expect(await placed()).toEqual(["10.0.0.10 10.0.0.0/20", "10.0.0.9 10.0.0.0/24"]);
});
