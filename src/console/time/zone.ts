// Display time zone: the reader's own, UTC, or any other. Stored in the browser.

import { computed, signal } from "@preact/signals";
import { keep, kept } from "../url/kept.ts";

const NAME = "time-zone";

/** Zone other than the reader's own, or null. */
const chosen = signal(initial());

/** IANA name, such as `Europe/Berlin`. */
export const zone = computed(() => chosen.value ?? ownZone());

/** Zone of the browser. */
export function ownZone(): string {
  // With a fixed language: resolving the reader's takes longer than everything else here.
  return Intl.DateTimeFormat("en").resolvedOptions().timeZone;
}

/** @param name one of `Intl.supportedValuesOf("timeZone")`, or UTC; other names are ignored */
export function setZone(name: string): void {
  if (!isZone(name)) return;
  chosen.value = name === ownZone() ? null : name;
  keep(NAME, chosen.value);
}

function initial(): string | null {
  const last = kept(NAME);
  return last !== null && isZone(last) ? last : null;
}

function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
