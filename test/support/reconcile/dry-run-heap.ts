// Heap bytes that a dry-run scan retains per device with 400 forwarding entries, printed. Runs as a separate process.

import { heapStats } from "bun:jsc";
import { newAppliance } from "../appliance/appliance.ts";
import { newDryRun, switchOf, tellDevice } from "./dry-run.ts";
import { mac } from "./sightings.ts";

const WARM_UP = 100;
const DEVICES = 100;

const appliance = await newAppliance();
const dryRun = newDryRun(appliance);
await tellSwitches(0, WARM_UP);
const before = held();
await tellSwitches(WARM_UP, DEVICES);
const bytes = (held() - before) / DEVICES;
dryRun.close();
await appliance.close();
process.stdout.write(String(Math.round(bytes)));

async function tellSwitches(first: number, count: number): Promise<void> {
  for (let number = first; number < first + count; number += 1) {
    const macs = Array.from({ length: 50 }, (_, each) => mac(each, 1_000 + number));
    await tellDevice(appliance, dryRun, switchOf(number, macs, 8));
  }
}

function held(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}
