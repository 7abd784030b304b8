// Writer commands for sightings, by name. Dry runs execute the same commands on the scanning thread and write nothing:
// commands must write data other than records only in runAfterWrite.

import type { CallsOf } from "../../db/writing/command.ts";
import { fromScan, markStale, recordAddresses, recordDevices } from "../reconcile/commands.ts";
import { expireUnseen } from "../reconcile/expiry.ts";
import { linkNeighbors } from "../reconcile/link-neighbors.ts";
import type { ScanInput } from "../reconcile/scan-write.ts";
import { recordSweep } from "../reconcile/sweeps.ts";
import { endUnusedVlans } from "../reconcile/unused-vlans.ts";

export const SIGHTING_COMMANDS = {
  "discovery.addresses": fromScan(recordAddresses),
  "discovery.devices": fromScan(recordDevices),
  "discovery.expire": fromScan(expireUnseen),
  "discovery.links": fromScan(linkNeighbors),
  "discovery.stale": fromScan(markStale),
  "discovery.swept": fromScan(recordSweep),
  "discovery.vlans": fromScan(endUnusedVlans),
};
export type SightingCommands = CallsOf<typeof SIGHTING_COMMANDS>;

/** Inputs of the commands without sightings, in addition to the scan. */
export interface SightingInputs {
  readonly "discovery.expire": SightingInput<typeof expireUnseen>;
  readonly "discovery.links": SightingInput<typeof linkNeighbors>;
  readonly "discovery.stale": SightingInput<typeof markStale>;
  readonly "discovery.swept": SightingInput<typeof recordSweep>;
  readonly "discovery.vlans": SightingInput<typeof endUnusedVlans>;
}

// biome-ignore lint/suspicious/noExplicitAny: only the input type matters here.
type SightingInput<C extends (tx: any, input: any, actor: any) => unknown> = Omit<Parameters<C>[1], keyof ScanInput>;
