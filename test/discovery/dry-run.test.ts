// Memory use of a dry-run scan, which retains its findings but not the devices' full reports.

import { beforeEach, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import type { DryRun } from "../../src/discovery/scans/dry-run.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { newDryRun, reportDevice, switchOf } from "../support/reconcile/dry-run.ts";
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
  await reportDevice(appliance, dryRun, switchOf(1, [mac(2, 200), mac(3, 200)]));
  const { result } = await reportDevice(appliance, dryRun, switchOf(2, [mac(4, 200)]));
  expect(result.records).toMatchObject({ fdb_entries: { created: 1, updated: 0, deleted: 0 } });
  expect(dryRun.pendingWrites(fdbEntryKind).size).toBe(0);
  const changeFindings = [...dryRun.findings()].filter(({ changes }) => changes?.fdb_macs !== undefined);
  expect(changeFindings.map(({ type, label, changes }) => [type, label, changes?.fdb_macs])).toEqual([
    ["Created", expect.any(String), { from: [], to: [mac(4, 200)] }],
    ["Changed", expect.any(String), { from: [mac(1, 200)], to: [mac(3, 200)] }],
  ]);
});

test("a command compares only its own changes, not those of all commands before it", async () => {
  const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
  const ports = 20;
  await new ScanWriter(appliance).devices(...numbers.map((number) => switchOf(number, [], ports)));
  const renamed = (number: number) => {
    const { device, ...sighting } = switchOf(number, [], ports);
    const interfaces = device.interfaces?.map((entry) => ({ ...entry, if_alias: "another" })) ?? [];
    return { ...sighting, device: { ...device, interfaces } };
  };
  const comparisonCounts: number[] = [];
  const spy = spyOn(Bun, "deepEquals");
  try {
    for (const number of numbers) {
      spy.mockClear();
      const { result } = await reportDevice(appliance, dryRun, renamed(number));
      expect(result.records).toEqual({ if_entries: { created: 0, updated: ports, deleted: 0 } });
      comparisonCounts.push(spy.mock.calls.length);
    }
  } finally {
    spy.mockRestore();
  }
  expect(comparisonCounts[0]).toBeGreaterThan(ports);
  expect(comparisonCounts.at(-1)).toBe(comparisonCounts[0] as number);
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
