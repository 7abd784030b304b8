// Compiled executable running on a store, and its resource usage as the kernel reports it.

import { dlopen } from "bun:ffi";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const { symbols: libc } = dlopen("libc.so.6", {
  clock_getcpuclockid: { args: ["i32", "ptr"], returns: "i32" },
  clock_gettime: { args: ["i32", "ptr"], returns: "i32" },
});

/** Output of `bun run build`. */
export const EXECUTABLE = join(import.meta.dir, "..", "..", "dist", "netledger");

export interface Running {
  readonly pid: number;
  readonly port: number;
  /** Time from the start of the process to its first response. */
  readonly firstResponseMs: number;
  /** Anonymous memory: mapped database pages belong to the kernel. */
  anonymousMb(): Promise<number>;
  /** CPU time so far, in seconds. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** @param flags additional flags of `serve` */
export async function startExecutable(
  executable: string,
  directory: string,
  flags: readonly string[] = [],
): Promise<Running> {
  const port = await freePort();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const started = performance.now();
  const child = Bun.spawn([executable, "serve", "--listen", `127.0.0.1:${port}`, "--data", directory, ...flags], {
    stdout: "ignore",
    stderr: Bun.file(join(directory, "benchmark.log")),
  });
  let firstResponseMs = Number.NaN;
  while (Number.isNaN(firstResponseMs)) {
    if (performance.now() - started > 30_000 || child.exitCode !== null)
      throw new Error(`the executable did not start; see ${join(directory, "benchmark.log")}`);
    const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null);
    if (response?.ok) firstResponseMs = performance.now() - started;
    else await Bun.sleep(2);
  }
  return {
    pid: child.pid,
    port,
    firstResponseMs,
    anonymousMb: async () =>
      Number(/RssAnon:\s+(\d+)/.exec(await Bun.file(`/proc/${child.pid}/status`).text())?.[1]) / 1024,
    cpuSeconds: () => cpuSecondsOf(child.pid),
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

interface BaselineServer {
  readonly port: number;
  readonly pid: number;
  cpuSeconds(): number;
  stop(): void;
}

/** A server that returns `bytes` from memory, in a separate process like the executable. */
export async function startBaseline(bytes: Uint8Array, directory: string): Promise<BaselineServer> {
  const file = join(directory, "benchmark.bytes");
  await Bun.write(file, bytes);
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "memory.ts"), file], { stdout: "pipe" });
  const reader = child.stdout.getReader();
  const port = Number(new TextDecoder().decode((await reader.read()).value));
  return { port, pid: child.pid, cpuSeconds: () => cpuSecondsOf(child.pid), stop: () => child.kill() };
}

/**
 * CPU time of a process including exited threads, in seconds, from clock_getcpuclockid(3): the 10 ms ticks of
 * /proc are several percent of a short measurement.
 */
function cpuSecondsOf(pid: number): number {
  const clock = new Int32Array(1);
  const time = new BigInt64Array(2);
  if (libc.clock_getcpuclockid(pid, clock) !== 0 || libc.clock_gettime(clock[0] as number, time) !== 0)
    throw new Error(`process ${pid} has exited`);
  const [seconds, nanoseconds] = time as unknown as [bigint, bigint];
  return Number(seconds) + Number(nanoseconds) / 1e9;
}

export async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return port as number;
}
