// Isolated run of a command with loopback only, to completion or a limit, without leftover processes.

import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const OFFLINE = resolve(import.meta.dir, "../offline");

export interface Ended {
  readonly outcome: "passed" | "failed" | "hung" | "stopped";
  /** Standard output and error combined. */
  readonly output: string;
  readonly seconds: number;
}

/** Printed once in its namespace. The first candidate of the OOM killer. */
const READY = "ready\n";
const SCRIPT = 'test "$TEST_NETWORK" = own && echo ready && echo 1000 >/proc/self/oom_score_adj && exec "$@" 2>&1';

/** A process that outlives its command may hold the pipe. */
const PIPE_GRACE_MS = 2_000;

/** Functions that end a running command and remove its folder. */
const running = new Set<() => void>();

/** Ends all running commands, before this program exits. */
export function endAll(): void {
  for (const end of running) end();
}

/**
 * @param limitMs duration that counts as a hang
 * @param signal ends the command early, as "stopped"
 * @throws Error if no network namespace can be created
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

/** Held open, so that its number is not reused; null if the process has exited. */
function openNamespace(pid: number): number | null {
  try {
    return openSync(`/proc/${pid}/ns/net`, "r");
  } catch {
    return null;
  }
}

/** Kills every process in a namespace that this program holds open. */
function killAll(namespace: number | null): void {
  if (namespace === null) return;
  const { ino } = fstatSync(namespace);
  if (ino === statSync("/proc/self/ns/net").ino) return;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (statSync(`/proc/${name}/ns/net`).ino === ino) process.kill(Number(name), "SIGKILL");
    } catch {
      // It has exited in the meantime.
    }
  }
}
