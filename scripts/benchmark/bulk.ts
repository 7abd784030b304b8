// Duration of a bulk write of hosts, or of the largest possible requests, and latency of a concurrent reader: on the
// compiled executable, over HTTP on loopback. Usage: scripts/bench --bulk [--hosts 1000] [--interfaces 48] [--before
// 1000] [--directory DIR] [--executable FILE]

import { join } from "node:path";
import { BODY_LIMIT_BYTES, BULK_BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { ask } from "./asking.ts";
import { bulkItem } from "./bulk-item.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { startReader } from "./start-reader.ts";
import { type BuiltStore, buildStore } from "./store.ts";

const { hosts, interfaces, before, directory, executable } = settings({
  hosts: 1_000,
  interfaces: 48,
  /** Existing hosts with as many interfaces. */
  before: 1_000,
  directory: "",
  executable: EXECUTABLE,
});
const encoder = new TextEncoder();
/** Maximum children of one kind per host. */
const CHILDREN_MAX = 10_000;

say(`Building: ${before} hosts × ${interfaces} interface entries`);
const store = await buildStore(
  join(folder(directory), "bulk"),
  [{ network: "campus", hosts: before, entriesPerHost: interfaces, versions: 1 }],
  say,
);
const running = await startExecutable(executable, store.directory);
const send = (items: readonly object[], status = 200) =>
  ask<Array<{ id: string }>>(running, store, "POST", "/hosts/bulk", items, status);
say(`\n${hosts} hosts × ${interfaces} interface entries in one request, with a concurrent reader of small records`);
sayRow("", 48, ["MB sent", "seconds", "reads", "p50 ms", "p99 ms", "longest"]);
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
  interfaces: item.interfaces.map((each) => ({ ...each, oper_status: "Down" })),
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
  ask(running, store, "POST", "/hosts/bulk", largest, 400),
);
await measure(running, store, "created, the reader reading a second ago", megabytes, () => send(items), true);
await measureLargest(running, store);
say(`\nAnonymous memory after all of it: ${(await running.anonymousMb()).toFixed(0)} MB`);
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
  const { reads, p50Ms, p99Ms, longestMs } = await reader.stop();
  sayRow(name, 48, [
    megabytes.toFixed(1),
    seconds.toFixed(2),
    String(reads),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    longestMs.toFixed(1),
  ]);
}

/** The largest single record, body and page of the API. */
async function measureLargest(running: Running, store: BuiltStore): Promise<void> {
  const network_id = store.networkIds.campus as string;
  const children = {
    ip_addresses: Array.from({ length: CHILDREN_MAX }, (_, position) => ({
      ip_address: `10.201.${position >> 8}.${position & 255}`,
    })),
    ports: Array.from({ length: CHILDREN_MAX }, (_, position) => ({ number: position + 1, protocol: "Tcp" })),
    services: Array.from({ length: CHILDREN_MAX }, (_, position) => ({
      name: `service ${position}`,
      service_definition: "OpenSSH",
    })),
  };
  const body = encoder.encode(JSON.stringify({ name: "largest", network_id, ...children }));
  let id = "";
  await measure(running, store, `one host with ${CHILDREN_MAX} of each: created`, body.length / 1e6, async () => {
    id = (await ask<{ id: string }>(running, store, "POST", "/hosts", body)).id;
  });
  await measure(running, store, "the host read", 0, () => ask(running, store, "GET", `/hosts/${id}`));
  const typos = encoder.encode(
    `{${Array.from({ length: BODY_LIMIT_BYTES / 20 - 100 }, (_, position) => `"field_${String(position).padStart(7, "0")}":1`).join(",")}}`,
  );
  await measure(running, store, "refused: the largest body of unknown fields", typos.length / 1e6, () =>
    ask(running, store, "POST", "/hosts", typos, 400),
  );
  const nested = encoder.encode(
    `${"[".repeat(60)}${"1,".repeat(BODY_LIMIT_BYTES / 2 - 1_000)}"\\u0000"${"]".repeat(60)}`,
  );
  await measure(running, store, "refused: the largest body of numbers", nested.length / 1e6, () =>
    ask(running, store, "POST", "/tags", nested, 400),
  );
  await measure(running, store, "all hosts with their children, as a stream", 0, () =>
    drain(running, store, "/hosts?limit=0"),
  );
  await measure(running, store, "all interface entries, as a stream", 0, () =>
    drain(running, store, "/if-entries?limit=0"),
  );
}

/** Reads an answer at full speed without assembling it, which would slow the stream down. */
async function drain({ port }: Running, { key }: BuiltStore, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const { body } = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers });
  for await (const _chunk of body as ReadableStream<Uint8Array>);
}

/** Repeats the items up to the maximum number, with descriptions that fill the body, and an error at its end. */
function largestBody(items: ReadonlyArray<ReturnType<typeof bulkItem>>): Uint8Array<ArrayBuffer> {
  const room =
    Math.floor((BULK_BODY_LIMIT_BYTES - 100_000 - JSON.stringify(items).length) / (items.length * interfaces + 1)) - 20;
  const filled = items.map((item) => ({
    ...item,
    interfaces: item.interfaces.map((each) => ({ ...each, lldp_sys_desc: "x".repeat(Math.min(4_000, room)) })),
  }));
  return encoder.encode(JSON.stringify([...filled.slice(0, -1), { ...filled.at(-1), name: "" }]));
}
