// URL parameters `at`, `vs` and `network`. Without `at`, the console shows current data.

import { computed, effect, untracked } from "@preact/signals";
import { go, hrefHere, parameter } from "../url/location.ts";
import { exactNow } from "./clock.ts";
import { parseInstant, urlTimestamp } from "./instant.ts";
import { markerNamed, markerNameIn } from "./markers.ts";
import { parseTimeInput } from "./parse-time-input.ts";
import { zone } from "./zone.ts";

/** Shown timestamp, as in the URL: RFC 3339 or `marker:NAME`; null for now. */
export const at = computed(() => parameter("at"));

/** Comparison timestamp, as in the URL; null without a comparison. */
export const vs = computed(() => parameter("vs"));

/** Whether the page shows the past, where editing is disabled. */
export const isPast = computed(() => at.value !== null);

/** Milliseconds since 1970 of `at`; null for now, and for an unreadable or unresolved timestamp. */
export const atMs = computed(() => millisecondsOf(at.value));

/** Milliseconds since 1970 of `vs`; null like `atMs`. */
export const vsMs = computed(() => millisecondsOf(vs.value));

/** Selected network; null for all accessible networks. */
export const network = computed(() => parameter("network"));

/** Query parameter of a read, for spreading. */
export function atQuery(): { at?: string } {
  return at.value === null ? {} : { at: at.value };
}

/** Like `atQuery`, with the network. */
export function scopeQuery(): { at?: string; network_id?: string } {
  return { ...atQuery(), ...(network.value === null ? {} : { network_id: network.value }) };
}

/** Shows this page at another timestamp. @param instant RFC 3339, or `marker:NAME`; null for now */
export function showAt(instant: string | null, how: "push" | "replace" = "push"): void {
  go(hrefHere({ at: instant }), how);
}

/** URL of this page with both timestamps swapped. Now becomes an explicit timestamp. */
export function hrefSwapped(): string {
  return hrefHere({ at: vs.value, vs: at.value ?? urlTimestamp(exactNow()) });
}

/** Replaces ages and local times in the URL with timestamps, for shared links. Ambiguous times stay. */
export function settleInstants(): void {
  effect(() => {
    for (const name of ["at", "vs"]) {
      const text = parameter(name);
      if (text === null || parseInstant(text) !== null || markerNameIn(text) !== null) continue;
      const parsed = parseTimeInput(text, { nowMs: exactNow(), timeZone: untracked(() => zone.value) });
      if (parsed.type === "instant") go(hrefHere({ [name]: urlTimestamp(parsed.ms) }), "replace");
      if (parsed.type === "now") go(hrefHere({ [name]: null }), "replace");
    }
  });
}

function millisecondsOf(text: string | null): number | null {
  if (text === null) return null;
  const name = markerNameIn(text);
  return name === null ? parseInstant(text) : (markerNamed(name)?.ms ?? null);
}
