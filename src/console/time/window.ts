// Time bar window: its ranges, and positions of timestamps in it. Pure.

import { DAY_MS, HOUR_MS, MINUTE_MS, MONTH_MS } from "./instant.ts";

/** Time range in equal buckets, in milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
}

/** Selectable ranges, with the bucket size of their histogram. */
export const RANGES = {
  hour: { lengthMs: HOUR_MS, bucketMs: MINUTE_MS / 2 },
  day: { lengthMs: DAY_MS, bucketMs: 10 * MINUTE_MS },
  week: { lengthMs: 7 * DAY_MS, bucketMs: HOUR_MS },
  month: { lengthMs: MONTH_MS, bucketMs: 4 * HOUR_MS },
} as const;

export type RangeName = keyof typeof RANGES;

/** Number of buckets of a custom range. */
export const CUSTOM_BUCKETS = 180;

/** Range that ends on a bucket boundary at or after a timestamp, so that its buckets stay fixed as time passes. */
export function windowEnding(range: RangeName, endMs: number): TimeWindow {
  const { lengthMs, bucketMs } = RANGES[range];
  const to = Math.ceil(endMs / bucketMs) * bucketMs;
  return { from: to - lengthMs, to, bucketMs };
}

/** Custom range, at least one millisecond per bucket. */
export function windowBetween(from: number, to: number): TimeWindow {
  const end = Math.max(to, from + CUSTOM_BUCKETS);
  return { from, to: end, bucketMs: (end - from) / CUSTOM_BUCKETS };
}

/** Position of a timestamp: 0 at the start of the window, 1 at its end; below 0 or above 1 outside the window. */
export function positionOf(ms: number, { from, to }: TimeWindow): number {
  return (ms - from) / (to - from);
}

/** Whether a timestamp is in the window, ends included. */
export function isWithin(ms: number, { from, to }: TimeWindow): boolean {
  return ms >= from && ms <= to;
}

const ROUND_STEPS = [10, 100, 1_000, 10_000, ...[1, 5, 15, 60, 180, 360].map((minutes) => minutes * MINUTE_MS)];

/**
 * Instant at a position, as round as the width allows: adjacent pixels yield different timestamps.
 * @param position clamped to 0…1
 * @param widthPx width of the whole window
 */
export function instantAt(position: number, { from, to }: TimeWindow, widthPx: number): number {
  const exact = from + Math.min(1, Math.max(0, position)) * (to - from);
  const pixelMs = (to - from) / Math.max(1, widthPx);
  const step = ROUND_STEPS.findLast((stepMs) => stepMs <= pixelMs) ?? 1;
  return Math.min(to, Math.max(Math.ceil(from), Math.round(exact / step) * step));
}

/** Histogram outline as an SVG path, 1,000 wide and 100 high. Logarithmic, so that a single change stays visible. */
export function histogramPath(parts: readonly HistogramPart[], window: TimeWindow): string {
  const maximum = Math.max(1, ...parts.map(({ total }) => total));
  const path: string[] = [];
  for (const { fromMs, toMs, total } of parts) {
    const [left, right] = [fromMs, toMs].map((ms) => Math.min(1_000, Math.max(0, positionOf(ms, window) * 1_000)));
    if (total === 0 || left === undefined || right === undefined || right <= left) continue;
    const height = MIN_HEIGHT + (100 - MIN_HEIGHT) * (Math.log1p(total) / Math.log1p(maximum));
    path.push(`M${round(left)} 100V${round(100 - height)}H${round(Math.max(right, left + 1))}V100Z`);
  }
  return path.join("");
}

export type HistogramPart = Readonly<Record<"fromMs" | "toMs" | "total", number>>;

const MIN_HEIGHT = 12;

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
