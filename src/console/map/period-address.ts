// URL parameters of a map period (`from`, `to`), and steps between its changes.

import { at } from "../time/at.ts";
import { addressInstant, parseInstant } from "../time/instant.ts";
import { markerNameIn } from "../time/markers.ts";
import type { TimeWindow } from "../time/window.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { momentFrom, type Period, sideOf } from "./period.ts";

/** URL of the map over a time window; open-ended if the window reaches the present. */
export function periodHref({ from, to }: TimeWindow, nowMs: number): string {
  return hrefHere({ from: addressInstant(from), to: to >= nowMs ? null : addressInstant(to), vs: null });
}

/** URL of the map at one timestamp. */
export function instantHref(): string {
  return hrefHere({ from: null, to: null, table: parameter("table") === "changes" ? null : undefined });
}

/** Replaces an age with its timestamp, so that the URL keeps its meaning. */
export function settlePeriod({ answer }: Period): void {
  const changes: Record<string, string> = {};
  for (const name of ["from", "to"] as const) {
    const [said, meant] = [parameter(name), answer[name]];
    if (said === null || meant == null || parseInstant(said) !== null || markerNameIn(said) !== null) continue;
    changes[name] = addressInstant(Date.parse(meant));
  }
  if (Object.keys(changes).length > 0) go(hrefHere(changes), "replace");
}

/**
 * URL timestamp of the previous or next change; after the last change, the end of the period. Null for now.
 * @returns undefined if there is none
 */
export function stepFrom(period: Period, ms: number | null, direction: -1 | 1, by = 1): string | null | undefined {
  const moment = momentFrom(period, ms, direction, by);
  if (moment !== null) return addressInstant(moment.ms);
  if (direction === -1)
    return sideOf(period, ms) === "within" && ms !== period.fromMs ? beginningOf(period) : undefined;
  if (sideOf(period, ms) === "after" || at.peek() === null || ms === period.toMs) return undefined;
  return endOf(period);
}

/** Undefined for the beginning of the ledger, which has no known timestamp. */
export function beginningOf({ fromMs }: Period): string | undefined {
  return Number.isFinite(fromMs) ? addressInstant(fromMs) : undefined;
}

/** Null for now. */
export function endOf({ toMs }: Period): string | null {
  return Number.isFinite(toMs) ? addressInstant(toMs) : null;
}
