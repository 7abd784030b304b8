// Tables that are missing, silent or cut off, which must not change the known state. Each is removed in turn from every
// recorded device, which is then rescanned.

import { expect, test } from "bun:test";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import type { Device } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { ReadStep, Reads } from "../../src/discovery/mib/reads.ts";
import { neighborSightingsOf } from "../../src/discovery/reconcile/neighbor-tables.ts";
import { macsBefore, servedBefore } from "../../src/discovery/reconcile/served-data.ts";
import type { Recorded } from "../../src/discovery/sightings.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import { fixtureNames, recordingNames } from "../support/reconcile/recorded-reads.ts";
import { possibleRemovals, type Removal, recordedSteps, reducedReads } from "../support/reconcile/reduced-reads.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";
import { syntheticDevices } from "../support/reconcile/synthetic-devices.ts";

/** MAC address seen at the queried address that belongs to no interface: it must not be set without a known one. */
const SEEN_MAC = "00:1b:21:77:77:77";

type Write<Sighting> = (remaining: readonly Sighting[]) => Promise<CommandOutcome<Recorded>>;

/** A recorded device, rescanned in a separate network. */
class Subject {
  private readonly appliance: TestAppliance;
  private readonly scan: ScanWriter;
  /** Sightings that have written nothing; writing them again has no effect. */
  private readonly settled = new Set<string>();
  readonly address: string;

  constructor(appliance: TestAppliance, address: string) {
    this.appliance = appliance;
    this.scan = new ScanWriter(appliance);
    this.address = address;
  }

  /** Scans the device and its neighbors. @returns the written versions, by kind */
  async rescan(reads: Reads): Promise<{ device: Device; written: string[] }> {
    const { reader, first } = this.appliance;
    const source = [reader, reader.recordN(first.networkId) as number, this.address, null] as const;
    const before = servedBefore(...source);
    const device = deviceOf(reads, before);
    const { arp: _arp, ...report } = device;
    const { tables: _reports, rows: _rows, conclusions: _conclusions, served: _served, ...values } = report;
    const sighting = deviceAt(this.address, report, { mac_address: SEEN_MAC });
    const { sightings: others } = neighborSightingsOf(
      device,
      device.broken?.includes("interfaces") === true ? macsBefore(...source) : [],
    );
    const written = [
      ...(await this.writeUnsettled([values], () => this.scan.devices(sighting))),
      ...(await this.writeUnsettled(others, (remaining) => this.scan.addresses(...remaining))),
    ];
    // A write may affect the other sightings.
    if (written.length > 0) this.settled.clear();
    return { device, written };
  }

  /** Writes the sightings, except those known to change nothing. */
  private async writeUnsettled<Sighting>(sightings: readonly Sighting[], write: Write<Sighting>): Promise<string[]> {
    const remaining = sightings.filter((sighting) => !this.settled.has(JSON.stringify(sighting)));
    if (remaining.length === 0) return [];
    for (const sighting of remaining) this.settled.add(JSON.stringify(sighting));
    const { records } = (await write(remaining)).result;
    return Object.entries(records).map(([kind, counts]) => `${kind} ${JSON.stringify(counts)}`);
  }
}

const synthetic = syntheticDevices();

for (const name of [...synthetic.keys(), ...fixtureNames(), ...recordingNames()]) {
  test(`${name} keeps known data if a table is no longer served, silent or cut off, and this is reported`, async () => {
    const appliance = await newAppliance();
    try {
      const all = synthetic.get(name) ?? recordedSteps(name, READING_PLAN);
      const completeReads = reducedReads(all, READING_PLAN, null);
      const { addresses = [] } = deviceOf(completeReads);
      const ownAddress = addresses.find(({ ip_address }) => !/^(127\.|fe80|::1|169\.254)/.test(ip_address));
      const subject = new Subject(appliance, ownAddress?.ip_address ?? "192.0.2.1");
      expect((await subject.rescan(completeReads)).written).not.toEqual([]);
      expect((await subject.rescan(completeReads)).written).toEqual([]);
      const failures: string[] = [];
      for (const reduction of possibleRemovals(all, READING_PLAN)) {
        const { written, device } = await subject.rescan(reducedReads(all, READING_PLAN, reduction));
        const { table, optional } = READING_PLAN.find((step) => step.name === reduction.step) as ReadStep;
        if (written.length > 0) {
          failures.push(`${textOf(reduction)}: ${written.join(", ")}`);
          await subject.rescan(completeReads);
          await subject.rescan(completeReads);
        }
        const isOptional = optional?.includes(reduction.part) === true;
        if ((device.tables[table].problem === null) !== isOptional)
          failures.push(`${textOf(reduction)}: ${isOptional ? "" : "not "}reported`);
      }
      expect((await subject.rescan(completeReads)).written).toEqual([]);
      expect(failures).toEqual([]);
    } finally {
      await appliance.close();
    }
  });
}

function textOf({ step, part, mode }: Removal): string {
  return `${step}, ${part}, ${mode}`;
}
