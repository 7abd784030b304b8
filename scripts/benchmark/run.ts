// Benchmark of each kind of request, relative to the same bytes from memory, and of past relative to live reads. Usage:
// scripts/bench [--hosts 20000] [--depth-hosts 400] [--seconds 3] [--directory DIR] [--executable FILE]

import { rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../quantiles.ts";
import { measureCold } from "./cold.ts";
import { EXECUTABLE, type Running, startBaseline, startExecutable } from "./executable.ts";
import { type LoadResult, load, requestBytes } from "./load.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { callApi, hostUpdates } from "./requests.ts";
import { type BuiltStore, buildStore, campusStore } from "./store.ts";

const options = settings({
  hosts: 20_000,
  "depth-hosts": 400,
  seconds: 3,
  connections: 16,
  directory: "",
  executable: EXECUTABLE,
});
const { hosts, "depth-hosts": depthHosts, seconds, connections, executable } = options;
const directory = folder(options.directory);

/** Server under load. */
type Server = Pick<Running, "port" | "cpuSeconds">;

/** Measurements per depth: odd, so that the median is one of them. */
const DEPTH_ROUNDS = 5;

interface Row {
  readonly name: string;
  readonly result: LoadResult;
}

printLine(
  `Building: ${hosts} hosts × 50 interface entries × 5 versions, and ${depthHosts} × 50 with 2 and with 200 versions`,
);
const wide = await campusStore(join(directory, "wide"), { hosts, entriesPerHost: 50, versions: 5 });
const deep = await buildStore(
  join(directory, "deep"),
  [
    { network: "shallow", hosts: depthHosts, entriesPerHost: 50, versions: 2 },
    { network: "deep", hosts: depthHosts, entriesPerHost: 50, versions: 200 },
  ],
  printLine,
);
const empty = join(directory, "empty");
rmSync(empty, { recursive: true, force: true });
await measureStart(empty);
await measureWide(wide);
await measureDeep(deep);

async function measureStart(empty: string): Promise<void> {
  const running = await startExecutable(executable, empty);
  printLine(
    `\nEmpty store: first response ${running.firstResponseMs.toFixed(0)} ms after the start, anonymous memory at rest ${(await running.anonymousMb()).toFixed(0)} MB`,
  );
  await running.stop();
}

async function measureWide(store: BuiltStore): Promise<void> {
  const running = await startExecutable(executable, store.directory);
  const headers = { authorization: `Bearer ${store.key}` };
  const total = hosts * 50;
  printLine(
    `${total} entries × 5 versions: first response ${running.firstResponseMs.toFixed(0)} ms after the start, anonymous memory at rest ${(await running.anonymousMb()).toFixed(0)} MB`,
  );
  const network = store.networkIds.campus as string;
  const hostIds = store.hostIds.campus as string[];
  const instants = await instantsOf(running, store);
  const list = "/api/v1/if-entries";
  const page = await fetch(`http://127.0.0.1:${running.port}${list}`, { headers }).then((response) => response.bytes());
  const baseline = await startBaseline(page, store.directory);
  const rows: Row[] = [];
  const measure = async (name: string, server: Server, request: (i: number) => Uint8Array) => {
    await load({ ...server, seconds: Math.min(1, seconds), connections, request });
    const result = await load({ ...server, seconds, connections, request });
    rows.push({ name, result });
    return result;
  };
  const ids = await fetchEntryIds(running, store, 50);
  const hostBodies = await hostUpdates(running, store);
  const measureGet = (name: string, path: (i: number) => string, server: Server = running) =>
    measure(name, server, (i) => requestBytes("GET", path(i), headers));
  const memory = await measureGet("(a) the same bytes from memory", () => "/", baseline);
  baseline.stop();
  const live = await measureGet("(b) a page of 50, live", () => list);
  const past = await measureGet("(c) a page of 50, at a random timestamp", (i) => `${list}?at=${pick(instants, i)}`);
  const filters: Array<[string, (i: number) => string]> = [
    ["network", () => `${list}?network_id=${network}`],
    ["host", (i) => `${list}?host_id=${pick(hostIds, i)}`],
    ["50 ids", () => `${list}?ids=${ids.join(",")}`],
  ];
  const pairs: Array<[string, LoadResult, LoadResult]> = [["none", live, past]];
  for (const [filter, path] of filters) {
    const liveResult = await measureGet(`(d) by ${filter}, live`, path);
    const pastPath = (i: number) => `${path(i)}&at=${pick(instants, i)}`;
    pairs.push([filter, liveResult, await measureGet(`(d) by ${filter}, at a random timestamp`, pastPath)]);
  }
  const offset = Math.min(100_000, Math.floor(total / 2));
  const far = `${list}?offset=${offset}`;
  const farLive = await measureGet(`(e) at offset ${offset}, live`, () => far);
  const farPast = await measureGet(
    `(e) at offset ${offset}, at a late timestamp`,
    () => `${far}&at=${instants.at(-1)}`,
  );
  pairs.push([`offset ${offset}`, farLive, farPast]);
  await measure("(f) PUT of a host with 20 children", running, (i) => {
    const update = pick(hostBodies, i);
    return requestBytes("PUT", update.path, headers, update.body(i));
  });
  printTable(rows, memory);
  printLine(
    `\n(b) serves ${(live.requestsPerSecond / memory.requestsPerSecond).toFixed(2)} of (a), by CPU time ${(memory.cpuMicroseconds / live.cpuMicroseconds).toFixed(2)}; target: 0.2 or more`,
  );
  printLine(`(c) takes ${ratio(past, live)} × the time of (b); target: 1.5, limit: 2.5`);
  for (const [filter, liveResult, pastResult] of pairs.slice(1))
    printLine(`past to current state by ${filter}: ${ratio(pastResult, liveResult)} ×`);
  await measureStream(running, headers, total);
  await running.stop();
}

/** Measures all entries in one response, which must not need more memory. */
async function measureStream(running: Running, headers: Record<string, string>, total: number): Promise<void> {
  let peakMb = 0;
  let bytes = 0;
  const started = performance.now();
  const response = await fetch(`http://127.0.0.1:${running.port}/api/v1/if-entries?limit=0`, { headers });
  let nextSample = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (performance.now() > nextSample) {
      peakMb = Math.max(peakMb, await running.anonymousMb());
      nextSample = performance.now() + 50;
    }
  }
  const seconds = (performance.now() - started) / 1000;
  printLine(
    `limit=0 streams ${total} entries (${(bytes / 1e6).toFixed(0)} MB) in ${seconds.toFixed(1)} s; anonymous memory at most ${peakMb.toFixed(0)} MB (target: under 200)`,
  );
}

