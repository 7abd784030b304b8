// Slow disk with a fifth of a second per sync. Writes wait for it, together; nothing else does.

import { join } from "node:path";
import type { Answer, Client } from "../../../test/support/appliance/client.ts";
import type { Running } from "../../../test/support/executable/executable.ts";
import { requestBytes } from "../../benchmark/load.ts";
import { quantilesOf } from "../../quantiles.ts";
import { KeptConnection } from "../input/wire.ts";
import type { Proof, Proving } from "../part.ts";
import { compileShim } from "../shim/compile.ts";
import { ProvedAppliance, until } from "./appliance.ts";
import { finding, told } from "./full.ts";

const SYNC_MS = 200;
const JITTER_MS = 50;
const WRITERS = 16;
const READERS = 2;
/** 99th percentile of reads while writes wait. */
const READ_P99_MS = 50;
/**
 * Connections with one write each, more than may wait; fetch would send a few hundred at once and hold back the rest.
 */
const FLOOD_CONNECTIONS = 1_500;
const FLOOD = 4 * FLOOD_CONNECTIONS;
const STOP_MAX_MS = 5_000;

export async function slowDisk(proving: Proving): Promise<Proof> {
  const shim = compileShim(proving.directory);
  if ("missing" in shim) return { findings: [], leftOut: [`A slow disk: ${shim.missing}.`] };
  const folder = join(proving.directory, "slow");
  const data = join(folder, "data");
  const appliance = ProvedAppliance.in(proving, data, folder);
  try {
    const { key, networkId } = await appliance.setUp();
    const running = await appliance.serve({
      LD_PRELOAD: shim.path,
      FORGETFUL_ROOT: data,
      FORGETFUL_SYNC_DELAY_MS: String(SYNC_MS),
      FORGETFUL_SYNC_JITTER_MS: String(JITTER_MS),
    });
    const client = running.withKey(key);
    const forMs = proving.form === "short" ? 3_000 : 30_000;
    const { writes, reads, strange, alone } = await both(client, networkId, forMs);
    const flood = proving.form === "short" ? null : await overrun(running, key);
    const stopped = await stopUnderWrites(running, client);
    const verified = await appliance.run(["verify"]);
    const live = await appliance.serve();
    const found = new Set(
      ((await live.withKey(key).get("/api/v1/tags?limit=0")).data as Array<{ name: string }>).map(({ name }) => name),
    );
    await live.stop();
    const missing = [...writes.done, ...stopped.done, ...(flood?.done ?? [])].filter((name) => !found.has(name));
    const at = quantilesOf(reads);
    const rate = writes.done.length / (forMs / 1_000);
    return {
      findings: [
        finding(
          `with ${SYNC_MS} ms for each sync, p99 of reads stays below ${READ_P99_MS} ms while ${WRITERS} writers wait`,
          strange.length === 0 && at(0.99) < READ_P99_MS,
          `${reads.length} reads, p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms${told(strange)}`,
        ),
        finding(
          "on a slow disk writers share commits: together they achieve several times the rate of one, and none fails",
          strange.length === 0 && rate > (2 * 1_000) / SYNC_MS && rate > 3 * alone,
          `${rate.toFixed(0)} writes/s of ${WRITERS} writers, p99 ${quantilesOf(writes.tookMs)(0.99).toFixed(0)} ms; one alone ${alone.toFixed(1)}/s`,
        ),
        ...(flood === null
          ? []
          : [
              finding(
                "on a slow disk writes beyond the queue are refused with rate_limit_exceeded and Retry-After, and the others are done",
                flood.strange.length === 0 && flood.refused > 0 && flood.done.length + flood.refused === FLOOD,
                `${FLOOD} sent over ${FLOOD_CONNECTIONS} connections: ${flood.done.length} done, ${flood.refused} refused, the last answer after ${flood.lastMs.toFixed(0)} ms${told(flood.strange)}`,
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

/** First a single writer, then all of them together with the readers. */
async function both(client: Client, networkId: string, forMs: number) {
  const strange: string[] = [];
  const first = await client.post("/api/v1/tags", tag("first"));
  if (first.status !== 200) strange.push(first.text);
  const soloBegan = performance.now();
  for (let each = 0; each < 3; each += 1) await client.post("/api/v1/tags", tag(`alone ${each}`));
  const alone = 3_000 / (performance.now() - soloBegan);
  const writes = { done: ["first"] as string[], tookMs: [] as number[] };
  const reads: number[] = [];
  const end = performance.now() + forMs;
  let next = 0;
  const judge = (answer: Answer) => {
    if (answer.status !== 200) strange.push(`${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.status === 200;
  };
  await Promise.all([
    ...Array.from({ length: WRITERS }, async () => {
      while (performance.now() < end) {
        next += 1;
        const name = `shared ${next}`;
        const began = performance.now();
        const isDone = judge(await client.post("/api/v1/tags", tag(name)));
        writes.tookMs.push(performance.now() - began);
        if (isDone) writes.done.push(name);
      }
    }),
    ...Array.from({ length: READERS }, async () => {
      const paths = [
        "/api/v1/tags?limit=50",
        `/api/v1/networks/${networkId}`,
        `/api/v1/tags?limit=20&at=${new Date(Date.now() - 60_000).toISOString()}`,
      ];
      for (let turn = 0; performance.now() < end; turn += 1) {
        const began = performance.now();
        judge(await client.get(paths[turn % paths.length] as string));
        reads.push(performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }),
  ]);
  return { writes, reads, strange, alone };
}

/** More concurrent writes than may wait for the writer. */
async function overrun(running: Running, key: string) {
  const done: string[] = [];
  const strange: string[] = [];
  let refused = 0;
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: FLOOD_CONNECTIONS }, async () => {
      const connection = new KeptConnection(Number(new URL(running.url).port));
      for (let each = 0; each < FLOOD / FLOOD_CONNECTIONS; each += 1) {
        next += 1;
        const name = `flood ${next}`;
        const { status, headers, body } = await connection.ask(
          "POST",
          requestBytes("POST", "/api/v1/tags", { authorization: `Bearer ${key}` }, JSON.stringify(tag(name))),
        );
        if (status === 200) done.push(name);
        else if (
          status === 429 &&
          body.includes("rate_limit_exceeded") &&
          headers.some(([header]) => header === "retry-after")
        )
          refused += 1;
        else strange.push(`${status} ${body.toString("utf8", 0, 200)}`);
      }
      connection.close();
    }),
  );
  return { done, strange, refused, lastMs: performance.now() - began };
}

/** Stops it while writers wait for their answers. */
async function stopUnderWrites(running: Running, client: Client) {
  const done: string[] = [];
  let sent = 0;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let each = 0; ; each += 1) {
      const name = `late ${writer} ${each}`;
      sent += 1;
      const answer = await client.post("/api/v1/tags", tag(name)).catch(() => null);
      if (answer?.status !== 200) return;
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
