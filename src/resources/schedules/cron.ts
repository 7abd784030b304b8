// When a cron expression comes due: what is taken for one, and the next instant in a time zone, daylight saving
// included. Must not look at a clock, and must not run anything.

import { Cron } from "croner";
import type { Instant } from "../../base/instant.ts";

export const CRON_MAX_LENGTH = 255;
export const TIMEZONE_MAX_LENGTH = 100;

/**
 * Reads a cron expression: minute, hour, day of month, month, day of week, or one of `@hourly @daily @midnight @weekly
 * @monthly @yearly
 * @annually`. Names of months and days, lists, ranges, steps, `L`, `W` and `#` are understood.
 * @returns with single spaces, nicknames in lower case; null for anything else: a field of seconds or of years, `?`,
 * which would mean another time whenever it is read, and what never comes due, such as 30 February
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
 * Reads the name of a time zone in the IANA database, in any case.
 * @returns in the database's case; null for anything else, an offset such as +02:00 included: it knows no daylight
 * saving
 */
export function parseTimezone(text: string): string | null {
  if (text.length > TIMEZONE_MAX_LENGTH || !ZONE.test(text)) return null;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions();
    // Some databases give an older name for a zone: what it was called is kept.
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text;
  } catch {
    return null;
  }
}

/**
 * The first instant later than `after` at which the expression is due; null for none. What is to run at certain times
 * of the day runs once on every day: right after a spring gap that swallowed its time, and the first time round where
 * an autumn hour comes twice. What runs every so often (`*` or a step in minute or hour) has nothing to do in a gap,
 * and runs in both of the hours.
 * @param cron as parseCron gives it
 * @param timezone as parseTimezone gives it
 * @throws Error for what these do not give
 */
export function nextDue(cron: string, timezone: string, after: Instant): Instant | null {
  return (
    new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" }).nextRun(new Date(after))?.getTime() ??
    null
  );
}

/**
 * The next instants at which the expression is due, in their order: as many as there are, `count` at most.
 * @throws Error as nextDue
 */
export function nextDues(cron: string, timezone: string, after: Instant, count: number): Instant[] {
  const dues: Instant[] = [];
  for (let due = nextDue(cron, timezone, after); due !== null; due = nextDue(cron, timezone, due)) {
    dues.push(due);
    if (dues.length === count) break;
  }
  return dues;
}

/** Five fields without `?`, or a nickname; which of them mean something is croner's to say. */
const CRON = /^(?:[^\s?@]+(?: [^\s?@]+){4}|@[a-z]+)$/i;
const ZONE = /^[a-z][\w+/-]*$/i;
/** 2000-01-01: an expression that comes due at all does so after it. */
const REFERENCE = 946_684_800_000;
