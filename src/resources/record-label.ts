// Record labels from a record's document: the text after the kind's name, as in "the VLAN 10 office".

import type { AnyKind } from "../db/kind.ts";

/** @returns null for a record without a name, an address or a number */
export function recordName(kind: AnyKind, record: object): string | null {
  const name: unknown = kind.label === undefined ? (record as { name?: unknown }).name : kind.label(record);
  return typeof name === "string" && name !== "" ? name : null;
}

/** Like recordName; falls back to the id. */
export function recordLabel(kind: AnyKind, record: object): string {
  return recordName(kind, record) ?? String((record as { id?: unknown }).id);
}
