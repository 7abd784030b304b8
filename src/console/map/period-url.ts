// URL parameters of a map period (`from`, `to`), and steps between its changes.

import { at } from "../time/at.ts";
import { parseInstant, urlTimestamp } from "../time/instant.ts";
import { markerNameIn } from "../time/markers.ts";
import type { TimeWindow } from "../time/window.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { momentFrom, type Period, sideOf } from "./period.ts";

/** URL of the map over a time window; open-ended if the window reaches now. */
export function periodHref({ from, to }: TimeWindow, nowMs: number): string {
  return hrefHere({ from: urlTimestamp(from), to: to >= nowMs ? null : urlTimestamp(to), vs: null });
}

/** URL of the map at one timestamp. */
export function instantHref(): string {
  return hrefHere({ from: null, to: null, table: parameter("table") === "changes" ? null : undefined });
}

/** Replaces an age with its timestamp, so that the URL keeps its meaning. */
export function pinPeriod({ response }: Period): void {
  const changes: Record<string, string> = {};
  for (const name of ["from", "to"] as const) {
    const [given, resolved] = [parameter(name), response[name]];
    if (given === null || resolved == null || parseInstant(given) !== null || markerNameIn(given) !== null) continue;
    changes[name] = urlTimestamp(Date.parse(resolved));
  }
  if (Object.keys(changes).length > 0) go(hrefHere(changes), "replace");
}

/**
 * URL timestamp of the previous or next change; after the last change, the end of the period. Null for now.
 * @returns undefined if there is none
 */
export function stepFrom(period: Period, ms: number | null, direction: -1 | 1, steps = 1): string | null | undefined {
  const moment = momentFrom(period, ms, direction, steps);
  if (moment !== null) return urlTimestamp(moment.ms);
  if (direction === -1)
    return sideOf(period, ms) === "within" && ms !== period.fromMs ? beginningOf(period) : undefined;
  if (sideOf(period, ms) === "after" || at.peek() === null || ms === period.toMs) return undefined;
  return endOf(period);
}

/** URL timestamp of the start; undefined for the beginning of the ledger, which has no known timestamp. */
export function beginningOf({ fromMs }: Period): string | undefined {
  return Number.isFinite(fromMs) ? urlTimestamp(fromMs) : undefined;
}

/** URL timestamp of the end; null for now. */
export function endOf({ toMs }: Period): string | null {
  return Number.isFinite(toMs) ? urlTimestamp(toMs) : null;
}
