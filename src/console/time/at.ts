// The one instant of the console: `at` in the address. Absent, it is now. Every request of every page takes it from here.

import { computed, effect, untracked } from "@preact/signals";
import { go, hrefHere, parameter } from "../url/location.ts";
import { exactNow } from "./clock.ts";
import { addressInstant, parseInstant } from "./instant.ts";
import { markerNamed, markerNameIn } from "./markers.ts";
import { readSaid } from "./said.ts";
import { zone } from "./zone.ts";

/** As the address has it: an instant or `marker:NAME`; null for now. */
export const at = computed(() => parameter("at"));

/** What it is compared with; null for nothing. */
export const vs = computed(() => parameter("vs"));

/** Whether the past is shown: nothing can be edited. */
export const isPast = computed(() => at.value !== null);

/** Milliseconds since 1970 of `at`; null for now, and for what is no instant or is not known yet. */
export const atMs = computed(() => millisecondsOf(at.value));

/** The same of `vs`. */
export const vsMs = computed(() => millisecondsOf(vs.value));

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

/** The address of this page with both instants the other way round. Now becomes the instant that it is. */
export function hrefSwapped(): string {
  return hrefHere({ at: vs.value, vs: at.value ?? addressInstant(exactNow()) });
}

/**
 * Makes instants of what an address says otherwise: an age, a time by the reader's clocks. So that it still means the
 * same to whoever it is sent to. What can be read in two ways stays, and is asked about.
 */
export function settleInstants(): void {
  effect(() => {
    for (const name of ["at", "vs"]) {
      const text = parameter(name);
      if (text === null || parseInstant(text) !== null || markerNameIn(text) !== null) continue;
      const said = readSaid(text, { nowMs: exactNow(), timeZone: untracked(() => zone.value) });
      if (said.type === "instant") go(hrefHere({ [name]: addressInstant(said.ms) }), "replace");
      if (said.type === "now") go(hrefHere({ [name]: null }), "replace");
    }
  });
}

function millisecondsOf(text: string | null): number | null {
  if (text === null) return null;
  const name = markerNameIn(text);
  return name === null ? parseInstant(text) : (markerNamed(name)?.ms ?? null);
}
