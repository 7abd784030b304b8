// Transactions that touched hosts, addresses or interfaces of networks, in commit order and bounded steps. Reads no
// records.

import { append } from "../../base/multimap.ts";
import { Activity, type TransactionRange } from "../../db/reading/activity.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { LINK_KINDS, type TouchedNetworkRecords } from "../../discovery/topology/network-records.ts";
import { networkKind } from "../../resources/networks/network.ts";

/** A transaction that may have changed links. */
export interface Touch {
  readonly sequence: number;
  /** Null in thinned history, where the touched records are unknown. */
  readonly touched: TouchedNetworkRecords | null;
}

/** Transactions per step. */
const STEP_TRANSACTIONS = 100;

const KINDS = [networkKind, ...LINK_KINDS].map(({ code }) => code).join(", ");
const TOUCHED = `SELECT a.value, r.kind, r.n FROM json_each(+?1) a
  CROSS JOIN history_versions v INDEXED BY history_versions_by_sequence ON (v.key & 2147483647) = +a.value
  CROSS JOIN history_records r ON r.n = v.key >> 31 WHERE r.kind IN (${KINDS})`;

/**
 * Yields null between two steps. In thinned history, yields the kept transactions, the only ones with complete state.
 * @param networkNs record numbers of networks of the organization
 */
export function* touching(
  reader: Reader,
  organizationN: number,
  networkNs: readonly number[],
  { after, until }: TransactionRange,
): Generator<Touch | null> {
  if (networkNs.length === 0) return;
  const activity = new Activity(reader, organizationN, networkNs);
  const past = reader.thinnedHistory;
  for (let through = after, retained = after; through < until; ) {
    const batch = activity.next(through, until, STEP_TRANSACTIONS);
    const touched = touchedIn(
      reader,
      batch.sequences.filter((sequence) => sequence > past.until),
    );
    for (const sequence of batch.sequences) {
      if (sequence > past.until) {
        const records = touched.get(sequence);
        if (records !== undefined) yield { sequence, touched: records };
      } else if (sequence > retained) {
        retained = past.firstCompleteFrom(sequence);
        if (retained > until) return;
        yield { sequence: retained, touched: null };
      }
    }
    through = batch.through;
    yield null;
  }
}

function touchedIn(reader: Reader, sequences: readonly number[]): Map<number, Map<number, number[]>> {
  const found = new Map<number, Map<number, number[]>>();
  const rows = reader.statement(TOUCHED).values(JSON.stringify(sequences)) as Array<[number, number, number]>;
  for (const [sequence, code, n] of rows) {
    const records = found.get(sequence) ?? new Map<number, number[]>();
    found.set(sequence, records);
    append(records, code, n);
  }
  return found;
}
