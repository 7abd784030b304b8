// Speed comparison with an earlier commit: both executables alternate on copies of one store, which the earlier commit
// builds and the current one migrates. A commit with unreleased schemas needs a separate store. Usage: scripts/bench
// --against REVISION [--hosts 1000] [--seconds 3] [--rounds 5] [--directory DIR]

import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../quantiles.ts";
import { buildStoreFrom, checkOut, ROOT, run } from "./earlier.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { type LoadResult, load, requestBytes } from "./load.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { callApi, hostUpdates } from "./requests.ts";
import type { BuiltStore } from "./store.ts";

const CONNECTIONS = 16;
/** Slices per measurement: the sides alternate, as the machine's speed varies from second to second. */
const SLICES = 10;
/** Writer-only runs per round. */
const RECONCILE_RUNS = 3;
/** Hosts per bulk request, and interface entries per host. */
const BULK_HOSTS = 300;
const BULK_ENTRIES = 48;
const RECONCILED_DEVICES = 300;
const HOSTS = "/api/v1/hosts?include_children=false";

const [revision, ...rest] = process.argv.slice(2);
if (revision === undefined || revision.startsWith("-"))
  throw new Error("usage: scripts/bench --against REVISION [--hosts N] [--seconds N] [--rounds N] [--directory DIR]");
/** `rounds`: measurements per side. */
const { hosts, seconds, rounds, ...options } = settings({ hosts: 1_000, seconds: 3, rounds: 5, directory: "" }, rest);
const directory = folder(options.directory);

/** One of the compared sides. */
interface Side {
  readonly executable: string;
  /** Measures the writer alone, on scan results. */
  readonly reconcile: string;
  readonly store: BuiltStore;
  /** Bulk requests so far: makes the names of their hosts distinct. */
  bulkWrites: number;
}

/** Milliseconds by name of the measurement. */
type Figures = Map<string, number>;
type Both<T> = readonly [before: T, after: T];

mkdirSync(directory, { recursive: true });
const earlier = join(directory, "earlier");
const sides = [buildSide("before", checkOut(revision, earlier)), buildSide("after", ROOT)] as const;
printLine("building the store");
const built = buildWith(earlier, "store");
// Stores older than the first release cannot be migrated. A store's contents depend only on its populations.
const isMigrated = existsSync(join(earlier, "migrations/0036_ledger.sql"));
const builtHere = isMigrated ? built : buildWith(ROOT, "store-here");
const compared = sides.map(({ name, executable, reconcile }) => {
  const copy = join(directory, `store-${name}`);
  const { directory: from, ...store } = name === "before" ? built : builtHere;
  rmSync(copy, { recursive: true, force: true });
  cpSync(from, copy, { recursive: true });
  return { executable, reconcile, store: { ...store, directory: copy }, bulkWrites: 0 };
}) as [Side, Side];
const pairs: Both<Figures>[] = [];
for (let round = 1; round <= rounds; round += 1) {
  printLine(`round ${round} of ${rounds}`);
  pairs.push(await measure(compared));
}
printComparison(pairs);

function buildWith(checkout: string, name: string): BuiltStore {
  const population = { network: "campus", hosts, entriesPerHost: 50, versions: 5 };
  return buildStoreFrom(checkout, join(directory, name), [population]);
}

function buildSide(name: string, folder: string): { name: string; executable: string; reconcile: string } {
  const reconcile = join(directory, `reconcile-${name}`);
  const flags = ["--compile", "--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig", "--outfile", reconcile];
  run(["./scripts/bun", "build", "scripts/benchmark/reconcile.ts", ...flags], folder);
  return { name, executable: folder === ROOT ? EXECUTABLE : join(folder, "dist/netledger"), reconcile };
}

async function measure(both: Both<Side>): Promise<Both<Figures>> {
  const figures: Both<Figures> = [new Map(), new Map()];
  const started: Array<[Side, Running, Figures]> = [];
  try {
    for (const [index, side] of both.entries())
      started.push([side, await startExecutable(side.executable, side.store.directory), figures[index] as Figures]);
    const loads = await Promise.all(started.map(([side, running]) => sliceRunners(side, running)));
    for (const name of loads[0]?.keys() ?? []) {
      const measured = loads.map((runners) => runners.get(name) as () => Promise<LoadResult>);
      const results: LoadResult[][] = [[], []];
      // The first slice of each side is a warm-up.
      for (let slice = 0; slice <= SLICES; slice += 1)
        for (const index of alternating(slice))
          results[index]?.push(await (measured[index] as () => Promise<LoadResult>)());
      for (const [index, [, ...slices]] of results.entries()) {
        const failures = slices.reduce((sum, result) => sum + result.failures, 0);
        if (failures > 0) throw new Error(`${name}: ${failures} requests failed`);
        const sideFigures = figures[index] as Figures;
        sideFigures.set(name, median(slices.map(({ requestsPerSecond }) => 1000 / requestsPerSecond)));
        sideFigures.set(`${name}: CPU time`, median(slices.map(({ cpuMicroseconds }) => cpuMicroseconds / 1000)));
      }
    }
    for (const [side, running, sideFigures] of started) await measureBulk(sideFigures, running, side);
  } finally {
    for (const [, running] of started) await running.stop();
  }
  const runs: Figures[][] = [[], []];
  for (let run = 0; run < RECONCILE_RUNS; run += 1)
    for (const index of alternating(run)) runs[index]?.push(measureReconcile(both[index] as Side));
  for (const [index, [first, ...others]] of runs.entries())
    for (const [name, ms] of first ?? [])
      figures[index]?.set(name, median([ms, ...others.map((run) => run.get(name) as number)]));
  return figures;
}

