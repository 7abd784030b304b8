// Browser clock, corrected to match the appliance's. The only file of the console that reads the current time.

import { signal } from "@preact/signals";

/** Correction to add to the browser's clock, in milliseconds. */
let offsetMs = 0;

const SECOND_MS = 1_000;

/** Now, in epoch milliseconds, updated every second. For displayed ages. */
export const now = signal(exactNow());

/** Now, in epoch milliseconds, by the appliance's clock; by the browser's clock until the offset is known. */
export function exactNow(): number {
  return Date.now() + offsetMs;
}

/** @param date `Date` header of a response (RFC 9110 section 6.6.1), which has no fractions of a second */
export function syncClock(date: string | null): void {
  if (date === null) return;
  const serverMs = Date.parse(date);
  if (Number.isNaN(serverMs)) return;
  const difference = serverMs + SECOND_MS / 2 - Date.now();
  // Smaller differences are rounding and response latency.
  offsetMs = Math.abs(difference - offsetMs) > 2 * SECOND_MS ? difference : offsetMs;
}

/** Updates `now` every second while the page is visible. */
export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === "visible") now.value = exactNow();
  }, SECOND_MS);
  document.addEventListener("visibilitychange", () => {
    now.value = exactNow();
  });
}