async function measureDeep(store: BuiltStore): Promise<void> {
  const running = await startExecutable(executable, store.directory);
  const headers = { authorization: `Bearer ${store.key}` };
  const instants = await instantsOf(running, store);
  // Only timestamps at which both networks are complete.
  const late = instants.slice(Math.floor(instants.length * 0.02));
  // The same first page, and pages of ever different hosts, few of which are in the CPU cache.
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
    // Interleaved, so that other load on the machine affects both equally; round 0 is a warm-up.
    for (let round = 0; round <= DEPTH_ROUNDS; round += 1) {
      for (const [network] of depths) {
        const request = (i: number) =>
          requestBytes("GET", `/api/v1/if-entries?${filter(network, i)}&at=${pick(late, i)}`, headers);
        const result = await load({ ...running, seconds, connections, request });
        if (round > 0) measured.get(network)?.push(result);
      }
    }
    const rows = depths.map(([network, versions]) => ({
      name: `(g) ${page}, ${versions} versions each`,
      result: medianRun(measured.get(network) as LoadResult[]),
    }));
    const [shallow, deep] = rows.map(({ result }) => result) as [LoadResult, LoadResult];
    printTable(rows, shallow);
    printLine(
      `(g) ${page}: 200 versions take ${ratio(deep, shallow)} × the time of 2, at random timestamps, the median of ${DEPTH_ROUNDS} rounds each; target: 1.2 or less`,
    );
  }
  await running.stop();
  const coldDepths = depths.map(([network, versions]) => ({ network, versions }));
  await measureCold(executable, store, coldDepths, late, pick);
}

/** Returns the run with the median speed. */
function medianRun(results: readonly LoadResult[]): LoadResult {
  const speed = median(results.map(({ requestsPerSecond }) => requestsPerSecond));
  return results.find(({ requestsPerSecond }) => requestsPerSecond === speed) as LoadResult;
}

function printTable(rows: Row[], base: LoadResult): void {
  printLine("");
  printRow("", 50, ["requests/s", "p50 ms", "p99 ms", "CPU µs", "of first"], 10);
  for (const { name, result } of rows) {
    const { requestsPerSecond, p50Ms, p99Ms, cpuMicroseconds, failures } = result;
    const cells = [
      requestsPerSecond.toFixed(0),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      cpuMicroseconds.toFixed(0),
      (requestsPerSecond / base.requestsPerSecond).toFixed(3),
    ];
    printRow(name, 50, failures > 0 ? [...cells, `  ${failures} failed`] : cells, 10);
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
  await callApi(running, store, "GET", `/if-entries?at=${instants[0]}`);
  return instants;
}

async function fetchEntryIds(running: Running, store: BuiltStore, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (const hostId of (store.hostIds.campus as string[]).slice(0, count)) {
    const path = `/if-entries?host_id=${hostId}&limit=1`;
    const [entry] = await callApi<Array<{ id: string }>>(running, store, "GET", path);
    ids.push(entry?.id as string);
  }
  return ids;
}
