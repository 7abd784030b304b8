// Moments for long reads that a test starts itself.

import type { FixedMoment, Moment } from "../../../src/db/reading/list-query.ts";
import type { Reader } from "../../../src/db/reading/reader.ts";

/** As where no instant is asked for. */
export const PRESENT: Moment = { at: null, asOf: null };

/** As of a transaction, as where the present is asked for and that is the newest. */
export function momentOf(reader: Reader, sequence: number): FixedMoment {
  return { at: null, asOf: { ...reader.atSequence(sequence), present: true } };
}
