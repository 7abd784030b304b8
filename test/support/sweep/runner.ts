// Sweep runner inside the scanner's namespace: reads one line of requests and writes one line of reports.

import { systemRandom } from "../../../src/base/random.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import type { AddressSighting } from "../../../src/discovery/sightings.ts";
import { sweep } from "../../../src/discovery/sweep/sweep.ts";
import { stableDescriptorCount, waitForDescriptorCount } from "./descriptors.ts";
import type { SweepOrder, SweepReport, SweepReports } from "./lab.ts";
import { targetsIn } from "./targets.ts";

async function run({ cidrs, options }: SweepOrder): Promise<SweepReport> {
  const sightings: AddressSighting[] = [];
  const stats = await sweep(
    targetsIn(cidrs),
    { ...options, random: systemRandom, timers: systemTimers },
    { answer: (sighting) => void sightings.push(sighting) },
  );
  sightings.sort((a, b) => (a.ip_address < b.ip_address ? -1 : 1));
  return { sightings, stats };
}

process.stdout.write("scanner is up\n");
for await (const line of console) {
  const orders = JSON.parse(line) as SweepOrder[];
  for (const { before } of orders) if (before !== undefined) Bun.spawnSync(["sh", "-c", before]);
  const descriptorsBefore = await stableDescriptorCount();
  const reports = await Promise.all(orders.map(run));
  process.stdout.write(
    `${JSON.stringify({ reports, descriptorsBefore, descriptorsAfter: await waitForDescriptorCount(descriptorsBefore) } satisfies SweepReports)}\n`,
  );
}
