// Devices without MAC addresses and serial numbers, whose names and inner addresses are not unique.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({});
const { get } = inventoryOf(appliance);
const hosts = (): Promise<JsonRecord[]> => get("hosts?limit=200");

/** So many that the name is no longer evidence. */
const OTHERS = 70;

const radio = (own: string, inner: string, sys_descr = "release 1") =>
  deviceAt(own, { sys_name: "radio", sys_descr, addresses: [address(own), address(inner, 2)] });

test.each(["192.168.1.2", "10.0.0.2"])(
  "stay the same host when another device with the same name appears that has %s as well",
  async (inner) => {
    const scan = new ScanWriter(appliance);
    await scan.devices(...Array.from({ length: OTHERS }, (_, n) => radio(`10.0.1.${n + 1}`, `10.9.${n}.1`)));
    await scan.devices(radio("10.0.0.2", "192.168.1.2"));
    const before = (await hosts()).map(({ id }) => id);
    await scan.devices(radio("10.0.0.3", inner));
    await scan.devices(radio("10.0.0.2", "192.168.1.2", "release 2"));
    const after = await hosts();
    expect(after).toHaveLength(before.length + 1);
    expect(after.filter(({ sys_descr }) => sys_descr === "release 2").map(({ id }) => before.includes(id))).toEqual([
      true,
    ]);
  },
);
