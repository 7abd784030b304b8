// Idle, slow and excessively many connections, and their effect on another client.

import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { Sandbox, setUpBy } from "../../../test/support/executable/executable.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { stopwatch } from "../../../test/support/measure/processor-time.ts";
import { quantilesOf } from "../../quantiles.ts";
import { type Finding, findingOf, type ProofContext } from "../part.ts";
import type { InputFixture } from "./fixture.ts";
import { unfinishedFindings } from "./unfinished.ts";
import { KeepAliveConnection } from "./wire.ts";

/** Limit of the 99th percentile for pages of another client, with an allowance for a busy machine. */
const P99_LIMIT_MS = 250;
/** Number of connections of each kind: some are being opened while others are dropped. */
const CONNECTIONS = 1_200;
/** Connections opened at once: no more than the accept backlog, or the rest would retry with growing delays. */
const GROUP_SIZE = 400;
const MIN_ACCEPTED = 1_950;
/** Allowed shortfall of open connections: some earlier ones may be closing. */
const MISSING_MAX = 50;
/** Number of requests of another client, in total and between checks of the connections. */
const REQUESTS = 300;
const REQUESTS_AT_ONCE = 20;
/** Timeout of silent connections. */
const IDLE_MS = 10_000;
/** Descriptors that this process needs at its peak. */
const DESCRIPTORS_NEEDED = 2 * CONNECTIONS + 500;

export async function connectionFindings(
  fixture: InputFixture,
  { form, executable, directory, say }: ProofContext,
): Promise<{ findings: Finding[]; skipped: string[] }> {
  const findings: Finding[] = [];
  say("idle connections, half-sent requests, slow senders");
  const skipped: string[] = [];
  const openFileLimit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 0);
  if (openFileLimit >= DESCRIPTORS_NEEDED) findings.push(await idleAndHalfSent(fixture));
  else
    skipped.push(
      `2,000 concurrent connections: this shell allows ${openFileLimit} open files; ${DESCRIPTORS_NEEDED} are needed (ulimit -n).`,
    );
  findings.push(...(await slowSenders(fixture, form === "short" ? 4_000 : 200_000)));
  findings.push(await fewDescriptors(executable, directory));
  say("incomplete requests, beyond the descriptor limit");
  findings.push(...(await unfinishedFindings(executable, directory)));
  return { findings, skipped };
}

/** Tests 1,000 idle connections, and 1,000 that have sent half a request. */
async function idleAndHalfSent(fixture: InputFixture): Promise<Finding> {
  const before = fixture.footprint();
  const accepted = () => fixture.footprint().descriptors - before.descriptors;
  const half = `POST /api/v1/tags HTTP/1.1\r\nHost: localhost\r\nCookie: ${fixture.cookie("owner")}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na`;
  const groups = [() => "", (n: number) => (n % 2 === 0 ? half : half.slice(0, 60))].map((prefix) => ({
    prefix,
    sockets: new Set<Socket>(),
  }));
  const open = () => groups.reduce((count, { sockets }) => count + sockets.size, 0);
  const wrong: string[] = [];
  const tookMs: number[] = [];
  let failed = 0;
  let fewest = Number.POSITIVE_INFINITY;
  const started = performance.now();
  try {
    // Silent connections are accepted after a second, and dropped ten later: new ones replace them. Only requests with
    // all connections before and after them count.
    while (tookMs.length < REQUESTS && performance.now() - started < HANG_MS) {
      for (const group of groups) await openConnections(fixture.port, group, () => accepted() >= open() - MISSING_MAX);
      const acceptedBefore = accepted();
      if (acceptedBefore < MIN_ACCEPTED) continue;
      const served = await measureRequests(fixture, REQUESTS_AT_ONCE);
      const acceptedThroughout = Math.min(acceptedBefore, accepted());
      if (acceptedThroughout < MIN_ACCEPTED) continue;
      fewest = Math.min(fewest, acceptedThroughout);
      tookMs.push(...served.tookMs);
      failed += served.failed;
    }
    const p99Ms = quantilesOf(tookMs)(0.99);
    if (tookMs.length < REQUESTS)
      wrong.push(`${MIN_ACCEPTED} connections lasted through ${tookMs.length} requests, not ${REQUESTS}`);
    if (failed > 0) wrong.push(`${failed} of ${tookMs.length} requests of another client failed`);
    if (p99Ms > P99_LIMIT_MS) wrong.push("another client waited");
    const memoryKib = fixture.footprint().memoryKib - before.memoryKib;
    const figure = `p99 of another client ${p99Ms.toFixed(1)} ms; descriptors ${before.descriptors}, at least ${before.descriptors + fewest} during the test, ${Math.round(memoryKib / 1_024)} MiB more, `;
    for (const { sockets } of groups) for (const socket of sockets) socket.destroy();
    if (!(await until(() => accepted() <= 5))) wrong.push("the descriptors were not released");
    const summary = `${figure}${fixture.footprint().descriptors} afterwards`;
    return findingOf(
      "1,000 idle connections and 1,000 half-sent requests do not affect others, and leave no descriptor open",
      wrong,
      summary,
      `${wrong.join("; ")} (${summary})`,
    );
  } finally {
    for (const { sockets } of groups) for (const socket of sockets) socket.destroy();
  }
}

