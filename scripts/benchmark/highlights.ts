// Benchmark of transaction highlights, which summarize the changes in a transaction.

import { openReadOnly } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { quantilesOf } from "../quantiles.ts";
import { bulkItem } from "./bulk-item.ts";
import { type Running, startExecutable } from "./executable.ts";
import { printLine, printRow } from "./program.ts";
import { callApi, timedGet } from "./requests.ts";
import { type BuiltStore, campusStore } from "./store.ts";

interface QueryTarget {
  readonly server: Running;
  readonly store: BuiltStore;
  readonly nameWidth: number;
}

interface Query {
  readonly name: string;
  readonly rounds: number;
  readonly path: (round: number) => string;
}

/**
 * Measures pages of 50 transactions with highlights, and the largest transaction with and without them.
 * @param transactions number of transactions in the store
 */
export async function measureHighlights(target: QueryTarget, transactions: number): Promise<void> {
  const pages = Math.max(1, transactions - 50);
  const largest = largestTransaction(target.store);
  printLine("");
  printRow("transactions, with highlights", target.nameWidth, ["p50 ms", "p99 ms", "changes"], 10);
  for (const query of [
    { name: "the newest 50", rounds: 20, path: () => "transactions?include=highlights&limit=50" },
    {
      name: "50 at varying offsets",
      rounds: 40,
      path: (round: number) => `transactions?include=highlights&limit=50&offset=${(round * 7_919) % pages}`,
    },
    { name: "the largest change", rounds: 20, path: () => `transactions/${largest}?include=highlights` },
    { name: "the same, without highlights", rounds: 20, path: () => `transactions/${largest}` },
  ])
    await measureQuery(target, query, countChanges);
}

/** The largest bulk request; larger than any single commit of a scan. */
const LARGE = { hosts: 1_000, interfaces: 50 };

/** Measures one large transaction. @param directory of its separate store, reused by the next run */
export async function measureLargeTransaction(directory: string, executable: string, nameWidth: number): Promise<void> {
  const store = await campusStore(directory, { hosts: 1, entriesPerHost: 1 });
  const server = await startExecutable(executable, store.directory);
  try {
    const path = "/hosts?search=bulk-0&limit=1&include_children=false";
    const [existing] = await callApi<unknown[]>(server, store, "GET", path);
    const items = Array.from({ length: LARGE.hosts }, (_, host) => bulkItem(store, host, LARGE.interfaces));
    if (existing === undefined) await callApi(server, store, "POST", "/hosts/bulk", items);
    const largest = largestTransaction(store);
    const network = store.networkIds.campus as string;
    const queryFor = (name: string, path: string): Query => ({ name, rounds: 20, path: () => path });
    printLine("");
    printRow("one large transaction", nameWidth, ["p50 ms", "p99 ms", "changes"], 10);
    for (const query of [
      queryFor("as counts", `transactions/${largest}`),
      queryFor("with highlights", `transactions/${largest}?include=highlights`),
      queryFor(
        "in its network's list, with highlights",
        `transactions?limit=1&include=highlights&network_id=${network}`,
      ),
    ])
      await measureQuery({ server, store, nameWidth }, query, countChanges);
  } finally {
    await server.stop();
  }
}

function countChanges({ data }: { readonly data: unknown }): number {
  const transactions = [data].flat() as TransactionCounts[];
  return transactions.reduce((sum, transaction) => sum + transactionChanges(transaction), 0);
}

interface TransactionCounts {
  readonly changes: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

function transactionChanges({ changes }: TransactionCounts): number {
  const counts = Object.values(changes).flatMap((byOperation) => Object.values(byOperation));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Finds the transaction with the most changes. @returns its sequence number */
function largestTransaction({ directory: data }: BuiltStore): number {
  const db = openReadOnly(dataFiles(data).database);
  const [[sequence]] = db.$client
    .prepare(
      "SELECT key & 2147483647 FROM history_versions GROUP BY key & 2147483647 ORDER BY count(*) DESC, 1 DESC LIMIT 1",
    )
    .values() as [[number]];
  db.$client.close();
  return sequence;
}

/** Measures a query of the current state and prints a row. @param count counts the changes in a response */
export async function measureQuery<Body>(
  { server, store, nameWidth }: QueryTarget,
  { name, rounds, path }: Query,
  count: (response: Body) => number,
): Promise<void> {
  const times: number[] = [];
  let changes = 0;
  for (let round = -1; round < rounds; round += 1) {
    const { text, tookMs } = await timedGet(server, store, `/api/v1/${path(Math.abs(round))}`);
    if (round >= 0) times.push(tookMs);
    changes = count(JSON.parse(text) as Body);
  }
  const quantile = quantilesOf(times);
  printRow(name, nameWidth, [quantile(0.5).toFixed(1), quantile(0.99).toFixed(1), String(changes)], 10);
}
