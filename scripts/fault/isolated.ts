// Isolated run of a command with loopback only, until it exits or times out, without leftover processes.

import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const OFFLINE = resolve(import.meta.dir, "../offline");

export interface RunResult {
  readonly outcome: "passed" | "failed" | "hung" | "stopped";
  /** Standard output and error combined. */
  readonly output: string;
  readonly seconds: number;
}

/** Printed by the command's shell once it runs in its namespace, as the OOM killer's first candidate. */
const READY = "ready\n";
const SCRIPT = 'test "$TEST_NETWORK" = own && echo ready && echo 1000 >/proc/self/oom_score_adj && exec "$@" 2>&1';

/** Wait for the end of the output: a process that outlives its command may hold the pipe open. */
const PIPE_GRACE_MS = 2_000;

/** For each running command, a function that ends it and removes its directory. */
const running = new Set<() => void>();

/** Ends all running commands; to be called before this program exits. */
export function endAll(): void {
  for (const end of running) end();
}

/**
 * Runs a command with loopback only.
 * @param limitMs duration after which the command counts as hung
 * @param signal ends the command early, with the outcome "stopped"
 * @throws Error if no network namespace can be created
 */
export async function runIsolated(
  command: readonly string[],
  { cwd, limitMs, signal }: { cwd: string; limitMs: number; signal?: AbortSignal | undefined },
): Promise<RunResult> {
  const started = performance.now();
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
  let outcome: RunResult["outcome"] | undefined;
  const end = (reason: "hung" | "stopped") => {
    outcome ??= reason;
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
    throw new Error(`could not create a network namespace: ${(await child.stderr.text()).trim()}`);
  return {
    outcome: outcome ?? (exitCode === 0 ? "passed" : "failed"),
    output: output.slice(READY.length),
    seconds: (performance.now() - started) / 1000,
  };
}

/** Opens a process's namespace, so that its number is not reused; null if the process has exited. */
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
      // The process has exited in the meantime.
    }
  }
}
