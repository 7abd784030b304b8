// Client-side cost of the console in Chromium on the compiled executable, compared with its budget: loads with an empty
// cache, lists and maps at other timestamps, scrolling and panning, memory after a busy hour. Usage: scripts/bench
// --console [--hosts 20000] [--devices 2000] [--changes 20000] [--directory DIR] [--executable FILE]

import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { CONSOLE_PACK } from "../console.ts";
import { quantilesOf } from "../quantiles.ts";
import { type Browsing, browse, showBetween, type TrackPlace } from "./console/browsing.ts";
import { chunkSizes } from "./console/chunks.ts";
import { changePorts, memoryOf } from "./console/hour.ts";
import { instantsAt } from "./console/instants.ts";
import { buildMaps, type MapSpan } from "./console/maps.ts";
import { EXECUTABLE } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { addStations } from "./stations.ts";
import { type BuiltStore, buildStore } from "./store.ts";

const told = settings({ hosts: 20_000, devices: 2_000, changes: 20_000, directory: "", executable: EXECUTABLE });
const { hosts, devices, changes, executable } = told;

/** As built by `--questions`: both can use the same folder. */
const ENTRIES = 50;
const VERSIONS = 5;
const STATIONS = { switches: 10, stations: 2_000, moves: 1 };

/** Budget; in milliseconds, except for sizes. */
const BUDGET = {
  firstPaint: 500,
  usable: 1_000,
  mainKb: 100,
  listMove: 100,
  mapMove: 150,
  frame: 50,
  memoryMb: 150,
} as const;

const NAME_WIDTH = 74;
const LOADS = 7;
const MOVES = 60;
/** A drag across the track, with a step per frame. */
const DRAG_STEPS = 240;
const STEP_MS = 16;
const SCROLLS = 400;
/** A quick turn of the wheel. */
const SCROLL_PIXELS = 400;
const MOVE_WAIT_MS = 10_000;

type Shown = "start" | "host" | "rows" | "map";

/** Interface of console/watch.js, which is injected into every page. */
interface Frames {
  readonly lengths: readonly number[];
  readonly blank: number;
  readonly longTasks: readonly number[];
}

const base = folder(told.directory);
say(
  `Building: ${hosts} hosts × ${ENTRIES} interface entries × ${VERSIONS} versions; maps of ${devices} and ${devices / 4}`,
);
const store = await buildStore(
  join(base, "questions"),
  [{ network: "campus", hosts, entriesPerHost: ENTRIES, versions: VERSIONS, isVaried: true }],
  say,
);
const noted = join(store.directory, "stations.json");
if (!existsSync(noted)) {
  addStations(store, { ...STATIONS, switches: Math.min(hosts, STATIONS.switches) }, say);
  await Bun.write(noted, JSON.stringify(STATIONS));
}
/** Over the last versions: all records exist and change all the time. */
const span = spanOf(instantsAt(store, hosts * 2, hosts * VERSIONS));
const { store: maps, spans } = await buildMaps(join(base, "maps"), { large: devices, small: Math.ceil(devices / 4) });

sayLoad();
await measureChunks();
const lists = await browse(executable, store);
try {
  await measureLoads(lists, [
    ["start", "/", "start"],
    ["host", `/hosts/${store.hostIds.campus?.[0]}`, "host"],
    ["list of interfaces", "/interfaces", "rows"],
    ["list of hosts", "/hosts", "rows"],
  ]);
  await measureMoves(lists, "list of interfaces", "/interfaces", span);
  await measureMoves(lists, "list of hosts", "/hosts", span);
  await measureScrolling(lists, "/hosts");
  await measureScrolling(lists, "/interfaces");
} finally {
  await lists.end();
}
const mapping = await browse(executable, maps);
try {
  const mapOf = (network: string) => `/map?network=${maps.networkIds[network]}`;
  await measureLoads(mapping, [
    [`map of ${devices / 4} devices`, mapOf("small"), "map"],
    [`map of ${devices} devices`, mapOf("large"), "map"],
  ]);
  await measureMoves(mapping, `map of ${devices / 4} devices`, mapOf("small"), spans.small);
  await measureMoves(mapping, `map of ${devices} devices`, mapOf("large"), spans.large);
  await measurePanning(mapping, mapOf("large"));
  await measureMemory(mapping, maps);
} finally {
  await mapping.end();
}
sayLoad();

/**
 * Other load of the machine affects every figure except processor times: the figures are valid while the load is below
 * 2.
 */
function sayLoad(): void {
  say(`load average of the last minute: ${loadavg()[0]?.toFixed(1)}`);
}

