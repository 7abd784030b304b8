// Location history as strip and rows: timeline intervals and the gaps between them. Pure.

import type { components } from "#api";
import { addressInstant, parseInstant } from "../time/instant.ts";

export type Interval = components["schemas"]["LocationInterval"];

const DAY = 86_400_000;
const SPAN = 30 * DAY;
/** Number of distinct styles of strip segments. */
export const TONES = 4;

/** Known, but without a location. */
export const UNPLACED = -2;
/** No data. */
const GAP = -1;

/** Range of the timeline; times in milliseconds since 1970. */
export interface Span {
  /** Null for the start of the ledger. */
  readonly from: number | null;
  readonly to: number;
  readonly query: { readonly from?: string; readonly to?: string };
}

/** Tolerance for clock differences: a stay that begins this close to the start of the range is cut off by it. */
const CLOCKS_MS = 60_000;

/** Whether a stay began before the range, so that its actual start is unknown. */
export function isCutOff({ from }: Pick<Stay, "from">, span: Pick<Span, "from">): boolean {
  return span.from !== null && from <= span.from + CLOCKS_MS;
}

/**
 * The month before now. An earlier instant is centered in a month aligned to days, so that stepping through time rarely
 * requests a new range.
 */
export function spanAround(atMs: number | null, nowMs: number, isAll: boolean): Span {
  if (isAll) return { from: null, to: nowMs, query: {} };
  if (atMs === null || atMs >= nowMs - SPAN / 2) return { from: nowMs - SPAN, to: nowMs, query: { from: "-30d" } };
  const from = Math.floor((atMs - SPAN / 2) / DAY) * DAY;
  const to = Math.min(from + SPAN, nowMs);
  return { from, to, query: { from: addressInstant(from), to: addressInstant(to) } };
}

/** Time range at one location, or without data. */
export interface Stay {
  readonly interval: Interval | null;
  readonly from: number;
  /** End of the strip for a current stay. */
  readonly to: number;
  readonly holds: boolean;
  /** Equal for the same port; UNPLACED or GAP without one. */
  readonly tone: number;
}

/** In order, including gaps between intervals. */
export function staysOf(intervals: readonly Interval[], endMs: number): Stay[] {
  const tones = new Map<string, number>();
  const stays: Stay[] = [];
  for (const interval of intervals) {
    const from = parseInstant(interval.from) ?? 0;
    const to = interval.to === null ? Math.max(endMs, from) : (parseInstant(interval.to) ?? from);
    const last = stays.at(-1);
    if (last !== undefined && last.to < from)
      stays.push({ interval: null, from: last.to, to: from, holds: false, tone: GAP });
    const place = `${interval.switch?.id} ${interval.port?.id}`;
    const tone = interval.switch === null ? UNPLACED : (tones.get(place) ?? tones.size % TONES);
    if (tone !== UNPLACED) tones.set(place, tone);
    stays.push({ interval, from, to, holds: interval.to === null, tone });
  }
  const end = stays.at(-1);
  if (end !== undefined && !end.holds && end.to < endMs)
    stays.push({ interval: null, from: end.to, to: endMs, holds: true, tone: GAP });
  return stays;
}

/** Whether a stay contains the instant; now is in the current stay. */
export function isAtInstant({ from, to, holds }: Stay, atMs: number | null): boolean {
  return atMs === null ? holds : from <= atMs && (atMs < to || holds);
}
