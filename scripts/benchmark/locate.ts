// Latency of locate and its timeline among 1,000,000 interface entries, with fifty switches that see every station;
// over HTTP on loopback. Usage: scripts/bench --locate [--hosts 20000] [--switches 50] [--stations 1000] [--moves 20]
// [--requests 500] [--directory DIR] [--executable FILE]

import { existsSync } from "node:fs";
import { join } from "node:path";
import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { quantilesOf } from "../quantiles.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { addStations, ENTRIES, ipOf, macOf } from "./stations.ts";
import { type BuiltStore, buildStore } from "./store.ts";

const { hosts, switches, stations, moves, requests, directory, executable } = settings({
  hosts: 20_000,
  switches: 50,
  stations: 1_000,
  /** Per station, from port to port; one transaction each. */
  moves: 20,
  requests: 500,
  directory: "",
  executable: EXECUTABLE,
});

say(
  `Building: ${hosts} hosts × ${ENTRIES} interface entries; ${stations} stations that move ${moves} times, each seen on ${switches} switches`,
);
const store = await buildStore(
  join(folder(directory), "locate"),
  [{ network: "campus", hosts, entriesPerHost: ENTRIES, versions: 1 }],
  say,
);
const done = join(store.directory, "stations.json");
const described = { switches, stations, moves };
if (!existsSync(done) || !Bun.deepEquals(await Bun.file(done).json(), described)) {
  addStations(store, described, say);
  await Bun.write(done, JSON.stringify(described));
}
const running = await startExecutable(executable, store.directory);
await measure(running, store);
await running.stop();

async function measure(running: Running, store: BuiltStore): Promise<void> {
  const ask = async (path: string) => {
    const started = performance.now();
    const answer = await fetch(`http://127.0.0.1:${running.port}${path}`, {
      headers: { authorization: `Bearer ${store.key}` },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 200)}`);
    return { tookMs: performance.now() - started, data: (JSON.parse(text) as { data: never }).data as unknown };
  };
  const instants = instantsOf(store);
  const questions: Array<[string, (station: number) => string]> = [
    ["mac", (station) => `mac=${macOf(station)}`],
    ["ip", (station) => `ip=${ipOf(station)}`],
    ["hostname", (station) => `hostname=station-${station}`],
  ];
  say("");
  sayRow("", 48, ["p50 ms", "p99 ms", "longest"]);
  const row = (name: string, times: readonly number[]) => {
    const at = quantilesOf(times);
    sayRow(
      name,
      48,
      [0.5, 0.99, 1].map((share) => at(share).toFixed(2)),
    );
  };
  for (const [name, question] of questions) {
    for (const when of ["live", "at a random instant"]) {
      const times: number[] = [];
      for (let i = -20; i < requests; i += 1) {
        const station = Math.abs(i * 7919) % stations;
        const { tookMs, data } = await ask(
          `/api/v1/locate?${question(station)}${when === "live" ? "" : `&at=${instants[Math.abs(i * 104_729) % instants.length]}`}`,
        );
        const [first] = (data as { candidates: Array<{ confidence: number; port: { role: string } | null }> })
          .candidates;
        if (first?.port?.role !== "Edge") throw new Error(`station ${station} is not at an edge`);
        if (i >= 0) times.push(tookMs);
      }
      row(`by ${name}, ${when}`, times);
    }
  }
  const times: number[] = [];
  let intervals = 0;
  for (let i = 0; i < 20; i += 1) {
    const { tookMs, data } = await ask(`/api/v1/locate/timeline?mac=${macOf((i * 7919) % stations)}`);
    times.push(tookMs);
    intervals += (data as { intervals: unknown[] }).intervals.length;
  }
  row(`timeline of all time, ${(intervals / 20).toFixed(0)} intervals`, times);
  const beside = Promise.all(
    Array.from({ length: 8 }, (_, i) => ask(`/api/v1/locate/timeline?hostname=station-${(i * 7919) % stations}`)),
  );
  const waits: number[] = [];
  let isOver = false;
  void beside.finally(() => {
    isOver = true;
  });
  while (!isOver) waits.push((await ask(`/api/v1/if-entries?limit=1`)).tookMs);
  await beside;
  row("another caller's read during eight timelines", waits);
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
