// Moments for long reads started by tests.

import type { FixedMoment, Moment } from "../../../src/db/reading/list-query.ts";
import type { Reader } from "../../../src/db/reading/reader.ts";

/** Moment of a read without a requested timestamp. */
export const PRESENT: Moment = { at: null, asOf: null };

/** Moment at a transaction, as in a read of current data while that transaction is the latest. */
export function momentOf(reader: Reader, sequence: number): FixedMoment {
  return { at: null, asOf: { ...reader.atSequence(sequence), present: true } };
}
