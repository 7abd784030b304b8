// Speed compared with an earlier commit: its executable and this one alternate on copies of one store, built by the
// earlier commit; this one migrates its copy. A commit with unreleased schemas has a store of its own. Usage:
// scripts/bench --against REVISION [--hosts 1000] [--seconds 3] [--turns 5] [--directory DIR]

import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../quantiles.ts";
import { ask, hostUpdates } from "./asking.ts";
import { buildStoreBy, checkOut, ROOT, run } from "./earlier.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { type LoadResult, load, requestBytes } from "./load.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import type { BuiltStore } from "./store.ts";

const CONNECTIONS = 16;
/** Parts of a measurement: both sides alternate within it, as the machine's speed changes from second to second. */
const SLICES = 10;
/** Runs of the writer alone in a turn. */
const RECONCILE_RUNS = 3;
/** Hosts of one bulk, and interface entries of each. */
const BULK_HOSTS = 300;
const BULK_ENTRIES = 48;
const RECONCILED_DEVICES = 300;
const HOSTS = "/api/v1/hosts?include_children=false";

const [revision, ...rest] = process.argv.slice(2);
if (revision === undefined || revision.startsWith("-"))
  throw new Error("usage: scripts/bench --against REVISION [--hosts N] [--seconds N] [--turns N] [--directory DIR]");
/** Turns: measurements per side. */
const { hosts, seconds, turns, ...told } = settings({ hosts: 1_000, seconds: 3, turns: 5, directory: "" }, rest);
const directory = folder(told.directory);

/** One of the compared sides. */
interface Side {
  readonly executable: string;
  /** Measures the writer alone, on scan results. */
  readonly reconcile: string;
  readonly store: BuiltStore;
  /** Number of bulks so far, to give each distinct names. */
  bulks: number;
}

/** Milliseconds by measurement. */
type Figures = Map<string, number>;
type Both<T> = readonly [before: T, after: T];

mkdirSync(directory, { recursive: true });
const earlier = join(directory, "earlier");
const sides = [side("before", checkOut(revision, earlier)), side("after", ROOT)] as const;
say("building the store");
const built = builtBy(earlier, "store");
// Nothing migrates a store from before the first release. What a store contains depends on its populations alone.
const isMigrated = existsSync(join(earlier, "migrations/0036_ledger.sql"));
const builtHere = isMigrated ? built : builtBy(ROOT, "store-here");
const compared = sides.map(({ name, executable, reconcile }) => {
  const copy = join(directory, `store-${name}`);
  const { directory: from, ...store } = name === "before" ? built : builtHere;
  rmSync(copy, { recursive: true, force: true });
  cpSync(from, copy, { recursive: true });
  return { executable, reconcile, store: { ...store, directory: copy }, bulks: 0 };
}) as [Side, Side];
const pairs: Both<Figures>[] = [];
for (let turn = 1; turn <= turns; turn += 1) {
  say(`turn ${turn} of ${turns}`);
  pairs.push(await measure(compared));
}
print(pairs);

function builtBy(checkout: string, name: string): BuiltStore {
  const population = { network: "campus", hosts, entriesPerHost: 50, versions: 5 };
  return buildStoreBy(checkout, join(directory, name), [population]);
}

function side(name: string, folder: string): { name: string; executable: string; reconcile: string } {
  const reconcile = join(directory, `reconcile-${name}`);
  run(
    [
      "./scripts/bun",
      "build",
      "scripts/benchmark/reconcile.ts",
      "--compile",
      "--no-compile-autoload-dotenv",
      "--no-compile-autoload-bunfig",
      "--outfile",
      reconcile,
    ],
    folder,
  );
  return { name, executable: folder === ROOT ? EXECUTABLE : join(folder, "dist/netledger"), reconcile };
}

async function measure(both: Both<Side>): Promise<Both<Figures>> {
  const figures: Both<Figures> = [new Map(), new Map()];
  const started: Array<[Side, Running, Figures]> = [];
  try {
    for (const [place, one] of both.entries())
      started.push([one, await startExecutable(one.executable, one.store.directory), figures[place] as Figures]);
    const loads = await Promise.all(started.map(([one, running]) => loadsOf(one, running)));
    for (const name of loads[0]?.keys() ?? []) {
      const measured = loads.map((each) => each.get(name) as () => Promise<LoadResult>);
      const results: LoadResult[][] = [[], []];
      // The first slice of each warms up.
      for (let slice = 0; slice <= SLICES; slice += 1)
        for (const place of alternating(slice))
          results[place]?.push(await (measured[place] as () => Promise<LoadResult>)());
      for (const [place, [, ...each]] of results.entries()) {
        const failures = each.reduce((sum, result) => sum + result.failures, 0);
        if (failures > 0) throw new Error(`${name}: ${failures} requests failed`);
        const ofSide = figures[place] as Figures;
        ofSide.set(name, median(each.map(({ requestsPerSecond }) => 1000 / requestsPerSecond)));
        ofSide.set(`${name}: processor time`, median(each.map(({ cpuMicroseconds }) => cpuMicroseconds / 1000)));
      }
    }
    for (const [one, running, ofSide] of started) await measureBulk(ofSide, running, one);
  } finally {
    for (const [, running] of started) await running.stop();
  }
  const runs: Figures[][] = [[], []];
  for (let run = 0; run < RECONCILE_RUNS; run += 1)
    for (const place of alternating(run)) runs[place]?.push(reconciled(both[place] as Side));
  for (const [place, [first, ...others]] of runs.entries())
    for (const [name, ms] of first ?? [])
      figures[place]?.set(name, median([ms, ...others.map((each) => each.get(name) as number)]));
  return figures;
}

