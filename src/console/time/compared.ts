// The two instants that a page compares, the earlier one first, whichever of them was set as A.

import { computed } from "@preact/signals";
import { at, atMs, vs, vsMs } from "./at.ts";
import { now } from "./clock.ts";

export interface ComparedEnds {
  /** As the address has it. */
  readonly from: string;
  /** Null for now. */
  readonly to: string | null;
}

/** Null where nothing is compared, or where one of the two is no instant, or not known yet. */
export const compared = computed<ComparedEnds | null>(() => {
  const [later, earlier] = [at.value, vs.value];
  if (earlier === null || vsMs.value === null || (later !== null && atMs.value === null)) return null;
  if (later === null) return vsMs.value > now.peek() ? null : { from: earlier, to: null };
  return vsMs.value > (atMs.value ?? 0) ? { from: later, to: earlier } : { from: earlier, to: later };
});
