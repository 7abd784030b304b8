// The two instants that a page compares: A, and B, which it shows.

import { computed } from "@preact/signals";
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