/**
 * Opens connections until there are enough of a kind.
 * @param isAccepted returns whether the appliance has accepted all of them
 */
async function openConnections(
  port: number,
  { prefix, sockets }: { prefix: (n: number) => string; sockets: Set<Socket> },
  isAccepted: () => boolean,
): Promise<void> {
  while (sockets.size < CONNECTIONS) {
    for (const socket of await openSockets(port, Math.min(GROUP_SIZE, CONNECTIONS - sockets.size), prefix)) {
      sockets.add(socket);
      for (const event of ["end", "close"]) socket.once(event, () => sockets.delete(socket));
    }
    await until(isAccepted, IDLE_MS);
  }
}

/** Sends a byte per second of a head on some connections, of a body on others. */
async function slowSenders(fixture: InputFixture, durationMs: number): Promise<Finding[]> {
  const before = fixture.footprint();
  const head = `POST /api/v1/tags HTTP/1.1\r\nHost: localhost\r\nCookie: ${fixture.cookie("owner")}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n`;
  const slowHeads = await openSockets(fixture.port, 100, () => head);
  const slowBodies = await openSockets(fixture.port, 100, () => `${head}\r\n`);
  const slow = [...slowHeads, ...slowBodies];
  const started = performance.now();
  const endedMs = new Map<Socket, number>();
  for (const socket of slow)
    for (const event of ["end", "close"])
      socket.once(event, () => endedMs.has(socket) || endedMs.set(socket, performance.now() - started));
  const drip = setInterval(() => {
    for (const socket of slowHeads) if (socket.writable) socket.write("X");
    for (const socket of slowBodies) if (socket.writable) socket.write(" ");
  }, 1_000);
  const tookMs: number[] = [];
  let failed = 0;
  try {
    while (performance.now() - started < durationMs && endedMs.size < 200) {
      const served = await measureRequests(fixture, 200);
      tookMs.push(...served.tookMs);
      failed += served.failed;
      await Bun.sleep(durationMs > 60_000 ? 500 : 0);
    }
  } finally {
    clearInterval(drip);
    for (const socket of slow) socket.destroy();
  }
  const isReleased = await until(() => fixture.footprint().descriptors <= before.descriptors + 5);
  const p99Ms = quantilesOf(tookMs)(0.99);
  const findings: Finding[] = [
    {
      claim: "200 clients sending one byte per second do not affect others, and leave no descriptor open",
      held: failed === 0 && p99Ms <= P99_LIMIT_MS && isReleased,
      figure: `p99 of another client ${p99Ms.toFixed(1)} ms in ${tookMs.length} requests, ${failed} failed${isReleased ? "" : "; the descriptors were not released"}`,
    },
  ];
  if (durationMs < 60_000) return findings;
  const endTimes = (sockets: readonly Socket[]) =>
    sockets.map((socket) => endedMs.get(socket)).filter((ms) => ms !== undefined);
  const [heads, bodies] = [endTimes(slowHeads), endTimes(slowBodies)];
  findings.push({
    claim: "A body sent at one byte per second is cut off in bounded time",
    held: bodies.length === slowBodies.length,
    figure: `${bodies.length} of ${slowBodies.length}, after ${Math.round(Math.max(0, ...bodies) / 1_000)} s at most; of heads ${heads.length} of ${slowHeads.length}, after ${Math.round(Math.max(0, ...heads) / 1_000)} s at most`,
  });
  return findings;
}

