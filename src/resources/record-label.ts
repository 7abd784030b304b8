// What people call a record, from its document: what follows the word for its kind, as in "the VLAN 10 office".

import type { AnyKind } from "../db/kind.ts";

/** @returns null for a record that has neither a name nor an address or a number */
export function recordName(kind: AnyKind, record: object): string | null {
  const name: unknown = kind.label === undefined ? (record as { name?: unknown }).name : kind.label(record);
  return typeof name === "string" && name !== "" ? name : null;
}

/** As recordName; what has no name is called by its id. */
export function recordLabel(kind: AnyKind, record: object): string {
  return recordName(kind, record) ?? String((record as { id?: unknown }).id);
}
