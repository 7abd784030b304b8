// Window of the time bar. A preference of the reader, not of the page: the range is stored in the browser, not in the
// address.

import { computed, signal } from "@preact/signals";
import { atMs } from "../time/at.ts";
import { exactNow, now } from "../time/clock.ts";
import { isWithin, RANGES, type RangeName, type TimeWindow, windowBetween, windowEnding } from "../time/window.ts";
import { keep, kept } from "../url/kept.ts";

const NAME = "time-range";
/** Default range. */
export const FIRST_RANGE = "week";

/** Selectable ranges. */
export type RangeChoice = RangeName | "all" | "custom";

/** Selected range. */
export const range = signal<RangeChoice>(initial());

/** Full extent of the data, from the last histogram; for `all`. */
export const wholeWindow = signal<TimeWindow | null>(null);

/** End of the window; null for a window that follows now. */
const endMs = signal<number | null>(null);
const chosen = signal<{ readonly from: number; readonly to: number } | null>(null);

/** Rounded up to a bucket boundary, so that it changes only with the shown window. */
const shownEnd = computed(() => {
  if (range.value === "all" || range.value === "custom") return 0;
  return windowEnding(range.value, endMs.value ?? now.value).to;
});

/** Shown window; null while `all` is loading. */
export const shownWindow = computed<TimeWindow | null>(() => {
  if (range.value === "all") return wholeWindow.value;
  if (range.value !== "custom") return windowEnding(range.value, shownEnd.value);
  return chosen.value === null ? null : windowBetween(chosen.value.from, chosen.value.to);
});

export function chooseRange(choice: Exclude<RangeChoice, "custom">): void {
  // Keeps the current window until the full extent is known.
  wholeWindow.value = shownWindow.peek();
  range.value = choice;
  keep(NAME, choice);
  endMs.value = null;
  keepInView(atMs.peek());
}

/** Custom range, until another range is selected or the page is left. */
export function chooseBetween(from: number, to: number): void {
  chosen.value = { from, to };
  range.value = "custom";
}

/** Moves by most of the window. @param direction -1 for earlier, 1 for later */
export function moveWindow(direction: -1 | 1): void {
  const window = shownWindow.peek();
  if (window === null || range.peek() === "all") return;
  const by = (window.to - window.from) * MOST_OF_IT * direction;
  if (range.peek() === "custom") chooseBetween(window.from + by, window.to + by);
  else endMs.value = window.to + by >= exactNow() ? null : window.to + by;
}

/** Centers the window on an instant outside of it. @param ms null for now */
export function keepInView(ms: number | null): void {
  const choice = range.peek();
  if (choice === "all" || choice === "custom") return;
  if (ms === null) {
    endMs.value = null;
    return;
  }
  const window = shownWindow.peek();
  if (window !== null && isWithin(ms, window)) return;
  const end = ms + RANGES[choice].lengthMs / 2;
  endMs.value = end >= exactNow() ? null : end;
}

const MOST_OF_IT = 0.75;

function initial(): RangeChoice {
  const last = kept(NAME);
  return last === "all" || (last !== null && Object.hasOwn(RANGES, last)) ? (last as RangeChoice) : FIRST_RANGE;
}
