// Time bar window. Its range is a user preference, stored in the browser.

import { computed, signal } from "@preact/signals";
import { atMs } from "../time/at.ts";
import { exactNow, now } from "../time/clock.ts";
import { isWithin, RANGES, type RangeName, type TimeWindow, windowBetween, windowEnding } from "../time/window.ts";
import { readStored, writeStored } from "../url/local-storage.ts";

const NAME = "time-range";
/** Default range. */
export const DEFAULT_RANGE = "week";

/** Selectable ranges. */
export type RangeChoice = RangeName | "all" | "custom";

/** Selected range. */
export const range = signal<RangeChoice>(initial());

/** Full extent of the data, from the last histogram; for `all`. */
export const fullWindow = signal<TimeWindow | null>(null);

/** End of the window; null if the window follows the current time. */
const endMs = signal<number | null>(null);
const customRange = signal<{ readonly from: number; readonly to: number } | null>(null);

/** Rounded up to a bucket boundary, so that it changes only when the shown window does. */
const shownEnd = computed(() => {
  if (range.value === "all" || range.value === "custom") return 0;
  return windowEnding(range.value, endMs.value ?? now.value).to;
});

/** Shown window; null while `all` is loading. */
export const shownWindow = computed<TimeWindow | null>(() => {
  if (range.value === "all") return fullWindow.value;
  if (range.value !== "custom") return windowEnding(range.value, shownEnd.value);
  return customRange.value === null ? null : windowBetween(customRange.value.from, customRange.value.to);
});

export function chooseRange(choice: Exclude<RangeChoice, "custom">): void {
  // Keeps the current window until the full extent is known.
  fullWindow.value = shownWindow.peek();
  range.value = choice;
  writeStored(NAME, choice);
  endMs.value = null;
  keepInView(atMs.peek());
}

/** Custom range, until another range is selected or the page is left. */
export function chooseBetween(from: number, to: number): void {
  customRange.value = { from, to };
  range.value = "custom";
}

/** Pans by most of the window's length. @param direction -1 for earlier, 1 for later */
export function moveWindow(direction: -1 | 1): void {
  const window = shownWindow.peek();
  if (window === null || range.peek() === "all") return;
  const shiftMs = (window.to - window.from) * PAN_SHARE * direction;
  if (range.peek() === "custom") chooseBetween(window.from + shiftMs, window.to + shiftMs);
  else endMs.value = window.to + shiftMs >= exactNow() ? null : window.to + shiftMs;
}

/** Centers the window on a timestamp outside of it. @param ms null for now */
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

const PAN_SHARE = 0.75;

function initial(): RangeChoice {
  const stored = readStored(NAME);
  return stored === "all" || (stored !== null && Object.hasOwn(RANGES, stored))
    ? (stored as RangeChoice)
    : DEFAULT_RANGE;
}
