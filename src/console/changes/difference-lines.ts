// What differs between two instants, in the order in which one reads it. Plain data and functions.

import type { DiffData } from "../api/diff-data.ts";
import { kindText } from "../text/changes.ts";

export type Side = DiffData["added"][number] | DiffData["removed"][number];
export type ChangedRecord = DiffData["changed"][number];

/** Fields that change with every version, and say nothing of their own. */
export const SELF_EVIDENT = new Set(["updated_at", "valid_from", "valid_to", "last_seen_at", "last_discovery_id"]);

/** Fields that follow from what is connected elsewhere: where nothing else changed, it is told last. */
const ECHOES = new Set(["fdb_macs"]);

type Line =
  | { readonly sort: "changed"; readonly record: ChangedRecord }
  | { readonly sort: "added" | "removed"; readonly record: Side };

/** By kind, networks and hosts before their parts; what only follows from something else comes last. */
export function linesOf({ added, removed, changed }: Pick<DiffData, "added" | "removed" | "changed">): Line[] {
  const kinds = Object.keys(kindText);
  const placeOf = ({ sort, record }: Line) =>
    sort === "changed" && isEcho(record) ? kinds.length : kinds.indexOf(record.entity_type);
  const lines: Line[] = [
    ...added.map((record) => ({ sort: "added" as const, record })),
    ...removed.map((record) => ({ sort: "removed" as const, record })),
    ...changed.map((record) => ({ sort: "changed" as const, record })),
  ];
  return lines.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function isEcho({ fields }: ChangedRecord): boolean {
  return fields.every(({ field }) => SELF_EVIDENT.has(field) || ECHOES.has(field));
}
