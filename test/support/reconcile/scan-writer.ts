// Writer of scan sightings, through the same commands as the writer thread.

import type { CommandActor } from "../../../src/access/actor.ts";
import type { CommandOutcome } from "../../../src/db/writing/transaction.ts";
import { heardOf } from "../../../src/discovery/reconcile/neighbor-tables.ts";
import { digestOf } from "../../../src/discovery/reconcile/reports.ts";
import type { SightingCommands } from "../../../src/discovery/scans/sighting-commands.ts";
import type { AddressSighting, DeviceSighting, Recorded } from "../../../src/discovery/sightings.ts";
import type { TestAppliance } from "../appliance/appliance.ts";

/**
 * Writes scan sightings in the first network of an appliance. Each write is a separate scan, a minute after the
 * previous one.
 */
export class ScanWriter {
  private readonly appliance: TestAppliance;
  private count = 0;
  /** Of the last write. */
  scanId = "";

  constructor(appliance: TestAppliance) {
    this.appliance = appliance;
  }

  /** With their digests, as from the scanner. */
  devices(...sightings: DeviceSighting[]): Promise<CommandOutcome<Recorded>> {
    return this.run("discovery.devices", { sightings: sightings.map((each) => ({ ...each, digest: digestOf(each) })) });
  }

  /** Writes the neighbors of a device. */
  heardBy(sighting: DeviceSighting): Promise<CommandOutcome<Recorded>> {
    return this.addresses(...heardOf(sighting.device).sightings);
  }

  addresses(...sightings: AddressSighting[]): Promise<CommandOutcome<Recorded>> {
    return this.run("discovery.addresses", { sightings });
  }

  stale(records: ReadonlyArray<{ entity: string; id: string }>): Promise<CommandOutcome<Recorded>> {
    return this.run("discovery.stale", { records });
  }

  run(command: keyof SightingCommands, input: object): Promise<CommandOutcome<Recorded>> {
    return this.whole([[command, input]]);
  }

  /** Several commands of one scan. @returns outcome of the last */
  async whole(
    commands: readonly [
      readonly [command: keyof SightingCommands, input: object],
      ...(readonly [command: keyof SightingCommands, input: object])[],
    ],
  ): Promise<CommandOutcome<Recorded>> {
    this.appliance.clock.advance(60_000);
    this.count += 1;
    this.scanId = `0193aaaa-0000-7000-8000-${String(this.count).padStart(12, "0")}`;
    const { organizationId, networkId } = this.appliance.first;
    const author: CommandActor = {
      type: "Discovery",
      id: this.scanId,
      name: "full scan",
      organizationId,
      requestId: null,
      userId: null,
      role: "Owner",
      networkIds: [networkId],
    };
    const run = async ([command, input]: readonly [keyof SightingCommands, object]): Promise<
      CommandOutcome<Recorded>
    > => {
      const bytes = new TextEncoder().encode(JSON.stringify({ scan_id: this.scanId, network_id: networkId, ...input }));
      const outcome = await this.appliance.writes.run(command, { bytes }, author);
      this.appliance.clock.advance(1_000);
      return outcome;
    };
    const [first, ...others] = commands;
    let outcome = await run(first);
    for (const each of others) outcome = await run(each);
    return outcome;
  }
}
