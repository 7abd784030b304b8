// Write burst by one user, in a separate process: after a line on standard input it sends all at once, each on its own
// connection, and prints the results as JSON.

import { LONG_HANG_MS } from "../../../test/support/measure/limits.ts";

/** Task of the process, read from a file. */
export interface BurstTask {
  readonly port: number;
  readonly key: string;
  readonly networkId: string;
  /** Number of bulk requests, and hosts per bulk request. */
  readonly bulkWrites: number;
  readonly hosts: number;
  /** Number of single hosts, sent shortly after the bulk requests. */
  readonly singles: number;
  /** Prefix of the names of hosts, distinct for each burst. */
  readonly name: string;
}

export interface BurstResult {
  readonly isBulk: boolean;
  readonly status: number;
  readonly hasRetryAfter: boolean;
  /** Unix time in milliseconds. */
  readonly sentAt: number;
  readonly answeredAt: number;
}

if (import.meta.main) await main(process.argv[2] as string);

async function main(file: string): Promise<void> {
  const task = (await Bun.file(file).json()) as BurstTask;
  const bulkWrites = Array.from({ length: task.bulkWrites }, (_, n) =>
    JSON.stringify(Array.from({ length: task.hosts }, (_, k) => hostOf(task, `${n}-${k}`))),
  );
  const singles = Array.from({ length: task.singles }, (_, n) => JSON.stringify(hostOf(task, `single-${n}`)));
  console.log("ready");
  for await (const _line of console) break;
  const sent = bulkWrites.map((body) => send(task, "hosts/bulk", body));
  // After this delay, the bulk requests are queued: no other write of the user runs before them.
  if (singles.length > 0) await Bun.sleep(500);
  sent.push(...singles.map((body) => send(task, "hosts", body)));
  console.log(JSON.stringify(await Promise.all(sent)));
  process.exit(0);
}

function hostOf({ networkId, name }: BurstTask, number: string): object {
  const ports = [22, 443].map((port) => ({ number: port, protocol: "Tcp" }));
  return {
    network_id: networkId,
    name: `${name}-${number}`,
    description: "host of a burst",
    ports,
    interfaces: [{ if_index: 1, if_descr: "eth0", oper_status: "Up" }],
  };
}

async function send({ port, key }: BurstTask, path: string, body: string): Promise<BurstResult> {
  const sentAt = now();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" };
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
    method: "POST",
    headers,
    body,
    signal: AbortSignal.timeout(LONG_HANG_MS),
  }).catch(() => null);
  await response?.arrayBuffer().catch(() => null);
  return {
    isBulk: path.endsWith("bulk"),
    status: response?.status ?? 0,
    hasRetryAfter: response?.headers.get("retry-after") !== null,
    sentAt,
    answeredAt: now(),
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
