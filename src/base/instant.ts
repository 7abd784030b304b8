// Timestamps and their wire format (RFC 3339). Does not read the clock; see clock.ts.

import { ownValue } from "./fields.ts";

/** Milliseconds since 1970-01-01T00:00:00Z without leap seconds, an integer; may be negative. */
export type Instant = number;

/** 0000-01-01T00:00:00.000Z: the earliest timestamp in RFC 3339. */
export const EARLIEST_INSTANT: Instant = utc(0, 1, 1, 0, 0, 0);

/** 9999-12-31T23:59:59.999Z: the latest timestamp in RFC 3339. */
export const LATEST_INSTANT: Instant = utc(10_000, 1, 1, 0, 0, 0) - 1;

/**
 * RFC 3339 in UTC with exactly three fraction digits: `2026-11-21T09:15:00.123Z`. Text order is time order. Throws
 * RangeError outside the years 0000–9999, which this form cannot express.
 */
export function formatInstant(instant: Instant): string {
  if (!(instant >= EARLIEST_INSTANT && instant <= LATEST_INSTANT)) {
    throw new RangeError(`${instant} is not a timestamp of the years 0000 to 9999`);
  }
  return new Date(instant).toISOString();
}

/**
 * Parses an RFC 3339 §5.6 date-time: any offset, any number of fraction digits (truncated to milliseconds), `t` and `z`
 * in either case. Null for anything else: other ISO 8601 forms, days that the month does not have, hour 24, timestamps
 * outside the years 0000–9999 UTC. Second 60 is accepted only in the last UTC minute of a June or a December (§5.7) and
 * means the following second, since an Instant cannot express it.
 */
export function parseInstant(text: string): Instant | null {
  const match = DATE_TIME.exec(text);
  if (!match) return null;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const [offsetHour, offsetMinute] = [part(9), part(10)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return null;

  const offsetMs = (match[8] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60_000;
  const wholeSeconds = utc(year, month, day, hour, minute, second) - offsetMs;
  if (second === 60 && !followsLeapSecond(wholeSeconds)) return null;
  const instant = wholeSeconds + Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  return instant >= EARLIEST_INSTANT && instant <= LATEST_INSTANT ? instant : null;
}

/**
 * Parses a timestamp like parseInstant, or one relative to `now`: `now` itself, or an age such as `-90s`, `-15m`,
 * `-24h`, `-7d`, `-2w`. A day has exactly 24 hours, and a week seven days. Null for anything else, and for ages that
 * reach back beyond the year 0000.
 */
export function parseInstantOrAge(text: string, now: Instant): Instant | null {
  if (text === "now") return now;
  const age = AGE.exec(text);
  if (age === null) return parseInstant(text);
  const instant = now - Number(age[1]) * (ownValue(UNIT_MS, age[2] as string) as number);
  return instant >= EARLIEST_INSTANT ? instant : null;
}

const AGE = /^-(\d{1,15})([smhdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i;

/** `Date.UTC` would read the years 0 to 99 as 1900 to 1999. */
function utc(year: number, month: number, day: number, hour: number, minute: number, second: number): Instant {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.setUTCHours(hour, minute, second);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Leap seconds are inserted before July 1 and January 1 UTC, regardless of the offset in the text. */
function followsLeapSecond(instant: Instant): boolean {
  const date = new Date(instant);
  const month = date.getUTCMonth();
  return (
    (month === 0 || month === 6) && date.getUTCDate() === 1 && date.getUTCHours() === 0 && date.getUTCMinutes() === 0
  );
}
