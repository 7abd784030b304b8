// The two timestamps of a comparison: A, and B, the shown one.

import { computed } from "@preact/signals";
import { hrefHere, hrefOf, pathname } from "../url/location.ts";
import { PAGE_PATHS, type PagePath } from "../url/page-paths.ts";
import { routeOf } from "../url/route.ts";
import { at, atMs, vs, vsMs } from "./at.ts";
import { exactNow, now } from "./clock.ts";

export interface ComparedEnds {
  /** A, as in the URL. */
  readonly from: string;
  /** B; null for now. */
  readonly to: string | null;
  /** Whether A is later than B: additions since B then count as removed. */
  readonly isBackwards: boolean;
}

/** Null without a comparison, or with an unreadable or unresolved timestamp. */
export const compared = computed<ComparedEnds | null>(() => {
  const [from, to] = [vs.value, at.value];
  if (from === null || vsMs.value === null) return null;
  // A record written since the clock's last tick is compared immediately; a timestamp still ahead, once it has passed.
  if (to === null) return vsMs.value > exactNow() && vsMs.value > now.value ? null : { from, to, isBackwards: false };
  return atMs.value === null ? null : { from, to, isBackwards: vsMs.value > atMs.value };
});

/** Pages that show a single timestamp; the comparison page shows their differences. */
const SINGLE_INSTANT_PAGES: ReadonlySet<PagePath | undefined> = new Set([
  "/",
  "/stations",
  "/conflicts",
  "/changes",
  "/changes/:sequence",
  "/discovery",
  "/discovery/waiting",
  "/discovery/:id",
  "/ledger",
] as const);

/** Whether the current page can show two timestamps at once. */
export const canCompare = computed(() => !SINGLE_INSTANT_PAGES.has(routeOf(PAGE_PATHS, pathname.value)?.path));

/** URL that compares two timestamps: on this page where possible, else on the comparison page. */
export function hrefCompared(changes: Parameters<typeof hrefHere>[0]): string {
  return canCompare.value ? hrefHere(changes) : hrefOf("/compare", changes);
}
