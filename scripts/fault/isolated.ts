// Runs a command to its end or its limit where only loopback exists, and leaves no process of it behind.

import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const OFFLINE = resolve(import.meta.dir, "../offline");

export interface Ended {
  readonly outcome: "passed" | "failed" | "hung" | "stopped";
  /** Standard output and error in one. */
  readonly output: string;
  readonly seconds: number;
}

/** Says when it is in its namespace. The first to go where memory runs out. */
const READY = "ready\n";
const SCRIPT = 'test "$TEST_NETWORK" = own && echo ready && echo 1000 >/proc/self/oom_score_adj && exec "$@" 2>&1';

/** A process that outlives its command may hold the pipe. */
const PIPE_GRACE_MS = 2_000;

/** Of each command that runs, what ends it and removes its folder. */
const running = new Set<() => void>();

/** Ends every command that runs: for a program that is about to end itself. */
export function endAll(): void {
  for (const end of running) end();
}

/**
 * @param limitMs what takes longer has hung
 * @param signal ends the command early, as "stopped"
 * @throws Error where no network namespace can be made
 */
export async function runIsolated(
  command: readonly string[],
  { cwd, limitMs, signal }: { cwd: string; limitMs: number; signal?: AbortSignal | undefined },
): Promise<Ended> {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "fault-"));
  const child = Bun.spawn([OFFLINE, "sh", "-c", SCRIPT, "sh", ...command], {
    cwd,
    env: { ...process.env, TMPDIR: folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let output = "";
  let namespace: number | null = null;
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      output += decoder.decode(chunk, { stream: true });
      if (namespace === null && output.startsWith(READY)) namespace = openNamespace(child.pid);
    }
  })();
  let outcome: Ended["outcome"] | undefined;
  const end = (as: "hung" | "stopped") => {
    outcome ??= as;
    child.kill("SIGKILL");
    killAll(namespace);
  };
  const limit = setTimeout(() => end("hung"), limitMs);
  const stop = () => end("stopped");
  const abandon = () => {
    stop();
    rmSync(folder, { recursive: true, force: true });
  };
  running.add(abandon);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted === true) stop();
  const exitCode = await child.exited;
  clearTimeout(limit);
  running.delete(abandon);
  signal?.removeEventListener("abort", stop);
  killAll(namespace);
  await Promise.race([reading, Bun.sleep(PIPE_GRACE_MS)]);
  if (namespace !== null) closeSync(namespace);
  rmSync(folder, { recursive: true, force: true });
  if (!output.startsWith(READY) && outcome === undefined)
    throw new Error(`no network namespace could be made: ${(await child.stderr.text()).trim()}`);
  return {
    outcome: outcome ?? (exitCode === 0 ? "passed" : "failed"),
    output: output.slice(READY.length),
    seconds: (performance.now() - began) / 1000,
  };
}

/** Held open, so that its number is not given to another one; null where the process has ended. */
function openNamespace(pid: number): number | null {
  try {
    return openSync(`/proc/${pid}/ns/net`, "r");
  } catch {
    return null;
  }
}

/** Kills every process of a namespace that this program holds open. */
function killAll(namespace: number | null): void {
  if (namespace === null) return;
  const { ino } = fstatSync(namespace);
  if (ino === statSync("/proc/self/ns/net").ino) return;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (statSync(`/proc/${name}/ns/net`).ino === ino) process.kill(Number(name), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}
