// Devices that renumbered their interfaces and whose ifTable is cut off.

import { expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, device, deviceAt, ethernet } from "../support/reconcile/sightings.ts";

const PORTS = 24;
const ROWS_READ = 10;

const appliance = applianceForEach();
const scan = new ScanWriter(appliance);
const { entries } = inventoryOf(appliance);

/** A switch of which the first `rows` interfaces are read; port P has the ifIndex `indexOf(P)`. */
function switchWith(indexOf: (port: number) => number, rows = PORTS, fields: Partial<Device> = {}) {
  const ports = Array.from({ length: PORTS }, (_, index) => index + 1).sort((a, b) => indexOf(a) - indexOf(b));
  const interfaces = ports.map((port) => ({ ...ethernet(port), if_index: indexOf(port) })).slice(0, rows);
  const own = { sys_name: "sw-1", serial_number: "FOC1", addresses: [address("10.0.0.2")] };
  return deviceAt("10.0.0.2", { ...own, interfaces, ...fields });
}

const CUT_OFF: Partial<Device> = {
  tables: { ...device().tables, interfaces: { state: "partial", problem: "no response" } },
  broken: ["interfaces"],
};

const idsByName = async () => new Map((await entries()).map(({ id, if_name }) => [if_name, id]));

test.each([
  ["the first ones have the ifIndexes of the last ones", (port: number) => ((port + 11) % PORTS) + 1],
  ["each has the ifIndex of another one", (port: number) => PORTS + 1 - port],
  ["all ifIndexes are new", (port: number) => 100 + port],
])("keep every interface when %s, and number them by the next complete read", async (_title, indexOf) => {
  await scan.devices(switchWith((port) => port));
  const before = await idsByName();
  const cutOff = switchWith(indexOf, ROWS_READ, CUT_OFF);
  await scan.devices(cutOff);
  expect(await idsByName()).toEqual(before);
  expect((await scan.devices(cutOff)).sequence).toBeNull();

  await scan.devices(switchWith(indexOf));
  expect(await idsByName()).toEqual(before);
  const indexes = (await entries()).map(({ if_name, if_index }) => [if_name, if_index]);
  const expected = Array.from({ length: PORTS }, (_, index) => [ethernet(index + 1).if_name, indexOf(index + 1)]);
  expect(indexes.toSorted()).toEqual(expected.toSorted());
});

test("lose the interfaces that a complete read with other ifIndexes lacks", async () => {
  await scan.devices(switchWith((port) => port));
  const { result } = await scan.devices(switchWith((port) => PORTS + 1 - port, PORTS - 4));
  const names = (await entries()).map(({ if_name }) => if_name);
  expect(names).toHaveLength(PORTS - 4);
  for (const port of [1, 2, 3, 4]) expect(names).not.toContain(ethernet(port).if_name);
  const reasons = result.findings.map(({ reason }) => reason).filter((reason) => reason.startsWith("not in"));
  expect(reasons).toEqual(Array(4).fill("not in ifTable, 20 rows, read to the end"));
});
