// Latency benchmark for locate and its timeline among 1,000,000 interface entries, with fifty switches that see every
// station, over loopback HTTP. Usage: scripts/bench --locate [--hosts 20000] [--switches 50] [--stations 1000] [--moves
// 20] [--requests 500] [--directory DIR] [--executable FILE]

import { existsSync } from "node:fs";
import { join } from "node:path";
import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { quantilesOf } from "../quantiles.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { timedGet } from "./requests.ts";
import { addStations, ENTRIES, ipOf, macOf } from "./stations.ts";
import { type BuiltStore, campusStore } from "./store.ts";

const { hosts, switches, stations, moves, requests, directory, executable } = settings({
  hosts: 20_000,
  switches: 50,
  stations: 1_000,
  /** Moves from port to port per station, one transaction each. */
  moves: 20,
  requests: 500,
  directory: "",
  executable: EXECUTABLE,
});

printLine(
  `Building: ${hosts} hosts × ${ENTRIES} interface entries; ${stations} stations that move ${moves} times, each seen on ${switches} switches`,
);
const store = await campusStore(join(folder(directory), "locate"), { hosts, entriesPerHost: ENTRIES });
const stationsFile = join(store.directory, "stations.json");
const parameters = { switches, stations, moves };
if (!existsSync(stationsFile) || !Bun.deepEquals(await Bun.file(stationsFile).json(), parameters)) {
  addStations(store, parameters, printLine);
  await Bun.write(stationsFile, JSON.stringify(parameters));
}
const running = await startExecutable(executable, store.directory);
await measure(running, store);
await running.stop();

interface Located {
  readonly candidates: Array<{ port: { role: string } | null }>;
}

async function measure(running: Running, store: BuiltStore): Promise<void> {
  const get = async <T>(path: string) => {
    const { tookMs, text } = await timedGet(running, store, path);
    return { tookMs, data: (JSON.parse(text) as { data: T }).data };
  };
  const instants = instantsOf(store);
  const queries: Array<[string, (station: number) => string]> = [
    ["mac", (station) => `mac=${macOf(station)}`],
    ["ip", (station) => `ip=${ipOf(station)}`],
    ["hostname", (station) => `hostname=station-${station}`],
  ];
  printLine("");
  printRow("", 48, ["p50 ms", "p99 ms", "longest"]);
  const row = (name: string, times: readonly number[]) => {
    const quantile = quantilesOf(times);
    printRow(
      name,
      48,
      [0.5, 0.99, 1].map((share) => quantile(share).toFixed(2)),
    );
  };
  for (const [name, query] of queries) {
    for (const state of ["live", "at a random timestamp"]) {
      const times: number[] = [];
      for (let i = -20; i < requests; i += 1) {
        const station = Math.abs(i * 7919) % stations;
        const atQuery = state === "live" ? "" : `&at=${instants[Math.abs(i * 104_729) % instants.length]}`;
        const { tookMs, data } = await get<Located>(`/api/v1/locate?${query(station)}${atQuery}`);
        const [first] = data.candidates;
        if (first?.port?.role !== "Edge") throw new Error(`station ${station} is not at an edge port`);
        if (i >= 0) times.push(tookMs);
      }
      row(`by ${name}, ${state}`, times);
    }
  }
  const times: number[] = [];
  let intervals = 0;
  for (let i = 0; i < 20; i += 1) {
    const mac = macOf((i * 7919) % stations);
    const { tookMs, data } = await get<{ intervals: unknown[] }>(`/api/v1/locate/timeline?mac=${mac}`);
    times.push(tookMs);
    intervals += data.intervals.length;
  }
  row(`timeline of the entire history, ${(intervals / 20).toFixed(0)} intervals`, times);
  const timelines = Promise.all(
    Array.from({ length: 8 }, (_, i) => get(`/api/v1/locate/timeline?hostname=station-${(i * 7919) % stations}`)),
  );
  const waits: number[] = [];
  let isOver = false;
  void timelines.finally(() => {
    isOver = true;
  });
  while (!isOver) waits.push((await get(`/api/v1/if-entries?limit=1`)).tookMs);
  await timelines;
  row("read by another client during eight timelines", waits);
}

/** Timestamps of transactions while the stations moved. */
function instantsOf(store: BuiltStore): string[] {
  const db = openWritable(dataFiles(store.directory).database);
  const rows = db.$client
    .query("SELECT at FROM history_transactions ORDER BY sequence DESC LIMIT ?")
    .values(Math.max(1, stations * moves - 1)) as Array<[number]>;
  db.$client.close();
  return rows.map(([at]) => new Date(at).toISOString());
}
