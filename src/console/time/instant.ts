// Instants as people write and read them. Plain functions: the zone and the time it is are handed in.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** RFC 3339 with an offset. @returns milliseconds since 1970; null for anything else */
export function parseInstant(text: string): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match;
  // Browsers take the 30th of February for the 2nd of March.
  if (Number(day) > daysOf(Number(year), Number(month))) return null;
  const milliseconds = Date.parse(text.replace(" ", "T"));
  return Number.isNaN(milliseconds) ? null : milliseconds;
}

/** How many days a month has. @param month from 1 */
export function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** As the API writes it: UTC, to the millisecond. @param milliseconds since 1970 */
export function formatUtc(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** As an address has it: the same, without fractions that say nothing. */
export function addressInstant(milliseconds: number): string {
  return formatUtc(milliseconds).replace(".000Z", "Z");
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("en-GB", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
    });
  formats.set(timeZone, format);
  return format;
}

/** The fields of a wall clock. */
export interface WallClock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** What the clocks of a zone show at an instant. */
export function wallClockOf(milliseconds: number, timeZone: string): WallClock {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(milliseconds)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hour, minute, second };
}

/** How far a zone's clocks are ahead of UTC at an instant, in milliseconds. */
export function offsetAt(milliseconds: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = wallClockOf(milliseconds, timeZone);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(milliseconds / SECOND) * SECOND;
}

/**
 * The instants at which a zone's clocks show this: one as a rule, two in the hour that is doubled when summer time ends,
 * none in the hour that is left out when it begins. In order.
 */
export function instantsOf(clock: WallClock, timeZone: string): number[] {
  const local = asIfUtc(clock);
  const offsets = new Set([local - DAY, local + DAY].map((near) => offsetAt(near, timeZone)));
  return [...offsets]
    .map((offset) => local - offset)
    .filter((instant) => instant + offsetAt(instant, timeZone) === local)
    .sort((a, b) => a - b);
}

/** Whether a zone's clocks show at an instant what they show at another one as well. */
export function isDoubled(milliseconds: number, timeZone: string): boolean {
  return instantsOf(wallClockOf(milliseconds, timeZone), timeZone).length > 1;
}

/**
 * For a time that a zone's clocks left out: the instant at which they would have shown it, had they not been put
 * forward. They showed as much more.
 */
export function instantInstead(clock: WallClock, timeZone: string): number {
  const local = asIfUtc(clock);
  return local - offsetAt(local - DAY, timeZone);
}

function asIfUtc({ year, month, day, hour, minute, second }: WallClock): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const two = (value: number) => String(value).padStart(2, "0");

/**
 * `2026-03-01 03:12:09`, as the clocks of a zone show it.
 * @param precision how much of it: minutes where seconds say nothing
 */
export function formatLocal(
  milliseconds: number,
  timeZone: string,
  precision: "day" | "minute" | "second" | "millisecond" = "second",
): string {
  const { year, month, day, hour, minute, second } = wallClockOf(milliseconds, timeZone);
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  if (precision === "day") return date;
  const upToMinute = `${date} ${two(hour)}:${two(minute)}`;
  if (precision === "minute") return upToMinute;
  const upToSecond = `${upToMinute}:${two(second)}`;
  if (precision === "second") return upToSecond;
  return `${upToSecond}.${String(((milliseconds % SECOND) + SECOND) % SECOND).padStart(3, "0")}`;
}

/**
 * `28 hours ago`, `in 5 minutes`; in the largest unit that gives at least two, so that it is exact enough. `now` where
 * that is less than a second: clocks of two machines differ by more.
 */
export function formatAge(milliseconds: number, nowMs: number): string {
  const difference = milliseconds - nowMs;
  const size = Math.abs(difference);
  if (size < SECOND) return "now";
  const units: [Intl.RelativeTimeFormatUnit, number][] = [
    ["year", 365.25 * DAY],
    ["month", 30.44 * DAY],
    ["day", DAY],
    ["hour", HOUR],
    ["minute", MINUTE],
  ];
  const [unit, length] = units.find(([, each]) => size >= 2 * each) ?? ["second", SECOND];
  return new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(Math.round(difference / length), unit);
}

/** `3 d 4 h`, `12 min`, `45 s`: the two largest units of a length of time. */
export function formatDuration(milliseconds: number): string {
  const units: [string, number][] = [
    ["d", DAY],
    ["h", HOUR],
    ["min", MINUTE],
    ["s", SECOND],
  ];
  let rest = Math.max(0, milliseconds);
  const parts: string[] = [];
  for (const [name, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0 || parts.length > 0) parts.push(`${count} ${name}`);
    if (parts.length === 2) break;
  }
  return parts.filter((part, position) => position === 0 || !part.startsWith("0 ")).join(" ") || "0 s";
}
