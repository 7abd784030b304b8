// Differences between two timestamps, in display order. Pure.

import type { DiffData } from "../api/diff-data.ts";
import { KIND_NAMES } from "../kinds/kinds.ts";

export type AddedOrRemoved = DiffData["added"][number] | DiffData["removed"][number];
export type ChangedRecord = DiffData["changed"][number];

/** Fields that change with every version and are not shown as changes. */
export const SELF_EVIDENT = new Set(["updated_at", "valid_from", "valid_to", "last_seen_at", "last_discovery_id"]);

/** Fields that depend on devices connected elsewhere. Records in which nothing else changed come last. */
const DERIVED_FIELDS = new Set(["fdb_macs"]);

/** A record restored on this page, which stays in the list. */
export interface RestoredRecord {
  readonly record: ChangedRecord;
  /** Index among the changed records. */
  readonly index: number;
}

type Line =
  | { readonly change: "changed"; readonly record: ChangedRecord }
  | { readonly change: "added" | "removed"; readonly record: AddedOrRemoved };

/** Differences by kind, networks and hosts before their parts; derived changes last. */
export function linesOf({ added, removed, changed }: Pick<DiffData, "added" | "removed" | "changed">): Line[] {
  const kinds = KIND_NAMES;
  const rankOf = ({ change, record }: Line) =>
    change === "changed" && isDerivedOnly(record) ? kinds.length : kinds.indexOf(record.entity_type);
  const lines: Line[] = [
    ...added.map((record) => ({ change: "added" as const, record })),
    ...removed.map((record) => ({ change: "removed" as const, record })),
    ...changed.map((record) => ({ change: "changed" as const, record })),
  ];
  return lines.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/**
 * Adds the records restored here that no longer differ, without fields, at their former position, so that a line stays
 * visible after its restore.
 */
export function withRestored<D extends Pick<DiffData, "added" | "removed" | "changed">>(
  diff: D,
  restored: readonly RestoredRecord[],
): D {
  const present = new Set([...diff.added, ...diff.removed, ...diff.changed].map(({ id }) => id));
  const changed = [...diff.changed];
  // In ascending order, so that each index is valid when used.
  for (const { record, index } of restored.toSorted((a, b) => a.index - b.index))
    if (!present.has(record.id)) changed.splice(index, 0, { ...record, fields: [] });
  return changed.length === diff.changed.length ? diff : { ...diff, changed };
}

function isDerivedOnly({ fields }: ChangedRecord): boolean {
  return fields.length > 0 && fields.every(({ field }) => SELF_EVIDENT.has(field) || DERIVED_FIELDS.has(field));
}
