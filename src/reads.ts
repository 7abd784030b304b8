// The entry of the Workers that read for long, and these reads as a table of contents.

import type { Actor } from "./access/actor.ts";
import { systemClock } from "./base/clock.ts";
import { openReadOnly } from "./db/connection.ts";
import { serveLongReads, type FromReadWorker, type LongReadTable, type ToReadWorker } from "./db/long-reads.ts";
import { Reader } from "./db/reader.ts";
import { topology } from "./discovery/topology/topology.ts";
import { changeFeed } from "./history/change-feed.ts";
import { diff } from "./history/diff-formats.ts";
import { locateTimeline } from "./history/locate/timeline.ts";
import { locate } from "./history/locate/locate.ts";
import { recordHistory } from "./history/record-history.ts";
import { transaction, transactions } from "./history/transactions.ts";
import { largeRecord } from "./resources/large-record.ts";
import { longList } from "./resources/long-list.ts";

export interface ReadsOptions {
  readonly databasePath: string;
}

/** Every long read there is, by name. */
export const LONG_READS: LongReadTable = {
  diff,
  list: longList,
  record: largeRecord,
  change_feed: changeFeed,
  locate,
  locate_timeline: locateTimeline,
  record_history: recordHistory,
  topology,
  transaction,
  transactions,
};

/** Reads with a step that takes a pass over what was alive, an order or a filter, or over all that one record has; or that resolves all links of a network. */
export const READS_IN_LARGE_STEPS: ReadonlySet<string> = new Set(["list", "record", "topology"]);

/** Who asks for a read: the user, with whichever key or session. */
export function callerOfRead(input: unknown): unknown {
  return (input as { readonly actor: Actor }).actor.userN;
}

if (!Bun.isMainThread) {
  const port = globalThis as unknown as {
    postMessage(message: FromReadWorker): void;
    onmessage: (event: MessageEvent<ToReadWorker>) => void;
  };
  const receive = serveLongReads(
    (options) => new Reader(openReadOnly((options as ReadsOptions).databasePath), systemClock),
    LONG_READS,
    port,
    { callerOf: callerOfRead },
  );
  port.onmessage = (event) => receive(event.data);
}
