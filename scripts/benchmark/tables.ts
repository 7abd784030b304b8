// Duration of a large table import, of its repetition, and of a bulk update, with the latency of a concurrent reader:
// on the compiled executable, over HTTP on loopback. Usage: scripts/bench --tables [--rows 100000] [--directory DIR]
// [--executable FILE]

import { join } from "node:path";
import { ask } from "./asking.ts";
import { EXECUTABLE, startExecutable } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { startReader } from "./start-reader.ts";
import { buildStore } from "./store.ts";

const { rows, directory, executable } = settings({
  rows: 100_000,
  directory: "",
  executable: EXECUTABLE,
});

interface Told {
  readonly plan: string;
  readonly counts: Readonly<Record<string, number>>;
}

const store = await buildStore(
  join(folder(directory), "tables"),
  [{ network: "campus", hosts: 1_000, entriesPerHost: 48, versions: 1 }],
  say,
);
const running = await startExecutable(executable, store.directory);
const reads = [`/api/v1/networks/${store.networkIds.campus}`, "/api/v1/if-entries?limit=1"];
const ADDRESSES_OF_HOST = 10;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

say(`\n${rows} rows, with a concurrent reader of small records`);
sayRow("", 44, ["MB sent", "seconds", "CPU s", "reads", "p50 ms", "p99 ms", "longest", "created", "updated"]);

await imported("subnets", [
  ["network_name", "cidr"],
  ...numbers(1_000).map((number) => ["campus", `10.${100 + (number >> 8)}.${number & 255}.0/24`]),
]);
const hosts = numbers(rows).map((number) => [
  "campus",
  `import-${number}`,
  `import-${number}.example.net`,
  `Rack ${number % 40} unit ${number % 48}`,
  "false",
  `hall ${number % 10}`,
  `tag-${number}`,
]);
await imported(
  "hosts",
  [["network_name", "name", "hostname", "description", "hidden", "sys_location", "asset_tag"], ...hosts],
  'name = "import-*"',
);
await imported(
  "ip-addresses",
  [
    ["network_name", "host_name", "ip_address", "name", "mac_address"],
    ...numbers(rows).map((number) => [
      "campus",
      `import-${Math.floor(number / ADDRESSES_OF_HOST)}`,
      `10.${100 + ((number >> 16) & 3)}.${(number >> 8) & 255}.${number & 255}`,
      `eth${number % ADDRESSES_OF_HOST}`,
      `02:00:00:${[16, 8, 0].map((shift) => ((number >> shift) & 255).toString(16).padStart(2, "0")).join(":")}`,
    ]),
  ],
  'host.name = "import-*"',
);

const bulk = { filter: 'sys_location = "hall 3"', set: { description: "moved", sys_location: "hall 9" } };
const { plan } = await timed("a tenth of the hosts by a filter: the plan", 0, () => update({ ...bulk, dry_run: true }));
await timed("the same: done", 0, () => update({ ...bulk, plan }));
await running.stop();

function update(body: object): Promise<Told> {
  return ask<Told>(running, store, "POST", "/hosts/bulk-update", body);
}

/** Imports a table, the same table again, and an export of the result. */
async function imported(path: string, table: readonly (readonly string[])[], filter = ""): Promise<void> {
  const text = table.map((cells) => `${cells.join(",")}\r\n`).join("");
  const { plan } = await measured(`${path}: the plan`, path, text, "?dry_run=true");
  await measured(`${path}: done`, path, text, `?plan=${plan}`);
  await measured(`${path}: the same again`, path, text);
  const answer = await fetch(
    `http://127.0.0.1:${running.port}/api/v1/${path}/export/csv?filter=${encodeURIComponent(filter)}`,
    {
      headers: { authorization: `Bearer ${store.key}` },
    },
  );
  await measured(`${path}: their export`, path, await answer.text());
}

function measured(name: string, path: string, text: string, query = ""): Promise<Told> {
  return timed(name, text.length / 1e6, async () => {
    const answer = await fetch(`http://127.0.0.1:${running.port}/api/v1/${path}/import/csv${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${store.key}`, "content-type": "text/csv" },
      body: text,
    });
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`${name} answered ${answer.status}: ${body.slice(0, 300)}`);
    return (JSON.parse(body) as { data: Told }).data;
  });
}

/** Processor time is the server's, including the concurrent reader. */
async function timed(name: string, megabytes: number, action: () => Promise<Told>): Promise<Told> {
  const reader = await startReader({ port: running.port, paths: reads, key: store.key, isPast: false });
  const [started, cpuBefore] = [performance.now(), running.cpuSeconds()];
  const told = await action();
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = running.cpuSeconds() - cpuBefore;
  const { reads: count, p50Ms, p99Ms, longestMs } = await reader.stop();
  const { created = 0, updated } = told.counts;
  sayRow(name, 44, [
    megabytes.toFixed(1),
    seconds.toFixed(2),
    cpuSeconds.toFixed(2),
    String(count),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    longestMs.toFixed(1),
    String(created),
    String(updated),
  ]);
  return told;
}
