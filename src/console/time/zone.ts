// In which time zone instants are shown: the reader's, UTC, or any other. Kept in the browser.

import { computed, signal } from "@preact/signals";
import { keep, kept } from "../url/kept.ts";

const NAME = "time-zone";

/** Another one than the reader's own, or null. */
const chosen = signal(initial());

/** An IANA name: `Europe/Berlin`. */
export const zone = computed(() => chosen.value ?? ownZone());

/** The reader's own. */
export function ownZone(): string {
  // Of any language: finding out the reader's takes longer than all the rest.
  return Intl.DateTimeFormat("en").resolvedOptions().timeZone;
}

/** @param name one of `Intl.supportedValuesOf("timeZone")`, or UTC; others are not taken */
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
