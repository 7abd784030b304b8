// Prints the heap bytes that a dry-run scan retains per device with 400 forwarding entries. Runs as a separate process.

import { heapStats } from "bun:jsc";
import { newAppliance } from "../appliance/appliance.ts";
import { newDryRun, reportDevice, switchOf } from "./dry-run.ts";
import { mac } from "./sightings.ts";

const WARM_UP = 100;
const DEVICES = 100;

const appliance = await newAppliance();
const dryRun = newDryRun(appliance);
await reportSwitches(0, WARM_UP);
const before = usedHeap();
await reportSwitches(WARM_UP, DEVICES);
const bytes = (usedHeap() - before) / DEVICES;
dryRun.close();
await appliance.close();
process.stdout.write(String(Math.round(bytes)));

async function reportSwitches(first: number, count: number): Promise<void> {
  for (let number = first; number < first + count; number += 1) {
    const macs = Array.from({ length: 50 }, (_, index) => mac(index, 1_000 + number));
    await reportDevice(appliance, dryRun, switchOf(number, macs, 8));
  }
}

function usedHeap(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}
