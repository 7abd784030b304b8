// Tick labels of the time bar: round instants in the reader's zone. Pure.

import { formatLocal, instantsOf, offsetAt, wallClockOf } from "./instant.ts";
import type { TimeWindow } from "./window.ts";

export interface Tick {
  readonly ms: number;
  readonly label: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS = [
  ...[1, 5, 10, 30].map((seconds) => seconds * SECOND),
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
];
const STEPS_OF_DAYS = [1, 2, 5, 10];
const STEPS_OF_MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];

/** @param most number of labels that fit */
export function ticksOf(window: TimeWindow, timeZone: string, most: number): Tick[] {
  const spacing = (window.to - window.from) / Math.max(1, most);
  const step = STEPS.find((each) => each >= spacing);
  if (step !== undefined) return withinDays(window, timeZone, step);
  const days = STEPS_OF_DAYS.find((each) => each * DAY >= spacing);
  if (days !== undefined) return beginnings(window, timeZone, { days });
  return beginnings(window, timeZone, { months: STEPS_OF_MONTHS.find((each) => each * 30 * DAY >= spacing) ?? 240 });
}

function withinDays({ from, to }: TimeWindow, timeZone: string, step: number): Tick[] {
  const offset = offsetAt(from, timeZone);
  const ticks: Tick[] = [];
  for (let ms = Math.ceil((from + offset) / step) * step - offset; ms <= to; ms += step) {
    const text = formatLocal(ms, timeZone);
    const time = step < MINUTE ? text.slice(11) : text.slice(11, 16);
    ticks.push({ ms, label: /^00:00(:00)?$/.test(time) ? text.slice(5, 10) : time });
  }
  return ticks;
}

/** Starts of days or months. Where midnight is skipped, the day starts at the end of the gap. */
function beginnings(window: TimeWindow, timeZone: string, every: { days: number } | { months: number }): Tick[] {
  const { year, month, day } = wallClockOf(window.from, timeZone);
  const ticks: Tick[] = [];
  const start = "days" in every ? { month, day } : { month: 1, day: 1 };
  for (let count = 0; count < 10_000; count++) {
    const date = new Date(
      "days" in every
        ? Date.UTC(year, start.month - 1, start.day + count)
        : Date.UTC(year, start.month - 1 + count * every.months, 1),
    );
    const [wallYear, wallMonth, wallDay] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    if ("days" in every && !isTold(wallDay, every.days)) continue;
    const [ms] = [0, 1].flatMap((hour) =>
      instantsOf({ year: wallYear, month: wallMonth, day: wallDay, hour, minute: 0, second: 0 }, timeZone),
    );
    if (ms === undefined) continue;
    if (ms > window.to) break;
    if (ms < window.from) continue;
    const text = formatLocal(ms, timeZone, "day");
    ticks.push({ ms, label: "days" in every ? text.slice(5) : wallMonth === 1 ? text.slice(0, 4) : text.slice(0, 7) });
  }
  return ticks;
}

/** By the day of the month, so that every window labels the same days: 1, 6, 11 …, and no 31 before a 1. */
function isTold(day: number, every: number): boolean {
  return every === 1 || ((day - 1) % every === 0 && day <= 31 - every / 2);
}
