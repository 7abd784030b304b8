// Records composed with what is kept apart from them: what a view is, and what it says of itself.

import type { Actor } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import type { Compose, Parts, Reader } from "../db/reading/reader.ts";

/** Parts of a record that are kept as records of their own, for this caller. */
export interface ComposeFor {
  (reader: Reader, actor: Actor): Compose;
  /**
   * Whether the answer can change without a new version of the record: with the caller's reach, or with other records.
   */
  readonly variesByCaller?: boolean;
  /**
   * Fields that show no more than what lies within the caller's reach, and of which kind that is: whoever asks of such a
   * field is told no more than it shows.
   */
  readonly reachFields?: ReachFields;
  /** What there may be very many of, so that a long read takes few records at a time. */
  readonly parts?: Parts;
}

export type ReachFields = Readonly<Record<string, AnyKind>>;

/** Says that answers composed so can change without a new version of the record. */
export function variesByCaller(compose: ComposeFor): ComposeFor {
  return Object.assign(compose, { variesByCaller: true });
}

/** Fields composed into a JSON object that is rendered already. */
export function spliced(item: string, members: string): string {
  return members === "" ? item : `${item.slice(0, -1)},${members}}`;
}
