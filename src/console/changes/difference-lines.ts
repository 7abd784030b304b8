// Differences between two instants, in reading order. Pure.

import type { DiffData } from "../api/diff-data.ts";
import { KIND_NAMES } from "../kinds/kinds.ts";

export type Side = DiffData["added"][number] | DiffData["removed"][number];
export type ChangedRecord = DiffData["changed"][number];

/** Fields that change with every version and carry no information of their own. */
export const SELF_EVIDENT = new Set(["updated_at", "valid_from", "valid_to", "last_seen_at", "last_discovery_id"]);

/** Fields derived from devices connected elsewhere. Records in which nothing else changed come last. */
const ECHOES = new Set(["fdb_macs"]);

/** Record restored on this page, listed among the changed ones. */
export interface Written {
  readonly record: ChangedRecord;
  /** Index in the changed records. */
  readonly place: number;
}

type Line =
  | { readonly sort: "changed"; readonly record: ChangedRecord }
  | { readonly sort: "added" | "removed"; readonly record: Side };

/** By kind, networks and hosts before their parts; derived changes last. */
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
 * Differences, plus the records restored here that no longer differ, without fields, at their former place. A line
 * stays visible after its own edit.
 */
export function withWritten<D extends Pick<DiffData, "added" | "removed" | "changed">>(
  diff: D,
  written: readonly Written[],
): D {
  const there = new Set([...diff.added, ...diff.removed, ...diff.changed].map(({ id }) => id));
  const changed = [...diff.changed];
  // In ascending order, so that each index is valid when used.
  for (const { record, place } of written.toSorted((one, other) => one.place - other.place))
    if (!there.has(record.id)) changed.splice(place, 0, { ...record, fields: [] });
  return changed.length === diff.changed.length ? diff : { ...diff, changed };
}

function isEcho({ fields }: ChangedRecord): boolean {
  return fields.length > 0 && fields.every(({ field }) => SELF_EVIDENT.has(field) || ECHOES.has(field));
}
