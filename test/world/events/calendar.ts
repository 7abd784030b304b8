// Days of a run: which events happen before each scan, which days are quiet, and on which the appliance is off.

import type { SeededRandom } from "../../support/injected/seeded-random.ts";
import type { Rates } from "../rates.ts";
import type { Site } from "../site/site.ts";
import { EVENTS, type Event, guestArrives, intruderLeaves } from "./events.ts";

export interface Day {
  readonly number: number;
  /** No event happens. */
  readonly isQuiet: boolean;
  /** No event happened on the day before either: everything has been read since. */
  readonly isSettled: boolean;
  /** The appliance is off. */
  readonly isOff: boolean;
  /** Events before each scan. */
  readonly slots: readonly (readonly Event[])[];
}

/** Days on which the site is only discovered. */
const FIRST_EVENT_DAY = 2;
/** An intruder stays this long. */
const INTRUDER_DAYS = 3;

export function calendarOf(rates: Rates, random: SeededRandom): Day[] {
  const quiet = quietDays(rates, random);
  const open = Array.from({ length: rates.days }, (_, day) => day).filter(
    (day) => day >= FIRST_EVENT_DAY && !quiet.has(day),
  );
  const offFrom = rates.periods.daysOff === 0 || open.length === 0 ? rates.days : random.pick(open);
  const slots = Array.from({ length: rates.days }, () => Array.from({ length: rates.scansPerDay }, (): Event[] => []));
  const put = (day: number, run: Event) => slots[day]?.[random.integer(rates.scansPerDay)]?.push(run);
  for (const { rate, run } of EVENTS)
    for (let count = 0; count < rates.events[rate] && open.length > 0; count += 1) {
      const day = random.pick(open);
      put(day, run);
      if (rate === "intruders")
        put(open.find((each) => each >= day + INTRUDER_DAYS) ?? (open.at(-1) as number), intruderLeaves);
    }
  for (const day of open) {
    slots[day]?.[0]?.unshift(guestsLeave);
    for (let count = 0; count < rates.guestsPerDay; count += 1) put(day, guestArrives);
  }
  return slots.map((events, number) => ({
    number,
    isQuiet: quiet.has(number),
    isSettled: quiet.has(number) && quiet.has(number - 1),
    isOff: number >= offFrom && number < offFrom + rates.periods.daysOff,
    slots: events,
  }));
}

function guestsLeave(site: Site): void {
  for (const guest of site.stationsOf("Guest")) site.removeStation(guest);
}

/** Blocks of quiet days, spread over the run. */
function quietDays({ days, quietBlockDays, periods: { quietBlocks } }: Rates, random: SeededRandom): Set<number> {
  const quiet = new Set<number>();
  const share = Math.floor((days - FIRST_EVENT_DAY) / Math.max(1, quietBlocks));
  for (let block = 0; block < quietBlocks && share > quietBlockDays; block += 1) {
    const start = FIRST_EVENT_DAY + 1 + block * share + random.integer(share - quietBlockDays);
    for (let day = start; day < Math.min(days, start + quietBlockDays); day += 1) quiet.add(day);
  }
  return quiet;
}
