// Parser for timestamps typed by users: ages, dates, times of day, markers, RFC 3339. Pure.

import { ownValue } from "../text/own-value.ts";
import { daysOf, instantsOf, parseInstant, substituteInstant, type WallClock, wallClockOf } from "./instant.ts";

export type TimeInput =
  | { readonly type: "now" }
  | { readonly type: "instant"; readonly ms: number }
  /** Local time repeated when the clocks were set back. Earlier timestamp first. */
  | { readonly type: "repeated"; readonly instants: readonly number[] }
  /** Local time skipped when the clocks were set forward. `substitute` is later by the length of the gap. */
  | { readonly type: "skipped"; readonly substitute: number }
  | { readonly type: "marker"; readonly name: string }
  | { readonly type: "unreadable" };

interface TimeContext {
  readonly nowMs: number;
  readonly timeZone: string;
}

const SECOND = 1_000;
const UNITS: Readonly<Record<string, number>> = {
  s: SECOND,
  m: 60 * SECOND,
  h: 3_600 * SECOND,
  d: 86_400 * SECOND,
  w: 7 * 86_400 * SECOND,
  month: 30.44 * 86_400 * SECOND,
  year: 365.25 * 86_400 * SECOND,
};
/** Earlier years do not have four digits. */
const EARLIEST = Date.parse("1000-01-01T00:00:00Z");

/**
 * Parses `now`; `-24h` and the other ages of the API; `2 days ago`; RFC 3339; `marker:NAME`; and, in the reader's zone,
 * `2026-03-01`, `2026-03-01 03:12` and `03:12:09`, `today 9:00`, `yesterday 14:00`, `tuesday 03:12`, `last fri`. A
 * weekday or a time without a date means the most recent one; `last` excludes today. A date without a time means the
 * start of that day.
 */
export function parseTimeInput(text: string, { nowMs, timeZone }: TimeContext): TimeInput {
  const input = text.trim().replaceAll(/\s+/g, " ");
  if (/^now$/i.test(input)) return { type: "now" };
  const [, marker] = /^marker: ?(.+)$/i.exec(input) ?? [];
  if (marker !== undefined) return { type: "marker", name: marker };
  const [, count, unit = ""] = /^[-−] ?(\d{1,9}) ?([smhdw])$/.exec(input) ?? [];
  if (count !== undefined) {
    const ms = nowMs - Number(count) * (ownValue(UNITS, unit) ?? 0);
    return ms < EARLIEST ? { type: "unreadable" } : { type: "instant", ms };
  }
  const ago = parseAge(input);
  if (ago !== null) return nowMs - ago < EARLIEST ? { type: "unreadable" } : { type: "instant", ms: nowMs - ago };
  const instant = parseInstant(input);
  if (instant !== null) return { type: "instant", ms: instant };
  return parseLocalTime(input, { nowMs, timeZone });
}

/** Length of `2 days ago`, `an hour ago`, `5 min ago`, in the console's months and years; null for any other text. */
function parseAge(input: string): number | null {
  const [, count, unit = ""] =
    /^(\d{1,9}|an?) ?(s|m|h|d|w|sec|min|second|minute|hour|day|week|month|year)s? ago$/i.exec(input) ?? [];
  if (count === undefined) return null;
  const name = unit.toLowerCase();
  const length = ownValue(UNITS, name) ?? ownValue(UNITS, name.charAt(0)) ?? 0;
  return (/^a/i.test(count) ? 1 : Number(count)) * length;
}

const CLOCK_PATTERN =
  /^(?:(\d{4})-(\d\d)-(\d\d)|([a-z]+(?: [a-z]+)?))?(?:(?:^|[T ])(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?$/i;

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

function parseLocalTime(input: string, { nowMs, timeZone }: TimeContext): TimeInput {
  const match = input === "" ? null : CLOCK_PATTERN.exec(input);
  if (match === null) return { type: "unreadable" };
  const [, year, month, day, word, hour, minute, second, fraction] = match;
  const time = { hour: Number(hour ?? 0), minute: Number(minute ?? 0), second: Number(second ?? 0) };
  const today = wallClockOf(nowMs, timeZone);
  const fractionMs = Math.floor(Number(`0${fraction ?? ""}`) * SECOND);
  const resolve = (date: CalendarDay) => resolveLocalTime({ ...date, ...time }, timeZone, fractionMs);
  if (year !== undefined) return resolve({ year: Number(year), month: Number(month), day: Number(day) });
  const resolvedToday = resolve(today);
  const first = earliestInstant(resolvedToday);
  const hasPassed = first === null || first <= nowMs;
  if (word === undefined) return hasPassed ? resolvedToday : resolve(daysBefore(today, 1));
  const days = daysSince(word.toLowerCase(), today, hasPassed);
  return days === null ? { type: "unreadable" } : resolve(daysBefore(today, days));
}

/**
 * Days since the date named by a word. A weekday means its most recent occurrence.
 * @param hasPassed whether the time of day has already passed today
 */
function daysSince(word: string, today: CalendarDay, hasPassed: boolean): number | null {
  if (word === "today") return 0;
  if (word === "yesterday") return 1;
  const [, last, name = ""] = /^(last )?([a-z]{3,})$/.exec(word) ?? [];
  const weekday = name === "" ? -1 : WEEKDAYS.findIndex((day) => day === name || day.slice(0, 3) === name);
  if (weekday < 0) return null;
  const days = (new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() - weekday + 7) % 7;
  return days === 0 && (last !== undefined || !hasPassed) ? 7 : days;
}

function resolveLocalTime(clock: WallClock, timeZone: string, fractionMs: number): TimeInput {
  const { year, month, day, hour, minute, second } = clock;
  const isValidDate = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  if (!isValidDate || year < 1_000 || hour > 23 || minute > 59 || second > 59) return { type: "unreadable" };
  const instants = instantsOf(clock, timeZone).map((ms) => ms + fractionMs);
  const [first, ...more] = instants;
  if (first === undefined) return { type: "skipped", substitute: substituteInstant(clock, timeZone) + fractionMs };
  return more.length > 0 ? { type: "repeated", instants } : { type: "instant", ms: first };
}

function earliestInstant(input: TimeInput): number | null {
  if (input.type === "instant") return input.ms;
  if (input.type === "repeated") return input.instants[0] ?? null;
  return input.type === "skipped" ? input.substitute : null;
}

type CalendarDay = Pick<WallClock, "year" | "month" | "day">;

function daysBefore({ year, month, day }: CalendarDay, days: number): CalendarDay {
  const date = new Date(Date.UTC(year, month - 1, day - days));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
