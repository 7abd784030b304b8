// Runs the parts of the proof in sequence and writes one report. Exits with status 1 if a claim does not hold.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, cpus, release, tmpdir, totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import { killAll, processTree } from "../testing/processes.ts";
import { disk } from "./disk.ts";
import { input } from "./input.ts";
import { kill } from "./kill.ts";
import { load } from "./load.ts";
import type { Form, Part, Proof, ProofContext, Table, WorldChoice } from "./part.ts";
import { security } from "./security.ts";
import { sideBySide } from "./side-by-side.ts";
import { world } from "./world.ts";

const ROOT = resolve(import.meta.dir, "../..");
const EXECUTABLE = join(ROOT, "dist/netledger");

/** Parts in running order: measurements last, on a quiet machine. */
const PARTS: readonly Part[] = [kill, input, security, disk, world, load, sideBySide];

const USAGE = `usage: scripts/prove [--short] [--seed N] [--report FILE] [--directory DIR] [--seeds N-N,…] [--days N] [--rates FILE] [${PARTS.map(({ name }) => name).join("|")} …]`;

interface Outcome {
  readonly part: Part;
  readonly proof: Proof | null;
  /** Reason why there are no findings. */
  readonly failure: string | null;
  readonly tookMs: number;
}

/** Directory to remove when the run is aborted. */
let workDirectory: string | null = null;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, abort);

process.exit(await main());

/** Kills every process that the proof has started, and their children: a mount vanishes with its last process. */
function abort(): void {
  killAll(processTree(process.pid).slice(1));
  if (workDirectory !== null) rmSync(workDirectory, { recursive: true, force: true });
  process.exit(130);
}

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  const unknown = positionals.filter((name) => !PARTS.some((part) => part.name === name));
  const seed = Number(values.seed ?? 1);
  const choice = worldChoice(values);
  const problem =
    unknown.length > 0
      ? `unknown part ${unknown.join(", ")}`
      : !Number.isSafeInteger(seed)
        ? "--seed must be a whole number"
        : choice === null
          ? "--seeds must be numbers and ranges, and --days a whole number"
          : null;
  if (problem !== null || choice === null) {
    console.error(`netledger: ${problem}. ${USAGE}`);
    return 2;
  }
  const form: Form = values.short ? "short" : "long";
  const chosen = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  if (values.list) {
    console.log(chosen.map(({ name }) => name).join(" "));
    return 0;
  }
  const report = resolve(values.report ?? join(ROOT, "dist/proof.md"));
  const parent = resolve(values.directory ?? tmpdir());
  const outcomes: Outcome[] = [];
  for (const part of chosen) {
    outcomes.push(await run(part, { form, seed, world: choice }, parent));
    // Written after every part: an error in the last one must not lose hours of work.
    mkdirSync(dirname(report), { recursive: true });
    writeFileSync(report, render(outcomes, form, seed, parent));
  }
  const failures = outcomes.flatMap(({ part, proof, failure }) => [
    ...(failure === null ? [] : [`${part.name}: ${failure}`]),
    ...(proof?.findings ?? [])
      .filter(({ held }) => !held)
      .map(({ claim, figure }) => `${part.name}: ${claim}: ${figure}`),
  ]);
  for (const line of failures) console.log(`did not hold: ${line}`);
  console.log(`the report is in ${report}`);
  return failures.length === 0 ? 0 : 1;
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        short: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        seed: { type: "string" },
        report: { type: "string" },
        directory: { type: "string" },
        seeds: { type: "string" },
        days: { type: "string" },
        rates: { type: "string" },
      },
    });
  } catch (error) {
    console.error(`netledger: ${error instanceof Error ? error.message : error}. ${USAGE}`);
    return process.exit(2);
  }
}

