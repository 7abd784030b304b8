// Scopes in which a change is shown and counted. Shared by the writer, the rebuild and the verification. Pure.

import { ownValue } from "../base/fields.ts";
import { type AnyKind, containerId, type OPERATION, type RecordBase, scopeKey } from "./kind.ts";

export type VersionOperation = keyof typeof OPERATION;

/** Version counts by operation. */
export type ChangeCounts = Record<VersionOperation, number>;
export const NO_CHANGES: Readonly<ChangeCounts> = { Created: 0, Updated: 0, Deleted: 0 };

/**
 * Scopes that show a change to this record: its organization, and its network or, for records without a network, the
 * negated organization number.
 */
export function activityScopes(
  kind: AnyKind,
  record: RecordBase,
  organizationN: number,
  n: (id: string) => number,
): number[] {
  if (kind.isOutsideFeed === true) return [];
  const networkId = containerId(kind, record, "network");
  return [organizationN, networkId === null ? -organizationN : n(networkId)];
}

/**
 * Whether a version is counted. Versions that only mirror changes to child records are counted with those.
 * @param changed null for all
 */
export function isCounted(kind: AnyKind, operation: VersionOperation, changed: readonly string[] | null): boolean {
  if (kind.isOutsideFeed === true || kind.isReportedByContainer === true) return false;
  const { partFields } = kind;
  if (operation !== "Updated" || changed === null || partFields === undefined) return true;
  return !changed.every((field) => partFields.includes(field));
}

/**
 * Distinct scopes that count a version: those of the record before and after the change.
 * @param records null if absent
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
    for (const container of activityScopes(kind, record, organizationN, n)) addScope(scopes, scopeKey(container, kind));
    for (const field of kind.countedWith ?? []) {
      const id = idIn(record, field);
      if (id !== null) addScope(scopes, scopeKey(n(id), kind));
    }
  }
  return scopes;
}

/** Whether two records of the same kind and organization are shown and counted in the same scopes. */
export function haveSameScopes(kind: AnyKind, a: RecordBase, b: RecordBase): boolean {
  if (a === b) return true;
  if (containerId(kind, a, "network") !== containerId(kind, b, "network")) return false;
  for (const field of kind.countedWith ?? []) if (idIn(a, field) !== idIn(b, field)) return false;
  return true;
}

function idIn(record: RecordBase, field: string): string | null {
  return (ownValue(record, field) as string | null | undefined) ?? null;
}

/** A handful of elements: a set would cost more. */
function addScope(scopes: number[], scope: number): void {
  if (!scopes.includes(scope)) scopes.push(scope);
}
