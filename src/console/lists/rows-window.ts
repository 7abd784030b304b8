// Rows of a long list to render, and windows to request. Pure.

/** Rows per window. */
export const WINDOW_ROWS = 50;

/** Extra rows above and below the visible ones, so that a wheel step shows no gap. */
const SPARE_ROWS = 12;

/** Half-open: `end` is exclusive. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Rows to render.
 * @param scrolled in pixels
 * @param height of the visible area, in pixels
 */
export function rowsToDraw(scrolled: number, height: number, rowHeight: number, count: number): RowRange {
  const first = Math.max(0, Math.floor(scrolled / rowHeight) - SPARE_ROWS);
  const end = Math.min(count, Math.ceil((scrolled + height) / rowHeight) + SPARE_ROWS);
  return { first: Math.min(first, Math.max(0, end - 1)), end };
}

/** Numbers of the windows that contain the rows, in order. */
export function windowsOf({ first, end }: RowRange): number[] {
  if (end <= first) return [];
  const numbers: number[] = [];
  for (let number = Math.floor(first / WINDOW_ROWS); number * WINDOW_ROWS < end; number += 1) numbers.push(number);
  return numbers;
}

/** Last scroll position, its time, and the speed. */
export interface ScrollPace {
  /** Number of rows above the visible area. */
  readonly row: number;
  readonly ms: number;
  /** Rows per second; negative upwards. */
  readonly speed: number;
}

/** Longer gaps are pauses and say nothing about the speed. */
const PAUSE_MS = 100;
/** Shorter gaps are events of the same frame. */
const STEP_MIN_MS = 8;

/** @param ms time of the scroll event, on the clock of `last` */
export function paceAfter(last: ScrollPace, row: number, ms: number): ScrollPace {
  const gone = ms - last.ms;
  const speed = ((row - last.row) * 1_000) / Math.min(PAUSE_MS, Math.max(STEP_MIN_MS, gone));
  // Averages uneven wheel steps; a pause or change of direction starts over.
  const isGoingOn = gone < PAUSE_MS && speed * last.speed > 0;
  return { row, ms, speed: isGoingOn ? (speed + last.speed) / 2 : speed };
}

/** Read-ahead time: covers a response, even from a busy server. */
const AHEAD_SECONDS = 0.3;
/** Faster scrolling passes anything read ahead, so only visible rows are requested. */
const AHEAD_MAX_ROWS = 600;
/** Most windows per request, and fewest for a request that only reads ahead. */
const WINDOWS_OF_ONE = 4;
const WINDOWS_AHEAD = 2;

/** Adjacent windows, read in one request. */
export interface WindowRun {
  readonly first: number;
  readonly windows: number;
}

/**
 * Next windows to request: visible rows first, then rows in the direction of scrolling.
 * @param speed rows per second; negative upwards
 * @param isKnown whether a window is loaded or loading
 * @returns null if none is missing
 */
export function nextRun(
  drawn: RowRange,
  speed: number,
  count: number,
  isKnown: (window: number) => boolean,
): WindowRun | null {
  const wanted = windowsOf(withAhead(drawn, speed, count));
  const along = speed < 0 ? wanted.toReversed() : wanted;
  const start = along.findIndex((window) => !isKnown(window));
  if (start < 0) return null;
  const missing = along.slice(start, start + WINDOWS_OF_ONE);
  const known = missing.findIndex(isKnown);
  const run = known < 0 ? missing : missing.slice(0, known);
  const isDrawn = run.some((window) => window * WINDOW_ROWS < drawn.end && (window + 1) * WINDOW_ROWS > drawn.first);
  const isLast = run.includes(0) || run.includes(Math.ceil(count / WINDOW_ROWS) - 1);
  if (!isDrawn && !isLast && run.length < WINDOWS_AHEAD) return null;
  return { first: Math.min(...run), windows: run.length };
}

function withAhead({ first, end }: RowRange, speed: number, count: number): RowRange {
  const rows = Math.abs(speed) * AHEAD_SECONDS;
  if (speed === 0 || rows > AHEAD_MAX_ROWS) return { first, end };
  const ahead = Math.ceil(Math.max(WINDOWS_AHEAD * WINDOW_ROWS, rows));
  return speed < 0 ? { first: Math.max(0, first - ahead), end } : { first, end: Math.min(count, end + ahead) };
}

/** Most windows to keep: about ten megabytes of the largest rows. */
export const KEPT_WINDOWS = 200;

/** Windows to drop above the limit, farthest from the rows in view first. */
export function windowsToForget(known: Iterable<number>, drawn: RowRange): number[] {
  const middle = (drawn.first + drawn.end) / 2 / WINDOW_ROWS - 0.5;
  return [...known].toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(KEPT_WINDOWS);
}

/** Scroll position that makes a row fully visible; null if it is. */
export function scrollTo(row: number, scrolled: number, height: number, rowHeight: number): number | null {
  const top = row * rowHeight;
  if (top < scrolled) return top;
  return top + rowHeight > scrolled + height ? top + rowHeight - height : null;
}
