// Subnets of addresses whose prefix no device reports, independent of the order of responses.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({});
const { get } = inventoryOf(appliance);

const at = (ip_address: string, prefix_length: number | null) =>
  deviceAt(ip_address, { sys_name: ip_address, addresses: [{ ip_address, prefix_length, if_index: 1 }] });

/** Addresses with the prefix of their subnet. */
async function placed(): Promise<string[]> {
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

test("a subnet of one address that a person has written stays", async () => {
  const scan = new ScanWriter(appliance);
  await scan.devices(at("10.0.0.9", null));
  const [{ id, network_id, cidr }] = await get("subnets");
  expect((await appliance.owner.put(`subnets/${id}`, { network_id, cidr, name: "Anycast" })).status).toBe(200);
  await scan.devices(at("10.0.0.2", 24));
  expect(await placed()).toEqual(["10.0.0.2 10.0.0.0/24", "10.0.0.9 10.0.0.9/32"]);
});
