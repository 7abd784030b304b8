// Generator for the demo's month: user actions and scans in chronological order, from 31 days ago to the start. Writes
// only through the store's own commands.

import type { Instant } from "../base/instant.ts";
import type { Random } from "../base/random.ts";
import type { Timers } from "../base/timers.ts";
import { openReadOnly } from "../db/connection.ts";
import { Reader } from "../db/reading/reader.ts";
import { DirectWriteQueue } from "../db/writing/write-queue.ts";
import type { MachineParts } from "../discovery/scans/scan-machine.ts";
import { neighborChangesOf } from "../discovery/topology/find-links.ts";
import { networkFacts } from "../discovery/topology/network-facts.ts";
import { openWriter } from "../server/open-writer.ts";
import { Calendar } from "./calendar.ts";
import { demoScanMachine } from "./demo-scanner.ts";
import { DemoStore, StoryClock } from "./demo-writer.ts";
import { setUpDemo } from "./initial-setup.ts";
import { SCAN_SCHEDULES, type ScanSchedule } from "./people.ts";
import { DemoScans } from "./scans.ts";
import { USER_ACTIONS, type UserAction } from "./user-actions.ts";

/** Thirty, plus the day of the start: covers a full thirty days at any hour. */
export const DEMO_DAYS = 31;

/** Scenes later than this before the start might not finish in time. */
const MARGIN_MS = 5 * 60_000;
const SEED = 20_251;

interface MakeDemoOptions {
  readonly databasePath: string;
  readonly secretKey: Uint8Array;
  /** The current time. */
  readonly start: Instant;
  /** Shared by all users. */
  readonly passwordHash: string;
  /** Source of unpredictable values. */
  readonly secret: Random;
}

/** Creates a new database. The caller syncs the file. */
export async function makeDemo({
  databasePath,
  secretKey,
  start,
  passwordHash,
  secret,
}: MakeDemoOptions): Promise<void> {
  const calendar = new Calendar(start);
  const clock = new StoryClock(calendar.at(`-${DEMO_DAYS}d 07:30`));
  const random = seededRandom(SEED);
  const writer = openWriter({ databasePath, secretKey }, clock, random, { isGeneratingData: true });
  const writes = new DirectWriteQueue(writer);
  const reader = new Reader(openReadOnly(databasePath), clock);
  const delay = async (ms: number) => clock.advance(ms);
  const machine = demoScanMachine(
    { databasePath, secretKey, secretsFolder: null },
    { clock, timers: NO_TIMERS, random, delay, start, afterScans: () => {}, links: linksWithoutGc },
  );
  try {
    const store = new DemoStore({ reader, writes, clock, random });
    await setUpDemo(store, writes, passwordHash, secret);
    const scans = new DemoScans(store, writes, machine);
    for (const { at, run } of storyOf(calendar, store, scans)) {
      clock.moveTo(at);
      await run();
    }
  } finally {
    machine.close();
    reader.close();
    await writes.close();
  }
}

interface Scene {
  readonly at: Instant;
  readonly run: () => Promise<unknown>;
}

/** Chronological, up to the start. */
function storyOf(calendar: Calendar, store: DemoStore, scans: DemoScans): Scene[] {
  const scenes: Scene[] = USER_ACTIONS.map((action) => ({
    at: calendar.at(action.at),
    run: () => perform(action, store, scans),
  }));
  for (let day = DEMO_DAYS; day >= 0; day -= 1)
    for (const schedule of SCAN_SCHEDULES)
      for (const time of schedule.times) {
        const at = calendar.at(`-${day}d ${time}` as UserAction["at"]);
        if (isDue(schedule, at, calendar)) scenes.push({ at, run: () => scans.runScheduled(schedule, at) });
      }
  const first = store.clock.now();
  return scenes.filter(({ at }) => at > first && at < calendar.start - MARGIN_MS).sort((a, b) => a.at - b.at);
}

function isDue({ from, weekdays }: ScanSchedule, at: Instant, calendar: Calendar): boolean {
  if (from !== undefined && at <= calendar.at(from)) return false;
  return weekdays === undefined || weekdays.includes(calendar.weekdayOf(at));
}

function perform({ by, reason, task }: UserAction, store: DemoStore, scans: DemoScans): Promise<unknown> {
  return typeof task === "function"
    ? task(store, { by, reason })
    : scans.runOrdered(task.kind, task.site, store.actorOf(by, reason));
}

/** linksOf without garbage collections: hundreds of scans of a small network run in sequence. */
const linksWithoutGc: MachineParts["links"] = (reader, networkN) => ({
  *find() {
    const changes = neighborChangesOf(networkFacts(reader, networkN, null));
    if (changes.links.length + changes.types.length > 0) yield changes;
  },
});

/** Story time does not advance by itself: a timer would never fire. */
const NO_TIMERS: Timers = { after: () => () => {} };

/** The same bytes in every demo, for IDs; never for secrets. mulberry32. */
function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return { bytes: (count) => Uint8Array.from({ length: count }, () => next() >>> 24) };
}
