// The one instant of the console: `at` in the address. Absent, it is now. Every request of every page takes it from here.

import { computed } from "@preact/signals";
import { go, hrefHere, parameter } from "../url/location.ts";
import { parseInstant } from "./instant.ts";

/** As the address has it: an instant or `marker:NAME`; null for now. */
export const at = computed(() => parameter("at"));

/** What it is compared with; null for nothing. */
export const vs = computed(() => parameter("vs"));

/** Whether the past is shown: nothing can be edited. */
export const isPast = computed(() => at.value !== null);

/** Milliseconds since 1970 of `at`; null for now, and for a marker, which only the appliance knows. */
export const atMs = computed(() => (at.value === null ? null : parseInstant(at.value)));

/** The network that is looked at; null for all that one reaches. */
export const network = computed(() => parameter("network"));

/** To be spread into the query of a read. */
export function atQuery(): { at?: string } {
  return at.value === null ? {} : { at: at.value };
}

/** The same with the network. */
export function scopeQuery(): { at?: string; network_id?: string } {
  return { ...atQuery(), ...(network.value === null ? {} : { network_id: network.value }) };
}

/**
 * Shows this page as of another instant.
 * @param instant RFC 3339, or `marker:NAME`; null for now
 */
export function showAt(instant: string | null, how: "push" | "replace" = "push"): void {
  go(hrefHere({ at: instant }), how);
}
