// Speed compared with an earlier commit: its executable and this one alternate on copies of one store, built by the
// earlier commit; this one migrates its copy. A commit with unreleased schemas has a store of its own. Usage:
// scripts/bench --against REVISION [--hosts 1000] [--seconds 3] [--turns 5] [--directory DIR]

import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../quantiles.ts";
import { ask, hostUpdates } from "./asking.ts";
import { buildStoreBy, checkOut, ROOT, run } from "./earlier.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { load, requestBytes } from "./load.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import type { BuiltStore } from "./store.ts";

const CONNECTIONS = 16;
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

mkdirSync(directory, { recursive: true });
const earlier = join(directory, "earlier");
const sides = [side("before", checkOut(revision, earlier)), side("after", ROOT)] as const;
say("building the store");
const built = builtBy(earlier, "store");
// Nothing migrates a store from before the first release. What a store contains depends on its populations alone.
const isMigrated = existsSync(join(earlier, "migrations/0036_ledger.sql"));
const builtHere = isMigrated ? built : builtBy(ROOT, "store-here");
const [before, after] = sides.map(({ name, executable, reconcile }) => {
  const copy = join(directory, `store-${name}`);
  const { directory: from, ...store } = name === "before" ? built : builtHere;
  rmSync(copy, { recursive: true, force: true });
  cpSync(from, copy, { recursive: true });
  return { executable, reconcile, store: { ...store, directory: copy }, bulks: 0 };
}) as [Side, Side];
const pairs: Array<[Figures, Figures]> = [];
for (let turn = 1; turn <= turns; turn += 1) {
  say(`turn ${turn} of ${turns}`);
  // The first side alternates: the load of the machine must not favor one.
  const first = turn % 2 === 1 ? before : after;
  const figures = await measure(first);
  const others = await measure(first === before ? after : before);
  pairs.push(first === before ? [figures, others] : [others, figures]);
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

async function measure(one: Side): Promise<Figures> {
  const { store } = one;
  const figures: Figures = new Map();
  const running = await startExecutable(one.executable, store.directory);
  const headers = { authorization: `Bearer ${store.key}` };
  try {
    const instants = await someInstants(running, store);
    const list = "/api/v1/if-entries";
    const inTurn = <T>(items: readonly T[], i: number) => items[(i * 7919) % items.length] as T;
    const requests: Array<[string, (i: number) => Uint8Array]> = [
      ["a page of 50, live", () => requestBytes("GET", list, headers)],
      [
        "a page of 50 by host, live",
        (i) => requestBytes("GET", `${list}?host_id=${inTurn(store.hostIds.campus as string[], i)}`, headers),
      ],
      ["a page of 50, at a random instant", (i) => requestBytes("GET", `${list}?at=${inTurn(instants, i)}`, headers)],
      // Of the earlier shape, if hosts have gained a field since.
      ["a page of 50 hosts, live", () => requestBytes("GET", HOSTS, headers)],
      [
        "a page of 50 hosts, at a random instant",
        (i) => requestBytes("GET", `${HOSTS}&at=${inTurn(instants, i)}`, headers),
      ],
      [
        "one host with its children, live",
        (i) => requestBytes("GET", `/api/v1/hosts/${inTurn(store.hostIds.campus as string[], i)}`, headers),
      ],
    ];
    for (const [name, request] of requests) await measureRequests(figures, name, running, CONNECTIONS, request);
    const updates = await hostUpdates(running, store);
    const update = (i: number) => requestBytes("PUT", inTurn(updates, i).path, headers, inTurn(updates, i).body(i));
    await measureRequests(figures, "PUT of a host with 20 children, 16 at once", running, CONNECTIONS, update);
    await measureRequests(figures, "PUT of a host with 20 children, one by one", running, 1, update);
    await measureBulk(figures, running, one);
  } finally {
    await running.stop();
  }
  for (const line of run([one.reconcile, "--devices", String(RECONCILED_DEVICES)], directory).split("\n")) {
    const [, name, took] = /^(\S.*?) {2,}([\d.]+) +\d+ +\d+$/.exec(line) ?? [];
    // Of two with the same name, the second is the warm one.
    if (name !== undefined)
      figures.set(`reconcile ${RECONCILED_DEVICES} devices of 50 interfaces: ${name}`, Number(took) * 1000);
  }
  return figures;
}

/** Processor time per request is independent of a slow generator. */
async function measureRequests(
  figures: Figures,
  name: string,
  running: Running,
  connections: number,
  request: (i: number) => Uint8Array,
): Promise<void> {
  await load({ ...running, seconds: Math.min(1, seconds), connections, request });
  const { requestsPerSecond, cpuMicroseconds, failures } = await load({ ...running, seconds, connections, request });
  if (failures > 0) throw new Error(`${name}: ${failures} requests failed`);
  figures.set(name, 1000 / requestsPerSecond);
  figures.set(`${name}: processor time`, cpuMicroseconds / 1000);
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
function print(pairs: ReadonlyArray<readonly [Figures, Figures]>): void {
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
