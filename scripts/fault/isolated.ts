// Runs a command to its end or its limit where only loopback exists, and leaves no process of it behind.

import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Ended {
  readonly outcome: "passed" | "failed" | "hung" | "stopped";
  /** Standard output and error in one. */
  readonly output: string;
  readonly seconds: number;
}

/** Its first line names its network namespace; it goes first where memory runs out. */
const SCRIPT =
  'ip link set lo up && readlink /proc/self/ns/net && echo 1000 >/proc/self/oom_score_adj && exec "$@" 2>&1';

/** A process that outlives its command may hold the pipe. */
const PIPE_GRACE_MS = 2_000;

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
  const unshare = process.getuid?.() === 0 ? ["unshare", "-n"] : ["unshare", "-rn"];
  const child = Bun.spawn([...unshare, "sh", "-c", SCRIPT, "sh", ...command], {
    cwd,
    env: { ...process.env, TMPDIR: folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let output = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) output += decoder.decode(chunk, { stream: true });
  })();
  let outcome: Ended["outcome"] | undefined;
  const end = (as: "hung" | "stopped") => {
    outcome ??= as;
    killAll(namespaceIn(output));
    child.kill("SIGKILL");
  };
  const limit = setTimeout(() => end("hung"), limitMs);
  const stop = () => end("stopped");
  signal?.addEventListener("abort", stop);
  if (signal?.aborted === true) stop();
  const exitCode = await child.exited;
  clearTimeout(limit);
  signal?.removeEventListener("abort", stop);
  killAll(namespaceIn(output));
  await Promise.race([reading, Bun.sleep(PIPE_GRACE_MS)]);
  rmSync(folder, { recursive: true, force: true });
  const namespace = namespaceIn(output);
  if (namespace === null && outcome === undefined)
    throw new Error(`no network namespace could be made: ${(await child.stderr.text()).trim()}`);
  return {
    outcome: outcome ?? (exitCode === 0 ? "passed" : "failed"),
    output: output.slice(output.indexOf("\n") + 1),
    seconds: (performance.now() - began) / 1000,
  };
}

function namespaceIn(output: string): string | null {
  return /^net:\[\d+\]/.exec(output)?.[0] ?? null;
}

/** Kills every process of a namespace that this program made. */
function killAll(namespace: string | null): void {
  if (namespace === null) return;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (readlinkSync(`/proc/${name}/ns/net`) === namespace) process.kill(Number(name), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}
