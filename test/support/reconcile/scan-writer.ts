// Writer of scan sightings that uses the same commands as the writer thread.

import type { CommandActor } from "../../../src/access/actor.ts";
import type { CommandOutcome } from "../../../src/db/writing/transaction.ts";
import { neighborLines, neighborSightingsOf } from "../../../src/discovery/reconcile/neighbor-tables.ts";
import { recordSightings } from "../../../src/discovery/reconcile/record-sightings.ts";
import { digestOf } from "../../../src/discovery/reconcile/reports.ts";
import { ScanWrite } from "../../../src/discovery/reconcile/scan-write.ts";
import type { SightingCommands } from "../../../src/discovery/scans/sighting-commands.ts";
import { inputText, sightingText } from "../../../src/discovery/sighting-lines.ts";
import type { AddressSighting, DeviceSighting, Recorded } from "../../../src/discovery/sightings.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import { inTransaction } from "../appliance/factories.ts";
import { deviceAt } from "./sightings.ts";

/** Input of a scan's command, as the recorder passes it. */
export function inputBytes(input: object): Uint8Array {
  const { sightings, ...others } = input as { readonly sightings?: readonly DeviceSighting[] };
  return new TextEncoder().encode(inputText(JSON.stringify(others).slice(1, -1), sightings?.map(sightingText)));
}

/** Actor of a scan of the first network. */
export function scanActor({ first: { organizationId, networkId } }: TestAppliance, id: string): CommandActor {
  const author = { type: "Discovery", id, name: "full scan", organizationId, requestId: null } as const;
  return { ...author, userId: null, role: "Owner", networkIds: [networkId] };
}

/**
 * Writes scan sightings in the first network of an appliance. Each write is a separate scan, a minute after the
 * previous one.
 */
export class ScanWriter {
  private readonly appliance: TestAppliance;
  private count = 0;
  /** Id of the last write's scan. */
  scanId = "";

  constructor(appliance: TestAppliance) {
    this.appliance = appliance;
  }

  /** Writes devices with their digests, as the scanner sends them. */
  devices(...sightings: DeviceSighting[]): Promise<CommandOutcome<Recorded>> {
    const digested = sightings.map((sighting) => {
      const neighbors = neighborLines(sighting.device);
      return { ...sighting, ...(neighbors === undefined ? {} : { neighbors }), digest: digestOf(sighting) };
    });
    return this.run("discovery.devices", { sightings: digested });
  }

  /** Writes the neighbors of a device. */
  neighborsOf(sighting: DeviceSighting): Promise<CommandOutcome<Recorded>> {
    return this.addresses(...neighborSightingsOf(sighting.device).sightings);
  }

  addresses(...sightings: AddressSighting[]): Promise<CommandOutcome<Recorded>> {
    return this.run("discovery.addresses", { sightings });
  }

  stale(records: ReadonlyArray<{ entity: string; id: string }>): Promise<CommandOutcome<Recorded>> {
    return this.run("discovery.stale", { records });
  }

  run(command: keyof SightingCommands, input: object): Promise<CommandOutcome<Recorded>> {
    return this.runAll([[command, input]]);
  }

  /** Records what was overheard as the neighbor table of a device without a host, as the scanner does for devices. */
  private hear(sightings: readonly AddressSighting[]): void {
    const arp = sightings.flatMap(({ ip_address, mac_address, answered }) =>
      mac_address !== null && answered?.length === 0 ? [{ ip_address, mac_address, if_index: null }] : [],
    );
    if (arp.length === 0) return;
    const { device, ...sighting } = deviceAt("192.0.2.254", { arp });
    const neighbors = neighborLines(device) as string;
    const input = { scan_id: this.scanId, network_id: this.appliance.first.networkId };
    const actor = scanActor(this.appliance, this.scanId);
    inTransaction(this.appliance, (tx) =>
      recordSightings(new ScanWrite(tx, input, actor), null, { ...sighting, device, neighbors }, false),
    );
  }

  /** Runs several commands of one scan. @returns the outcome of the last one */
  async runAll(
    commands: readonly [
      readonly [command: keyof SightingCommands, input: object],
      ...(readonly [command: keyof SightingCommands, input: object])[],
    ],
  ): Promise<CommandOutcome<Recorded>> {
    this.appliance.clock.advance(60_000);
    this.count += 1;
    this.scanId = `0193aaaa-0000-7000-8000-${String(this.count).padStart(12, "0")}`;
    const { networkId } = this.appliance.first;
    const author = scanActor(this.appliance, this.scanId);
    const run = async ([command, input]: readonly [keyof SightingCommands, object]): Promise<
      CommandOutcome<Recorded>
    > => {
      const bytes = inputBytes({ scan_id: this.scanId, network_id: networkId, ...input });
      const outcome = await this.appliance.writes.run(command, { bytes }, author);
      this.appliance.clock.advance(1_000);
      return outcome;
    };
    this.hear(
      commands.flatMap(([, { sightings = [] }]: readonly [string, { sightings?: AddressSighting[] }]) => sightings),
    );
    const [first, ...others] = commands;
    let outcome = await run(first);
    for (const command of others) outcome = await run(command);
    return outcome;
  }
}
