// Renamed switches without a serial number whose ifTable is cut off.

import { expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, device, deviceAt, ethernet } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const scan = new ScanWriter(appliance);
const { hosts } = inventoryOf(appliance);

test.each([1, 8, 24])(
  "a switch of %i ports without a serial number that was renamed stays the same host, though its ifTable is cut off after its cards",
  async (ports) => {
    const sw = (sys_name: string, fields: Partial<Device> = {}) =>
      deviceAt("10.0.0.2", {
        sys_name,
        interfaces: Array.from({ length: ports }, (_, index) => ethernet(index + 1)),
        addresses: [address("10.0.0.2")],
        ...fields,
      });
    const tables = { ...device().tables, interfaces: { state: "partial", problem: "no response" } as const };
    await scan.devices(sw("sw-1"));
    const [first] = await hosts();
    await scan.devices(sw("sw-2", { tables, broken: ["interfaces"] }));
    await scan.devices(sw("sw-2"));
    expect((await hosts()).map(({ id, sys_name }) => [id, sys_name])).toEqual([[first?.id, "sw-2"]]);
  },
);
