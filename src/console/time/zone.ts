// In which time zone instants are shown: the reader's, UTC, or any other. Kept in the browser.

import { signal } from "@preact/signals";
import { keep, kept } from "../url/kept.ts";

const NAME = "time-zone";

/** An IANA name: `Europe/Berlin`. */
export const zone = signal(initial());

/** The reader's own. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** @param name one of `Intl.supportedValuesOf("timeZone")`, or UTC; others are not taken */
export function setZone(name: string): void {
  if (!isZone(name)) return;
  zone.value = name;
  keep(NAME, name === ownZone() ? null : name);
}

function initial(): string {
  const last = kept(NAME);
  return last !== null && isZone(last) ? last : ownZone();
}

function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
