// Benchmark of past reads with a cold page cache, as when the history is larger than memory.

import { join } from "node:path";
import { quantilesOf } from "../quantiles.ts";
import { startExecutable } from "./executable.ts";
import { printLine, printRow } from "./program.ts";
import { callApi } from "./requests.ts";
import type { BuiltStore } from "./store.ts";

/** Cold starts of the appliance per depth. */
const ROUNDS = 4;
/** Pages per round, each of a different host. */
const PAGES = 50;

interface Depth {
  readonly network: string;
  readonly versions: number;
}

/**
 * Measures pages of hosts with few and with many versions, from the disk and from memory.
 * @param instants timestamps at which all records are live
 * @param pick returns a pseudo-random item of a list for an index
 */
export async function measureCold(
  executable: string,
  store: BuiltStore,
  depths: readonly Depth[],
  instants: readonly string[],
  pick: <T>(items: readonly T[], i: number) => T,
): Promise<void> {
  const times = new Map(depths.map(({ network }) => [network, { cold: [] as number[], warm: [] as number[] }]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { network } of depths) {
      dropFromMemory(join(store.directory, "netledger.db"));
      const running = await startExecutable(executable, store.directory);
      const samples = times.get(network) as { cold: number[]; warm: number[] };
      const page = async (i: number) => {
        const hostId = pick(store.hostIds[network] as string[], round * PAGES + (i % PAGES));
        const started = performance.now();
        await callApi(running, store, "GET", `/if-entries?host_id=${hostId}&at=${pick(instants, round + i)}`);
        return performance.now() - started;
      };
      // Warms up the request path only: no record exists at this time.
      for (let i = 0; i < PAGES; i += 1) await callApi(running, store, "GET", "/if-entries?at=2000-01-01T00:00:00Z");
      for (let i = 0; i < PAGES; i += 1) samples.cold.push(await page(i));
      // The same hosts at other timestamps.
      for (let i = 0; i < PAGES; i += 1) samples.warm.push(await page(i + PAGES));
      await running.stop();
    }
  }
  printLine("");
  printRow("", 62, ["p50 ms", "p99 ms"], 10);
  for (const [cache, name] of [
    ["cold", "from the disk"],
    ["warm", "the same hosts again"],
  ] as const) {
    const medians = depths.map(({ network, versions }) => {
      const quantile = quantilesOf(times.get(network)?.[cache] ?? []);
      const cells = [quantile(0.5).toFixed(2), quantile(0.99).toFixed(2)];
      printRow(`(h) any host's, ${versions} versions each, ${name}`, 62, cells, 10);
      return quantile(0.5);
    });
    const [shallow = Number.NaN, deep = Number.NaN] = medians;
    printLine(
      `(h) ${name}: ${depths.at(-1)?.versions} versions take ${(deep / shallow).toFixed(2)} × the time of ${depths[0]?.versions}${cache === "cold" ? "; target: 2 or less" : ""}`,
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
