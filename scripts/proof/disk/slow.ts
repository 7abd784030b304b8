// Slow disk, with a fifth of a second per sync: writes share syncs, and nothing else waits.

import { join } from "node:path";
import type { ApiResponse, Client } from "../../../test/support/appliance/client.ts";
import type { Running } from "../../../test/support/executable/executable.ts";
import { requestBytes } from "../../benchmark/load.ts";
import { quantilesOf } from "../../quantiles.ts";
import { KeepAliveConnection } from "../input/wire.ts";
import type { Proof, ProofContext } from "../part.ts";
import { compileShim } from "../shim/compile.ts";
import { ApplianceUnderTest, until } from "./appliance.ts";
import { finding, problemSummary } from "./full.ts";

const SYNC_MS = 200;
const JITTER_MS = 50;
const WRITERS = 16;
const READERS = 2;
/** Limit of the 99th percentile of reads while writes wait. */
const READ_P99_MS = 50;
/** Connections with one write each, more than may wait: fetch would send only a few hundred at once. */
const FLOOD_CONNECTIONS = 1_500;
const FLOOD = 4 * FLOOD_CONNECTIONS;
const STOP_MAX_MS = 5_000;

export async function slowDisk(context: ProofContext): Promise<Proof> {
  const shim = compileShim(context.directory);
  if ("missing" in shim) return { findings: [], skipped: [`A slow disk: ${shim.missing}.`] };
  const folder = join(context.directory, "slow");
  const data = join(folder, "data");
  const appliance = ApplianceUnderTest.in(context, data, folder);
  try {
    const { key, networkId } = await appliance.setUp();
    const running = await appliance.serve({
      LD_PRELOAD: shim.path,
      FORGETFUL_ROOT: data,
      FORGETFUL_SYNC_DELAY_MS: String(SYNC_MS),
      FORGETFUL_SYNC_JITTER_MS: String(JITTER_MS),
    });
    const client = running.withKey(key);
    const durationMs = context.form === "short" ? 3_000 : 30_000;
    const { writes, reads, unexpected, soloRate } = await measureWrites(client, networkId, durationMs);
    const flood = context.form === "short" ? null : await floodWrites(running, key);
    const stopped = await stopUnderWrites(running, client);
    const verified = await appliance.run(["verify"]);
    const live = await appliance.serve();
    const tags: Array<{ name: string }> = (await live.withKey(key).get("tags?limit=0")).data;
    const found = new Set(tags.map(({ name }) => name));
    await live.stop();
    const missing = [...writes.done, ...stopped.done, ...(flood?.done ?? [])].filter((name) => !found.has(name));
    const quantile = quantilesOf(reads);
    const rate = writes.done.length / (durationMs / 1_000);
    return {
      findings: [
        finding(
          `with ${SYNC_MS} ms for each sync, p99 of reads stays below ${READ_P99_MS} ms while ${WRITERS} writers wait`,
          unexpected.length === 0 && quantile(0.99) < READ_P99_MS,
          `${reads.length} reads, p50 ${quantile(0.5).toFixed(1)} ms, p99 ${quantile(0.99).toFixed(1)} ms${problemSummary(unexpected)}`,
        ),
        finding(
          "on a slow disk writers share commits: together they achieve several times the rate of one, and none fails",
          unexpected.length === 0 && rate > (2 * 1_000) / SYNC_MS && rate > 3 * soloRate,
          `${rate.toFixed(0)} writes/s of ${WRITERS} writers, p99 ${quantilesOf(writes.tookMs)(0.99).toFixed(0)} ms; one alone ${soloRate.toFixed(1)}/s`,
        ),
        ...(flood === null
          ? []
          : [
              finding(
                "on a slow disk writes beyond the queue are refused with rate_limit_exceeded and Retry-After, and the others are done",
                flood.unexpected.length === 0 && flood.refused > 0 && flood.done.length + flood.refused === FLOOD,
                `${FLOOD} sent over ${FLOOD_CONNECTIONS} connections: ${flood.done.length} done, ${flood.refused} refused, the last response after ${flood.lastMs.toFixed(0)} ms${problemSummary(flood.unexpected)}`,
              ),
            ]),
        finding(
          "on a slow disk an appliance stops within 5 s under writes; everything acknowledged is present, and verify finds the data intact",
          stopped.code === 0 && stopped.tookMs < STOP_MAX_MS && missing.length === 0 && verified.code === 0,
          `status ${stopped.code} after ${stopped.tookMs.toFixed(0)} ms; ${missing.length} missing of ${found.size}; verify ${verified.code}`,
        ),
      ],
    };
  } finally {
    await appliance.close();
  }
}

