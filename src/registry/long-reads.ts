// Table of all long reads, for the read threads.

import type { Actor } from "../access/actor.ts";
import type { AnyLongRead } from "../db/reading/long-reads.ts";
import { filteredFindings, filteredScans } from "../discovery/scans/filtered-scans.ts";
import { changeFeed } from "../history/change-feed.ts";
import { diff } from "../history/diff-formats.ts";
import { locate } from "../history/locate/locate.ts";
import { locateTimeline } from "../history/locate/timeline.ts";
import { recordHistory } from "../history/record-history.ts";
import { retentionPreview } from "../history/retention-preview.ts";
import { transaction, transactions } from "../history/transactions.ts";
import { largeRecordRead } from "../records/large-record.ts";
import { longListRead } from "../records/long-list.ts";
import { activity } from "../reports/activity/activity.ts";
import { conflicts } from "../reports/conflicts/conflicts.ts";
import { expiring } from "../reports/expiring/expiring.ts";
import { faceplate } from "../reports/faceplate/faceplate.ts";
import { subnetAddresses } from "../reports/ipam/addresses.ts";
import { freeSpace } from "../reports/ipam/free.ts";
import { subnetBlocks } from "../reports/ipam/subnet-blocks.ts";
import { subnetTree } from "../reports/ipam/subnet-tree.ts";
import { search } from "../reports/search.ts";
import { stations } from "../reports/stations/stations.ts";
import { summary } from "../reports/summary/summary.ts";
import { topology } from "../reports/topology/topology.ts";
import { topologyOverTime } from "../reports/topology/topology-over-time.ts";
import { withheld } from "../reports/withheld/withheld.ts";

export const LONG_READS: readonly AnyLongRead[] = [
  activity,
  changeFeed,
  conflicts,
  diff,
  expiring,
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

/** The requesting user, regardless of key or session. */
export function callerOfRead(input: unknown): unknown {
  return (input as { readonly actor: Actor }).actor.userN;
}
