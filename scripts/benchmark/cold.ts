// Past pages read from disk, with a cold page cache: the case of a history larger than memory.

import { join } from "node:path";
import { quantilesOf } from "../quantiles.ts";
import { ask } from "./asking.ts";
import { startExecutable } from "./executable.ts";
import { say, sayRow } from "./program.ts";
import type { BuiltStore } from "./store.ts";

/** Cold starts of the appliance per depth. */
const TURNS = 4;
/** Pages per turn, each of another host. */
const PAGES = 50;

interface Depth {
  readonly network: string;
  readonly versions: number;
}

/**
 * @param instants at which all records are live
 * @param pick an item of a list, in no order
 */
export async function measureCold(
  executable: string,
  store: BuiltStore,
  depths: readonly Depth[],
  instants: readonly string[],
  pick: <T>(items: readonly T[], i: number) => T,
): Promise<void> {
  const took = new Map(depths.map(({ network }) => [network, { cold: [] as number[], warm: [] as number[] }]));
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { network } of depths) {
      dropFromMemory(join(store.directory, "netledger.db"));
      const running = await startExecutable(executable, store.directory);
      const figures = took.get(network) as { cold: number[]; warm: number[] };
      const page = async (i: number) => {
        const hostId = pick(store.hostIds[network] as string[], turn * PAGES + (i % PAGES));
        const started = performance.now();
        await ask(running, store, "GET", `/if-entries?host_id=${hostId}&at=${pick(instants, turn + i)}`);
        return performance.now() - started;
      };
      // Warms the request path only: the time is before any record.
      for (let i = 0; i < PAGES; i += 1) await ask(running, store, "GET", "/if-entries?at=2000-01-01T00:00:00Z");
      for (let i = 0; i < PAGES; i += 1) figures.cold.push(await page(i));
      // At other timestamps.
      for (let i = 0; i < PAGES; i += 1) figures.warm.push(await page(i + PAGES));
      await running.stop();
    }
  }
  say("");
  sayRow("", 62, ["p50 ms", "p99 ms"], 10);
  for (const [which, name] of [
    ["cold", "from the disk"],
    ["warm", "the same hosts again"],
  ] as const) {
    const medians = depths.map(({ network, versions }) => {
      const at = quantilesOf(took.get(network)?.[which] ?? []);
      sayRow(`(h) any host's, ${versions} versions each, ${name}`, 62, [at(0.5).toFixed(2), at(0.99).toFixed(2)], 10);
      return at(0.5);
    });
    const [shallow = Number.NaN, deep = Number.NaN] = medians;
    say(
      `(h) ${name}: ${depths.at(-1)?.versions} versions take ${(deep / shallow).toFixed(2)} × the time of ${depths[0]?.versions}${which === "cold" ? "; wanted: 2 or less" : ""}`,
    );
  }
}

/** Drops a file from the page cache (posix_fadvise, POSIX_FADV_DONTNEED); no process may have it open. */
function dropFromMemory(path: string): void {
  const { success, stderr } = Bun.spawnSync(
    ["dd", `of=${path}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  if (!success) throw new Error(`dd could not drop ${path} from memory: ${stderr.toString()}`);
}
