// Seeded random selection of faults, weighted by line count per top-level directory of src/.

import { seededRandom } from "../../test/support/injected/seeded-random.ts";
import { FAULT_KINDS, type Fault, type Sources } from "./patch.ts";
import { isPlantable, plant, type Site, sitesOf } from "./plant.ts";

/** Minimum share of faults in the console: 50 in 120. */
const CONSOLE_SHARE = 5 / 12;
const CONSOLE = "console";

/**
 * Draws faults from the sources of a commit. The order is random too, so that every part of the list is a fair sample.
 * @param seed an integer; the same sources and seed give the same faults
 */
export function drawFaults(sources: Sources, { seed, count }: { seed: number; count: number }): Fault[] {
  const folders = new Map<string, string[]>();
  for (const path of [...sources.keys()].filter(isPlantable).sort())
    folders.set(folderOf(path), [...(folders.get(folderOf(path)) ?? []), path]);
  const lines = new Map(
    [...folders].map(([folder, paths]) => [folder, paths.reduce((sum, path) => sum + linesOf(sources, path), 0)]),
  );
  const faults = [...sharesOf(lines, count)].flatMap(([folder, share]) =>
    drawFrom(sources, folders.get(folder) ?? [], share, seedOf(seed, folder)),
  );
  return shuffled(faults, seed);
}

/**
 * Number of faults per directory: at least CONSOLE_SHARE for the console, the rest for the others in proportion to
 * their lines, by the largest remainder method.
 */
export function sharesOf(lines: ReadonlyMap<string, number>, count: number): Map<string, number> {
  const total = sum([...lines.values()]);
  const consoleLines = lines.get(CONSOLE) ?? 0;
  if (total === 0) return new Map();
  const consoleCount =
    consoleLines === 0 ? 0 : Math.max(Math.ceil(count * CONSOLE_SHARE), Math.round((count * consoleLines) / total));
  const remaining = count - consoleCount;
  const others = [...lines].filter(([folder]) => folder !== CONSOLE);
  const otherLines = sum(others.map(([, number]) => number));
  const exact = others.map(([folder, number]) => [folder, (remaining * number) / otherLines] as const);
  const shares = new Map(exact.map(([folder, share]) => [folder, Math.floor(share)]));
  const missing = remaining - sum([...shares.values()]);
  for (const [folder] of exact.toSorted((a, b) => (b[1] % 1) - (a[1] % 1)).slice(0, missing))
    shares.set(folder, (shares.get(folder) ?? 0) + 1);
  if (consoleCount > 0) shares.set(CONSOLE, consoleCount);
  return shares;
}

/** Returns the items in a seeded random order. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = seededRandom(seed);
  const remaining = [...items];
  const result: T[] = [];
  while (remaining.length > 0) result.push(...remaining.splice(random.integer(remaining.length), 1));
  return result;
}

/** Top-level directory of a file in src/; "." for files directly in src/. */
export function folderOf(path: string): string {
  const [, folder = "", name] = path.split("/");
  return name === undefined ? "." : folder;
}

/** Draws faults with equally likely kinds, and equally likely sites per kind: otherwise half would be constants. */
function drawFrom(sources: Sources, paths: readonly string[], count: number, seed: number): Fault[] {
  const random = seededRandom(seed);
  const sites = paths.flatMap((path) => sitesOf(path, sources.get(path) ?? ""));
  const byKind = new Map<string, Site[]>(FAULT_KINDS.map((kind) => [kind, sites.filter((site) => site.kind === kind)]));
  const faults: Fault[] = [];
  while (faults.length < count) {
    const kinds = FAULT_KINDS.filter((kind) => (byKind.get(kind)?.length ?? 0) > 0);
    if (kinds.length === 0) break;
    const candidates = byKind.get(random.pick(kinds)) ?? [];
    const [site] = candidates.splice(random.integer(candidates.length), 1);
    const fault = site === undefined ? null : plant(site, sources.get(site.file) ?? "");
    if (fault !== null) faults.push(fault);
  }
  return faults;
}

function seedOf(seed: number, folder: string): number {
  return Number(Bun.hash(`${seed} ${folder}`) & 0xffff_ffffn);
}

function linesOf(sources: Sources, path: string): number {
  return (sources.get(path) ?? "").split("\n").length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
