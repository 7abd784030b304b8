// Which stretch of time the bar shows. It is the reader's, not the page's: the browser remembers the range, and the
// address does not have it.

import { computed, signal } from "@preact/signals";
import { atMs } from "../time/at.ts";
import { exactNow, now } from "../time/clock.ts";
import { isWithin, RANGES, type RangeName, type TimeWindow, windowBetween, windowEnding } from "../time/window.ts";
import { keep, kept } from "../url/kept.ts";

const NAME = "time-range";
/** For whoever has not chosen. */
export const FIRST_RANGE = "week";

/** What one can choose. */
export type RangeChoice = RangeName | "all" | "custom";

/** What is chosen. */
export const range = signal<RangeChoice>(initial());

/** Everything that there is, as the histogram was last told; for `all`. */
export const wholeWindow = signal<TimeWindow | null>(null);

/** Where the window ends; null where it ends now and goes with it. */
const endMs = signal<number | null>(null);
const chosen = signal<{ readonly from: number; readonly to: number } | null>(null);

/** To the end of a part, so that it changes as seldom as what is shown. */
const shownEnd = computed(() => {
  if (range.value === "all" || range.value === "custom") return 0;
  return windowEnding(range.value, endMs.value ?? now.value).to;
});

/** What the bar shows; null for `all` that is not known yet. */
export const shownWindow = computed<TimeWindow | null>(() => {
  if (range.value === "all") return wholeWindow.value;
  if (range.value !== "custom") return windowEnding(range.value, shownEnd.value);
  return chosen.value === null ? null : windowBetween(chosen.value.from, chosen.value.to);
});

export function chooseRange(choice: Exclude<RangeChoice, "custom">): void {
  // Until it is told how much that is, what is shown stays.
  wholeWindow.value = shownWindow.peek();
  range.value = choice;
  keep(NAME, choice);
  endMs.value = null;
  keepInView(atMs.peek());
}

/** Any stretch, until another range is chosen or the page is left. */
export function chooseBetween(from: number, to: number): void {
  chosen.value = { from, to };
  range.value = "custom";
}

/** Moves by most of what is shown. @param direction -1 for earlier, 1 for later */
export function moveWindow(direction: -1 | 1): void {
  const window = shownWindow.peek();
  if (window === null || range.peek() === "all") return;
  const by = (window.to - window.from) * MOST_OF_IT * direction;
  if (range.peek() === "custom") chooseBetween(window.from + by, window.to + by);
  else endMs.value = window.to + by >= exactNow() ? null : window.to + by;
}

/** Moves where the instant would not be seen; to the middle. @param ms null for now */
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
