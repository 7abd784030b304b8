// Timestamps from a built store, for queries of past states.

import { openReadOnly } from "../../../src/db/connection.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import type { BuiltStore } from "../store.ts";

export function countTransactions({ directory }: BuiltStore): number {
  const db = openReadOnly(dataFiles(directory).database);
  const [[count]] = db.$client.prepare("SELECT count(*) FROM history_transactions").values() as [[number]];
  db.$client.close();
  return count;
}

/** Timestamps of two transactions by index: 0 is the first, -1 the last. */
export function instantsAt({ directory }: BuiltStore, first: number, second: number): [string, string] {
  const db = openReadOnly(dataFiles(directory).database);
  const rows = db.$client.prepare("SELECT at FROM history_transactions ORDER BY sequence").values() as Array<[number]>;
  db.$client.close();
  const instantOf = (index: number) => new Date(rows.at(index)?.[0] ?? Number.NaN).toISOString();
  return [instantOf(first), instantOf(second)];
}
