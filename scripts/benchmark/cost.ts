// Write and disk cost compared with an earlier commit: its executable and the current one alternate in one run, each on
// a store built by its own code. Usage: scripts/bench --cost REVISION [--switches 1000] [--hosts 1000] [--rounds 3]
// [--directory DIR]

import { Database } from "bun:sqlite";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../quantiles.ts";
import { bulkItem } from "./bulk-item.ts";
import { buildStoreFrom, checkOut, ROOT } from "./earlier.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { callApi } from "./requests.ts";
import { addSnmpCredential, runScan } from "./scans.ts";
import type { BuiltStore } from "./store.ts";
import { blocksOf, FORWARDING_ENTRIES, startSwitches } from "./switches.ts";

const [revision, ...rest] = process.argv.slice(2);
if (revision === undefined || revision.startsWith("-"))
  throw new Error("usage: scripts/bench --cost REVISION [--switches N] [--hosts N] [--rounds N] [--directory DIR]");
/** `hosts`: hosts in the store beforehand, with five versions of each interface, and hosts per bulk request. */
const { switches, hosts, rounds, ...options } = settings(
  { switches: 1_000, hosts: 1_000, rounds: 3, directory: "" },
  rest,
);
const directory = folder(options.directory);
const PORTS = 48;
const SNMP_PORT = 16_161;
/** Smallest difference of a table or index that is reported, relative to the earlier size of the store. */
const REPORTED_SHARE = 0.002;
const NAME_WIDTH = 96;

/** One of the compared sides. */
interface Side {
  readonly executable: string;
  readonly store: BuiltStore;
}

/** Cost of one kind of write. */
interface Cost {
  readonly cpuSeconds: number;
  readonly seconds: number;
}

mkdirSync(directory, { recursive: true });
const earlier = checkOut(revision, join(directory, "earlier"));
printLine(`building two stores of ${hosts} hosts with 50 interfaces of 5 versions`);
const [before, after] = [
  buildSide("before", earlier, join(earlier, "dist/netledger")),
  buildSide("after", ROOT, EXECUTABLE),
] as const;
const agents = await startSwitches(switches, PORTS, SNMP_PORT);
const pairs: Array<[Map<string, Cost>, Map<string, Cost>]> = [];
try {
  for (let round = 1; round <= rounds; round += 1) {
    printLine(`round ${round} of ${rounds}`);
    // The first side alternates: load on the machine must not favor one.
    const first = round % 2 === 1 ? before : after;
    const costs = await measure(first);
    const others = await measure(first === before ? after : before);
    pairs.push(first === before ? [costs, others] : [others, costs]);
  }
} finally {
  await agents.stop();
}
printCosts();
printDisk("Disk: five versions of each interface", before.store.directory, after.store.directory);
printDisk("Disk: after a first scan", copyFolder(before), copyFolder(after));

function buildSide(name: string, checkout: string, executable: string): Side {
  const population = { network: "campus", hosts, entriesPerHost: 50, versions: 5 };
  return { executable, store: buildStoreFrom(checkout, join(directory, `store-${name}`), [population]) };
}

/** Directory of the copy of a side's store. */
function copyFolder({ store }: Side): string {
  return `${store.directory}-written`;
}

async function measure(side: Side): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  await onCopy(side, async (running) => {
    const items = Array.from({ length: hosts }, (_, host) => bulkItem(side.store, host, PORTS));
    let created: Array<{ id: string }> = [];
    costs.set(
      `bulk: ${hosts} hosts with ${PORTS} interfaces created`,
      await measureCost(running, async () => {
        created = await callApi(running, side.store, "POST", "/hosts/bulk", items);
      }),
    );
    const changed = items.map(({ interfaces, ...item }, index) => ({
      ...item,
      id: created[index]?.id,
      interfaces: interfaces.map((entry) => ({ ...entry, oper_status: "Down" })),
    }));
    const update = () => callApi(running, side.store, "POST", "/hosts/bulk", changed);
    costs.set("bulk: every interface updated", await measureCost(running, update));
    costs.set("bulk: the same again, nothing changes", await measureCost(running, update));
  });
  await onCopy(side, async (running) => {
    await addSnmpCredential(running, side.store);
    const scan = () => runScan(running, side.store, { kind: "snmp", targets: blocksOf(switches) });
    const description = `${switches} switches of ${PORTS} ports, ${FORWARDING_ENTRIES} forwarding entries each`;
    costs.set(`scan: ${description}, for the first time`, await measureCost(running, scan));
    costs.set("scan: the same again", await measureCost(running, scan));
  });
  return costs;
}

