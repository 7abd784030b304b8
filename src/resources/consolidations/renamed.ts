// A record with other ids in the place of some that it refers to. Pure.

import { ownValue } from "../../base/fields.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import type { IfEntryRecord } from "../if-entries/if-entry.ts";
import { withFarEndRenamed } from "../if-entries/more-neighbors.ts";
import { referencesOf } from "../references.ts";

/**
 * The fields of a record in which ids are replaced, wherever it refers by them.
 * @param idOf the id that stands for another
 */
export function renamedEverywhere(kind: AnyKind, record: RecordBase, idOf: (id: string) => string): RecordBase {
  let result = record;
  for (const { field, ids } of referencesOf(kind, record)) {
    for (const id of ids) if (idOf(id) !== id) result = { ...result, ...renamed(result, field, id, idOf(id)) };
  }
  return result;
}

/** A field that names one id, in a list or in its own place, with another in its stead. */
export function renamed(record: RecordBase, field: string, from: string, to: string): object {
  const value = ownValue(record, field);
  if (typeof value === "string") return { [field]: to };
  if (Array.isArray(value)) return { [field]: [...new Set(value.map((id) => (id === from ? to : id)))] };
  if (field === "neighbor") return { neighbor: { ...(value as object), id: to } };
  // References whose fields are within a list of another name.
  if (field.startsWith("more_neighbor_"))
    return { more_neighbors: withFarEndRenamed((record as IfEntryRecord).more_neighbors ?? [], from, to) };
  const virtualization = value as { details: object };
  return { [field]: { ...virtualization, details: { ...virtualization.details, service_id: to } } };
}
