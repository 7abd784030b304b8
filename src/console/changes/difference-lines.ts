// What differs between two instants, in the order in which one reads it. Plain data and functions.

import type { DiffData } from "../api/diff-data.ts";
import { KIND_NAMES } from "../kinds/kinds.ts";

export type Side = DiffData["added"][number] | DiffData["removed"][number];
export type ChangedRecord = DiffData["changed"][number];

/** Fields that change with every version, and say nothing of their own. */
export const SELF_EVIDENT = new Set(["updated_at", "valid_from", "valid_to", "last_seen_at", "last_discovery_id"]);

/** Fields that follow from what is connected elsewhere: where nothing else changed, it is told last. */
const ECHOES = new Set(["fdb_macs"]);

/** A record that was written where it stood among those that changed. */
export interface Written {
  readonly record: ChangedRecord;
  /** Its place among them. */
  readonly place: number;
}

type Line =
  | { readonly sort: "changed"; readonly record: ChangedRecord }
  | { readonly sort: "added" | "removed"; readonly record: Side };

/** By kind, networks and hosts before their parts; what only follows from something else comes last. */
export function linesOf({ added, removed, changed }: Pick<DiffData, "added" | "removed" | "changed">): Line[] {
  const kinds = KIND_NAMES;
  const placeOf = ({ sort, record }: Line) =>
    sort === "changed" && isEcho(record) ? kinds.length : kinds.indexOf(record.entity_type);
  const lines: Line[] = [
    ...added.map((record) => ({ sort: "added" as const, record })),
    ...removed.map((record) => ({ sort: "removed" as const, record })),
    ...changed.map((record) => ({ sort: "changed" as const, record })),
  ];
  return lines.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/**
 * What differs, with those that were written here and do not differ any more, each where it stood: without fields. What
 * one has just done does not vanish under one's hands.
 */
export function withWritten<D extends Pick<DiffData, "added" | "removed" | "changed">>(
  diff: D,
  written: readonly Written[],
): D {
  const there = new Set([...diff.added, ...diff.removed, ...diff.changed].map(({ id }) => id));
  const changed = [...diff.changed];
  // From the first place on: those before it are there then.
  for (const { record, place } of written.toSorted((one, other) => one.place - other.place))
    if (!there.has(record.id)) changed.splice(place, 0, { ...record, fields: [] });
  return changed.length === diff.changed.length ? diff : { ...diff, changed };
}

function isEcho({ fields }: ChangedRecord): boolean {
  return fields.length > 0 && fields.every(({ field }) => SELF_EVIDENT.has(field) || ECHOES.has(field));
}
