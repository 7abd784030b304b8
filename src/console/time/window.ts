// The stretch of time that the time bar shows: its ranges, and where in it an instant stands. Plain functions.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A stretch of time in equal parts, in milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
}

/** What can be chosen, with the parts that the histogram counts by. */
export const RANGES = {
  hour: { lengthMs: HOUR, bucketMs: MINUTE / 2 },
  day: { lengthMs: DAY, bucketMs: 10 * MINUTE },
  week: { lengthMs: 7 * DAY, bucketMs: HOUR },
  month: { lengthMs: 30 * DAY, bucketMs: 4 * HOUR },
} as const;

export type RangeName = keyof typeof RANGES;

/** Parts of a stretch that no range has. */
export const PARTS_OF_ANY = 180;

/** A range that ends where a part ends, at or after an instant: the parts stay the same ones while time passes. */
export function windowEnding(range: RangeName, endMs: number): TimeWindow {
  const { lengthMs, bucketMs } = RANGES[range];
  const to = Math.ceil(endMs / bucketMs) * bucketMs;
  return { from: to - lengthMs, to, bucketMs };
}

/** Any stretch; at least a millisecond of it for each part. */
export function windowBetween(from: number, to: number): TimeWindow {
  const end = Math.max(to, from + PARTS_OF_ANY);
  return { from, to: end, bucketMs: (end - from) / PARTS_OF_ANY };
}

/** Where an instant stands, 0 for the beginning and 1 for the end; beyond them, outside. */
export function placeOf(ms: number, { from, to }: TimeWindow): number {
  return (ms - from) / (to - from);
}

/** Whether it stands within. */
export function isWithin(ms: number, { from, to }: TimeWindow): boolean {
  return ms >= from && ms <= to;
}

const ROUND_STEPS = [10, 100, 1_000, 10_000, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR];

/**
 * The instant at a place, as round as the width allows: no two pixels are the same.
 * @param place from 0 to 1; what is beyond counts as the end
 * @param widthPx of the whole window
 */
export function instantAt(place: number, { from, to }: TimeWindow, widthPx: number): number {
  const exact = from + Math.min(1, Math.max(0, place)) * (to - from);
  const pixelMs = (to - from) / Math.max(1, widthPx);
  const step = ROUND_STEPS.findLast((each) => each <= pixelMs) ?? 1;
  return Math.min(to, Math.max(Math.ceil(from), Math.round(exact / step) * step));
}

/**
 * The outline of a histogram as the path of an SVG, 1,000 wide and 100 high. Heights are logarithmic: one change is seen
 * beside a scan that made ten thousand.
 */
export function histogramPath(parts: readonly HistogramPart[], window: TimeWindow): string {
  const most = Math.max(1, ...parts.map(({ total }) => total));
  const path: string[] = [];
  for (const { fromMs, toMs, total } of parts) {
    const [left, right] = [fromMs, toMs].map((ms) => Math.min(1_000, Math.max(0, placeOf(ms, window) * 1_000)));
    if (total === 0 || left === undefined || right === undefined || right <= left) continue;
    const height = MIN_HEIGHT + (100 - MIN_HEIGHT) * (Math.log1p(total) / Math.log1p(most));
    path.push(`M${round(left)} 100V${round(100 - height)}H${round(Math.max(right, left + 1))}V100Z`);
  }
  return path.join("");
}

interface HistogramPart {
  readonly fromMs: number;
  readonly toMs: number;
  readonly total: number;
}

const MIN_HEIGHT = 12;

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
