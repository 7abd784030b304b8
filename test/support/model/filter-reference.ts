// Reference implementation of filters: a tree of comparisons, evaluated on a record. Independent of the filter syntax
// and of the appliance's search.

import type { JsonRecord } from "../appliance/factories.ts";
import {
  type Dataset,
  followReferences,
  isWithinReach,
  type QueriedKind,
  type Version,
  valuesIn,
} from "./filter-dataset.ts";

/** A field: the references that lead to its record, and its path in that record. */
export interface FieldPath {
  readonly references: readonly string[];
  /** Empty for the queried record itself. */
  readonly path: readonly string[];
}

export type Operator = "=" | "<" | "<=" | ">" | ">=" | ":";

export type Filter =
  | { readonly type: "all" | "any"; readonly nested: readonly Filter[] }
  | { readonly type: "not"; readonly nested: Filter }
  | { readonly type: "compared"; readonly field: FieldPath; readonly matches: (value: unknown) => boolean }
  | { readonly type: "present"; readonly field: FieldPath }
  | { readonly type: "words"; readonly words: string }
  | {
      readonly type: "changes";
      readonly path: readonly string[];
      readonly from: number;
      readonly matches: (count: number) => boolean;
    }
  | { readonly type: "ever" | "always"; readonly from: number; readonly nested: Filter }
  | { readonly type: "was"; readonly at: number; readonly nested: Filter };

/** Whether a record in reach matches the filter. */
export function matchesFilter(filter: Filter, dataset: Dataset, kind: QueriedKind, record: JsonRecord): boolean {
  const matchesRecord = (nested: Filter): boolean => matchesFilter(nested, dataset, kind, record);
  switch (filter.type) {
    case "all":
      return filter.nested.every(matchesRecord);
    case "any":
      return filter.nested.some(matchesRecord);
    case "not":
      return !matchesRecord(filter.nested);
    case "compared":
      return valuesOf(filter.field, dataset, kind, record).some(filter.matches);
    case "present":
      return valuesOf(filter.field, dataset, kind, record).length > 0;
    case "words":
      return dataset.searchResults(filter.words).has(record.id);
    case "changes":
      return filter.matches(countChanges(filter.path, filter.from, dataset, record.id));
    case "ever":
      return versionsWithin(dataset, record.id, filter.from).some((version) =>
        versionMatches(filter.nested, dataset, version),
      );
    case "always":
      return (
        versionAt(dataset, record.id, filter.from) !== undefined &&
        versionsWithin(dataset, record.id, filter.from).every((version) =>
          versionMatches(filter.nested, dataset, version),
        )
      );
    case "was": {
      const version = versionAt(dataset, record.id, filter.at);
      return version !== undefined && versionMatches(filter.nested, dataset, version);
    }
  }
}

function valuesOf({ references, path }: FieldPath, dataset: Dataset, kind: QueriedKind, record: JsonRecord): unknown[] {
  return followReferences(dataset, kind, record, references).flatMap((target) => valuesIn(target, path));
}

/** Whether a version is visible to the caller and matches. */
function versionMatches(filter: Filter, dataset: Dataset, { kind, record }: Version): boolean {
  return record !== null && isWithinReach(dataset, kind, record) && matchesFilter(filter, dataset, kind, record);
}

function versionAt(dataset: Dataset, id: string, at: number): Version | undefined {
  return dataset.versions.get(id)?.findLast((version) => version.from <= dataset.storedInstant(at));
}

/** All versions valid at some time from a timestamp until the queried one, deleted records included. */
function versionsWithin(dataset: Dataset, id: string, from: number): Version[] {
  const versions = dataset.versions.get(id) ?? [];
  const [first, last] = [dataset.storedInstant(from), dataset.storedInstant(dataset.at)];
  return versions.filter(
    (version, index) => version.from <= last && (versions[index + 1]?.from ?? Number.POSITIVE_INFINITY) > first,
  );
}

function countChanges(path: readonly string[], from: number, dataset: Dataset, id: string): number {
  const versions = dataset.versions.get(id) ?? [];
  const [first, last] = [dataset.storedInstant(from), dataset.storedInstant(dataset.at)];
  return versions.filter(({ record, isUpdate, kind, from: at, changed }, index) => {
    if (!isUpdate || record === null || at <= first || at > last || !isWithinReach(dataset, kind, record)) return false;
    const previous = versions[index - 1]?.record;
    // Earlier versions may be pruned, in part or in full.
    if (previous === undefined || previous === null || at <= dataset.prunedUntil)
      return changed.some((each) => isSameOrWithin(each, path[0] as string)) || ALWAYS_CHANGED.has(path[0] as string);
    return !Bun.deepEquals(fieldOf(record, path), fieldOf(previous, path));
  }).length;
}

/** Whether a changed field is this one or a part of it: `custom_fields.rack`. */
function isSameOrWithin(changed: string, field: string): boolean {
  return changed === field || changed.startsWith(`${field}.`);
}

const ALWAYS_CHANGED = new Set(["updated_at", "valid_from"]);

/** A missing field equals null. */
function fieldOf(record: JsonRecord, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as JsonRecord | null | undefined)?.[name], record) ?? null;
}
