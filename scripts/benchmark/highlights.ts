// Cost of transaction highlights, which name the changes; and rows of figures by number of changes.

import { openReadOnly } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { quantilesOf } from "../quantiles.ts";
import { ask } from "./asking.ts";
import { bulkItem } from "./bulk-item.ts";
import { type Running, startExecutable } from "./executable.ts";
import { say, sayRow } from "./program.ts";
import { type BuiltStore, buildStore } from "./store.ts";

interface AskedStore {
  readonly server: Running;
  readonly store: BuiltStore;
  readonly nameWidth: number;
}

interface Question {
  readonly name: string;
  readonly turns: number;
  readonly path: (turn: number) => string;
}

/**
 * Changes of transactions by name and as counts: for pages of 50, and for the largest transaction.
 * @param transactions total number
 */
export async function measureHighlights(asked: AskedStore, transactions: number): Promise<void> {
  const pages = Math.max(1, transactions - 50);
  const largest = largestTransaction(asked.store);
  say("");
  sayRow("transactions, with highlights", asked.nameWidth, ["p50 ms", "p99 ms", "changes"], 10);
  for (const question of [
    { name: "the newest 50", turns: 20, path: () => "transactions?include=highlights&limit=50" },
    {
      name: "50 of them",
      turns: 40,
      path: (turn: number) => `transactions?include=highlights&limit=50&offset=${(turn * 7_919) % pages}`,
    },
    { name: "the largest change", turns: 20, path: () => `transactions/${largest}?include=highlights` },
    { name: "the same, without highlights", turns: 20, path: () => `transactions/${largest}` },
  ])
    await changesRow(asked, question, changesTold);
}

/** The maximum of a bulk, which exceeds any commit of a scan. */
const LARGE = { hosts: 1_000, interfaces: 50 };

/** The same for one large transaction, in a separate store. @param directory its folder, kept for the next run */
export async function measureLargeTransaction(directory: string, executable: string, nameWidth: number): Promise<void> {
  const store = await buildStore(directory, [{ network: "campus", hosts: 1, entriesPerHost: 1, versions: 1 }], say);
  const server = await startExecutable(executable, store.directory);
  try {
    const [some] = await ask<unknown[]>(server, store, "GET", "/hosts?search=bulk-0&limit=1&include_children=false");
    const items = Array.from({ length: LARGE.hosts }, (_, host) => bulkItem(store, host, LARGE.interfaces));
    if (some === undefined) await ask(server, store, "POST", "/hosts/bulk", items);
    const largest = largestTransaction(store);
    const network = store.networkIds.campus as string;
    const of = (name: string, path: string): Question => ({ name, turns: 20, path: () => path });
    say("");
    sayRow("one large transaction", nameWidth, ["p50 ms", "p99 ms", "changes"], 10);
    for (const question of [
      of("as counts", `transactions/${largest}`),
      of("with highlights", `transactions/${largest}?include=highlights`),
      of("in a list of its network, with highlights", `transactions?limit=1&include=highlights&network_id=${network}`),
    ])
      await changesRow({ server, store, nameWidth }, question, changesTold);
  } finally {
    await server.stop();
  }
}

function changesTold({ data }: { readonly data: unknown }): number {
  return [data].flat().reduce<number>((sum, each) => sum + changesOf(each as AskedTransaction), 0);
}

interface AskedTransaction {
  readonly changes: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

function changesOf({ changes }: AskedTransaction): number {
  return Object.values(changes)
    .flatMap((byOperation) => Object.values(byOperation))
    .reduce((sum, count) => sum + count, 0);
}

/** Its sequence. */
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

/** Only on the present. @param count number of changes in an answer */
export async function changesRow<Answer>(
  { server, store, nameWidth }: AskedStore,
  { name, turns, path }: Question,
  count: (answer: Answer) => number,
): Promise<void> {
  const times: number[] = [];
  let changes = 0;
  for (let turn = -1; turn < turns; turn += 1) {
    const started = performance.now();
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/${path(Math.abs(turn))}`, {
      headers: { authorization: `Bearer ${store.key}` },
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${name}: ${text.slice(0, 300)}`);
    if (turn >= 0) times.push(performance.now() - started);
    changes = count(JSON.parse(text) as Answer);
  }
  const at = quantilesOf(times);
  sayRow(name, nameWidth, [at(0.5).toFixed(1), at(0.99).toFixed(1), String(changes)], 10);
}