/** Indexes of the sides, in alternating order: load on the machine must not favor one. */
function alternating(round: number): readonly number[] {
  return round % 2 === 0 ? [0, 1] : [1, 0];
}

/** Functions that run one slice of a request measurement, by its name. */
async function sliceRunners({ store }: Side, running: Running): Promise<Map<string, () => Promise<LoadResult>>> {
  const headers = { authorization: `Bearer ${store.key}` };
  const instants = await fetchInstants(running, store);
  const updates = await hostUpdates(running, store);
  const pick = <T>(items: readonly T[], i: number) => items[(i * 7919) % items.length] as T;
  const hostIds = store.hostIds.campus as string[];
  const get = (path: string) => requestBytes("GET", path, headers);
  const put = (i: number) => requestBytes("PUT", pick(updates, i).path, headers, pick(updates, i).body(i));
  const list = "/api/v1/if-entries";
  const measurements: Array<[string, number, (i: number) => Uint8Array]> = [
    ["a page of 50, live", CONNECTIONS, () => get(list)],
    ["a page of 50 by host, live", CONNECTIONS, (i) => get(`${list}?host_id=${pick(hostIds, i)}`)],
    ["a page of 50, at a random timestamp", CONNECTIONS, (i) => get(`${list}?at=${pick(instants, i)}`)],
    // Stored in the earlier shape: hosts may have gained fields since.
    ["a page of 50 hosts, live", CONNECTIONS, () => get(HOSTS)],
    ["a page of 50 hosts, at a random timestamp", CONNECTIONS, (i) => get(`${HOSTS}&at=${pick(instants, i)}`)],
    ["one host with its children, live", CONNECTIONS, (i) => get(`/api/v1/hosts/${pick(hostIds, i)}`)],
    ["PUT of a host with 20 children, 16 at once", CONNECTIONS, put],
    ["PUT of a host with 20 children, one by one", 1, put],
  ];
  return new Map(
    measurements.map(([name, connections, bytes]) => {
      // Continues where the previous slice ended: a repeated body changes nothing.
      let sent = 0;
      const request = () => {
        sent += 1;
        return bytes(sent);
      };
      return [name, () => load({ ...running, seconds: seconds / SLICES, connections, request })];
    }),
  );
}

/** Measures the writer alone, in milliseconds. */
function measureReconcile({ reconcile }: Side): Figures {
  const figures: Figures = new Map();
  for (const line of run([reconcile, "--devices", String(RECONCILED_DEVICES)], directory).split("\n")) {
    const [, name, took] = /^(\S.*?) {2,}([\d.]+) +\d+ +\d+$/.exec(line) ?? [];
    // Each name appears twice; the second run is warm.
    if (name !== undefined)
      figures.set(`reconcile ${RECONCILED_DEVICES} devices of 50 interfaces: ${name}`, Number(took) * 1000);
  }
  return figures;
}

async function measureBulk(figures: Figures, running: Running, side: Side): Promise<void> {
  side.bulkWrites += 1;
  const items = Array.from({ length: BULK_HOSTS }, (_, host) => ({
    network_id: side.store.networkIds.campus,
    name: `bulk-${side.bulkWrites}-${host}`,
    ip_addresses: [{ ip_address: `10.${200 + side.bulkWrites}.${host >> 8}.${host & 255}` }],
    interfaces: Array.from({ length: BULK_ENTRIES }, (_, index) => ({
      if_index: index + 1,
      if_descr: `GigabitEthernet1/0/${index + 1}`,
      if_name: `Gi1/0/${index + 1}`,
      if_alias: `rack ${host} of room ${index}`,
      speed_bps: 1_000_000_000,
      mac_address: [0, 0x1b, side.bulkWrites, host >> 8, host & 255, index]
        .map((byte) => byte.toString(16).padStart(2, "0"))
        .join(":"),
    })),
  }));
  const send = async (name: string, body: readonly object[]) => {
    const started = performance.now();
    const data = await callApi<Array<{ id: string }>>(running, side.store, "POST", "/hosts/bulk", body);
    figures.set(name, performance.now() - started);
    return data;
  };
  const created = await send(`bulk: ${BULK_HOSTS} hosts with ${BULK_ENTRIES} interfaces created`, items);
  await send(
    "bulk: all of them updated",
    items.map((item, index) => ({
      ...item,
      id: created[index]?.id,
      interfaces: item.interfaces.map((entry) => ({ ...entry, oper_status: "Down" })),
    })),
  );
}

async function fetchInstants(running: Running, store: BuiltStore): Promise<string[]> {
  const transactions = await callApi<Array<{ at: string }>>(running, store, "GET", "/transactions?limit=1000");
  return transactions.map(({ at }) => at);
}

/**
 * Prints each figure's median on both sides, and the speedup of the later side: median, minimum and maximum over the
 * rounds.
 */
function printComparison(pairs: readonly Both<Figures>[]): void {
  printLine("");
  printRow("milliseconds", 84, ["before", "after", "faster", "min", "max"], 12);
  for (const name of pairs[0]?.[0].keys() ?? []) {
    const both = pairs.map(
      ([before, after]) => [before.get(name) ?? Number.NaN, after.get(name) ?? Number.NaN] as const,
    );
    const ratios = both.map(([before, after]) => before / after).sort((a, b) => a - b);
    const figures = [median(both.map(([before]) => before)), median(both.map(([, after]) => after))].map((ms) =>
      ms < 10 ? ms.toFixed(3) : ms.toFixed(0),
    );
    const speedups = [median(ratios), ratios[0], ratios.at(-1)].map((ratio) => `${(ratio as number).toFixed(2)} ×`);
    printRow(name, 84, [...figures, ...speedups], 12);
  }
}
