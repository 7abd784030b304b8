// Table import benchmark: duration of a large import, of its re-run, and of a bulk update, and latency of a concurrent
// reader, on the compiled executable over loopback HTTP. Usage: scripts/bench --tables [--rows 100000] [--directory
// DIR] [--executable FILE]

import { join } from "node:path";
import { EXECUTABLE, startExecutable } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { callApi, timedGet } from "./requests.ts";
import { readerCells, startReader } from "./start-reader.ts";
import { campusStore } from "./store.ts";

const { rows, directory, executable } = settings({ rows: 100_000, directory: "", executable: EXECUTABLE });

interface ImportResult {
  readonly plan: string;
  readonly counts: Readonly<Record<string, number>>;
}

const store = await campusStore(join(folder(directory), "tables"), { hosts: 1_000, entriesPerHost: 48 });
const running = await startExecutable(executable, store.directory);
const reads = [`/api/v1/networks/${store.networkIds.campus}`, "/api/v1/if-entries?limit=1"];
const ADDRESSES_PER_HOST = 10;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

printLine(`\n${rows} rows, with a concurrent reader of small records`);
printRow("", 44, ["MB sent", "seconds", "CPU s", "reads", "p50 ms", "p99 ms", "longest", "created", "updated"]);

await measureImport("subnets", [
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
await measureImport(
  "hosts",
  [["network_name", "name", "hostname", "description", "hidden", "sys_location", "asset_tag"], ...hosts],
  'name = "import-*"',
);
await measureImport(
  "ip-addresses",
  [
    ["network_name", "host_name", "ip_address", "name", "mac_address"],
    ...numbers(rows).map((number) => [
      "campus",
      `import-${Math.floor(number / ADDRESSES_PER_HOST)}`,
      `10.${100 + ((number >> 16) & 3)}.${(number >> 8) & 255}.${number & 255}`,
      `eth${number % ADDRESSES_PER_HOST}`,
      `02:00:00:${[16, 8, 0].map((shift) => ((number >> shift) & 255).toString(16).padStart(2, "0")).join(":")}`,
    ]),
  ],
  'host.name = "import-*"',
);

const bulk = { filter: 'sys_location = "hall 3"', set: { description: "moved", sys_location: "hall 9" } };
const { plan } = await measure("bulk update of a tenth of the hosts: plan", 0, () =>
  update({ ...bulk, dry_run: true }),
);
await measure("bulk update of a tenth of the hosts: applied", 0, () => update({ ...bulk, plan }));
await running.stop();

function update(body: object): Promise<ImportResult> {
  return callApi<ImportResult>(running, store, "POST", "/hosts/bulk-update", body);
}

/** Measures the import of a table, of the same table again, and of an export of the result. */
async function measureImport(path: string, table: readonly (readonly string[])[], filter = ""): Promise<void> {
  const text = table.map((cells) => `${cells.join(",")}\r\n`).join("");
  const { plan } = await importTable(`${path}: plan`, path, text, "?dry_run=true");
  await importTable(`${path}: applied`, path, text, `?plan=${plan}`);
  await importTable(`${path}: same table again`, path, text);
  const exportPath = `/api/v1/${path}/export/csv?filter=${encodeURIComponent(filter)}`;
  await importTable(`${path}: export imported again`, path, (await timedGet(running, store, exportPath)).text);
}

function importTable(name: string, path: string, text: string, query = ""): Promise<ImportResult> {
  return measure(name, text.length / 1e6, async () => {
    const response = await fetch(`http://127.0.0.1:${running.port}/api/v1/${path}/import/csv${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${store.key}`, "content-type": "text/csv" },
      body: text,
    });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${name} returned ${response.status}: ${body.slice(0, 300)}`);
    return (JSON.parse(body) as { data: ImportResult }).data;
  });
}

/** Measures an action; the server's CPU time includes the concurrent reader's requests. */
async function measure(name: string, megabytes: number, action: () => Promise<ImportResult>): Promise<ImportResult> {
  const reader = await startReader({ port: running.port, paths: reads, key: store.key, isPast: false });
  const [started, cpuBefore] = [performance.now(), running.cpuSeconds()];
  const result = await action();
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = running.cpuSeconds() - cpuBefore;
  const { created = 0, updated } = result.counts;
  const cells = [megabytes.toFixed(1), seconds.toFixed(2), cpuSeconds.toFixed(2), ...readerCells(await reader.stop())];
  printRow(name, 44, [...cells, String(created), String(updated)]);
  return result;
}
