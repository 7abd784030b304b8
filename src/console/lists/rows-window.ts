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

/** Where to scroll so that a row is wholly seen; null where it is. */
export function scrollTo(row: number, scrolled: number, height: number, rowHeight: number): number | null {
  const top = row * rowHeight;
  if (top < scrolled) return top;
  return top + rowHeight > scrolled + height ? top + rowHeight - height : null;
}
