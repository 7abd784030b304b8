// Parsing and formatting of instants. Pure: the zone and the current time are parameters.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** RFC 3339 with an offset. @returns milliseconds since 1970; null for anything else */
export function parseInstant(text: string): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match;
  // Browsers accept February 30 as March 2.
  if (Number(day) > daysOf(Number(year), Number(month))) return null;
  const milliseconds = Date.parse(text.replace(" ", "T"));
  return Number.isNaN(milliseconds) ? null : milliseconds;
}

/** Number of days in a month. @param month from 1 */
export function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** API format: UTC, to the millisecond. @param milliseconds since 1970 */
export function formatUtc(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Address format: like `formatUtc`, without zero milliseconds. */
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

/** Fields of a wall clock. */
export interface WallClock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Wall clock of a zone at an instant. */
export function wallClockOf(milliseconds: number, timeZone: string): WallClock {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(milliseconds)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hour, minute, second };
}

/** UTC offset of a zone at an instant, in milliseconds; positive east of UTC. */
export function offsetAt(milliseconds: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = wallClockOf(milliseconds, timeZone);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(milliseconds / SECOND) * SECOND;
}

/**
 * Instants of a wall-clock time in a zone, in order: usually one, two in the repeated hour at the end of summer time,
 * none in the hour skipped at its start.
 */
export function instantsOf(clock: WallClock, timeZone: string): number[] {
  const local = asIfUtc(clock);
  const offsets = new Set([local - DAY, local + DAY].map((near) => offsetAt(near, timeZone)));
  return [...offsets]
    .map((offset) => local - offset)
    .filter((instant) => instant + offsetAt(instant, timeZone) === local)
    .sort((a, b) => a - b);
}

/** Whether the local time of an instant occurs twice in the zone. */
export function isDoubled(milliseconds: number, timeZone: string): boolean {
  return instantsOf(wallClockOf(milliseconds, timeZone), timeZone).length > 1;
}

/**
 * Substitute for a local time skipped by the zone's clocks: the instant by the offset before the change. The clocks
 * then show a time later by the length of the gap.
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
 * Local time of a zone, as `2026-03-01 03:12:09`.
 * @param precision smallest field to write
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
 * Relative time, as `28 hours ago` or `in 5 minutes`, in the largest unit with a count of at least two, for precision.
 * `now` below a second: the clocks of two machines differ by more.
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

/** Duration in its two largest units: `3 d 4 h`, `12 min`, `45 s`. */
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
