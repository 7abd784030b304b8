// Memory of a dry-run scan: enough to report its writes, without the full reports of the devices.

import { beforeEach, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import type { DryRun } from "../../src/discovery/scans/dry-run.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { newDryRun, switchOf, tellDevice } from "../support/reconcile/dry-run.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { mac } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({}, () => dryRun.close());
let dryRun: DryRun;
beforeEach(() => {
  dryRun = newDryRun(appliance);
});

test("forwarding entries are reported with their interface, without being held in memory", async () => {
  await new ScanWriter(appliance).devices(switchOf(1, [mac(1, 200), mac(2, 200)]));
  // One entry is removed and one added at a known interface without other changes; a new interface has its own entries.
  await tellDevice(appliance, dryRun, switchOf(1, [mac(2, 200), mac(3, 200)]));
  const { result } = await tellDevice(appliance, dryRun, switchOf(2, [mac(4, 200)]));
  expect(result.records).toMatchObject({ fdb_entries: { created: 1, updated: 0, deleted: 0 } });
  expect(dryRun.unwritten(fdbEntryKind).size).toBe(0);
  const told = [...dryRun.findings()].filter(({ changes }) => changes?.fdb_macs !== undefined);
  expect(told.map(({ type, label, changes }) => [type, label, changes?.fdb_macs])).toEqual([
    ["Created", expect.any(String), { from: [], to: [mac(4, 200)] }],
    ["Changed", expect.any(String), { from: [mac(1, 200)], to: [mac(3, 200)] }],
  ]);
});

test("a command compares only its own changes, not those of all commands before it", async () => {
  const numbers = Array.from({ length: 8 }, (_, each) => each + 1);
  const ports = 20;
  await new ScanWriter(appliance).devices(...numbers.map((each) => switchOf(each, [], ports)));
  const renamed = (number: number) => {
    const { device, ...sighting } = switchOf(number, [], ports);
    const interfaces = device.interfaces?.map((each) => ({ ...each, if_alias: "another" })) ?? [];
    return { ...sighting, device: { ...device, interfaces } };
  };
  const compared: number[] = [];
  const spy = spyOn(Bun, "deepEquals");
  try {
    for (const each of numbers) {
      spy.mockClear();
      const { result } = await tellDevice(appliance, dryRun, renamed(each));
      expect(result.records).toEqual({ if_entries: { created: 0, updated: ports, deleted: 0 } });
      compared.push(spy.mock.calls.length);
    }
  } finally {
    spy.mockRestore();
  }
  expect(compared[0]).toBeGreaterThan(ports);
  expect(compared.at(-1)).toBe(compared[0] as number);
});

test("a device with many entries retains only a fraction of its report once processed", () => {
  // In a separate process: garbage of other tests would distort the heap.
  const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "../support/reconcile/dry-run-heap.ts")], {
    stderr: "inherit",
  });
  // With 400 forwarding entries as records and the whole report, it is 350 kB.
  expect(Number(child.stdout.toString())).toBeLessThan(60_000);
  expect(child.exitCode).toBe(0);
});
