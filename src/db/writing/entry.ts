// A record within a transaction: state before, state after, and their difference.

import { CUSTOM_FIELDS, changedCustomFields } from "../../base/custom-field-names.ts";
import { ownValue } from "../../base/fields.ts";
import type { AnyKind, Observed, OPERATION, RecordBase } from "../kind.ts";

export interface Entry {
  readonly kind: AnyKind;
  readonly id: string;
  /** 0 for a created record until the transaction ends. */
  n: number;
  organizationN: number;
  /** Set for new records only. */
  readonly organizationId: string | null;
  /** Of a new record; undefined for that of the last record with its identity. */
  readonly lineageId?: string | null | undefined;
  /** Sequence of the stored version; 0 for a new record. */
  readonly sequence: number;
  readonly before: RecordBase | null;
  after: RecordBase | null;
  observed: Observed;
  composed: boolean;
  /** Fields that count as changed although the record's own members are equal. */
  readonly touched: Set<string>;
  observedChanged: boolean;
}

export interface EntryChange {
  readonly entry: Entry;
  readonly operation: keyof typeof OPERATION;
  /** Sorted; null for a creation or deletion. */
  readonly changed: string[] | null;
}

/** The net effect on a record; null if unchanged. */
export function netChange(entry: Entry): EntryChange | null {
  const { before, after } = entry;
  if (before === null) return after === null ? null : { entry, operation: "Created", changed: null };
  if (after === null) return { entry, operation: "Deleted", changed: null };
  const fields = changedOwnFields(before, after);
  if (fields.length === 0 && entry.touched.size === 0) return null;
  const changed = entry.touched.size === 0 ? fields : [...new Set([...fields, ...entry.touched])];
  return { entry, operation: "Updated", changed: changed.sort() };
}

const BASE_FIELDS = new Set(["id", "created_at", "updated_at", "valid_from", "lineage_id"]);

/**
 * Changed versioned fields, without the version's own timestamps and ids; custom fields individually, as
 * `custom_fields.rack`.
 */
export function changedOwnFields(before: RecordBase, after: RecordBase): string[] {
  if (before === after) return [];
  const old = before as unknown as Record<string, unknown>;
  const now = after as unknown as Record<string, unknown>;
  const changed: string[] = [];
  for (const name of Object.keys(old))
    if (!BASE_FIELDS.has(name) && !isSame(ownValue(old, name), ownValue(now, name))) changed.push(name);
  for (const name of Object.keys(now))
    if (!Object.hasOwn(old, name) && !BASE_FIELDS.has(name) && !isSame(undefined, ownValue(now, name)))
      changed.push(name);
  const index = changed.indexOf(CUSTOM_FIELDS);
  if (index >= 0) changed.splice(index, 1, ...changedCustomFields(old[CUSTOM_FIELDS], now[CUSTOM_FIELDS]));
  return changed;
}

/** Also compares as JSON, since −0 is stored as 0. */
function isSame(old: unknown, now: unknown): boolean {
  // Fast path: nearly all values are strings, and a bulk operation compares a million.
  if (old === now) return true;
  if (typeof old === "string" && typeof now === "string") return false;
  return Bun.deepEquals(old, now) || JSON.stringify(old) === JSON.stringify(now);
}
