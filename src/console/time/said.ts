// What a person says of an instant: an age, a date, a time of day, a marker, or what the API writes. Plain functions: the
// zone and the time it is are handed in.

import { daysOf, instantInstead, instantsOf, parseInstant, type WallClock, wallClockOf } from "./instant.ts";

export type Said =
  | { readonly type: "now" }
  | { readonly type: "instant"; readonly ms: number }
  /** Clocks that were put back showed it twice. In order. */
  | { readonly type: "twice"; readonly instants: readonly number[] }
  /** Clocks that were put forward never showed it. `instead` is as much later as they were put forward. */
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
};
/** Before it, years do not have four digits. */
const EARLIEST = Date.parse("1000-01-01T00:00:00Z");

/**
 * Reads what was said: `now`; `-24h` and what the API takes as ages; RFC 3339; `2026-03-01`, `2026-03-01 03:12` and
 * `03:12:09`, `today 9:00`, `yesterday 14:00` by the clocks of the reader; `marker:NAME`. A time without a date is the
 * last one that has passed; a date without a time is its beginning.
 */
export function readSaid(text: string, { nowMs, timeZone }: SaidWhere): Said {
  const said = text.trim().replaceAll(/\s+/g, " ");
  if (/^now$/i.test(said)) return { type: "now" };
  const [, marker] = /^marker: ?(.+)$/i.exec(said) ?? [];
  if (marker !== undefined) return { type: "marker", name: marker };
  const [, count, unit = ""] = /^[-−] ?(\d{1,9}) ?([smhdw])$/.exec(said) ?? [];
  if (count !== undefined) {
    const ms = nowMs - Number(count) * (UNITS[unit] ?? 0);
    return ms < EARLIEST ? { type: "unreadable" } : { type: "instant", ms };
  }
  const instant = parseInstant(said);
  if (instant !== null) return { type: "instant", ms: instant };
  return readClock(said, { nowMs, timeZone });
}

const FORM = /^(?:(\d{4})-(\d\d)-(\d\d)|(today|yesterday))?(?:(?:^|[T ])(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?$/i;

function readClock(said: string, { nowMs, timeZone }: SaidWhere): Said {
  const match = said === "" ? null : FORM.exec(said);
  if (match === null) return { type: "unreadable" };
  const [, year, month, day, word, hour, minute, second, fraction] = match;
  const time = { hour: Number(hour ?? 0), minute: Number(minute ?? 0), second: Number(second ?? 0) };
  const today = wallClockOf(nowMs, timeZone);
  const fractionMs = Math.floor(Number(`0${fraction ?? ""}`) * SECOND);
  const told = (date: Pick<WallClock, "year" | "month" | "day">) =>
    instantsShowing({ ...date, ...time }, timeZone, fractionMs);
  if (year !== undefined) return told({ year: Number(year), month: Number(month), day: Number(day) });
  if (word?.toLowerCase() === "yesterday") return told(dayBefore(today));
  if (word !== undefined) return told(today);
  const ofToday = told(today);
  const first = firstOf(ofToday);
  return first !== null && first > nowMs ? told(dayBefore(today)) : ofToday;
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

function dayBefore({ year, month, day }: WallClock): Pick<WallClock, "year" | "month" | "day"> {
  const before = new Date(Date.UTC(year, month - 1, day - 1));
  return { year: before.getUTCFullYear(), month: before.getUTCMonth() + 1, day: before.getUTCDate() };
}
