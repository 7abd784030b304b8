// The two instants that a page compares: A, and B, which it shows.

import { computed } from "@preact/signals";
import { hrefHere, hrefOf, pathname } from "../url/location.ts";
import { PAGE_PATHS, type PagePath } from "../url/page-paths.ts";
import { routeOf } from "../url/route.ts";
import { at, atMs, vs, vsMs } from "./at.ts";
import { now } from "./clock.ts";

export interface ComparedEnds {
  /** A, as the address has it. */
  readonly from: string;
  /** B; null for now. */
  readonly to: string | null;
  /** Whether A is the later one: what came since B is gone then. */
  readonly isBackwards: boolean;
}

/** Null where nothing is compared, or where one of the two is no instant, or not known yet. */
export const compared = computed<ComparedEnds | null>(() => {
  const [from, to] = [vs.value, at.value];
  if (from === null || vsMs.value === null) return null;
  if (to === null) return vsMs.value > now.peek() ? null : { from, to, isBackwards: false };
  return atMs.value === null ? null : { from, to, isBackwards: vsMs.value > atMs.value };
});

/** Pages of one instant: what differs is on the page of differences. */
const ALONE: ReadonlySet<PagePath | undefined> = new Set([
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

/** Whether the page of the address shows two instants at once. */
export const canCompare = computed(() => !ALONE.has(routeOf(PAGE_PATHS, pathname.value)?.path));

/** The address at which two instants are compared: of this page where it can, else of the page of differences. */
export function hrefCompared(changes: Parameters<typeof hrefHere>[0]): string {
  return canCompare.value ? hrefHere(changes) : hrefOf("/compare", changes);
}
