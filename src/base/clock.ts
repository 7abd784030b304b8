// System clock, the only module that reads it. All time-dependent code takes a Clock.

import type { Instant } from "./instant.ts";

export interface Clock {
  /** The present, UTC milliseconds since 1970-01-01. May step back; the ledger's own clock never does. */
  now(): Instant;
}

export const systemClock: Clock = { now: () => Date.now() };