/** Null for malformed seeds or days: `--seeds 1-6,42 --days 30`. */
function worldChoice({ seeds, days, rates }: { seeds?: string; days?: string; rates?: string }): WorldChoice | null {
  if (!/^[1-9]\d*(-[1-9]\d*)?(,[1-9]\d*(-[1-9]\d*)?)*$/.test(seeds ?? "1") || !/^[1-9]\d*$/.test(days ?? "1"))
    return null;
  const chosen = seeds?.split(",").flatMap((range) => {
    const [first = 1, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return {
    ...(chosen === undefined ? {} : { seeds: chosen }),
    ...(days === undefined ? {} : { days: Number(days) }),
    ...(rates === undefined ? {} : { rates: resolve(rates) }),
  };
}

async function run(
  part: Part,
  choices: Pick<ProofContext, "form" | "seed" | "world">,
  parent: string,
): Promise<Outcome> {
  console.log(`== ${part.title}`);
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, `netledger-proof-${part.name}-`));
  workDirectory = directory;
  const started = performance.now();
  try {
    const proof = await part.prove({
      ...choices,
      executable: EXECUTABLE,
      directory,
      say: (line) => console.log(`   ${line}`),
    });
    for (const { claim, held, figure } of proof.findings)
      console.log(`${held ? "held" : "DID NOT HOLD"}: ${claim} (${figure})`);
    for (const reason of proof.skipped ?? []) console.log(`skipped: ${reason}`);
    return { part, proof, failure: null, tookMs: performance.now() - started };
  } catch (error) {
    return {
      part,
      proof: null,
      failure: error instanceof Error ? (error.stack ?? error.message) : String(error),
      tookMs: performance.now() - started,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Renders the report in Markdown: environment, then each part with its claims, figures and tables. */
function render(outcomes: readonly Outcome[], form: Form, seed: number, parent: string): string {
  const findings = outcomes.flatMap(({ proof }) => proof?.findings ?? []);
  const cpu = cpus();
  const lines = [
    "# What netledger withstands",
    "",
    `netledger ${manifest.version}${revision()}, ${form} form, seed ${seed}; ${cpu.length} × ${cpu[0]?.model.trim() ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()} ${arch()}, file system ${fileSystemOf(parent)}.`,
    `${findings.filter(({ held }) => held).length} of ${findings.length} claims held.`,
  ];
  for (const { part, proof, failure, tookMs } of outcomes) {
    lines.push(
      "",
      `## ${part.title}`,
      "",
      `\`./scripts/prove ${part.name}${form === "short" ? " --short" : ""}${seed === 1 ? "" : ` --seed ${seed}`}\`, ${Math.round(tookMs / 1000)} s.`,
      "",
    );
    if (failure !== null) lines.push(`**No findings**: ${failure}`);
    if (proof === null) continue;
    lines.push(
      ...tableLines({
        title: "",
        columns: ["claim", "held", "measured"],
        rows: proof.findings.map(({ claim, held, figure }) => [claim, held ? "yes" : "**no**", figure]),
      }),
    );
    for (const table of proof.tables ?? []) lines.push("", `${table.title}:`, "", ...tableLines(table));
    for (const reason of proof.skipped ?? []) lines.push("", `Skipped: ${reason}`);
  }
  return `${lines.join("\n")}\n`;
}

function tableLines({ columns, rows }: Table): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(columns), `|${"---|".repeat(columns.length)}`, ...rows.map(line)];
}

/** Revision of the checkout, if it is one. */
function revision(): string {
  if (Bun.which("git") === null) return "";
  const result = Bun.spawnSync(["git", "-C", ROOT, "describe", "--always", "--dirty"], {
    stdout: "pipe",
    stderr: "ignore",
  });
  return result.exitCode === 0 ? ` (${result.stdout.toString().trim()})` : "";
}

/** Type of the file system that contains a directory: the disk affects the results. */
function fileSystemOf(folder: string): string {
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const containing = mounts.filter(([, path = ""]) => path === "/" || `${folder}/`.startsWith(`${path}/`));
  return containing.sort((a, b) => (b[1] ?? "").length - (a[1] ?? "").length)[0]?.[2] ?? "unknown";
}
