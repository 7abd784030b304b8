// Instant parameters of the address: `at`, `vs` and `network`. Every page takes them for its requests from here.
// Without `at`, the console shows the present.

import { computed, effect, untracked } from "@preact/signals";
import { go, hrefHere, parameter } from "../url/location.ts";
import { exactNow } from "./clock.ts";
import { addressInstant, parseInstant } from "./instant.ts";
import { markerNamed, markerNameIn } from "./markers.ts";
import { readSaid } from "./said.ts";
import { zone } from "./zone.ts";

/** Shown instant, as in the address: RFC 3339 or `marker:NAME`; null for now. */
export const at = computed(() => parameter("at"));

/** Comparison instant, as in the address; null without a comparison. */
export const vs = computed(() => parameter("vs"));

/** Whether the page shows the past, where editing is disabled. */
export const isPast = computed(() => at.value !== null);

/** Milliseconds since 1970 of `at`; null for now, and for an unreadable or unresolved instant. */
export const atMs = computed(() => millisecondsOf(at.value));

/** Milliseconds since 1970 of `vs`; null like `atMs`. */
export const vsMs = computed(() => millisecondsOf(vs.value));

/** Selected network; null for all accessible networks. */
export const network = computed(() => parameter("network"));

/** Query parameters of a read, to spread. */
export function atQuery(): { at?: string } {
  return at.value === null ? {} : { at: at.value };
}

/** Like `atQuery`, with the network. */
export function scopeQuery(): { at?: string; network_id?: string } {
  return { ...atQuery(), ...(network.value === null ? {} : { network_id: network.value }) };
}

/**
 * Shows this page at another instant.
 * @param instant RFC 3339, or `marker:NAME`; null for now
 */
export function showAt(instant: string | null, how: "push" | "replace" = "push"): void {
  go(hrefHere({ at: instant }), how);
}

/** Address of this page with both instants swapped. Now becomes an explicit timestamp. */
export function hrefSwapped(): string {
  return hrefHere({ at: vs.value, vs: at.value ?? addressInstant(exactNow()) });
}

/**
 * Replaces ages and local times in the address with timestamps, so that a shared link means the same for its recipient.
 * Ambiguous times stay; the time bar asks about them.
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
