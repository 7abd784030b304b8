// Where something has been, as a strip and as rows: the intervals of a timeline with the gaps between them. Plain
// functions.

import type { components } from "#api";
import { addressInstant, parseInstant } from "../time/instant.ts";

export type Interval = components["schemas"]["LocationInterval"];

const DAY = 86_400_000;
const SPAN = 30 * DAY;
/** How many looks a piece of the strip can have. */
export const TONES = 4;

/** Known, but not where. */
export const UNPLACED = -2;
/** Nothing is known. */
const GAP = -1;

/** What is asked of the timeline; times in milliseconds since 1970. */
export interface Span {
  /** Null for the beginning of the ledger. */
  readonly from: number | null;
  readonly to: number;
  readonly query: { readonly from?: string; readonly to?: string };
}

/** Clocks of two machines differ: what begins so near to the beginning of what was asked for is cut off by it. */
const CLOCKS_MS = 60_000;

/** Whether a stay began before what was asked for, which is all that is known of its beginning. */
export function isCutOff({ from }: Pick<Stay, "from">, span: Pick<Span, "from">): boolean {
  return span.from !== null && from <= span.from + CLOCKS_MS;
}

/**
 * The month before now. An instant before the middle of it stands in the middle of a month of its own, whose ends move
 * by days: stepping through time asks for another one rarely.
 */
export function spanAround(atMs: number | null, nowMs: number, isAll: boolean): Span {
  if (isAll) return { from: null, to: nowMs, query: {} };
  if (atMs === null || atMs >= nowMs - SPAN / 2) return { from: nowMs - SPAN, to: nowMs, query: { from: "-30d" } };
  const from = Math.floor((atMs - SPAN / 2) / DAY) * DAY;
  const to = Math.min(from + SPAN, nowMs);
  return { from, to, query: { from: addressInstant(from), to: addressInstant(to) } };
}

/** A stretch of time in which it was in one place; or in which nothing was known of it. */
export interface Stay {
  readonly interval: Interval | null;
  readonly from: number;
  /** Where the strip ends, for one that still holds. */
  readonly to: number;
  readonly holds: boolean;
  /** The same for the same port; UNPLACED and GAP where there is none. */
  readonly tone: number;
}

/** In order, gaps between intervals included. */
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

/** The stay of an instant; now is in the one that holds. */
export function isAtInstant({ from, to, holds }: Stay, atMs: number | null): boolean {
  return atMs === null ? holds : from <= atMs && (atMs < to || holds);
}
