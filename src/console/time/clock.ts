// The browser's clock, corrected by the appliance's: "28 hours ago" is said by the clock that the history was written by.
// The only file of the console that asks what time it is.

import { signal } from "@preact/signals";

/** What has to be added to the browser's clock, in milliseconds. */
let offsetMs = 0;

const SECOND_MS = 1_000;

/** Now, in milliseconds since 1970, to the second: ages that are shown follow it. */
export const now = signal(exactNow());

/** Now, in milliseconds since 1970, by the appliance's clock as far as it is known. */
export function exactNow(): number {
  return Date.now() + offsetMs;
}

/** @param date the `Date` of an answer (RFC 9110 section 6.6.1), which has no fractions of a second */
export function learnClock(date: string | null): void {
  if (date === null) return;
  const told = Date.parse(date);
  if (Number.isNaN(told)) return;
  const difference = told + SECOND_MS / 2 - Date.now();
  // Less is rounding, and the way of an answer.
  offsetMs = Math.abs(difference - offsetMs) > 2 * SECOND_MS ? difference : offsetMs;
}

/** Keeps `now` going, while the page is seen. */
export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === "visible") now.value = exactNow();
  }, SECOND_MS);
  document.addEventListener("visibilitychange", () => {
    now.value = exactNow();
  });
}
