// Bulk write benchmark: duration of bulk host writes and of the largest possible requests, and latency of a concurrent
// reader, on the compiled executable over loopback HTTP. Usage: scripts/bench --bulk [--hosts 1000] [--interfaces 48]
// [--before 1000] [--directory DIR] [--executable FILE]

import { join } from "node:path";
import { BODY_LIMIT_BYTES, BULK_BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { bulkItem } from "./bulk-item.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { callApi } from "./requests.ts";
import { readerCells, startReader } from "./start-reader.ts";
import { type BuiltStore, campusStore } from "./store.ts";

const { hosts, interfaces, before, directory, executable } = settings({
  hosts: 1_000,
  interfaces: 48,
  /** Hosts in the store beforehand, each with `interfaces` interfaces. */
  before: 1_000,
  directory: "",
  executable: EXECUTABLE,
});
const encoder = new TextEncoder();
/** Maximum children of one kind per host. */
const CHILDREN_MAX = 10_000;

printLine(`Building: ${before} hosts × ${interfaces} interface entries`);
const store = await campusStore(join(folder(directory), "bulk"), { hosts: before, entriesPerHost: interfaces });
const running = await startExecutable(executable, store.directory);
const send = (items: readonly object[], status = 200) =>
  callApi<Array<{ id: string }>>(running, store, "POST", "/hosts/bulk", items, status);
printLine(
  `\n${hosts} hosts × ${interfaces} interface entries in one request, with a concurrent reader of small records`,
);
printRow("", 48, ["MB sent", "seconds", "reads", "p50 ms", "p99 ms", "longest"]);
await measure(running, store, "the reader only", 0, async () => Bun.sleep(2_000));
let created: Array<{ id: string }> = [];
const items = Array.from({ length: hosts }, (_, host) => bulkItem(store, host, interfaces));
const megabytes = JSON.stringify(items).length / 1e6;
await measure(running, store, "created", megabytes, async () => {
  created = await send(items);
});
const known = items.map((item, position) => ({ ...item, id: created[position]?.id as string }));
const changed = known.map((item) => ({
  ...item,
  interfaces: item.interfaces.map((entry) => ({ ...entry, oper_status: "Down" })),
}));
await measure(running, store, "every interface entry updated", megabytes, () => send(changed));
await measure(running, store, "the same again: nothing changes", megabytes, () => send(changed));
await measure(running, store, "refused: an unknown tag on every host", megabytes, () =>
  send(
    items.map((item) => ({ ...item, tags: [item.network_id] })),
    400,
  ),
);
const largest = largestBody(items);
await measure(running, store, "refused by the schema, the largest body", largest.length / 1e6, () =>
  callApi(running, store, "POST", "/hosts/bulk", largest, 400),
);
await measure(running, store, "created, with a reader of the state a second ago", megabytes, () => send(items), true);
await measureLargest(running, store);
printLine(`\nAnonymous memory at the end: ${(await running.anonymousMb()).toFixed(0)} MB`);
await running.stop();

async function measure(
  running: Running,
  store: BuiltStore,
  name: string,
  megabytes: number,
  action: () => Promise<unknown>,
  isPast = false,
): Promise<void> {
  const paths = [`/api/v1/networks/${store.networkIds.campus}`, `/api/v1/if-entries?limit=1`];
  const reader = await startReader({ port: running.port, paths, key: store.key, isPast });
  const started = performance.now();
  await action();
  const seconds = (performance.now() - started) / 1000;
  printRow(name, 48, [megabytes.toFixed(1), seconds.toFixed(2), ...readerCells(await reader.stop())]);
}

/** Measures the largest single record, request body and response of the API. */
async function measureLargest(running: Running, store: BuiltStore): Promise<void> {
  const network_id = store.networkIds.campus as string;
  const repeated = (child: (n: number) => object) => Array.from({ length: CHILDREN_MAX }, (_, n) => child(n));
  const children = {
    ip_addresses: repeated((n) => ({ ip_address: `10.201.${n >> 8}.${n & 255}` })),
    ports: repeated((n) => ({ number: n + 1, protocol: "Tcp" })),
    services: repeated((n) => ({ name: `service ${n}`, service_definition: "OpenSSH" })),
  };
  const body = encoder.encode(JSON.stringify({ name: "largest", network_id, ...children }));
  let id = "";
  await measure(running, store, `one host with ${CHILDREN_MAX} of each kind: created`, body.length / 1e6, async () => {
    id = (await callApi<{ id: string }>(running, store, "POST", "/hosts", body)).id;
  });
  await measure(running, store, "the host read", 0, () => callApi(running, store, "GET", `/hosts/${id}`));
  const typos = encoder.encode(
    `{${Array.from({ length: BODY_LIMIT_BYTES / 20 - 100 }, (_, position) => `"field_${String(position).padStart(7, "0")}":1`).join(",")}}`,
  );
  await measure(running, store, "refused: the largest body of unknown fields", typos.length / 1e6, () =>
    callApi(running, store, "POST", "/hosts", typos, 400),
  );
  const nested = encoder.encode(
    `${"[".repeat(60)}${"1,".repeat(BODY_LIMIT_BYTES / 2 - 1_000)}"\\u0000"${"]".repeat(60)}`,
  );
  await measure(running, store, "refused: the largest body of numbers", nested.length / 1e6, () =>
    callApi(running, store, "POST", "/tags", nested, 400),
  );
  await measure(running, store, "all hosts with their children, as a stream", 0, () =>
    drain(running, store, "/hosts?limit=0"),
  );
  await measure(running, store, "all interface entries, as a stream", 0, () =>
    drain(running, store, "/if-entries?limit=0"),
  );
}

/** Reads a response at full speed without assembling it, which would slow the stream down. */
async function drain({ port }: Running, { key }: BuiltStore, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const { body } = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers });
  for await (const _chunk of body as ReadableStream<Uint8Array>);
}

/** Body of the maximum size: the items with long descriptions, and an invalid item at the end. */
function largestBody(items: ReadonlyArray<ReturnType<typeof bulkItem>>): Uint8Array<ArrayBuffer> {
  const room =
    Math.floor((BULK_BODY_LIMIT_BYTES - 100_000 - JSON.stringify(items).length) / (items.length * interfaces + 1)) - 20;
  const filled = items.map((item) => ({
    ...item,
    interfaces: item.interfaces.map((entry) => ({ ...entry, lldp_sys_desc: "x".repeat(Math.min(4_000, room)) })),
  }));
  return encoder.encode(JSON.stringify([...filled.slice(0, -1), { ...filled.at(-1), name: "" }]));
}
