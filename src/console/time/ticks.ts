// Tick labels of the time bar: round timestamps in the reader's zone. Pure.

import { DAY_MS, formatLocal, HOUR_MS, instantsOf, MINUTE_MS, offsetAt, SECOND_MS, wallClockOf } from "./instant.ts";
import type { TimeWindow } from "./window.ts";

export interface Tick {
  readonly ms: number;
  readonly label: string;
}

const STEPS = [
  ...[1, 5, 10, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
];
const DAY_STEPS = [1, 2, 5, 10];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120];

/** @param maximum number of labels that fit */
export function ticksOf(window: TimeWindow, timeZone: string, maximum: number): Tick[] {
  const spacing = (window.to - window.from) / Math.max(1, maximum);
  const step = STEPS.find((stepMs) => stepMs >= spacing);
  if (step !== undefined) return timeTicks(window, timeZone, step);
  const days = DAY_STEPS.find((count) => count * DAY_MS >= spacing);
  if (days !== undefined) return calendarTicks(window, timeZone, { days });
  return calendarTicks(window, timeZone, { months: MONTH_STEPS.find((size) => size * 30 * DAY_MS >= spacing) ?? 240 });
}

function timeTicks({ from, to }: TimeWindow, timeZone: string, step: number): Tick[] {
  const offset = offsetAt(from, timeZone);
  const ticks: Tick[] = [];
  for (let ms = Math.ceil((from + offset) / step) * step - offset; ms <= to; ms += step) {
    const text = formatLocal(ms, timeZone);
    const time = step < MINUTE_MS ? text.slice(11) : text.slice(11, 16);
    ticks.push({ ms, label: /^00:00(:00)?$/.test(time) ? text.slice(5, 10) : time });
  }
  return ticks;
}

/** Starts of days or months. Where midnight is skipped, the day starts at the end of the gap. */
function calendarTicks(window: TimeWindow, timeZone: string, interval: { days: number } | { months: number }): Tick[] {
  const { year, month, day } = wallClockOf(window.from, timeZone);
  const ticks: Tick[] = [];
  const start = "days" in interval ? { month, day } : { month: 1, day: 1 };
  for (let count = 0; count < 10_000; count++) {
    const date = new Date(
      "days" in interval
        ? Date.UTC(year, start.month - 1, start.day + count)
        : Date.UTC(year, start.month - 1 + count * interval.months, 1),
    );
    const [wallYear, wallMonth, wallDay] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    if ("days" in interval && !isLabeled(wallDay, interval.days)) continue;
    const [ms] = [0, 1].flatMap((hour) =>
      instantsOf({ year: wallYear, month: wallMonth, day: wallDay, hour, minute: 0, second: 0 }, timeZone),
    );
    if (ms === undefined) continue;
    if (ms > window.to) break;
    if (ms < window.from) continue;
    const text = formatLocal(ms, timeZone, "day");
    ticks.push({
      ms,
      label: "days" in interval ? text.slice(5) : wallMonth === 1 ? text.slice(0, 4) : text.slice(0, 7),
    });
  }
  return ticks;
}

/** Depends on the day of the month only, so that every window labels 1, 6, 11 …, and never 31 right before 1. */
function isLabeled(day: number, interval: number): boolean {
  return interval === 1 || ((day - 1) % interval === 0 && day <= 31 - interval / 2);
}
