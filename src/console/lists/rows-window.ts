// Selects the rows of a long list to render, and the windows to request. Pure.

/** Rows per window. */
export const WINDOW_ROWS = 50;

/** Extra rows above and below the visible ones, so that a wheel step shows no gap. */
const SPARE_ROWS = 12;

/** Half-open range: `end` is exclusive. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** Rows to render. @param scrolled scroll offset in pixels @param height height of the visible area in pixels */
export function rowsToRender(scrolled: number, height: number, rowHeight: number, count: number): RowRange {
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

/** Scroll position, its time, and the scroll speed. */
export interface ScrollPace {
  /** Number of rows above the visible area. */
  readonly row: number;
  readonly ms: number;
  /** Rows per second; negative upwards. */
  readonly speed: number;
}

/** Longer gaps between scroll events are pauses. */
const PAUSE_MS = 100;
/** Shorter gaps mean that events belong to the same frame. */
const STEP_MIN_MS = 8;

/** Updates the pace after a scroll event. @param ms time of the event, on the same clock as `last` */
export function nextPace(last: ScrollPace, row: number, ms: number): ScrollPace {
  const elapsed = ms - last.ms;
  const speed = ((row - last.row) * 1_000) / Math.min(PAUSE_MS, Math.max(STEP_MIN_MS, elapsed));
  // Smooths uneven wheel steps; a pause or a change of direction starts over.
  const isContinuing = elapsed < PAUSE_MS && speed * last.speed > 0;
  return { row, ms, speed: isContinuing ? (speed + last.speed) / 2 : speed };
}

/** Read-ahead time, which covers a response even from a busy server. */
const AHEAD_SECONDS = 0.3;
/** Faster scrolling passes anything read ahead, so only visible rows are requested. */
const AHEAD_MAX_ROWS = 600;
/** Maximum windows per request, and minimum for a request that only reads ahead. */
const REQUEST_WINDOWS_MAX = 4;
const READ_AHEAD_WINDOWS_MIN = 2;

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
  rendered: RowRange,
  speed: number,
  count: number,
  isKnown: (window: number) => boolean,
): WindowRun | null {
  const needed = windowsOf(withReadAhead(rendered, speed, count));
  const ordered = speed < 0 ? needed.toReversed() : needed;
  const start = ordered.findIndex((window) => !isKnown(window));
  if (start < 0) return null;
  const missing = ordered.slice(start, start + REQUEST_WINDOWS_MAX);
  const firstKnown = missing.findIndex(isKnown);
  const run = firstKnown < 0 ? missing : missing.slice(0, firstKnown);
  const isVisible = run.some(
    (window) => window * WINDOW_ROWS < rendered.end && (window + 1) * WINDOW_ROWS > rendered.first,
  );
  const isLast = run.includes(0) || run.includes(Math.ceil(count / WINDOW_ROWS) - 1);
  if (!isVisible && !isLast && run.length < READ_AHEAD_WINDOWS_MIN) return null;
  return { first: Math.min(...run), windows: run.length };
}

function withReadAhead({ first, end }: RowRange, speed: number, count: number): RowRange {
  const rows = Math.abs(speed) * AHEAD_SECONDS;
  if (speed === 0 || rows > AHEAD_MAX_ROWS) return { first, end };
  const ahead = Math.ceil(Math.max(READ_AHEAD_WINDOWS_MIN * WINDOW_ROWS, rows));
  return speed < 0 ? { first: Math.max(0, first - ahead), end } : { first, end: Math.min(count, end + ahead) };
}

/** Maximum number of cached windows: about ten megabytes of the largest rows. */
export const CACHED_WINDOWS = 200;

/** Windows to drop from the cache: those above the limit, farthest from the visible rows. */
export function windowsToDrop(known: Iterable<number>, rendered: RowRange): number[] {
  const middle = (rendered.first + rendered.end) / 2 / WINDOW_ROWS - 0.5;
  return [...known].toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(CACHED_WINDOWS);
}

/** Scroll position that makes a row fully visible; null if it already is. */
export function scrollTo(row: number, scrolled: number, height: number, rowHeight: number): number | null {
  const top = row * rowHeight;
  if (top < scrolled) return top;
  return top + rowHeight > scrolled + height ? top + rowHeight - height : null;
}
