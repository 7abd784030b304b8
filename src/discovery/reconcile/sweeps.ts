// Writer command for a completed sweep: stores what it swept, and ends sightings that it did not confirm. Without the
// stored blocks, no sweep counts as coverage.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import type { Instant } from "../../base/instant.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { type SightingRow, sightingKey, sweepRows, sweepTable } from "../../resources/sightings.ts";
import type { Recorded } from "../sightings.ts";
import { markSilent } from "./record-sightings.ts";
import { type ScanInput, ScanWrite } from "./scan-write.ts";

/** Maximum number of stored block lists per network: ad hoc targets may differ every time. */
const SWEEPS_MAX = 200;

/** First and last keys of blocks, ascending and disjoint. */
export type KeyBlocks = ReadonlyArray<readonly [first: string, last: string]>;

/**
 * Stores a completed sweep, and ends the sightings by sweeps that it did not confirm.
 * @param input.swept blocks as first and last addresses
 * @throws DomainError entity_reference_invalid if the network was deleted
 */
export function recordSweep(
  tx: WriteTransaction,
  input: ScanInput & {
    readonly swept: ReadonlyArray<readonly [first: string, last: string]>;
    readonly started_at: Instant;
  },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const blocks = input.swept
    .map(([first, last]) => [sightingKey(first), sightingKey(last)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  tx.runAfterWrite(() => {
    rememberSweep(write, blocks, input.started_at);
    markSilent(write, input.started_at, ({ address_key }: SightingRow) => isWithin(blocks, address_key));
  });
  return write.result();
}

function rememberSweep({ tx, networkId, scanId }: ScanWrite, blocks: KeyBlocks, startedAt: Instant): void {
  const text = JSON.stringify(blocks);
  const digest = Bun.hash(text).toString(36);
  const network_n = tx.recordN(networkId) as number;
  const before = sweepRows.find(tx.db, network_n, digest);
  const row = {
    network_n,
    digest,
    blocks: text,
    swept_at: startedAt,
    scan_id: scanId,
    previous_swept_at: before?.swept_at ?? 0,
    previous_scan_id: before?.scan_id ?? "",
  };
  sweepRows.upsert(tx.db, withChecksum(sweepTable, row));
  if (before === undefined) tx.db.$client.query(DROP_OLDEST).run(network_n);
}

/** True if one of the blocks contains the address. */
export function isWithin(blocks: KeyBlocks, key: string): boolean {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle] as KeyBlocks[number])[0] <= key) low = middle + 1;
    else high = middle;
  }
  const block = blocks[low - 1];
  return block !== undefined && key <= block[1];
}

const DROP_OLDEST = `DELETE FROM discovery_sweeps WHERE network_n = ?1 AND digest IN (SELECT digest
  FROM discovery_sweeps WHERE network_n = ?1 ORDER BY swept_at DESC LIMIT -1 OFFSET ${SWEEPS_MAX})`;