async function measureChunks(): Promise<void> {
  const { main, styles, lazy } = await chunkSizes(Bun.file(CONSOLE_PACK));
  const kb = (bytes: number) => (bytes / 1000).toFixed(1);
  say("");
  sayRow("kB with Brotli", NAME_WIDTH, ["kB", "budget"], 10);
  sayRow("scripts of every page", NAME_WIDTH, [kb(main), String(BUDGET.mainKb)], 10);
  sayRow("styles of every page", NAME_WIDTH, [kb(styles), ""], 10);
  const sum = lazy.reduce((total, each) => total + each, 0);
  sayRow(
    `${lazy.length} more scripts, loaded when needed: all; the largest`,
    NAME_WIDTH,
    [kb(sum), kb(lazy[0] ?? 0)],
    10,
  );
}

/** Each with an empty cache, from the start of the navigation. */
async function measureLoads(browsing: Browsing, pages: readonly (readonly [string, string, Shown])[]): Promise<void> {
  say("");
  const head = ["p50 ms", "longest", "budget"];
  sayRow(`from an empty cache, ${LOADS} times`, NAME_WIDTH, head, 10);
  for (const [name, path, what] of pages) {
    const loads: Array<{ usableMs: number; firstPaintMs: number }> = [];
    for (let turn = 0; turn < LOADS; turn += 1) {
      const page = await browsing.fresh();
      await page.goto(browsing.origin + path, { waitUntil: "commit" });
      loads.push(await page.evaluate(`watch.usable(${JSON.stringify(what)})`));
      await page.context().close();
    }
    for (const [aspect, times, budget] of [
      ["first paint", loads.map(({ firstPaintMs }) => firstPaintMs), BUDGET.firstPaint],
      ["usable", loads.map(({ usableMs }) => usableMs), BUDGET.usable],
    ] as const) {
      const at = quantilesOf(times);
      sayRow(`${name}: ${aspect}`, NAME_WIDTH, [at(0.5).toFixed(0), at(1).toFixed(0), String(budget)], 10);
    }
  }
}

/**
 * Drags the handle: measures from each move's event to the painted frame of that timestamp, then along a whole drag.
 */
async function measureMoves(browsing: Browsing, name: string, path: string, { from, to }: MapSpan): Promise<void> {
  const what: Shown = path.startsWith("/map") ? "map" : "rows";
  const page = await open(browsing, path, what);
  const track = await showBetween(page, from, to);
  await page.mouse.move(track.left + track.width / 2, track.y);
  await page.mouse.down();
  const times: number[] = [];
  let requests = 0;
  let before = await browsing.processorMs();
  for (let turn = -5; turn < MOVES; turn += 1) {
    if (turn === 0) before = await browsing.processorMs();
    const shown = page.evaluate<{ tookMs: number; requests: number } | null>(
      `watch.next(${JSON.stringify(what)}, ${MOVE_WAIT_MS})`,
    );
    await page.mouse.move(placeOn(track, turn), track.y);
    const next = await shown;
    if (turn < 0) continue;
    // Upper limit of a wait.
    times.push(next?.tookMs ?? MOVE_WAIT_MS);
    requests += next?.requests ?? 0;
  }
  const at = quantilesOf(times);
  const budget = what === "map" ? BUDGET.mapMove : BUDGET.listMove;
  const after = await browsing.processorMs();
  say("");
  const head = ["p50 ms", "p95 ms", "longest", "budget", "requests", "page CPU", "server"];
  sayRow(`${name}, at another instant`, NAME_WIDTH, head, 10);
  sayRow(
    `${MOVES} moves, one after the other; processor ms of each`,
    NAME_WIDTH,
    [
      ...[at(0.5), at(0.95), at(1)].map((ms) => ms.toFixed(0)),
      String(budget),
      (requests / MOVES).toFixed(1),
      ((after.pages - before.pages) / MOVES).toFixed(0),
      ((after.server - before.server) / MOVES).toFixed(0),
    ],
    10,
  );
  await page.evaluate(`watch.follow(${JSON.stringify(what)})`);
  const started = performance.now();
  for (let step = 0; step < DRAG_STEPS; step += 1) {
    await page.mouse.move(track.left + (track.width * (step + 1)) / (DRAG_STEPS + 2), track.y);
    await Bun.sleep(Math.max(0, started + step * STEP_MS - performance.now()));
  }
  const seconds = (performance.now() - started) / 1000;
  await page.mouse.up();
  const { ages, requests: dragged } = await page.evaluate<{ ages: number[]; requests: number }>("watch.stop()");
  const age = quantilesOf(ages);
  sayRow(
    `dragged along for ${seconds.toFixed(1)} s, ${(ages.length / seconds).toFixed(0)} instants a second`,
    NAME_WIDTH,
    [...[age(0.5), age(0.95), age(1)].map((ms) => ms.toFixed(0)), "", (dragged / ages.length).toFixed(1)],
    10,
  );
  await page.context().close();
}

/** A different position on the track each time, far from the previous one: by the golden ratio. */
function placeOn({ left, width }: TrackPlace, turn: number): number {
  return left + 4 + (((turn + 7) * 0.618_034) % 1) * (width - 8);
}

