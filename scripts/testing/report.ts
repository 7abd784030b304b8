// Tables at the end of a test run: slowest files, idle lanes, and time by cause.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { CAUSES } from "../../test/support/measure/causes.ts";
import type { Lane } from "./lanes.ts";
import type { Cost } from "./run-batch.ts";

const SLOWEST = 10;

export interface RunCosts {
  /** Wall time including installation. */
  readonly wallMs: number;
  /** Wall time of installation, by item. */
  readonly installs: ReadonlyMap<string, number>;
  /** Costs of the checks in addition to the tests, by title: lint, type check, build. */
  readonly checks: ReadonlyMap<string, Cost>;
  readonly files: ReadonlyMap<string, Cost>;
  readonly lanes: readonly Lane[];
  /** File of the test processes' spans. */
  readonly causesFile: string;
}

/** Renders the tables as lines of text. */
export function costLines({ wallMs, installs, checks, files, lanes, causesFile }: RunCosts): string[] {
  const slowest = [...files].sort(([, a], [, b]) => b.wallMs - a.wallMs).slice(0, SLOWEST);
  const processorMs = sum([...checks.values(), ...files.values()].map((cost) => cost.processorMs));
  const inTestsMs = sum([...files.values()].map((cost) => cost.wallMs));
  const waitedMs = Math.max(0, inTestsMs - sum([...files.values()].map((cost) => cost.processorMs)));
  return [
    "== slowest files (wall, CPU)",
    ...slowest.map(([file, cost]) => row(file, cost.wallMs, cost.processorMs)),
    "== time by cause (wall time of the processes together, count)",
    ...[...installs].map(([title, ms]) => row(`install: ${title}`, ms)),
    ...[...checks].map(([title, cost]) => row(title, cost.wallMs, cost.processorMs)),
    ...spans(causesFile),
    row("waiting: test processes without a free CPU", waitedMs),
    "== the run",
    row("wall time, CPU time", wallMs, processorMs),
    ...lanes.map((lane, index) => row(`lane ${index + 1}: busy, idle`, lane.busyMs, lane.idleMs)),
  ];
}

/** Writes the cost of each test file, most expensive first: path, wall time and CPU time in milliseconds. */
export function writeCosts(path: string, files: RunCosts["files"]): void {
  const rows = [...files].sort(([, a], [, b]) => b.processorMs - a.processorMs);
  const lines = rows.map(([file, cost]) => [file, Math.round(cost.wallMs), Math.round(cost.processorMs)].join("\t"));
  writeFileSync(path, `file\twall_ms\tprocessor_ms\n${lines.join("\n")}\n`);
}

function spans(file: string): string[] {
  const found = new Map(CAUSES.map((cause) => [cause as string, { count: 0, ms: 0 }]));
  for (const line of existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []) {
    const [cause = "", ms] = line.split("\t");
    const span = found.get(cause);
    if (span === undefined) continue;
    span.count += 1;
    span.ms += Number(ms);
  }
  return [...found].map(([cause, { count, ms }]) => `${seconds(ms)}  ${String(count).padStart(6)} ×  ${cause}`);
}

const row = (title: string, ...times: readonly number[]) => `${times.map(seconds).join(" ").padEnd(21)}  ${title}`;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1).padStart(8)} s`;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
