// Devices that no longer serve ifTable: they stay the same hosts, regardless of the duration and of other missing
// tables.

import { expect, test } from "bun:test";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { servedBefore } from "../../src/discovery/reconcile/served-data.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, mac } from "../support/reconcile/sightings.ts";
import { hex, readsWith, type SyntheticStep, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { hosts, entries } = inventoryOf(appliance);
const scan = new ScanWriter(appliance);

const DAY_MS = 24 * 60 * 60 * 1_000;
const ADDRESS = "10.0.0.8";
type Tables = Readonly<Record<string, SyntheticStep>>;

const row = (number: number) => ({
  ifDescr: utf8(`Gi0/${number}`),
  ifType: 6,
  ifPhysAddress: hex(mac(number, 8)),
  ifAdminStatus: 1,
  ifOperStatus: 1,
});
const SYSTEM: SyntheticStep = {
  scalars: { sysName: utf8("core-8"), sysDescr: utf8("a switch"), sysObjectID: "1.3.6.1.4.1.9.1.516" },
};
const INTERFACES: Tables = { if_table: tableOf({ "1": row(1), "2": row(2) }) };
const NAMES: Tables = { if_x_table: tableOf({ "1": { ifName: utf8("Gi0/1") }, "2": { ifName: utf8("Gi0/2") } }) };
const ADDRESSES: Tables = {
  ip_addr_table: tableOf({ [ADDRESS]: { ipAdEntIfIndex: 1, ipAdEntNetMask: "255.255.255.0" } }),
};

/** Reads the device with these tables and records it, a day after the last read. */
async function read(tables: Tables): Promise<void> {
  appliance.clock.advance(DAY_MS);
  const { reader, first } = appliance;
  const before = servedBefore(reader, reader.recordN(first.networkId) as number, ADDRESS, null);
  await scan.devices(deviceAt(ADDRESS, deviceOf(readsWith({ system: SYSTEM, ...tables }), before)));
}

test.each<[string, Tables]>([
  ["serves everything else", { ...NAMES, ...ADDRESSES }],
  ["serves its addresses", ADDRESSES],
  ["serves only the system group", {}],
])("a device without ifTable that %s stays the same host for three weeks, and afterwards", async (_case, left) => {
  await read({ ...INTERFACES, ...NAMES, ...ADDRESSES });
  const before = (await hosts()).map(({ id, name }) => [id, name]);
  expect(before).toHaveLength(1);
  for (let day = 0; day < 21; day += 1) {
    await read(left);
    expect([day, (await hosts()).map(({ id, name }) => [id, name])]).toEqual([day, before]);
  }
  await read({ ...INTERFACES, ...NAMES, ...ADDRESSES });
  expect((await hosts()).map(({ id, name }) => [id, name])).toEqual(before);
  expect((await entries()).map(({ if_index }) => if_index)).toEqual([1, 2]);
});