/** Tests an appliance with 256 descriptors and 400 connections that need one each. */
async function fewDescriptors(executable: string, directory: string): Promise<Finding> {
  const sandbox = new Sandbox(directory);
  const wrong: string[] = [];
  try {
    const run = (args: readonly string[]) => sandbox.run([...args, "--data", sandbox.data], { command: [executable] });
    const { key } = await setUpBy(run, await sandbox.passwordFile());
    const appliance = await sandbox.serve([], { command: ["sh", "-c", 'ulimit -n 256; exec "$0" "$@"', executable] });
    const port = Number(new URL(appliance.url).port);
    const get = (path: string) =>
      Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const page = get("/api/v1/hosts");
    // This request needs a thread that does not exist yet, and no descriptor is left for it.
    const threaded = get("/api/v1/tags/export/csv");
    // Opened before the limit is reached: an established connection continues to be served.
    const connection = new KeepAliveConnection(port);
    await connection.request("GET", page);
    // Opened from several addresses, as connections are limited per address.
    const opening = Array.from({ length: 8 }, (_, n) => openSockets(port, 50, () => "GET /api", `127.0.1.${n + 1}`));
    const sockets = (await Promise.all(opening)).flat();
    const descriptors = () => readdirSync(`/proc/${appliance.pid}/fd`).length;
    const isFull = await until(() => descriptors() >= 250);
    const full = descriptors();
    if (!isFull) wrong.push(`only ${full} descriptors were in use: nothing was tested`);
    const served = await statusOf(connection.request("GET", page));
    if (served !== 200) wrong.push(`a connected client got ${served}`);
    const refusedStatus = await statusOf(connection.request("GET", threaded));
    if (refusedStatus !== 429) wrong.push(`a request that needs a thread got ${refusedStatus}`);
    for (const socket of sockets) socket.destroy();
    connection.close();
    // Connections waiting in the backlog are accepted briefly before they are found closed.
    let retriedStatus: number | string = 0;
    const started = performance.now();
    while (retriedStatus !== 200 && performance.now() - started < HANG_MS) {
      retriedStatus = await statusOf(appliance.withKey(key).get("/api/v1/tags/export/csv"));
      if (retriedStatus !== 200) await Bun.sleep(100);
    }
    if (retriedStatus !== 200) wrong.push(`afterwards a new client got ${retriedStatus}`);
    if (!(await until(() => descriptors() < 100)))
      wrong.push(`${descriptors()} descriptors were still in use after all clients had disconnected`);
    const stopped = await appliance.stop();
    if (stopped.code !== 0)
      wrong.push(`the appliance ended with ${stopped.code ?? stopped.signal}: ${stopped.err.slice(-300)}`);
    return findingOf(
      "With 256 descriptors and 400 connections the appliance serves connected clients, refuses requests that need another thread with 429, and serves all clients once connections are closed",
      wrong,
      `${full} descriptors in use during the test`,
    );
  } finally {
    await sandbox.close();
  }
}

/** Status of a response, or the error if there is none. */
function statusOf(response: Promise<{ readonly status: number }>): Promise<number | string> {
  return response.then(({ status }) => status, String);
}

/** Opens connections that send their first bytes and stay open. */
async function openSockets(
  port: number,
  count: number,
  prefix: (n: number) => string,
  localAddress = "127.0.0.1",
): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, (_, n) => {
      const { promise, resolve } = Promise.withResolvers<Socket>();
      const socket = connect({ host: "127.0.0.1", port, localAddress });
      socket.on("error", () => resolve(socket));
      socket.on("data", () => {});
      socket.once("connect", () => {
        if (prefix(n) !== "") socket.write(prefix(n));
        resolve(socket);
      });
      return promise;
    }),
  );
}

async function measureRequests(fixture: InputFixture, count: number): Promise<{ tookMs: number[]; failed: number }> {
  const tookMs: number[] = [];
  let failed = 0;
  const connection = new KeepAliveConnection(fixture.port);
  const bytes = Buffer.from(
    `GET /api/v1/hosts?limit=20 HTTP/1.1\r\nHost: localhost\r\nCookie: ${fixture.cookie("owner")}\r\n\r\n`,
  );
  for (let n = 0; n < count; n += 1) {
    const elapsedMs = stopwatch("first", [process.pid, fixture.appliance.pid]);
    if ((await statusOf(connection.request("GET", bytes))) !== 200) failed += 1;
    tookMs.push(elapsedMs());
  }
  connection.close();
  return { tookMs, failed };
}

/** Polls until the condition holds. @returns whether it held in time */
export async function until(condition: () => boolean, timeoutMs = HANG_MS): Promise<boolean> {
  const started = performance.now();
  while (performance.now() - started < timeoutMs) {
    if (condition()) return true;
    await Bun.sleep(50);
  }
  return condition();
}
