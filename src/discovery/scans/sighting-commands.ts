// What the writer runs on what scans see, by name. A scan that only tells what it would do runs the same on its own
// thread, and writes nothing: whatever they keep beside the records must be written by afterwardsRun alone.

import type { CallsOf } from "../../db/writing/command.ts";
import { fromScan, markStale, recordAddresses, recordDevices } from "../reconcile/commands.ts";
import { linkNeighbors } from "../reconcile/link-neighbors.ts";
import type { ScanInput } from "../reconcile/scan-write.ts";

export const SIGHTING_COMMANDS = {
  "discovery.addresses": fromScan(recordAddresses),
  "discovery.devices": fromScan(recordDevices),
  "discovery.links": fromScan(linkNeighbors),
  "discovery.stale": fromScan(markStale),
};
export type SightingCommands = CallsOf<typeof SIGHTING_COMMANDS>;

/** What the commands that are not given sightings are told, beside of which scan it is. */
export interface SightingInputs {
  readonly "discovery.links": SightingInput<typeof linkNeighbors>;
  readonly "discovery.stale": SightingInput<typeof markStale>;
}

// biome-ignore lint/suspicious/noExplicitAny: only what it is told matters here.
type SightingInput<C extends (tx: any, input: any, actor: any) => unknown> = Omit<Parameters<C>[1], keyof ScanInput>;