async function onCopy(side: Side, action: (running: Running) => Promise<void>): Promise<void> {
  rmSync(copyFolder(side), { recursive: true, force: true });
  cpSync(side.store.directory, copyFolder(side), { recursive: true });
  const running = await startExecutable(side.executable, copyFolder(side), ["--snmp-port", String(SNMP_PORT)]);
  try {
    await action(running);
  } finally {
    await running.stop();
  }
}

/** Measures an action. CPU time is the server's alone; wall time includes other load on the machine. */
async function measureCost(running: Running, action: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = running.cpuSeconds();
  const started = performance.now();
  await action();
  const seconds = (performance.now() - started) / 1000;
  return { cpuSeconds: running.cpuSeconds() - cpuBefore, seconds };
}

function printCosts(): void {
  printLine("");
  printRow("seconds", NAME_WIDTH, ["before", "after", "more", "min", "max"]);
  for (const name of pairs[0]?.[0].keys() ?? []) {
    for (const [label, figure] of [
      ["CPU", "cpuSeconds"],
      ["", "seconds"],
    ] as const) {
      const both = pairs.map((pair) => pair.map((costs) => costs.get(name)?.[figure] ?? NaN));
      const ratios = both.map(([before = NaN, after = NaN]) => after / before).sort((a, b) => a - b);
      const medians = [0, 1].map((index) => median(both.map((pair) => pair[index] ?? NaN)).toFixed(2));
      printRow(label === "" ? "  from request to response" : `${name}: ${label}`, NAME_WIDTH, [
        ...medians,
        ...[median(ratios), ratios[0], ratios.at(-1)].map((ratio) => percentMore(ratio as number)),
      ]);
    }
  }
}

function printDisk(title: string, folderBefore: string, folderAfter: string): void {
  const [before, after] = [sizes(folderBefore), sizes(folderAfter)] as const;
  const sum = (sizes: ReadonlyMap<string, number>) => [...sizes.values()].reduce((total, bytes) => total + bytes, 0);
  const [sumBefore, sumAfter] = [sum(before), sum(after)];
  printLine("");
  printRow(`${title}, MB`, NAME_WIDTH, ["before", "after", "more"]);
  const row = (name: string, bytesBefore: number, bytesAfter: number) =>
    printRow(name, NAME_WIDTH, [
      (bytesBefore / 1e6).toFixed(2),
      (bytesAfter / 1e6).toFixed(2),
      percentMore(1 + (bytesAfter - bytesBefore) / sumBefore),
    ]);
  row("total", sumBefore, sumAfter);
  const differences = [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, old: before.get(name) ?? 0, now: after.get(name) ?? 0 }))
    .filter(({ old, now }) => Math.abs(now - old) > sumBefore * REPORTED_SHARE)
    .sort((a, b) => b.now - b.old - (a.now - a.old));
  for (const { name, old, now } of differences) row(`  ${name}, as a share of the total before`, old, now);
}

/** Bytes per table and index. */
function sizes(folder: string): Map<string, number> {
  const db = new Database(join(folder, "netledger.db"), { readonly: true });
  try {
    const rows = db.query("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE").values() as Array<[string, number]>;
    return new Map(rows);
  } finally {
    db.close();
  }
}

function percentMore(ratio: number): string {
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(1)} %`;
}
