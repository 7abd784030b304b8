// Parsing and formatting of timestamps. Pure: the zone and the current time are parameters.

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Default period of a history. */
export const MONTH_MS = 30 * DAY_MS;

/** Parses RFC 3339 with an offset. @returns milliseconds since 1970; null for anything else */
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

/** URL format: like `formatUtc`, without zero milliseconds. */
export function urlTimestamp(milliseconds: number): string {
  return formatUtc(milliseconds).replace(".000Z", "Z");
}

/** Last timestamp of an interval. @param end exclusive end, RFC 3339 */
export function instantBefore(end: string): string {
  return formatUtc((parseInstant(end) ?? 1) - 1);
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
export type WallClock = Readonly<Record<"year" | "month" | "day" | "hour" | "minute" | "second", number>>;

/** Wall clock of a zone at a timestamp. */
export function wallClockOf(milliseconds: number, timeZone: string): WallClock {
  const parts = formatOf(timeZone).formatToParts(milliseconds);
  const fields = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = fields;
  return { year, month, day, hour, minute, second };
}

/** UTC offset of a zone at a timestamp, in milliseconds; positive east of UTC. */
export function offsetAt(milliseconds: number, timeZone: string): number {
  return toUtc(wallClockOf(milliseconds, timeZone)) - Math.floor(milliseconds / SECOND_MS) * SECOND_MS;
}

/** Instants of a wall-clock time in a zone, in order: one, or two in a repeated hour, or none in a skipped one. */
export function instantsOf(clock: WallClock, timeZone: string): number[] {
  const local = toUtc(clock);
  const offsets = new Set([local - DAY_MS, local + DAY_MS].map((reference) => offsetAt(reference, timeZone)));
  return [...offsets]
    .map((offset) => local - offset)
    .filter((instant) => instant + offsetAt(instant, timeZone) === local)
    .sort((a, b) => a - b);
}

/** Whether the local time of a timestamp occurs twice in the zone. */
export function isAmbiguous(milliseconds: number, timeZone: string): boolean {
  return instantsOf(wallClockOf(milliseconds, timeZone), timeZone).length > 1;
}

/** Substitute for a skipped local time: uses the offset before the gap, so it is later by the length of the gap. */
export function substituteInstant(clock: WallClock, timeZone: string): number {
  const local = toUtc(clock);
  return local - offsetAt(local - DAY_MS, timeZone);
}

function toUtc({ year, month, day, hour, minute, second }: WallClock): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const twoDigits = (value: number) => String(value).padStart(2, "0");

/** Local time of a zone, as `2026-03-01 03:12:09`. @param precision smallest field to write */
export function formatLocal(
  milliseconds: number,
  timeZone: string,
  precision: "day" | "minute" | "second" | "millisecond" = "second",
): string {
  const { year, month, day, hour, minute, second } = wallClockOf(milliseconds, timeZone);
  const date = `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
  if (precision === "day") return date;
  const upToMinute = `${date} ${twoDigits(hour)}:${twoDigits(minute)}`;
  if (precision === "minute") return upToMinute;
  const upToSecond = `${upToMinute}:${twoDigits(second)}`;
  if (precision === "second") return upToSecond;
  return `${upToSecond}.${String(((milliseconds % SECOND_MS) + SECOND_MS) % SECOND_MS).padStart(3, "0")}`;
}

/** Relative time, as `28 hours ago`, in the largest unit with a count of at least two. `now` below a second. */
export function formatAge(milliseconds: number, nowMs: number): string {
  const difference = milliseconds - nowMs;
  const size = Math.abs(difference);
  if (size < SECOND_MS) return "now";
  const units: [Intl.RelativeTimeFormatUnit, number][] = [
    ["year", 365.25 * DAY_MS],
    ["month", 30.44 * DAY_MS],
    ["day", DAY_MS],
    ["hour", HOUR_MS],
    ["minute", MINUTE_MS],
  ];
  const [unit, length] = units.find(([, unitMs]) => size >= 2 * unitMs) ?? ["second", SECOND_MS];
  return new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(Math.round(difference / length), unit);
}

/** Duration in its two largest units: `3 d 4 h`, `12 min`, `45 s`. */
export function formatDuration(milliseconds: number): string {
  const units: [string, number][] = [
    ["d", DAY_MS],
    ["h", HOUR_MS],
    ["min", MINUTE_MS],
    ["s", SECOND_MS],
  ];
  let rest = Math.max(0, milliseconds);
  const parts: string[] = [];
  for (const [name, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0 || parts.length > 0) parts.push(`${count} ${name}`);
    if (parts.length === 2) break;
  }
  return parts.filter((part, index) => index === 0 || !part.startsWith("0 ")).join(" ") || "0 s";
}
