// Benchmark for queries over time, on the compiled executable: diffs, histories and feeds among 1,000,000 interface
// entries × 5 versions, and past pages of every list relative to live ones, including lists of mostly deleted records.
// Usage: scripts/bench --time [--hosts 20000] [--churn-hosts 4000] [--seconds 2] [--directory DIR] [--executable FILE]

import { join } from "node:path";
import { openReadOnly } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { quantilesOf } from "../quantiles.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { load, requestBytes } from "./load.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { startReader } from "./start-reader.ts";
import { type BuiltStore, buildStore, campusStore } from "./store.ts";

const options = settings({ hosts: 20_000, "churn-hosts": 4_000, seconds: 2, directory: "", executable: EXECUTABLE });
const { hosts, "churn-hosts": churnHosts, seconds, executable } = options;
const directory = folder(options.directory);

const ENTRIES = 50;
const CONNECTIONS = 8;
/** Versions per transaction of the store: a host and its entries. */
const VERSIONS = ENTRIES + 1;
const DIFF_VERSIONS = 10_000;

printLine(
  `Building: ${hosts} hosts × ${ENTRIES} interface entries × 5 versions; ${churnHosts} × ${ENTRIES}, 95 % of them deleted`,
);
const wide = await campusStore(join(directory, "wide"), { hosts, entriesPerHost: ENTRIES, versions: 5 });
const deleted = { network: "churn", hosts: churnHosts, entriesPerHost: ENTRIES, versions: 1, deletedShare: 0.95 };
const churn = await buildStore(join(directory, "churn"), [deleted], printLine);
await measureQueries(wide);
await comparePastAndLive("1,000,000 entries, none deleted", wide, "campus");
await comparePastAndLive("95 % of the entries deleted", churn, "churn");

async function measureQueries(store: BuiltStore): Promise<void> {
  const running = await startExecutable(executable, store.directory);
  const hostIds = store.hostIds.campus as string[];
  const { instants, head } = ledgerOf(store);
  const get = createClient(running, store);
  printLine("");
  printRow("", 60, ["p50 ms", "longest", "kB"]);
  const row = async (name: string, count: number, path: (i: number) => string) => {
    const times: number[] = [];
    let bytes = 0;
    for (let i = -2; i < count; i += 1) {
      const response = await get(`/api/v1/${path(Math.abs(i))}`);
      if (i < 0) continue;
      times.push(response.tookMs);
      bytes += response.bytes;
    }
    const quantile = quantilesOf(times);
    printRow(name, 60, [quantile(0.5).toFixed(1), quantile(1).toFixed(1), (bytes / count / 1000).toFixed(0)]);
  };
  const step = Math.ceil(DIFF_VERSIONS / VERSIONS);
  const first = Math.floor(instants.length / 4);
  const windowStart = (i: number) => first + ((i * 7919) % (instants.length - first - step));
  const diff = (i: number) => `diff?from=${instants[windowStart(i)]}&to=${instants[windowStart(i) + step]}`;
  const host = (i: number) => `hosts/${hostIds[(i * 31) % hostIds.length]}`;
  const [half, third] = [2, 3].map((part) => Math.floor(instants.length / part)) as [number, number];
  const late = (i: number) => `&at=${instants[half + i]}`;
  const found = "hosts?search=switch-777&include_children=false";
  const ordered = "hosts?order_by=name&include_children=false";
  await row(`diff of two timestamps with ${DIFF_VERSIONS} changes between them`, 11, diff);
  await row("the same diff as ndjson", 5, (i) => `${diff(i)}&format=ndjson`);
  const oneHost = (i: number) => `diff?from=${instants[0]}&host_id=${hostIds[i % hostIds.length]}`;
  await row("diff of one host over all time", 51, oneHost);
  await row(`a host with ${ENTRIES} interfaces, live`, 201, host);
  const past = (i: number) => `${host(i)}?at=${instants[third + ((i * 7919) % half)]}`;
  await row(`a host with ${ENTRIES} interfaces, at a random timestamp`, 201, past);
  await row("entire history of a host with its children", 51, (i) => `${host(i)}/history`);
  await row("a page of 100 of the change feed", 51, (i) => `changes?after=${((i * 7919) % (head - 10)) + 1}`);
  await row("a page of 50 transactions", 51, (i) => `transactions?offset=${(i * 7919) % (head - 100)}`);
  await row("hosts found by search=switch-777, live", 51, () => found);
  await row("hosts found by search=switch-777, at a random timestamp", 51, (i) => found + late(i));
  await row("a page of hosts ordered by name, live", 11, () => ordered);
  await row("a page of hosts ordered by name, at a random timestamp", 11, (i) => ordered + late(i));
  for (const [name, path] of [
    ["diff over all time", `/api/v1/diff?from=2000-01-01T00:00:00Z&format=ndjson`],
    ["an export of every interface entry", "/api/v1/if-entries/export/csv"],
    ["hosts ordered by name, all of them", "/api/v1/hosts?order_by=name&limit=0&include_children=false"],
  ] as const) {
    const paths = [`/api/v1/hosts/${hostIds[0]}`];
    const reader = await startReader({ port: running.port, paths, key: store.key, isPast: false });
    const { tookMs, bytes } = await get(path);
    const { p50Ms, p99Ms, longestMs } = await reader.stop();
    printLine(
      `${name}: ${(tookMs / 1000).toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB; another client's reads at the same time p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, longest ${longestMs.toFixed(1)} ms (target: 50 or less)`,
    );
  }
  printLine(`anonymous memory at the end ${(await running.anonymousMb()).toFixed(0)} MB`);
  await running.stop();
}

