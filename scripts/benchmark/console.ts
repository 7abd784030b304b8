// Client-side cost of the console in Chromium on the compiled executable, compared with its budget: loads with an empty
// cache, lists and maps at other timestamps, scrolling and panning, memory after a busy hour. Usage: scripts/bench
// --console [--hosts 20000] [--devices 2000] [--changes 20000] [--directory DIR] [--executable FILE]

import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { CONSOLE_PACK } from "../console.ts";
import { quantilesOf } from "../quantiles.ts";
import { type Browsing, browse, setTimeRange, type TrackBox } from "./console/browsing.ts";
import { changePorts, memoryOf } from "./console/busy-hour.ts";
import { chunkSizes } from "./console/chunks.ts";
import { instantsAt } from "./console/instants.ts";
import { buildMaps, type MapSpan } from "./console/maps.ts";
import { EXECUTABLE } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { addStations } from "./stations.ts";
import { type BuiltStore, campusStore } from "./store.ts";

const options = settings({ hosts: 20_000, devices: 2_000, changes: 20_000, directory: "", executable: EXECUTABLE });
const { hosts, devices, changes, executable } = options;

/** The same store as `--questions` builds: both can use one directory. */
const ENTRIES = 50;
const VERSIONS = 5;
const STATIONS = { switches: 10, stations: 2_000, moves: 1 };

/** Budget, in milliseconds unless the name says otherwise. */
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
/** Steps of a drag across the track, one per frame. */
const DRAG_STEPS = 240;
const STEP_MS = 16;
const SCROLLS = 400;
/** Pixels of one quick turn of the wheel. */
const SCROLL_PIXELS = 400;
const MOVE_WAIT_MS = 10_000;

type View = "start" | "host" | "rows" | "map";

/** Result of `watch.frames` in console/watch.js, which is injected into every page. */
interface Frames {
  readonly lengths: readonly number[];
  readonly blank: number;
  readonly longTasks: readonly number[];
}

const base = folder(options.directory);
printLine(
  `Building: ${hosts} hosts × ${ENTRIES} interface entries × ${VERSIONS} versions; maps of ${devices} and ${devices / 4}`,
);
const varied = { entriesPerHost: ENTRIES, versions: VERSIONS, isVaried: true } as const;
const store = await campusStore(join(base, "questions"), { hosts, ...varied });
const stationsFile = join(store.directory, "stations.json");
if (!existsSync(stationsFile)) {
  addStations(store, { ...STATIONS, switches: Math.min(hosts, STATIONS.switches) }, printLine);
  await Bun.write(stationsFile, JSON.stringify(STATIONS));
}
/** Period of the last versions, in which all records exist and keep changing. */
const span = spanOf(instantsAt(store, hosts * 2, hosts * VERSIONS));
const { store: maps, spans } = await buildMaps(join(base, "maps"), { large: devices, small: Math.ceil(devices / 4) });

printLoad();
await measureChunks();
const listBrowsing = await browse(executable, store);
try {
  await measureLoads(listBrowsing, [
    ["start", "/", "start"],
    ["host", `/hosts/${store.hostIds.campus?.[0]}`, "host"],
    ["list of interfaces", "/interfaces", "rows"],
    ["list of hosts", "/hosts", "rows"],
  ]);
  await measureMoves(listBrowsing, "list of interfaces", "/interfaces", span);
  await measureMoves(listBrowsing, "list of hosts", "/hosts", span);
  await measureScrolling(listBrowsing, "/hosts");
  await measureScrolling(listBrowsing, "/interfaces");
} finally {
  await listBrowsing.close();
}
const mapBrowsing = await browse(executable, maps);
try {
  const mapPath = (network: string) => `/map?network=${maps.networkIds[network]}`;
  await measureLoads(mapBrowsing, [
    [`map of ${devices / 4} devices`, mapPath("small"), "map"],
    [`map of ${devices} devices`, mapPath("large"), "map"],
  ]);
  await measureMoves(mapBrowsing, `map of ${devices / 4} devices`, mapPath("small"), spans.small);
  await measureMoves(mapBrowsing, `map of ${devices} devices`, mapPath("large"), spans.large);
  await measurePanning(mapBrowsing, mapPath("large"));
  await measureMemory(mapBrowsing, maps);
} finally {
  await mapBrowsing.close();
}
printLoad();

/**
 * Prints the load average. Other load on the machine affects every figure except CPU times: the figures are valid
 * while it is below 2.
 */
function printLoad(): void {
  printLine(`load average of the last minute: ${loadavg()[0]?.toFixed(1)}`);
}