/** Measures a single writer, then all writers together with the readers. */
async function measureWrites(client: Client, networkId: string, durationMs: number) {
  const unexpected: string[] = [];
  const first = await client.post("/api/v1/tags", tag("first"));
  if (first.status !== 200) unexpected.push(first.text);
  const soloStarted = performance.now();
  for (let i = 0; i < 3; i += 1) await client.post("/api/v1/tags", tag(`alone ${i}`));
  const soloRate = 3_000 / (performance.now() - soloStarted);
  const writes = { done: ["first"] as string[], tookMs: [] as number[] };
  const reads: number[] = [];
  const end = performance.now() + durationMs;
  let next = 0;
  const assess = (response: ApiResponse) => {
    if (response.status !== 200) unexpected.push(`${response.status} ${response.text.slice(0, 200)}`);
    return response.status === 200;
  };
  await Promise.all([
    ...Array.from({ length: WRITERS }, async () => {
      while (performance.now() < end) {
        next += 1;
        const name = `shared ${next}`;
        const started = performance.now();
        const isDone = assess(await client.post("/api/v1/tags", tag(name)));
        writes.tookMs.push(performance.now() - started);
        if (isDone) writes.done.push(name);
      }
    }),
    ...Array.from({ length: READERS }, async () => {
      const paths = [
        "/api/v1/tags?limit=50",
        `/api/v1/networks/${networkId}`,
        `/api/v1/tags?limit=20&at=${new Date(Date.now() - 60_000).toISOString()}`,
      ];
      for (let i = 0; performance.now() < end; i += 1) {
        const started = performance.now();
        assess(await client.get(paths[i % paths.length] as string));
        reads.push(performance.now() - started);
        await Bun.sleep(2);
      }
    }),
  ]);
  return { writes, reads, unexpected, soloRate };
}

/** Sends more concurrent writes than may wait for the writer. */
async function floodWrites(running: Running, key: string) {
  const done: string[] = [];
  const unexpected: string[] = [];
  let refused = 0;
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: FLOOD_CONNECTIONS }, async () => {
      const connection = new KeepAliveConnection(Number(new URL(running.url).port));
      for (let i = 0; i < FLOOD / FLOOD_CONNECTIONS; i += 1) {
        next += 1;
        const name = `flood ${next}`;
        const json = JSON.stringify(tag(name));
        const bytes = requestBytes("POST", "/api/v1/tags", { authorization: `Bearer ${key}` }, json);
        const { status, headers, body } = await connection.request("POST", bytes);
        const isLimit = status === 429 && body.includes("rate_limit_exceeded");
        if (status === 200) done.push(name);
        else if (isLimit && headers.some(([header]) => header === "retry-after")) refused += 1;
        else unexpected.push(`${status} ${body.toString("utf8", 0, 200)}`);
      }
      connection.close();
    }),
  );
  return { done, unexpected, refused, lastMs: performance.now() - started };
}

/** Stops the appliance while writers wait for their responses. */
async function stopUnderWrites(running: Running, client: Client) {
  const done: string[] = [];
  let sent = 0;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; ; i += 1) {
      const name = `late ${writer} ${i}`;
      sent += 1;
      const response = await client.post("/api/v1/tags", tag(name)).catch(() => null);
      if (response?.status !== 200) return;
      done.push(name);
    }
  });
  await until(() => sent >= WRITERS * 2, STOP_MAX_MS);
  const { code, tookMs } = await running.stop();
  await Promise.all(writers);
  return { code, tookMs, done };
}

function tag(name: string) {
  return { name, color: "Blue" };
}
