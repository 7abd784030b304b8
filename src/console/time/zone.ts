// Display time zone: the reader's own, UTC, or any other. Stored in the browser.

import { computed, signal } from "@preact/signals";
import { readStored, writeStored } from "../url/local-storage.ts";

const NAME = "time-zone";

/** Zone other than the reader's own, or null. */
const selectedZone = signal(initial());

/** IANA name, such as `Europe/Berlin`. */
export const zone = computed(() => selectedZone.value ?? ownZone());

/** Zone of the browser. */
export function ownZone(): string {
  // A fixed locale: resolving the reader's takes longer than everything else here.
  return Intl.DateTimeFormat("en").resolvedOptions().timeZone;
}

/** @param name one of `Intl.supportedValuesOf("timeZone")`, or UTC; other names are ignored */
export function setZone(name: string): void {
  if (!isZone(name)) return;
  selectedZone.value = name === ownZone() ? null : name;
  writeStored(NAME, selectedZone.value);
}

function initial(): string | null {
  const stored = readStored(NAME);
  return stored !== null && isZone(stored) ? stored : null;
}

function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
