// Sweep runner inside the scanner's namespace: one line of orders in, one line of reports out.

import { parseCidr } from "../../../src/base/ip.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import type { AddressSighting } from "../../../src/discovery/sightings.ts";
import { addressCount, eachAddress } from "../../../src/discovery/sweep/addresses.ts";
import { sweep } from "../../../src/discovery/sweep/sweep.ts";
import { descriptorsAtRest, descriptorsBackTo } from "./descriptors.ts";
import type { SweepOrder, SweepReport, SweepReports } from "./lab.ts";

async function run({ cidrs, options }: SweepOrder): Promise<SweepReport> {
  const blocks = cidrs.flatMap((text) => parseCidr(text) ?? []);
  const sightings: AddressSighting[] = [];
  const stats = await sweep(
    { addresses: eachAddress(blocks), count: Number(addressCount(blocks)) },
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
  const descriptorsBefore = await descriptorsAtRest();
  const reports = await Promise.all(orders.map(run));
  process.stdout.write(
    `${JSON.stringify({ reports, descriptorsBefore, descriptorsAfter: await descriptorsBackTo(descriptorsBefore) } satisfies SweepReports)}\n`,
  );
}
