// Which rows of a long list are drawn, and which windows of it have to be asked for. Plain functions.

/** Rows that one request asks for. */
export const WINDOW_ROWS = 50;

/** Rows that are drawn above and below what is seen: a wheel's step shows no gap. */
const SPARE_ROWS = 12;

/** From `first` up to and without `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/**
 * The rows to draw.
 * @param scrolled how far, in pixels
 * @param height of what is seen, in pixels
 */
export function rowsToDraw(scrolled: number, height: number, rowHeight: number, count: number): RowRange {
  const first = Math.max(0, Math.floor(scrolled / rowHeight) - SPARE_ROWS);
  const end = Math.min(count, Math.ceil((scrolled + height) / rowHeight) + SPARE_ROWS);
  return { first: Math.min(first, Math.max(0, end - 1)), end };
}

/** The numbers of the windows that have those rows, in order. */
export function windowsOf({ first, end }: RowRange): number[] {
  if (end <= first) return [];
  const numbers: number[] = [];
  for (let number = Math.floor(first / WINDOW_ROWS); number * WINDOW_ROWS < end; number += 1) numbers.push(number);
  return numbers;
}

/** How one scrolls: where one was last, when, and how fast. */
export interface ScrollPace {
  /** How many rows are above what is seen. */
  readonly row: number;
  readonly ms: number;
  /** Rows in a second; less than 0 upwards. */
  readonly speed: number;
}

/** After a pause the next step tells nothing of how long it took. */
const PAUSE_MS = 100;
/** Two events of one frame. */
const STEP_MIN_MS = 8;

/** @param ms of the scrolling's event, on the clock of `last` */
export function paceAfter(last: ScrollPace, row: number, ms: number): ScrollPace {
  const gone = ms - last.ms;
  const speed = ((row - last.row) * 1_000) / Math.min(PAUSE_MS, Math.max(STEP_MIN_MS, gone));
  // The steps of a wheel are uneven; one who turns around or had stopped is not slowed down by what was.
  const isGoingOn = gone < PAUSE_MS && speed * last.speed > 0;
  return { row, ms, speed: isGoingOn ? (speed + last.speed) / 2 : speed };
}

/** Rows are read ahead for as long as it takes to answer, on a busy machine too. */
const AHEAD_SECONDS = 0.3;
/** One who is faster passes by whatever could be read ahead: only what is seen is asked for then. */
const AHEAD_MAX_ROWS = 600;
/** One request asks for so many neighbors at most, and for no fewer than that where none of them is drawn yet. */
const WINDOWS_OF_ONE = 4;
const WINDOWS_AHEAD = 2;

/** Windows beside each other, which one request asks for. */
export interface WindowRun {
  readonly first: number;
  readonly windows: number;
}

/**
 * What to ask for next: first of what is drawn, then of what comes next the way one scrolls.
 * @param speed rows in a second; less than 0 upwards
 * @param isKnown whether a window is there, or on its way
 * @returns null where nothing is missing
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

/** Rows that were read stay, up to so many: some ten megabytes of the largest. */
export const KEPT_WINDOWS = 200;

/** Which windows to forget so that no more are kept: those that are farthest from what is drawn. */
export function windowsToForget(known: Iterable<number>, drawn: RowRange): number[] {
  const middle = (drawn.first + drawn.end) / 2 / WINDOW_ROWS - 0.5;
  return [...known].toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(KEPT_WINDOWS);
}

/** Where to scroll so that a row is wholly seen; null where it is. */
export function scrollTo(row: number, scrolled: number, height: number, rowHeight: number): number | null {
  const top = row * rowHeight;
  if (top < scrolled) return top;
  return top + rowHeight > scrolled + height ? top + rowHeight - height : null;
}