async function measureChunks(): Promise<void> {
  const { main, styles, lazy } = await chunkSizes(Bun.file(CONSOLE_PACK));
  const kb = (bytes: number) => (bytes / 1000).toFixed(1);
  printLine("");
  printRow("kB with Brotli", NAME_WIDTH, ["kB", "budget"], 10);
  printRow("scripts of every page", NAME_WIDTH, [kb(main), String(BUDGET.mainKb)], 10);
  printRow("styles of every page", NAME_WIDTH, [kb(styles), ""], 10);
  const sum = lazy.reduce((total, bytes) => total + bytes, 0);
  const title = `${lazy.length} more scripts, loaded when needed: all; the largest`;
  printRow(title, NAME_WIDTH, [kb(sum), kb(lazy[0] ?? 0)], 10);
}

/** Loads each page with an empty cache, and measures from the start of the navigation. */
async function measureLoads(browsing: Browsing, pages: readonly (readonly [string, string, View])[]): Promise<void> {
  printLine("");
  const head = ["p50 ms", "longest", "budget"];
  printRow(`from an empty cache, ${LOADS} times`, NAME_WIDTH, head, 10);
  for (const [name, path, view] of pages) {
    const loads: Array<{ usableMs: number; firstPaintMs: number }> = [];
    for (let i = 0; i < LOADS; i += 1) {
      const page = await browsing.newPage();
      await page.goto(browsing.origin + path, { waitUntil: "commit" });
      loads.push(await page.evaluate(`watch.usable(${JSON.stringify(view)})`));
      await page.context().close();
    }
    for (const [aspect, times, budget] of [
      ["first paint", loads.map(({ firstPaintMs }) => firstPaintMs), BUDGET.firstPaint],
      ["usable", loads.map(({ usableMs }) => usableMs), BUDGET.usable],
    ] as const) {
      const quantile = quantilesOf(times);
      const cells = [quantile(0.5).toFixed(0), quantile(1).toFixed(0), String(budget)];
      printRow(`${name}: ${aspect}`, NAME_WIDTH, cells, 10);
    }
  }
}

/**
 * Drags the handle of the time bar: measures from each move's event to the painted frame of its timestamp, first for
 * single moves, then during a continuous drag.
 */
async function measureMoves(browsing: Browsing, name: string, path: string, { from, to }: MapSpan): Promise<void> {
  const view: View = path.startsWith("/map") ? "map" : "rows";
  const page = await open(browsing, path, view);
  const track = await setTimeRange(page, from, to);
  await page.mouse.move(track.left + track.width / 2, track.y);
  await page.mouse.down();
  const times: number[] = [];
  let requests = 0;
  let before = await browsing.processorMs();
  for (let i = -5; i < MOVES; i += 1) {
    if (i === 0) before = await browsing.processorMs();
    const script = `watch.next(${JSON.stringify(view)}, ${MOVE_WAIT_MS})`;
    const frame = page.evaluate<{ tookMs: number; requests: number } | null>(script);
    await page.mouse.move(positionOn(track, i), track.y);
    const next = await frame;
    if (i < 0) continue;
    // A timeout counts as the longest wait.
    times.push(next?.tookMs ?? MOVE_WAIT_MS);
    requests += next?.requests ?? 0;
  }
  const quantile = quantilesOf(times);
  const budget = view === "map" ? BUDGET.mapMove : BUDGET.listMove;
  const after = await browsing.processorMs();
  printLine("");
  const head = ["p50 ms", "p95 ms", "longest", "budget", "requests", "page CPU", "server"];
  printRow(`${name}, at varying instants`, NAME_WIDTH, head, 10);
  const cells = [
    ...[quantile(0.5), quantile(0.95), quantile(1)].map((ms) => ms.toFixed(0)),
    String(budget),
    (requests / MOVES).toFixed(1),
    ((after.pages - before.pages) / MOVES).toFixed(0),
    ((after.server - before.server) / MOVES).toFixed(0),
  ];
  printRow(`${MOVES} sequential moves; CPU ms per move`, NAME_WIDTH, cells, 10);
  await page.evaluate(`watch.follow(${JSON.stringify(view)})`);
  const started = performance.now();
  for (let step = 0; step < DRAG_STEPS; step += 1) {
    await page.mouse.move(track.left + (track.width * (step + 1)) / (DRAG_STEPS + 2), track.y);
    await Bun.sleep(Math.max(0, started + step * STEP_MS - performance.now()));
  }
  const seconds = (performance.now() - started) / 1000;
  await page.mouse.up();
  const { ages, requests: dragged } = await page.evaluate<{ ages: number[]; requests: number }>("watch.stop()");
  const age = quantilesOf(ages);
  printRow(
    `continuous drag for ${seconds.toFixed(1)} s, ${(ages.length / seconds).toFixed(0)} instants per second`,
    NAME_WIDTH,
    [...[age(0.5), age(0.95), age(1)].map((ms) => ms.toFixed(0)), "", (dragged / ages.length).toFixed(1)],
    10,
  );
  await page.context().close();
}

