// A record within a transaction, as found and as it will be, and the difference.

import type { AnyKind, Observed, OPERATION, RecordBase } from "../kind.ts";

export interface Entry {
  readonly kind: AnyKind;
  readonly id: string;
  /** 0 for a created record until the end of the transaction. */
  n: number;
  organizationN: number;
  /** Of a new record. */
  readonly organizationId: string | null;
  /** Of the version found; 0 for a new record. */
  readonly sequence: number;
  readonly before: RecordBase | null;
  after: RecordBase | null;
  observed: Observed;
  composed: boolean;
  /** Fields that count as changed though the record's own members do not differ. */
  readonly touched: Set<string>;
  observedChanged: boolean;
}

export interface EntryChange {
  readonly entry: Entry;
  readonly operation: keyof typeof OPERATION;
  /** Sorted; null where everything is new or gone. */
  readonly changed: string[] | null;
}

/** The net effect on a record; null for none. */
export function netChange(entry: Entry): EntryChange | null {
  const { before, after } = entry;
  if (before === null) return after === null ? null : { entry, operation: "Created", changed: null };
  if (after === null) return { entry, operation: "Deleted", changed: null };
  const changed = [...new Set([...changedOwnFields(before, after), ...entry.touched])].sort();
  return changed.length === 0 ? null : { entry, operation: "Updated", changed };
}

const BASE_FIELDS = new Set(["id", "created_at", "updated_at", "valid_from", "lineage_id"]);

/** The versioned fields that differ, without instants and ids of the version itself. */
export function changedOwnFields(before: RecordBase, after: RecordBase): string[] {
  if (before === after) return [];
  const old = before as unknown as Record<string, unknown>;
  const now = after as unknown as Record<string, unknown>;
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !BASE_FIELDS.has(name) && !isSame(old[name], now[name]));
}

/** −0 is stored as 0. */
function isSame(old: unknown, now: unknown): boolean {
  return Bun.deepEquals(old, now) || JSON.stringify(old) === JSON.stringify(now);
}