/** Compares a past page of every list with its live page. */
async function comparePastAndLive(title: string, store: BuiltStore, network: string): Promise<void> {
  const running = await startExecutable(executable, store.directory);
  const { instants } = ledgerOf(store);
  const get = createClient(running, store);
  const headers = { authorization: `Bearer ${store.key}` };
  const networkId = store.networkIds[network] as string;
  const hostIds = store.hostIds[network] as string[];
  const livingHosts: string[] = [];
  for (const id of hostIds) if ((await get(`/api/v1/if-entries?host_id=${id}&limit=1`)).total > 0) livingHosts.push(id);
  const ids: Record<string, string> = {};
  for (const list of ["if-entries", "hosts"])
    ids[list] = (JSON.parse((await get(`/api/v1/${list}?limit=50`)).text) as { data: Array<{ id: string }> }).data
      .map(({ id }) => id)
      .join(",");
  // At the last timestamps, all deleted records have to be skipped.
  const late = instants.slice(-50, -1);
  printLine("");
  printRow(title, 60, ["live/s", "past/s", "live ÷ past"], 16);
  const host = (i: number) => livingHosts[(i * 7919) % livingHosts.length];
  const queries: Array<[string, (i: number) => string]> = [
    ["interface entries of the organization", () => "if-entries?limit=50"],
    ["interface entries of a network", () => `if-entries?network_id=${networkId}`],
    ["interface entries of a host", (i) => `if-entries?host_id=${host(i)}`],
    ["interface entries by 50 ids", () => `if-entries?ids=${ids["if-entries"]}`],
    ["hosts of the organization, 20 with their children", () => "hosts?limit=20"],
    ["hosts of a network, 50 without children", () => `hosts?network_id=${networkId}&include_children=false`],
    ["hosts by 50 ids, without children", () => `hosts?ids=${ids.hosts}&include_children=false`],
    ["networks", () => "networks?limit=50"],
    ["subnets of a network", () => `subnets?network_id=${networkId}`],
  ];
  for (const [name, path] of queries) {
    const rate = async (at: (i: number) => string) => {
      const request = (i: number) => requestBytes("GET", `/api/v1/${path(i)}${at(i)}`, headers);
      await load({ ...running, seconds: Math.min(0.5, seconds), connections: CONNECTIONS, request });
      return load({ ...running, seconds, connections: CONNECTIONS, request });
    };
    const live = await rate(() => "");
    const past = await rate((i) => `&at=${late[i % late.length]}`);
    const failed = live.failures + past.failures;
    const rates = [live, past].map(({ requestsPerSecond }) => requestsPerSecond) as [number, number];
    const cells = [...rates.map((rate) => rate.toFixed(0)), (rates[0] / rates[1]).toFixed(2)];
    printRow(name, 60, failed > 0 ? [...cells, `  ${failed} failed`] : cells, 16);
  }
  await running.stop();
}

interface Fetched {
  readonly tookMs: number;
  readonly bytes: number;
  readonly text: string;
  /** `total_count` of a list; 0 for other responses. */
  readonly total: number;
}

function createClient(running: Running, store: BuiltStore): (path: string) => Promise<Fetched> {
  return async (path) => {
    const started = performance.now();
    const response = await fetch(`http://127.0.0.1:${running.port}${path}`, {
      headers: { authorization: `Bearer ${store.key}` },
    });
    let bytes = 0;
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      // Larger streams are only counted.
      if (bytes < 10_000_000) text += decoder.decode(chunk, { stream: true });
    }
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text.slice(0, 200)}`);
    return {
      tookMs: performance.now() - started,
      bytes,
      text,
      total: Number(/"total_count":(\d+)/.exec(text)?.[1] ?? 0),
    };
  };
}

/** Reads the timestamps of all transactions in order, and the last sequence. */
function ledgerOf(store: BuiltStore): { instants: string[]; head: number } {
  const db = openReadOnly(dataFiles(store.directory).database);
  const rows = db.$client.query("SELECT at FROM history_transactions ORDER BY sequence").values() as Array<[number]>;
  db.$client.close();
  return { instants: rows.map(([at]) => new Date(at).toISOString()), head: rows.length };
}
