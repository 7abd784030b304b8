// Values of changed fields in highlights: shortened, and references by name.

import { fieldValueOf } from "../base/custom-field-names.ts";
import type { AnyKind } from "../db/kind.ts";
import { isFieldTold } from "../records/told-fields.ts";
import type { FieldsThen, NamesOf } from "./highlight-records.ts";
import { type HighlightField, VALUE_ITEMS_MAX, VALUE_TEXT_MAX } from "./highlight-rows.ts";

/** A field before and after; undefined for a side that is not shown. */
interface FieldSides {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * Values to show for changed fields.
 * @param before null if dropped by thinning
 */
export function fieldSides(
  kind: AnyKind,
  fields: readonly string[],
  before: FieldsThen | null,
  after: FieldsThen,
): FieldSides[] {
  return fields.map((field) => {
    const sides = [
      before === null ? undefined : (fieldValueOf(before, field) ?? null),
      fieldValueOf(after, field) ?? null,
    ];
    const isShown = isFieldTold(kind, field) && sides.every((value) => isShort(kind, field, value));
    return { field, from: isShown ? sides[0] : undefined, to: isShown ? sides[1] : undefined };
  });
}

function isShort(kind: AnyKind, field: string, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (!Array.isArray(value)) return isReference(kind, field) && referenceId(value) !== null;
  return value.length <= VALUE_ITEMS_MAX && value.every((item) => typeof item !== "object" || item === null);
}

function isReference(kind: AnyKind, field: string): boolean {
  return kind.references?.some((reference) => reference.field === field) === true;
}

/** A text is the id itself; an object has an `id`. */
function referenceId(value: unknown): string | null {
  const id = typeof value === "object" && value !== null ? (value as { id?: unknown }).id : value;
  return typeof id === "string" ? id : null;
}

/** Ids referenced by the values. */
export function referredIds(kind: AnyKind, sides: readonly FieldSides[]): string[] {
  return sides
    .filter(({ field }) => isReference(kind, field))
    .flatMap(({ from, to }) => [from, to])
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .map(referenceId)
    .filter((id) => id !== null);
}

/** @param names with the referenced ids prefetched */
export function toldFields(kind: AnyKind, sides: readonly FieldSides[], names: NamesOf): HighlightField[] {
  return sides.map(({ field, from, to }) => {
    const told = (value: unknown) => (isReference(kind, field) ? named(value, names) : shortened(value));
    return {
      field,
      ...(from === undefined ? {} : { from: told(from) }),
      ...(to === undefined ? {} : { to: told(to) }),
    };
  });
}

function named(value: unknown, names: NamesOf): unknown {
  if (Array.isArray(value)) return value.map((item) => named(item, names));
  const id = referenceId(value);
  return id === null ? value : names.of(id);
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortened);
  return typeof value === "string" ? [...value].slice(0, VALUE_TEXT_MAX).join("") : value;
}
