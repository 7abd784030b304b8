// Parser for instants as people write them: ages, dates, times of day, markers, RFC 3339. Pure: the zone and the
// current time are parameters.

import { ownValue } from "../text/own-value.ts";
import { daysOf, instantInstead, instantsOf, parseInstant, type WallClock, wallClockOf } from "./instant.ts";

export type Said =
  | { readonly type: "now" }
  | { readonly type: "instant"; readonly ms: number }
  /** Repeated when the clocks were set back. In order. */
  | { readonly type: "twice"; readonly instants: readonly number[] }
  /** Skipped when the clocks were set forward. `instead` is later by the length of the gap. */
  | { readonly type: "leftOut"; readonly instead: number }
  | { readonly type: "marker"; readonly name: string }
  | { readonly type: "unreadable" };

interface SaidWhere {
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
 * weekday or a time without a date is the most recent one that has passed; `last` excludes today. A date without a time
 * is its start.
 */
export function readSaid(text: string, { nowMs, timeZone }: SaidWhere): Said {
  const said = text.trim().replaceAll(/\s+/g, " ");
  if (/^now$/i.test(said)) return { type: "now" };
  const [, marker] = /^marker: ?(.+)$/i.exec(said) ?? [];
  if (marker !== undefined) return { type: "marker", name: marker };
  const [, count, unit = ""] = /^[-−] ?(\d{1,9}) ?([smhdw])$/.exec(said) ?? [];
  if (count !== undefined) {
    const ms = nowMs - Number(count) * (ownValue(UNITS, unit) ?? 0);
    return ms < EARLIEST ? { type: "unreadable" } : { type: "instant", ms };
  }
  const ago = ageAgo(said);
  if (ago !== null) return nowMs - ago < EARLIEST ? { type: "unreadable" } : { type: "instant", ms: nowMs - ago };
  const instant = parseInstant(said);
  if (instant !== null) return { type: "instant", ms: instant };
  return readClock(said, { nowMs, timeZone });
}

/** Length of `2 days ago`, `an hour ago`, `5 min ago`, in the console's months and years; null for any other text. */
function ageAgo(said: string): number | null {
  const [, count, unit = ""] =
    /^(\d{1,9}|an?) ?(s|m|h|d|w|sec|min|second|minute|hour|day|week|month|year)s? ago$/i.exec(said) ?? [];
  if (count === undefined) return null;
  const name = unit.toLowerCase();
  const length = ownValue(UNITS, name) ?? ownValue(UNITS, name.charAt(0)) ?? 0;
  return (/^a/i.test(count) ? 1 : Number(count)) * length;
}

const FORM =
  /^(?:(\d{4})-(\d\d)-(\d\d)|([a-z]+(?: [a-z]+)?))?(?:(?:^|[T ])(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?$/i;

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

function readClock(said: string, { nowMs, timeZone }: SaidWhere): Said {
  const match = said === "" ? null : FORM.exec(said);
  if (match === null) return { type: "unreadable" };
  const [, year, month, day, word, hour, minute, second, fraction] = match;
  const time = { hour: Number(hour ?? 0), minute: Number(minute ?? 0), second: Number(second ?? 0) };
  const today = wallClockOf(nowMs, timeZone);
  const fractionMs = Math.floor(Number(`0${fraction ?? ""}`) * SECOND);
  const told = (date: CalendarDay) => instantsShowing({ ...date, ...time }, timeZone, fractionMs);
  if (year !== undefined) return told({ year: Number(year), month: Number(month), day: Number(day) });
  const ofToday = told(today);
  const first = firstOf(ofToday);
  const hasPassed = first === null || first <= nowMs;
  if (word === undefined) return hasPassed ? ofToday : told(daysBefore(today, 1));
  const days = daysSince(word.toLowerCase(), today, hasPassed);
  return days === null ? { type: "unreadable" } : told(daysBefore(today, days));
}

/**
 * Days from the date of a word to today. A weekday is its most recent occurrence.
 * @param hasPassed whether the time of day has already passed today
 */
function daysSince(word: string, today: CalendarDay, hasPassed: boolean): number | null {
  if (word === "today") return 0;
  if (word === "yesterday") return 1;
  const [, last, name = ""] = /^(last )?([a-z]{3,})$/.exec(word) ?? [];
  const named = name === "" ? -1 : WEEKDAYS.findIndex((each) => each === name || each.slice(0, 3) === name);
  if (named < 0) return null;
  const days = (new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() - named + 7) % 7;
  return days === 0 && (last !== undefined || !hasPassed) ? 7 : days;
}

function instantsShowing(clock: WallClock, timeZone: string, fractionMs: number): Said {
  const { year, month, day, hour, minute, second } = clock;
  const isReal = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  if (!isReal || year < 1_000 || hour > 23 || minute > 59 || second > 59) return { type: "unreadable" };
  const instants = instantsOf(clock, timeZone).map((ms) => ms + fractionMs);
  const [first, ...more] = instants;
  if (first === undefined) return { type: "leftOut", instead: instantInstead(clock, timeZone) + fractionMs };
  return more.length > 0 ? { type: "twice", instants } : { type: "instant", ms: first };
}

function firstOf(said: Said): number | null {
  if (said.type === "instant") return said.ms;
  if (said.type === "twice") return said.instants[0] ?? null;
  return said.type === "leftOut" ? said.instead : null;
}

type CalendarDay = Pick<WallClock, "year" | "month" | "day">;

function daysBefore({ year, month, day }: CalendarDay, days: number): CalendarDay {
  const before = new Date(Date.UTC(year, month - 1, day - days));
  return { year: before.getUTCFullYear(), month: before.getUTCMonth() + 1, day: before.getUTCDate() };
}
