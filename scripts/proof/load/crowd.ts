// Burst of writes by one user, in a separate process: sent at once after a line on standard input, each over a separate
// connection; prints the results as JSON.

import { LONG_HANG_MS } from "../../../test/support/measure/limits.ts";

/** Its task, in a file. */
export interface CrowdTask {
  readonly port: number;
  readonly key: string;
  readonly networkId: string;
  /** Bulks, and hosts per bulk. */
  readonly bulks: number;
  readonly hosts: number;
  /** Single hosts, sent shortly after the bulks. */
  readonly singles: number;
  /** Prefix of names, distinct per crowd. */
  readonly name: string;
}

export interface Crowded {
  readonly isBulk: boolean;
  readonly status: number;
  readonly hasRetryAfter: boolean;
  /** System time in milliseconds. */
  readonly sentAt: number;
  readonly answeredAt: number;
}

if (import.meta.main) await main(process.argv[2] as string);

async function main(file: string): Promise<void> {
  const task = (await Bun.file(file).json()) as CrowdTask;
  const bulks = Array.from({ length: task.bulks }, (_, n) =>
    JSON.stringify(Array.from({ length: task.hosts }, (_, k) => hostOf(task, `${n}-${k}`))),
  );
  const singles = Array.from({ length: task.singles }, (_, n) => JSON.stringify(hostOf(task, `single-${n}`)));
  console.log("ready");
  for await (const _line of console) break;
  const sent = bulks.map((body) => send(task, "hosts/bulk", body));
  // By now the bulks are queued: no other write of the user runs before them.
  if (singles.length > 0) await Bun.sleep(500);
  sent.push(...singles.map((body) => send(task, "hosts", body)));
  console.log(JSON.stringify(await Promise.all(sent)));
  process.exit(0);
}

function hostOf({ networkId, name }: CrowdTask, number: string): object {
  const ports = [22, 443].map((each) => ({ number: each, protocol: "Tcp" }));
  return {
    network_id: networkId,
    name: `${name}-${number}`,
    description: "one of a crowd",
    ports,
    interfaces: [{ if_index: 1, if_descr: "eth0", oper_status: "Up" }],
  };
}

async function send({ port, key }: CrowdTask, path: string, body: string): Promise<Crowded> {
  const sentAt = now();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
    method: "POST",
    headers,
    body,
    signal: AbortSignal.timeout(LONG_HANG_MS),
  }).catch(() => null);
  await answer?.arrayBuffer().catch(() => null);
  return {
    isBulk: path.endsWith("bulk"),
    status: answer?.status ?? 0,
    hasRetryAfter: answer?.headers.get("retry-after") !== null,
    sentAt,
    answeredAt: now(),
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
