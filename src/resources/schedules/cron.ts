// Cron expressions: validation, and the next due time in a time zone with daylight saving. Reads no clock and runs
// nothing.

import { Cron } from "croner";
import type { Instant } from "../../base/instant.ts";

export const CRON_MAX_LENGTH = 255;
export const TIMEZONE_MAX_LENGTH = 100;

/**
 * Parses a cron expression: minute, hour, day of month, month, day of week, or a nickname such as `@daily` (`@hourly`,
 * `@midnight`, `@weekly`, `@monthly`, `@yearly`, `@annually`). Accepts names of months and days, lists, ranges, steps,
 * `L`, `W` and `#`.
 * @returns with single spaces, nicknames in lower case; null if invalid: fields for seconds or years, `?`, whose
 * meaning depends on the time it is read, and expressions that are never due, such as 30 February
 */
export function parseCron(text: string): string | null {
  if (text.length > CRON_MAX_LENGTH) return null;
  const expression = text.trim().split(/\s+/).join(" ");
  if (!CRON.test(expression)) return null;
  const canonical = expression.startsWith("@") ? expression.toLowerCase() : expression;
  try {
    return nextDue(canonical, "UTC", REFERENCE) === null ? null : canonical;
  } catch {
    return null;
  }
}

/**
 * Parses the name of a time zone in the IANA database, ignoring case.
 * @returns in the database's case; null if invalid, including offsets such as +02:00, which have no daylight saving
 */
export function parseTimezone(text: string): string | null {
  if (text.length > TIMEZONE_MAX_LENGTH || !ZONE.test(text)) return null;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions();
    // Some databases return an older alias; keep the requested name.
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text;
  } catch {
    return null;
  }
}

/**
 * The first due time after `after`; null for none. Fixed times of day run once per day: right after a spring gap that
 * skips them, and in the first of two repeated autumn hours. Intervals (`*` or a step in minute or hour) do not run in
 * a gap, and run in both repeated hours.
 * @param cron from parseCron
 * @param timezone from parseTimezone
 * @throws Error for any other value
 */
export function nextDue(cron: string, timezone: string, after: Instant): Instant | null {
  return (
    new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" }).nextRun(new Date(after))?.getTime() ??
    null
  );
}

/**
 * The next due times in ascending order, `count` at most.
 * @throws Error like nextDue
 */
export function nextDueTimes(cron: string, timezone: string, after: Instant, count: number): Instant[] {
  const dueTimes: Instant[] = [];
  for (let due = nextDue(cron, timezone, after); due !== null; due = nextDue(cron, timezone, due)) {
    dueTimes.push(due);
    if (dueTimes.length === count) break;
  }
  return dueTimes;
}

/** Five fields without `?`, or a nickname; croner validates their values. */
const CRON = /^(?:[^\s?@]+(?: [^\s?@]+){4}|@[a-z]+)$/i;
const ZONE = /^[a-z][\w+/-]*$/i;
/** 2000-01-01: every expression that is ever due is due after it. */
const REFERENCE = 946_684_800_000;
