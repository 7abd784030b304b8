// View type for records composed with separately stored parts, and the properties of views.

import type { Actor } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import type { Compose, Parts, Reader } from "../db/reading/reader.ts";

/** Adds separately stored parts of a record, for this caller. */
export interface ComposeFor {
  (reader: Reader, actor: Actor): Compose;
  /**
   * Whether the response can change without a new version of the record: with the caller's reach, or with other
   * records.
   */
  readonly variesByCaller?: boolean;
  /**
   * Fields limited to the caller's reach, by the kind they refer to; queries on such a field see only the visible
   * values.
   */
  readonly reachFields?: ReachFields;
  /** Parts that may be numerous; long reads then fetch few records per step. */
  readonly parts?: Parts;
}

export type ReachFields = Readonly<Record<string, AnyKind>>;

/** Marks a view whose responses can change without a new version of the record. */
export function variesByCaller(compose: ComposeFor): ComposeFor {
  return Object.assign(compose, { variesByCaller: true });
}

/** Appends fields to a serialized JSON object. */
export function appendMembers(item: string, members: string): string {
  return members === "" ? item : `${item.slice(0, -1)},${members}}`;
}
