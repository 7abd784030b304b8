// Cost in writes and disk space since an earlier commit: its executable and this one alternate, each on stores built by
// its own code, in one run. Usage: scripts/bench --cost REVISION [--switches 1000] [--hosts 1000] [--turns 3]
// [--directory DIR]

import { Database } from "bun:sqlite";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../quantiles.ts";
import { ask } from "./asking.ts";
import { bulkItem } from "./bulk-item.ts";
import { buildStoreBy, checkOut, ROOT } from "./earlier.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { addCommunity, scanned } from "./scanned.ts";
import type { BuiltStore } from "./store.ts";
import { blocksOf, FORWARDING_ENTRIES, startSwitches } from "./switches.ts";

const [revision, ...rest] = process.argv.slice(2);
if (revision === undefined || revision.startsWith("-"))
  throw new Error("usage: scripts/bench --cost REVISION [--switches N] [--hosts N] [--turns N] [--directory DIR]");
/** Hosts: number of existing ones, with five versions of each interface, and number per bulk. */
const { switches, hosts, turns, ...told } = settings({ switches: 1_000, hosts: 1_000, turns: 3, directory: "" }, rest);
const directory = folder(told.directory);
const PORTS = 48;
const SNMP_PORT = 16_161;
/** Relative to the earlier size: smaller differences are not reported. */
const TOLD_SHARE = 0.002;
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
say(`building two stores of ${hosts} hosts with 50 interfaces of 5 versions`);
const [before, after] = [
  side("before", earlier, join(earlier, "dist/netledger")),
  side("after", ROOT, EXECUTABLE),
] as const;
const agents = await startSwitches(switches, PORTS, SNMP_PORT);
const pairs: Array<[Map<string, Cost>, Map<string, Cost>]> = [];
try {
  for (let turn = 1; turn <= turns; turn += 1) {
    say(`turn ${turn} of ${turns}`);
    // The first side alternates: the load of the machine must not favor one.
    const first = turn % 2 === 1 ? before : after;
    const costs = await measure(first);
    const others = await measure(first === before ? after : before);
    pairs.push(first === before ? [costs, others] : [others, costs]);
  }
} finally {
  await agents.stop();
}
printCosts();
printDisk("Disk: five versions of each interface", before.store.directory, after.store.directory);
printDisk("Disk: after a first scan", scratch(before), scratch(after));

function side(name: string, checkout: string, executable: string): Side {
  const population = { network: "campus", hosts, entriesPerHost: 50, versions: 5 };
  return { executable, store: buildStoreBy(checkout, join(directory, `store-${name}`), [population]) };
}

/** Folder for a copy of a side's store. */
function scratch({ store }: Side): string {
  return `${store.directory}-written`;
}

async function measure(one: Side): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  await onCopy(one, async (running) => {
    const items = Array.from({ length: hosts }, (_, host) => bulkItem(one.store, host, PORTS));
    let created: Array<{ id: string }> = [];
    costs.set(
      `bulk: ${hosts} hosts with ${PORTS} interfaces created`,
      await costOf(running, async () => {
        created = await ask(running, one.store, "POST", "/hosts/bulk", items);
      }),
    );
    const changed = items.map(({ interfaces, ...item }, place) => ({
      ...item,
      id: created[place]?.id,
      interfaces: interfaces.map((each) => ({ ...each, oper_status: "Down" })),
    }));
    const update = () => ask(running, one.store, "POST", "/hosts/bulk", changed);
    costs.set("bulk: every interface updated", await costOf(running, update));
    costs.set("bulk: the same again, nothing changes", await costOf(running, update));
  });
  await onCopy(one, async (running) => {
    await addCommunity(running, one.store);
    const scan = () => scanned(running, one.store, { kind: "snmp", targets: blocksOf(switches) });
    const of = `${switches} switches of ${PORTS} ports, ${FORWARDING_ENTRIES} forwarding entries each`;
    costs.set(`scan: ${of}, for the first time`, await costOf(running, scan));
    costs.set("scan: the same again", await costOf(running, scan));
  });
  return costs;
}

async function onCopy(one: Side, action: (running: Running) => Promise<void>): Promise<void> {
  rmSync(scratch(one), { recursive: true, force: true });
  cpSync(one.store.directory, scratch(one), { recursive: true });
  const running = await startExecutable(one.executable, scratch(one), ["--snmp-port", String(SNMP_PORT)]);
  try {
    await action(running);
  } finally {
    await running.stop();
  }
}

/** Processor time is the server's alone, while wall time includes other load of the machine. */
async function costOf(running: Running, action: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = running.cpuSeconds();
  const started = performance.now();
  await action();
  const seconds = (performance.now() - started) / 1000;
  return { cpuSeconds: running.cpuSeconds() - cpuBefore, seconds };
}

function printCosts(): void {
  say("");
  sayRow("seconds", NAME_WIDTH, ["before", "after", "more", "least", "most"]);
  for (const name of pairs[0]?.[0].keys() ?? []) {
    for (const [what, figure] of [
      ["processor", "cpuSeconds"],
      ["", "seconds"],
    ] as const) {
      const both = pairs.map(([one, other]) => [one.get(name)?.[figure] ?? NaN, other.get(name)?.[figure] ?? NaN]);
      const ratios = both.map(([one = NaN, other = NaN]) => other / one).sort((a, b) => a - b);
      const middles = [0, 1].map((place) => median(both.map((each) => each[place] ?? NaN)).toFixed(2));
      sayRow(what === "" ? "  from request to answer" : `${name}: ${what}`, NAME_WIDTH, [
        ...middles,
        ...[median(ratios), ratios[0], ratios.at(-1)].map((ratio) => percentMore(ratio as number)),
      ]);
    }
  }
}

function printDisk(title: string, folderBefore: string, folderAfter: string): void {
  const [old, now] = [sizes(folderBefore), sizes(folderAfter)] as const;
  const sum = (each: ReadonlyMap<string, number>) => [...each.values()].reduce((total, bytes) => total + bytes, 0);
  const [oldSum, nowSum] = [sum(old), sum(now)];
  say("");
  sayRow(`${title}, MB`, NAME_WIDTH, ["before", "after", "more"]);
  const row = (name: string, one: number, other: number) =>
    sayRow(name, NAME_WIDTH, [
      (one / 1e6).toFixed(2),
      (other / 1e6).toFixed(2),
      percentMore(1 + (other - one) / oldSum),
    ]);
  row("all of it", oldSum, nowSum);
  const differences = [...new Set([...old.keys(), ...now.keys()])]
    .map((name) => ({ name, one: old.get(name) ?? 0, other: now.get(name) ?? 0 }))
    .filter(({ one, other }) => Math.abs(other - one) > oldSum * TOLD_SHARE)
    .sort((a, b) => b.other - b.one - (a.other - a.one));
  for (const { name, one, other } of differences) row(`  ${name}, as a share of all before`, one, other);
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
