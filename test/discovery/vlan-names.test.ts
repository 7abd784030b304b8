// Names of VLANs that devices name differently.

import { expect, test } from "bun:test";
import { bestName } from "../../src/discovery/reconcile/vlan-names.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { numbered } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({});
const { get } = inventoryOf(appliance);

/** Scans devices that each report a name of VLAN 10, in this order. */
async function scanNames(scan: ScanWriter, ...names: ReadonlyArray<readonly [device: number, name: string]>) {
  const sightings = names.map(([device, name]) =>
    numbered(device, { sys_name: `sw-${device}`, vlans: [{ number: 10, name }] }),
  );
  for (const sighting of sightings) await scan.devices(sighting);
  await scan.run("discovery.vlans", {});
  return (await get("vlans"))[0];
}

test("a VLAN has the name that most devices report, in any order of responses", async () => {
  const scan = new ScanWriter(appliance);
  expect(await scanNames(scan, [1, "guests"])).toMatchObject({ name: "guests" });
  expect(await scanNames(scan, [2, "users"], [3, "users"])).toMatchObject({ name: "users" });
  expect(await scanNames(scan, [4, "guests"])).toMatchObject({ name: "guests" });
});

test("a VLAN renamed on some devices keeps its name until most of them have the new one", async () => {
  const scan = new ScanWriter(appliance);
  const before = await scanNames(scan, [1, "users"], [2, "users"], [3, "users"]);
  expect(await scanNames(scan, [1, "staff"])).toEqual({ ...before });
  expect(await scanNames(scan, [2, "staff"])).toMatchObject({ id: before.id, name: "staff" });
});

test("a VLAN that a user has named keeps that name", async () => {
  const scan = new ScanWriter(appliance);
  const { id, network_id, number } = await scanNames(scan, [1, "users"]);
  expect((await appliance.owner.put(`vlans/${id}`, { network_id, number, name: "Office" })).status).toBe(200);
  expect(await scanNames(scan, [2, "guests"], [3, "guests"])).toMatchObject({ name: "Office" });
});

test("a name that only repeats the number counts if there is no other", () => {
  expect(
    bestName(
      10,
      new Map([
        ["VLAN0010", 7],
        ["users", 1],
      ]),
    ),
  ).toBe("users");
  expect(
    bestName(
      10,
      new Map([
        ["Vlan 10", 1],
        ["VLAN0010", 2],
      ]),
    ),
  ).toBe("VLAN0010");
  expect(
    bestName(
      10,
      new Map([
        ["VLAN0100", 1],
        ["10", 3],
      ]),
    ),
  ).toBe("VLAN0100");
  expect(
    bestName(
      10,
      new Map([
        ["b", 2],
        ["a", 2],
      ]),
    ),
  ).toBe("a");
  expect(bestName(10, new Map())).toBeNull();
});
