// Merge of scan results into a record: discovered values follow the network; manual values are kept, with the scan's
// value stored as discovered. Pure: provenance comes from a callback.

import { ownValue } from "../../base/fields.ts";
import type { NoOtherFields, RecordBase } from "../../db/kind.ts";
import type { Discoverable } from "../../resources/discovered.ts";

/** Undefined: not reported; null: none, even if reported by omission. */
export type Reported<R> = {
  [Name in Exclude<keyof R, keyof RecordBase | keyof Discoverable>]?:
    | R[Name]
    | (undefined extends R[Name] ? null : never)
    | undefined;
};

/** Reported fields that a scan must list explicitly, as undefined if it does not report them. */
export type ReportedEach<R, Name extends keyof Reported<R>> = {
  [Each in Name]-?: Reported<R>[Each] | undefined;
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * Computes the changes that bring a record to the reported values.
 * @param record may omit optional fields without a value
 * @param none the kind's representation of "none": null or undefined
 * @param isSetByUser called only for fields that differ
 * @returns undefined for a field to be omitted
 */
export function mergeReported<R extends object>(
  record: R,
  reported: Reported<R>,
  none: null | undefined,
  isSetByUser: (field: keyof Reported<R> & string) => boolean,
): Partial<R> & NoOtherFields<R, Partial<R>>;
export function mergeReported(
  current: Fields & { readonly discovered?: Fields },
  reported: Fields,
  none: null | undefined,
  isSetByUser: (field: string) => boolean,
): Fields {
  const { discovered: stored } = current;
  const changes: Record<string, unknown> = {};
  let discovered: Record<string, unknown> | null = null;
  const mutableDiscovered = (): Record<string, unknown> => (discovered ??= { ...stored });
  for (const field in reported) {
    const value = ownValue(reported, field);
    if (value === undefined) continue;
    const isStored = stored !== undefined && Object.hasOwn(stored, field);
    if (isEqual(ownValue(current, field) ?? null, value)) {
      if (isStored) delete mutableDiscovered()[field];
    } else if (isSetByUser(field)) {
      if (!isStored || !isEqual(ownValue(stored, field), value)) mutableDiscovered()[field] = value;
    } else {
      changes[field] = value ?? none;
      if (isStored) delete mutableDiscovered()[field];
    }
  }
  if (discovered !== null) changes.discovered = Object.keys(discovered).length === 0 ? undefined : sorted(discovered);
  return changes;
}

/** Fast path for text and numbers, the common case. */
function isEqual(a: unknown, b: unknown): boolean {
  return (
    a === b || (typeof a === "object" && typeof b === "object" && a !== null && b !== null && Bun.deepEquals(a, b))
  );
}

function sorted(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}