/** Position on the track that differs each time and is far from the previous one: multiples of the golden ratio. */
function positionOn({ left, width }: TrackBox, i: number): number {
  return left + 4 + (((i + 7) * 0.618_034) % 1) * (width - 8);
}

async function measureScrolling(browsing: Browsing, path: string): Promise<void> {
  const page = await open(browsing, path, "rows");
  const box = await page.locator(".list").boundingBox();
  if (box === null) throw new Error(`${path} has no rows`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const before = await browsing.processorMs();
  await page.evaluate("watch.frames()");
  for (let i = 0; i < SCROLLS; i += 1) await page.mouse.wheel(0, SCROLL_PIXELS);
  const frames = await page.evaluate<Frames>("watch.stop()");
  const used = (await browsing.processorMs()).pages - before.pages;
  const rows = await page.evaluate<number>("Math.round(document.querySelector('.list').scrollTop / 28)");
  printFrames(`scrolling ${path}: ${rows} rows by ${SCROLLS} wheel turns`, frames, used);
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
  for (let i = 0; i < 40; i += 1) await page.mouse.wheel(0, i < 20 ? -60 : 40);
  const zoomed = await page.evaluate<Frames>("watch.stop()");
  const between = await browsing.processorMs();
  printFrames(`zooming ${devices} devices`, zoomed, between.pages - before.pages);
  await page.evaluate("watch.frames()");
  await page.mouse.down();
  for (let i = 0; i < DRAG_STEPS; i += 1) await page.mouse.move(x + 200 * Math.sin(i / 20), y + 150 * Math.cos(i / 31));
  await page.mouse.up();
  const panned = await page.evaluate<Frames>("watch.stop()");
  printFrames(`panning ${devices} devices`, panned, (await browsing.processorMs()).pages - between.pages);
  await page.context().close();
}

/** @param usedMs CPU time of the page during the measurement */
function printFrames(name: string, { lengths, blank, longTasks }: Frames, usedMs: number): void {
  const quantile = quantilesOf(lengths);
  const slow = lengths.filter((length) => length > BUDGET.frame).length;
  printLine("");
  printRow(name, NAME_WIDTH, ["frames", "> 50 ms", "budget", "longest", "p99 ms", "blank", "CPU ms"], 10);
  const cells = [
    String(lengths.length),
    String(slow),
    "0",
    quantile(1).toFixed(0),
    quantile(0.99).toFixed(0),
    String(blank),
    (usedMs / lengths.length).toFixed(1),
  ];
  printRow(`frames, and frames with rows not loaded yet`, NAME_WIDTH, cells, 10);
  const longest = quantilesOf(longTasks, 0)(1).toFixed(0);
  printRow(`script tasks longer than 50 ms`, NAME_WIDTH, ["", String(longTasks.length), "", longest], 10);
}

/** Measures memory on a list, a host and a map, each during a third of a busy hour's changes, without a reload. */
async function measureMemory(browsing: Browsing, maps: BuiltStore): Promise<void> {
  const page = await browsing.newPage();
  printLine("");
  const head = ["scripts", "process", "budget", "changes/s"];
  printRow(`memory after following ${changes} changes, MB`, NAME_WIDTH, head, 10);
  const row = async (name: string, rate: string) => {
    const { heapMb, privateMb } = await memoryOf(browsing.browser, page);
    printRow(name, NAME_WIDTH, [heapMb.toFixed(1), privateMb.toFixed(0), String(BUDGET.memoryMb), rate], 10);
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
    const script = `history.pushState(null, "", ${JSON.stringify(href)}); dispatchEvent(new PopStateEvent("popstate"))`;
    if (href !== null) await page.evaluate(script);
    await page.getByText("live", { exact: true }).waitFor();
    const tookMs = await changePorts(browsing.server, maps, "large", Math.ceil(changes / 3));
    await row(name, (changes / 3 / (tookMs / 1000)).toFixed(0));
  }
  await page.context().close();
}

async function open(browsing: Browsing, path: string, view: View): Promise<Page> {
  const page = await browsing.newPage();
  await page.goto(browsing.origin + path);
  await page.evaluate(`watch.usable(${JSON.stringify(view)})`);
  return page;
}

function spanOf([from, to]: readonly [string, string]): MapSpan {
  return { from, to };
}
