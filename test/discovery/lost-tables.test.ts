// Tables no longer served, silent or cut off, do not change the known state: each is removed in turn from every
// recorded device, which is then rescanned.

import { expect, test } from "bun:test";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import type { Device } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { ReadStep, Reads } from "../../src/discovery/mib/reads.ts";
import { heardOf } from "../../src/discovery/reconcile/neighbor-tables.ts";
import { macsBefore, servedBefore } from "../../src/discovery/reconcile/served-memory.ts";
import type { Recorded } from "../../src/discovery/sightings.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import { handMadeDevices } from "../support/reconcile/hand-made-devices.ts";
import { fixtureNames, recordingNames } from "../support/reconcile/recorded-reads.ts";
import { recorded, reducedReads, type Taken, takings } from "../support/reconcile/reduced-reads.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";

const recordings = recordingNames();

test.skipIf(recordings.length === 0)("recordings of real devices are also mutilated (if available)", () => {
  expect(recordings.length).toBeGreaterThan(0);
});

/** Seen at the queried address, but belongs to no interface: an address without a known interface must not get it. */
const SEEN_MAC = "00:1b:21:77:77:77";

type Write<Seen> = (left: readonly Seen[]) => Promise<CommandOutcome<Recorded>>;

/** A recorded device, rescanned in a separate network. */
class Subject {
  private readonly appliance: TestAppliance;
  private readonly scan: ScanWriter;
  /** Sightings without a write; the same ones will not write later either. */
  private readonly settled = new Set<string>();
  readonly asked: string;

  constructor(appliance: TestAppliance, asked: string) {
    this.appliance = appliance;
    this.scan = new ScanWriter(appliance);
    this.asked = asked;
  }

  /** Scans the device and its neighbors. @returns the written versions, by kind */
  async scanned(reads: Reads): Promise<{ device: Device; written: string[] }> {
    const { reader, first } = this.appliance;
    const where = [reader, reader.recordN(first.networkId) as number, this.asked, null] as const;
    const before = servedBefore(...where);
    const device = deviceOf(reads, before);
    const { arp: _heard, ...told } = device;
    const { tables: _reports, rows: _rows, conclusions: _conclusions, served: _served, ...values } = told;
    const sighting = deviceAt(this.asked, told, { mac_address: SEEN_MAC });
    const { sightings: others } = heardOf(
      device,
      device.broken?.includes("interfaces") === true ? macsBefore(...where) : [],
    );
    const written = [
      ...(await this.unsettled([values], () => this.scan.devices(sighting))),
      ...(await this.unsettled(others, (left) => this.scan.addresses(...left))),
    ];
    // A write may affect the other sightings.
    if (written.length > 0) this.settled.clear();
    return { device, written };
  }

  /** Writes the sightings that are not known to be without effect. */
  private async unsettled<Seen>(seen: readonly Seen[], write: Write<Seen>): Promise<string[]> {
    const left = seen.filter((each) => !this.settled.has(JSON.stringify(each)));
    if (left.length === 0) return [];
    for (const each of left) this.settled.add(JSON.stringify(each));
    const { records } = (await write(left)).result;
    return Object.entries(records).map(([kind, counts]) => `${kind} ${JSON.stringify(counts)}`);
  }
}

const handMade = handMadeDevices();

for (const name of [...handMade.keys(), ...fixtureNames(), ...recordings]) {
  test(`${name}: a table no longer served, silent or cut off leaves known data, and is reported`, async () => {
    const appliance = await newAppliance();
    try {
      const all = handMade.get(name) ?? recorded(name, READING_PLAN);
      const whole = reducedReads(all, READING_PLAN, null);
      const { addresses = [] } = deviceOf(whole);
      const own = addresses.find((each) => !/^(127\.|fe80|::1|169\.254)/.test(each.ip_address));
      const subject = new Subject(appliance, own?.ip_address ?? "192.0.2.1");
      expect((await subject.scanned(whole)).written).not.toEqual([]);
      expect((await subject.scanned(whole)).written).toEqual([]);
      const wrong: string[] = [];
      for (const taken of takings(all, READING_PLAN)) {
        const { written, device } = await subject.scanned(reducedReads(all, READING_PLAN, taken));
        const { table } = READING_PLAN.find((step) => step.name === taken.step) as ReadStep;
        if (written.length > 0) {
          wrong.push(`${textOf(taken)}: ${written.join(", ")}`);
          await subject.scanned(whole);
          await subject.scanned(whole);
        }
        if (device.tables[table].problem === null) wrong.push(`${textOf(taken)}: not said`);
      }
      expect((await subject.scanned(whole)).written).toEqual([]);
      expect(wrong).toEqual([]);
    } finally {
      await appliance.close();
    }
  });
}

function textOf({ step, what, how }: Taken): string {
  return `${step}, ${what}, ${how}`;
}
