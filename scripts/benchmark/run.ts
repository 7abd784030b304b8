// Benchmark: cost of each kind of request, as ratios to the same bytes from memory and of past to present. Usage:
// scripts/bench [--hosts 20000] [--depth-hosts 400] [--seconds 3] [--directory DIR] [--executable FILE]

import { rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../quantiles.ts";
import { ask, hostUpdates } from "./asking.ts";
import { measureCold } from "./cold.ts";
import { EXECUTABLE, type Running, startExecutable, startYardstick } from "./executable.ts";
import { type LoadResult, load, requestBytes } from "./load.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { type BuiltStore, buildStore } from "./store.ts";

const told = settings({
  hosts: 20_000,
  "depth-hosts": 400,
  seconds: 3,
  connections: 16,
  directory: "",
  executable: EXECUTABLE,
});
const { hosts, "depth-hosts": depthHosts, seconds, connections, executable } = told;
const directory = folder(told.directory);

/** Target of the load, with its cost. */
type Server = Pick<Running, "port" | "cpuSeconds">;

/** Measurements per depth; odd. */
const DEPTH_TURNS = 5;

interface Row {
  readonly name: string;
  readonly result: LoadResult;
}

say(
  `Building: ${hosts} hosts × 50 interface entries × 5 versions, and ${depthHosts} × 50 with 2 and with 200 versions`,
);
const wide = await buildStore(
  join(directory, "wide"),
  [{ network: "campus", hosts, entriesPerHost: 50, versions: 5 }],
  say,
);
const deep = await buildStore(
  join(directory, "deep"),
  [
    { network: "shallow", hosts: depthHosts, entriesPerHost: 50, versions: 2 },
    { network: "deep", hosts: depthHosts, entriesPerHost: 50, versions: 200 },
  ],
  say,
);
const empty = join(directory, "empty");
rmSync(empty, { recursive: true, force: true });
await measureStart(empty);
await measureWide(wide);
await measureDeep(deep);

async function measureStart(empty: string): Promise<void> {
  const running = await startExecutable(executable, empty);
  say(
    `\nEmpty store: first answer ${running.firstAnswerMs.toFixed(0)} ms after the start, anonymous memory at rest ${(await running.anonymousMb()).toFixed(0)} MB`,
  );
  await running.stop();
}

async function measureWide(store: BuiltStore): Promise<void> {
  const running = await startExecutable(executable, store.directory);
  const headers = { authorization: `Bearer ${store.key}` };
  const total = hosts * 50;
  say(
    `${total} entries × 5 versions: first answer ${running.firstAnswerMs.toFixed(0)} ms after the start, anonymous memory at rest ${(await running.anonymousMb()).toFixed(0)} MB`,
  );
  const network = store.networkIds.campus as string;
  const someHosts = store.hostIds.campus as string[];
  const instants = await instantsOf(running, store);
  const get = (path: (i: number) => string) => (i: number) => requestBytes("GET", path(i), headers);
  const list = "/api/v1/if-entries";
  const page = await fetch(`http://127.0.0.1:${running.port}${list}`, { headers }).then((answer) => answer.bytes());
  const yardstick = await startYardstick(page, store.directory);
  const rows: Row[] = [];
  const measure = async (name: string, server: Server, request: (i: number) => Uint8Array) => {
    await load({ ...server, seconds: Math.min(1, seconds), connections, request });
    const result = await load({ ...server, seconds, connections, request });
    rows.push({ name, result });
    return result;
  };
  const ids = await someIds(running, store, 50);
  const hostBodies = await hostUpdates(running, store);
  const memory = await measure(
    "(a) the same bytes from memory",
    yardstick,
    get(() => "/"),
  );
  yardstick.stop();
  const live = await measure(
    "(b) a page of 50, live",
    running,
    get(() => list),
  );
  const past = await measure(
    "(c) a page of 50, at a random instant",
    running,
    get((i) => `${list}?at=${pick(instants, i)}`),
  );
  const filters: Array<[string, (i: number) => string]> = [
    ["network", () => `${list}?network_id=${network}`],
    ["host", (i) => `${list}?host_id=${pick(someHosts, i)}`],
    ["50 ids", () => `${list}?ids=${ids.join(",")}`],
  ];
  const pairs: Array<[string, LoadResult, LoadResult]> = [["none", live, past]];
  for (const [filter, path] of filters) {
    const now = await measure(`(d) by ${filter}, live`, running, get(path));
    const then = await measure(
      `(d) by ${filter}, at a random instant`,
      running,
      get((i) => `${path(i)}&at=${pick(instants, i)}`),
    );
    pairs.push([filter, now, then]);
  }
  const offset = Math.min(100_000, Math.floor(total / 2));
  const farNow = await measure(
    `(e) at offset ${offset}, live`,
    running,
    get(() => `${list}?offset=${offset}`),
  );
  const farThen = await measure(
    `(e) at offset ${offset}, at a late instant`,
    running,
    get(() => `${list}?offset=${offset}&at=${instants.at(-1)}`),
  );
  pairs.push([`offset ${offset}`, farNow, farThen]);
  await measure("(f) PUT of a host with 20 children", running, (i) => {
    const each = pick(hostBodies, i);
    return requestBytes("PUT", each.path, headers, each.body(i));
  });
  table(rows, memory);
  say(
    `\n(b) serves ${(live.requestsPerSecond / memory.requestsPerSecond).toFixed(2)} of (a), by processor time ${(memory.cpuMicroseconds / live.cpuMicroseconds).toFixed(2)}; wanted: 0.2 or more`,
  );
  say(`(c) takes ${ratio(past, live)} × the time of (b); wanted: 2.5 or less, aimed at 1.5`);
  for (const [filter, now, then] of pairs.slice(1)) say(`past to present by ${filter}: ${ratio(then, now)} ×`);
  await measureStream(running.port, running.anonymousMb, headers, total);
  await running.stop();
}

/** All entries in one answer, with bounded memory. */
async function measureStream(
  port: number,
  anonymousMb: () => Promise<number>,
  headers: Record<string, string>,
  total: number,
): Promise<void> {
  let peakMb = 0;
  let bytes = 0;
  const started = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/if-entries?limit=0`, { headers });
  let nextLook = 0;
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (performance.now() > nextLook) {
      peakMb = Math.max(peakMb, await anonymousMb());
      nextLook = performance.now() + 50;
    }
  }
  const took = (performance.now() - started) / 1000;
  say(
    `limit=0 streams ${total} entries (${(bytes / 1e6).toFixed(0)} MB) in ${took.toFixed(1)} s; anonymous memory at most ${peakMb.toFixed(0)} MB (wanted: under 200)`,
  );
}

async function measureDeep(store: BuiltStore): Promise<void> {
  const running = await startExecutable(executable, store.directory);
  const headers = { authorization: `Bearer ${store.key}` };
  const instants = await instantsOf(running, store);
  // Only where both are fully alive.
  const late = instants.slice(Math.floor(instants.length * 0.02));
  // The first page repeatedly, and pages of ever different hosts, few of which are in the processor's cache.
  const pages: Array<[string, (network: string, i: number) => string]> = [
    ["first page", (network) => `network_id=${store.networkIds[network]}`],
    ["any host's", (network, i) => `host_id=${pick(store.hostIds[network] as string[], i)}`],
  ];
  const depths = [
    ["shallow", 2],
    ["deep", 200],
  ] as const;
  for (const [page, filter] of pages) {
    const measured = new Map(depths.map(([network]) => [network, [] as LoadResult[]]));
    // Turn by turn, the first one as warm-up: other load of the machine affects both alike.
    for (let turn = 0; turn <= DEPTH_TURNS; turn += 1) {
      for (const [network] of depths) {
        const request = (i: number) =>
          requestBytes("GET", `/api/v1/if-entries?${filter(network, i)}&at=${pick(late, i)}`, headers);
        const result = await load({ ...running, seconds, connections, request });
        if (turn > 0) measured.get(network)?.push(result);
      }
    }
    const rows = depths.map(([network, versions]) => ({
      name: `(g) ${page}, ${versions} versions each`,
      result: middle(measured.get(network) as LoadResult[]),
    }));
    const [shallow, deep] = rows.map(({ result }) => result) as [LoadResult, LoadResult];
    table(rows, shallow);
    say(
      `(g) ${page}: 200 versions take ${ratio(deep, shallow)} × the time of 2, at random instants, the median of ${DEPTH_TURNS} turns each; wanted: 1.2 or less`,
    );
  }
  await running.stop();
  const asked = depths.map(([network, versions]) => ({ network, versions }));
  await measureCold(executable, store, asked, late, pick);
}

/** The run with the median speed. */
function middle(results: readonly LoadResult[]): LoadResult {
  const speed = median(results.map(({ requestsPerSecond }) => requestsPerSecond));
  return results.find(({ requestsPerSecond }) => requestsPerSecond === speed) as LoadResult;
}

function table(rows: Row[], base: LoadResult): void {
  say("");
  sayRow("", 50, ["requests/s", "p50 ms", "p99 ms", "CPU µs", "of first"], 10);
  for (const { name, result } of rows) {
    const { requestsPerSecond, p50Ms, p99Ms, cpuMicroseconds, failures } = result;
    const cells = [
      requestsPerSecond.toFixed(0),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      cpuMicroseconds.toFixed(0),
      (requestsPerSecond / base.requestsPerSecond).toFixed(3),
    ];
    sayRow(name, 50, failures > 0 ? [...cells, `  ${failures} failed`] : cells, 10);
  }
}

function ratio(slow: LoadResult, fast: LoadResult): string {
  return (fast.requestsPerSecond / slow.requestsPerSecond).toFixed(2);
}

function pick<T>(items: readonly T[], i: number): T {
  // A fixed pseudo-random walk: equal in every run, without neighboring items in sequence.
  return items[(i * 7919) % items.length] as T;
}

/** Timestamps spread over the ledger, at which the first page is full. */
async function instantsOf(running: Running, store: BuiltStore): Promise<string[]> {
  const { Database } = await import("bun:sqlite");
  const db = new Database(join(store.directory, "netledger.db"), { readonly: true });
  const { first, last } = db
    .query("SELECT min(sequence) AS first, max(sequence) AS last FROM history_transactions")
    .get() as { first: number; last: number };
  const instants: string[] = [];
  for (let i = 1; i <= 2_000; i += 1) {
    const sequence = first + 10 + Math.floor(((last - first - 10) * i) / 2_000);
    const { at } = db.query("SELECT at FROM history_transactions WHERE sequence = ?").get(sequence) as { at: number };
    instants.push(new Date(at).toISOString());
  }
  db.close();
  // The last timestamps of a new store are still ahead of the wall clock.
  await ask(running, store, "GET", `/if-entries?at=${instants[0]}`);
  return instants;
}

async function someIds(running: Running, store: BuiltStore, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (const hostId of (store.hostIds.campus as string[]).slice(0, count)) {
    const [entry] = await ask<Array<{ id: string }>>(running, store, "GET", `/if-entries?host_id=${hostId}&limit=1`);
    ids.push(entry?.id as string);
  }
  return ids;
}