/** Places of both sides: the load of the machine must not favor the first. */
function alternating(turn: number): readonly number[] {
  return turn % 2 === 0 ? [0, 1] : [1, 0];
}

/** A slice of each measurement of requests, by name. */
async function loadsOf({ store }: Side, running: Running): Promise<Map<string, () => Promise<LoadResult>>> {
  const headers = { authorization: `Bearer ${store.key}` };
  const instants = await someInstants(running, store);
  const updates = await hostUpdates(running, store);
  const inTurn = <T>(items: readonly T[], i: number) => items[(i * 7919) % items.length] as T;
  const hostIds = store.hostIds.campus as string[];
  const get = (path: string) => requestBytes("GET", path, headers);
  const put = (i: number) => requestBytes("PUT", inTurn(updates, i).path, headers, inTurn(updates, i).body(i));
  const list = "/api/v1/if-entries";
  const measurements: Array<[string, number, (i: number) => Uint8Array]> = [
    ["a page of 50, live", CONNECTIONS, () => get(list)],
    ["a page of 50 by host, live", CONNECTIONS, (i) => get(`${list}?host_id=${inTurn(hostIds, i)}`)],
    ["a page of 50, at a random instant", CONNECTIONS, (i) => get(`${list}?at=${inTurn(instants, i)}`)],
    // Of the earlier shape, if hosts have gained a field since.
    ["a page of 50 hosts, live", CONNECTIONS, () => get(HOSTS)],
    ["a page of 50 hosts, at a random instant", CONNECTIONS, (i) => get(`${HOSTS}&at=${inTurn(instants, i)}`)],
    ["one host with its children, live", CONNECTIONS, (i) => get(`/api/v1/hosts/${inTurn(hostIds, i)}`)],
    ["PUT of a host with 20 children, 16 at once", CONNECTIONS, put],
    ["PUT of a host with 20 children, one by one", 1, put],
  ];
  return new Map(
    measurements.map(([name, connections, bytes]) => {
      // Continues where the slice before ended: a repeated body changes nothing.
      let asked = 0;
      const request = () => {
        asked += 1;
        return bytes(asked);
      };
      return [name, () => load({ ...running, seconds: seconds / SLICES, connections, request })];
    }),
  );
}

/** Milliseconds of the writer alone. */
function reconciled({ reconcile }: Side): Figures {
  const figures: Figures = new Map();
  for (const line of run([reconcile, "--devices", String(RECONCILED_DEVICES)], directory).split("\n")) {
    const [, name, took] = /^(\S.*?) {2,}([\d.]+) +\d+ +\d+$/.exec(line) ?? [];
    // Of two with the same name, the second is the warm one.
    if (name !== undefined)
      figures.set(`reconcile ${RECONCILED_DEVICES} devices of 50 interfaces: ${name}`, Number(took) * 1000);
  }
  return figures;
}

async function measureBulk(figures: Figures, running: Running, one: Side): Promise<void> {
  one.bulks += 1;
  const items = Array.from({ length: BULK_HOSTS }, (_, host) => ({
    network_id: one.store.networkIds.campus,
    name: `bulk-${one.bulks}-${host}`,
    ip_addresses: [{ ip_address: `10.${200 + one.bulks}.${host >> 8}.${host & 255}` }],
    interfaces: Array.from({ length: BULK_ENTRIES }, (_, place) => ({
      if_index: place + 1,
      if_descr: `GigabitEthernet1/0/${place + 1}`,
      if_name: `Gi1/0/${place + 1}`,
      if_alias: `rack ${host} of room ${place}`,
      speed_bps: 1_000_000_000,
      mac_address: [0, 0x1b, one.bulks, host >> 8, host & 255, place]
        .map((byte) => byte.toString(16).padStart(2, "0"))
        .join(":"),
    })),
  }));
  const send = async (name: string, body: readonly object[]) => {
    const started = performance.now();
    const data = await ask<Array<{ id: string }>>(running, one.store, "POST", "/hosts/bulk", body);
    figures.set(name, performance.now() - started);
    return data;
  };
  const created = await send(`bulk: ${BULK_HOSTS} hosts with ${BULK_ENTRIES} interfaces created`, items);
  await send(
    "bulk: all of them updated",
    items.map((item, place) => ({
      ...item,
      id: created[place]?.id,
      interfaces: item.interfaces.map((each) => ({ ...each, oper_status: "Down" })),
    })),
  );
}

async function someInstants(running: Running, store: BuiltStore): Promise<string[]> {
  const transactions = await ask<Array<{ at: string }>>(running, store, "GET", "/transactions?limit=1000");
  return transactions.map(({ at }) => at);
}

/**
 * For each figure the median of both sides, and the speedup of the later one: median, minimum and maximum over the
 * turns.
 */
function print(pairs: readonly Both<Figures>[]): void {
  say("");
  sayRow("milliseconds", 84, ["before", "after", "faster", "least", "most"], 12);
  for (const name of pairs[0]?.[0].keys() ?? []) {
    const both = pairs.map(
      ([before, after]) => [before.get(name) ?? Number.NaN, after.get(name) ?? Number.NaN] as const,
    );
    const ratios = both.map(([before, after]) => before / after).sort((a, b) => a - b);
    const figures = [median(both.map(([before]) => before)), median(both.map(([, after]) => after))].map((ms) =>
      ms < 10 ? ms.toFixed(3) : ms.toFixed(0),
    );
    const times = [median(ratios), ratios[0], ratios.at(-1)].map((ratio) => `${(ratio as number).toFixed(2)} ×`);
    sayRow(name, 84, [...figures, ...times], 12);
  }
}
