// Every long read there is: what the threads that read know.

import type { Actor } from "./access/actor.ts";
import type { AnyLongRead } from "./db/reading/long-reads.ts";
import { filteredFindings, filteredScans } from "./discovery/scans/filtered-scans.ts";
import { changeFeed } from "./history/change-feed.ts";
import { diff } from "./history/diff-formats.ts";
import { locate } from "./history/locate/locate.ts";
import { locateTimeline } from "./history/locate/timeline.ts";
import { recordHistory } from "./history/record-history.ts";
import { retentionPreview } from "./history/retention-preview.ts";
import { transaction, transactions } from "./history/transactions.ts";
import { largeRecordRead } from "./inventory/large-record.ts";
import { longListRead } from "./inventory/long-list.ts";
import { activity } from "./questions/activity/activity.ts";
import { conflicts } from "./questions/conflicts/conflicts.ts";
import { faceplate } from "./questions/faceplate/faceplate.ts";
import { subnetAddresses } from "./questions/ipam/addresses.ts";
import { freeSpace } from "./questions/ipam/free.ts";
import { subnetBlocks } from "./questions/ipam/subnet-blocks.ts";
import { subnetTree } from "./questions/ipam/subnet-tree.ts";
import { search } from "./questions/search.ts";
import { stations } from "./questions/stations/stations.ts";
import { summary } from "./questions/summary/summary.ts";
import { topology } from "./questions/topology/topology.ts";
import { topologyOverTime } from "./questions/topology/topology-over-time.ts";
import { withheld } from "./questions/withheld/withheld.ts";

export const LONG_READS: readonly AnyLongRead[] = [
  activity,
  changeFeed,
  conflicts,
  diff,
  filteredFindings,
  filteredScans,
  freeSpace,
  faceplate,
  largeRecordRead,
  locate,
  locateTimeline,
  longListRead,
  recordHistory,
  retentionPreview,
  search,
  stations,
  subnetAddresses,
  subnetBlocks,
  subnetTree,
  summary,
  topology,
  topologyOverTime,
  transaction,
  transactions,
  withheld,
];

/** Who asks for a read: the user, with whichever key or session. */
export function callerOfRead(input: unknown): unknown {
  return (input as { readonly actor: Actor }).actor.userN;
}
