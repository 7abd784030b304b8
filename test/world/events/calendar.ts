// Days of a run: which events happen before each scan, which days are quiet, and on which the appliance is off.

import type { SeededRandom } from "../../support/injected/seeded-random.ts";
import type { EventRate, Rates } from "../rates.ts";
import type { Site } from "../site/site.ts";
import { EVENTS, type Event, guestArrives, guestsLeave, intruderLeaves } from "./events.ts";

/** Events with the name of their rate; all other rates follow from events or from the calendar. */
export interface PlannedEvent {
  readonly rate: EventRate | "guestsPerDay" | null;
  readonly run: Event;
}

export interface Day {
  readonly number: number;
  /** Without events. */
  readonly isQuiet: boolean;
  /** Without events on the previous day as well: everything has been read since. */
  readonly isSettled: boolean;
  /** The appliance is switched off. */
  readonly isOff: boolean;
  /** Events before each scan. */
  readonly slots: readonly (readonly PlannedEvent[])[];
}

/** Days at the start of a run without events, for discovering the site. */
const FIRST_EVENT_DAY = 2;
/** Duration of an intruder's stay. */
const INTRUDER_DAYS = 3;

export function calendarOf(rates: Rates, random: SeededRandom): Day[] {
  const quiet = quietDays(rates, random);
  const open = Array.from({ length: rates.days }, (_, day) => day).filter(
    (day) => day >= FIRST_EVENT_DAY && !quiet.has(day),
  );
  // Whole periods only: one that starts on the last days would be truncated.
  const early = (days: number) => open.filter((day) => day + days <= rates.days);
  const offFrom = rates.periods.daysOff === 0 ? [] : early(rates.periods.daysOff);
  const firstOff = offFrom.length === 0 ? rates.days : random.pick(offFrom);
  const slots = Array.from({ length: rates.days }, () =>
    Array.from({ length: rates.scansPerDay }, (): PlannedEvent[] => []),
  );
  const put = (day: number, event: PlannedEvent) => slots[day]?.[random.integer(rates.scansPerDay)]?.push(event);
  for (const event of EVENTS) {
    const days = event.rate === "silences" ? early(rates.daysPerSilence) : open;
    for (let count = 0; count < rates.events[event.rate] && days.length > 0; count += 1) {
      const day = random.pick(days);
      put(day, event);
      if (event.rate === "intruders")
        put(open.find((each) => each >= day + INTRUDER_DAYS) ?? (open.at(-1) as number), INTRUDER_LEAVES);
    }
  }
  for (const day of open) {
    slots[day]?.[0]?.unshift({ rate: null, run: guestsLeave });
    for (let count = 0; count < rates.guestsPerDay; count += 1) put(day, { rate: "guestsPerDay", run: guestArrives });
  }
  return slots.map((events, number) => ({
    number,
    isQuiet: quiet.has(number),
    isSettled: quiet.has(number) && quiet.has(number - 1),
    isOff: number >= firstOff && number < firstOff + rates.periods.daysOff,
    slots: events,
  }));
}

const INTRUDER_LEAVES: PlannedEvent = { rate: null, run: intruderLeaves };

/** Runs planned events; one without a candidate waits for the next scan of a day with events. */
export class EventRunner {
  /** Number of events that happened, by rate. */
  readonly counts = new Map<PlannedEvent["rate"], number>();
  private waiting: readonly PlannedEvent[] = [];

  run(site: Site, { isQuiet }: Day, slot: readonly PlannedEvent[]): void {
    if (isQuiet) return;
    this.waiting = [...this.waiting, ...slot].filter(({ rate, run }) => {
      const happened = run(site);
      if (happened) this.counts.set(rate, (this.counts.get(rate) ?? 0) + 1);
      return !happened;
    });
  }
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
