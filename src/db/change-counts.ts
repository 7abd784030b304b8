// Where a change shows, and where and as what it is counted: the same for who writes it, who makes the counts anew and
// who verifies them. Pure.

import { ownValue } from "../base/fields.ts";
import { type AnyKind, containerId, type OPERATION, type RecordBase, scopeKey } from "./kind.ts";

export type VersionOperation = keyof typeof OPERATION;

/** Versions by what happened. */
export type ChangeCounts = Record<VersionOperation, number>;
export const NO_CHANGES: Readonly<ChangeCounts> = { Created: 0, Updated: 0, Deleted: 0 };

/**
 * Where a change of this record shows: its organization, and in it a network, or what belongs to no network (the
 * organization's number, negative).
 */
export function activityScopes(
  kind: AnyKind,
  record: RecordBase,
  organizationN: number,
  n: (id: string) => number,
): number[] {
  if (kind.isApart === true) return [];
  const networkId = containerId(kind, record, "network");
  return [organizationN, networkId === null ? -organizationN : n(networkId)];
}

/** Whether a version counts: one that only changed parts made is counted with them. @param changed null for all */
export function isCounted(kind: AnyKind, operation: VersionOperation, changed: readonly string[] | null): boolean {
  if (kind.isApart === true || kind.isUntold === true) return false;
  const { toldParts } = kind;
  if (operation !== "Updated" || changed === null || toldParts === undefined) return true;
  return !changed.every((field) => toldParts.includes(field));
}

/**
 * Where a version is counted, each once: where the record was before it or is after it.
 * @param records null for none
 */
export function countedScopes(
  kind: AnyKind,
  records: ReadonlyArray<RecordBase | null>,
  organizationN: number,
  n: (id: string) => number,
): readonly number[] {
  const scopes: number[] = [];
  for (const record of records) {
    if (record === null) continue;
    for (const container of activityScopes(kind, record, organizationN, n)) add(scopes, scopeKey(container, kind));
    for (const field of kind.countedWith ?? []) {
      const id = idIn(record, field);
      if (id !== null) add(scopes, scopeKey(n(id), kind));
    }
  }
  return scopes;
}

/** Whether two records of one kind and organization show and count in the same places. */
export function isCountedAlike(kind: AnyKind, one: RecordBase, other: RecordBase): boolean {
  if (one === other) return true;
  if (containerId(kind, one, "network") !== containerId(kind, other, "network")) return false;
  for (const field of kind.countedWith ?? []) if (idIn(one, field) !== idIn(other, field)) return false;
  return true;
}

function idIn(record: RecordBase, field: string): string | null {
  return (ownValue(record, field) as string | null | undefined) ?? null;
}

/** A handful: a set would cost more. */
function add(scopes: number[], scope: number): void {
  if (!scopes.includes(scope)) scopes.push(scope);
}
