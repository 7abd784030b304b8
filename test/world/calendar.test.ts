// Contents of the simulated site at full length: size, events and days, without the product.

import { expect, test } from "bun:test";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { calendarOf, EventRunner } from "./events/calendar.ts";
import { DEFAULT_RATES, type EventRate } from "./rates.ts";
import { buildSite } from "./site/build-site.ts";

const DAY_MS = 86_400_000;

/** Lowest number of events in 120 days. */
const REQUIRED: Readonly<Partial<Record<EventRate, number>>> = {
  moves: 40,
  replacements: 10,
  stackChanges: 8,
  clones: 4,
  commonCards: 2,
  renames: 10,
  renumberings: 10,
  swappedAddresses: 5,
  migrations: 15,
  vlanChanges: 20,
  restarts: 15,
  renumberedRestarts: 15,
  faultyTables: 40,
  silences: 25,
  failovers: 4,
  intruders: 5,
  leaseRotations: 30,
  deletionsByPeople: 6,
};

/** Runs the events of all days. */
function wholeRun(seed: number) {
  const site = buildSite(DEFAULT_RATES, seed, 0);
  const size = { devices: site.present().length, stations: site.stations.size };
  const days = calendarOf(DEFAULT_RATES, seededRandom(seed + 1_000_000));
  const events = new EventRunner();
  const silent = new Map<string, number>();
  let guests = 0;
  for (const day of days) {
    for (const [index, slot] of day.slots.entries()) {
      site.now = (day.number + (index + 0.5) / DEFAULT_RATES.scansPerDay) * DAY_MS;
      const before = new Map(site.changedAt);
      events.run(site, day, slot);
      if (day.isQuiet) expect(site.changedAt).toEqual(before);
    }
    for (const { id, silentUntil } of site.present())
      if (silentUntil > site.now) silent.set(id, (silent.get(id) ?? 0) + 1);
    guests = Math.max(guests, site.stationsOf("Guest").length);
  }
  const silentDays = [...silent.values()].reduce((sum, count) => sum + count, 0);
  return { size, days, counts: events.counts, silentDays, guests };
}

test.each([1, 2, 3])("seed %i has 60 devices, 300 stations, and every event as often as required", (seed) => {
  const { size, days, counts, silentDays, guests } = wholeRun(seed);
  expect(size).toEqual({ devices: 60, stations: 300 });
  const missing = Object.entries(REQUIRED).filter(([rate, count]) => (counts.get(rate as EventRate) ?? 0) < count);
  expect(missing).toEqual([]);
  expect(silentDays).toBeGreaterThanOrEqual(100);
  expect(guests).toBe(10);
  expect(days.filter(({ isQuiet }) => isQuiet).length).toBe(30);
  expect(days.filter(({ isOff }) => isOff).length).toBe(7);
});
