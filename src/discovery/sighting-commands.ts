// What the writer runs on what scans see, by name. A scan that only tells what it would do runs the same on its own thread, and writes nothing:
// whatever they keep beside the records must be written by afterwardsRun alone.

import type { Commands } from "../db/writer.ts";
import { fromScan, markStale, recordAddresses, recordDevices } from "./reconcile/commands.ts";
import { LINKS_COMMAND } from "./topology/find-links.ts";
import { linkNeighbors } from "./topology/link-neighbors.ts";

export const SIGHTING_COMMANDS: Commands = {
  "discovery.addresses": fromScan(recordAddresses),
  "discovery.devices": fromScan(recordDevices),
  [LINKS_COMMAND]: fromScan(linkNeighbors),
  "discovery.stale": fromScan(markStale),
};
