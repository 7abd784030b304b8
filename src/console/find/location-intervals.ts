// Location history as used by the strip and the table: timeline intervals and the gaps between them. Pure.

import type { components } from "#api";
import { DAY_MS, parseInstant, urlTimestamp } from "../time/instant.ts";

export type Interval = components["schemas"]["LocationInterval"];

const SPAN_MS = 30 * DAY_MS;
/** Number of distinct styles of strip segments. */
export const TONES = 4;

/** Tone of a time with data but without a location. */
export const UNPLACED = -2;
/** Tone of a time without data. */
const GAP = -1;

/** Range of the timeline; times in milliseconds since 1970. */
export interface Span {
  /** Null for the start of the ledger. */
  readonly from: number | null;
  readonly to: number;
  readonly query: { readonly from?: string; readonly to?: string };
}

/** Tolerance for clock differences: a location that begins this close to the start of the range is cut off by it. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Whether a location began before the range, so that its actual start is unknown. */
export function isCutOff({ from }: Pick<LocationInterval, "from">, span: Pick<Span, "from">): boolean {
  return span.from !== null && from <= span.from + CLOCK_TOLERANCE_MS;
}

/** The month before now, or around an earlier timestamp, aligned to days so that steps rarely request a new range. */
export function spanAround(atMs: number | null, nowMs: number, isAll: boolean): Span {
  if (isAll) return { from: null, to: nowMs, query: {} };
  if (atMs === null || atMs >= nowMs - SPAN_MS / 2)
    return { from: nowMs - SPAN_MS, to: nowMs, query: { from: "-30d" } };
  const from = Math.floor((atMs - SPAN_MS / 2) / DAY_MS) * DAY_MS;
  const to = Math.min(from + SPAN_MS, nowMs);
  return { from, to, query: { from: urlTimestamp(from), to: urlTimestamp(to) } };
}

/** Time range at one location, or without data. */
export interface LocationInterval {
  readonly interval: Interval | null;
  readonly from: number;
  /** End of the strip for a current location. */
  readonly to: number;
  readonly isCurrent: boolean;
  /** Equal for the same port; UNPLACED or GAP without one. */
  readonly tone: number;
}

/** In order, including gaps between intervals. */
export function locationIntervalsOf(intervals: readonly Interval[], endMs: number): LocationInterval[] {
  const tones = new Map<string, number>();
  const locations: LocationInterval[] = [];
  for (const interval of intervals) {
    const from = parseInstant(interval.from) ?? 0;
    const to = interval.to === null ? Math.max(endMs, from) : (parseInstant(interval.to) ?? from);
    const last = locations.at(-1);
    if (last !== undefined && last.to < from)
      locations.push({ interval: null, from: last.to, to: from, isCurrent: false, tone: GAP });
    const location = `${interval.switch?.id} ${interval.port?.id}`;
    const tone = interval.switch === null ? UNPLACED : (tones.get(location) ?? tones.size % TONES);
    if (tone !== UNPLACED) tones.set(location, tone);
    locations.push({ interval, from, to, isCurrent: interval.to === null, tone });
  }
  const lastStay = locations.at(-1);
  if (lastStay !== undefined && !lastStay.isCurrent && lastStay.to < endMs)
    locations.push({ interval: null, from: lastStay.to, to: endMs, isCurrent: true, tone: GAP });
  return locations;
}

/** Whether a location contains the timestamp; now is in the current location. */
export function isAtInstant({ from, to, isCurrent }: LocationInterval, atMs: number | null): boolean {
  return atMs === null ? isCurrent : from <= atMs && (atMs < to || isCurrent);
}
