// Replaces referenced ids in a record. Pure.

import { ownValue } from "../../base/fields.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import type { IfEntryRecord } from "../if-entries/if-entry.ts";
import { withFarEndReplaced } from "../if-entries/more-neighbors.ts";
import { referencesOf } from "../references.ts";

/**
 * Replaces ids in every reference field of a record.
 * @param idOf maps an id to its replacement
 */
export function replaceReferences(kind: AnyKind, record: RecordBase, idOf: (id: string) => string): RecordBase {
  let result = record;
  for (const { field, ids } of referencesOf(kind, record)) {
    for (const id of ids) if (idOf(id) !== id) result = { ...result, ...replaceReference(result, field, id, idOf(id)) };
  }
  return result;
}

/** Replaces one id in a field, which holds the id itself or a list of ids. */
export function replaceReference(record: RecordBase, field: string, from: string, to: string): object {
  const value = ownValue(record, field);
  if (typeof value === "string") return { [field]: to };
  if (Array.isArray(value)) return { [field]: [...new Set(value.map((id) => (id === from ? to : id)))] };
  if (field === "neighbor") return { neighbor: { ...(value as object), id: to } };
  // References inside a list field with a different name.
  if (field.startsWith("more_neighbor_"))
    return { more_neighbors: withFarEndReplaced((record as IfEntryRecord).more_neighbors ?? [], from, to) };
  const virtualization = value as { details: object };
  return { [field]: { ...virtualization, details: { ...virtualization.details, service_id: to } } };
}