async function measureScrolling(browsing: Browsing, path: string): Promise<void> {
  const page = await open(browsing, path, "rows");
  const box = await page.locator(".list").boundingBox();
  if (box === null) throw new Error(`${path} has no rows`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const before = await browsing.processorMs();
  await page.evaluate("watch.frames()");
  for (let turn = 0; turn < SCROLLS; turn += 1) await page.mouse.wheel(0, SCROLL_PIXELS);
  const frames = await page.evaluate<Frames>("watch.stop()");
  const used = (await browsing.processorMs()).pages - before.pages;
  const rows = await page.evaluate<number>("Math.round(document.querySelector('.list').scrollTop / 28)");
  sayFrames(`scrolling ${path}: ${rows} rows by ${SCROLLS} turns of a wheel`, frames, used);
  await page.context().close();
}

async function measurePanning(browsing: Browsing, path: string): Promise<void> {
  const page = await open(browsing, path, "map");
  const box = await page.locator("canvas").boundingBox();
  if (box === null) throw new Error("the map has no picture");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  const before = await browsing.processorMs();
  await page.evaluate("watch.frames()");
  for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, turn < 20 ? -60 : 40);
  const zoomed = await page.evaluate<Frames>("watch.stop()");
  const between = await browsing.processorMs();
  sayFrames(`zooming ${devices} devices`, zoomed, between.pages - before.pages);
  await page.evaluate("watch.frames()");
  await page.mouse.down();
  for (let turn = 0; turn < DRAG_STEPS; turn += 1)
    await page.mouse.move(x + 200 * Math.sin(turn / 20), y + 150 * Math.cos(turn / 31));
  await page.mouse.up();
  const panned = await page.evaluate<Frames>("watch.stop()");
  sayFrames(`panning ${devices} devices`, panned, (await browsing.processorMs()).pages - between.pages);
  await page.context().close();
}

/** @param usedMs processor time of the page during the measurement */
function sayFrames(name: string, { lengths, blank, longTasks }: Frames, usedMs: number): void {
  const at = quantilesOf(lengths);
  const slow = lengths.filter((length) => length > BUDGET.frame).length;
  say("");
  sayRow(name, NAME_WIDTH, ["frames", "> 50 ms", "budget", "longest", "p99 ms", "blank", "CPU each"], 10);
  const cells = [
    String(lengths.length),
    String(slow),
    "0",
    at(1).toFixed(0),
    at(0.99).toFixed(0),
    String(blank),
    (usedMs / lengths.length).toFixed(1),
  ];
  sayRow(`frames, and those with rows not loaded yet`, NAME_WIDTH, cells, 10);
  const longest = quantilesOf(longTasks, 0)(1).toFixed(0);
  sayRow(`tasks of its script above 50 ms`, NAME_WIDTH, ["", String(longTasks.length), "", longest], 10);
}

/** Pages of a list, a host and a map, each for a third of a busy hour's changes, without a reload. */
async function measureMemory(browsing: Browsing, maps: BuiltStore): Promise<void> {
  const page = await browsing.fresh();
  say("");
  sayRow(
    `memory after following ${changes} changes, MB`,
    NAME_WIDTH,
    ["scripts", "process", "budget", "changes/s"],
    10,
  );
  const row = async (name: string, rate: string) => {
    const { heapMb, privateMb } = await memoryOf(browsing.browser, page);
    sayRow(name, NAME_WIDTH, [heapMb.toFixed(1), privateMb.toFixed(0), String(BUDGET.memoryMb), rate], 10);
  };
  await page.goto(`${browsing.origin}/interfaces?network=${maps.networkIds.large}`);
  await page.evaluate("watch.usable('rows')");
  await row("list of interfaces, before", "");
  const [host] = maps.hostIds.large as string[];
  for (const [name, href] of [
    ["list of interfaces", null],
    ["host", `/hosts/${host}?network=${maps.networkIds.large}`],
    [`map of ${devices} devices`, `/map?network=${maps.networkIds.large}`],
  ] as const) {
    if (href !== null)
      await page.evaluate(
        `history.pushState(null, "", ${JSON.stringify(href)}); dispatchEvent(new PopStateEvent("popstate"))`,
      );
    await page.getByText("live", { exact: true }).waitFor();
    const tookMs = await changePorts(browsing.server, maps, "large", Math.ceil(changes / 3));
    await row(name, (changes / 3 / (tookMs / 1000)).toFixed(0));
  }
  await page.context().close();
}

async function open(browsing: Browsing, path: string, what: Shown): Promise<Page> {
  const page = await browsing.fresh();
  await page.goto(browsing.origin + path);
  await page.evaluate(`watch.usable(${JSON.stringify(what)})`);
  return page;
}

function spanOf([from, to]: readonly [string, string]): MapSpan {
  return { from, to };
}
