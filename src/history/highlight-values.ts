// Changed field values in highlights, shortened, and with references shown by name.

import { fieldValueOf } from "../base/custom-field-names.ts";
import type { AnyKind } from "../db/kind.ts";
import { isFieldVisible } from "../records/disclosed-fields.ts";
import type { HighlightNames, PastFields } from "./highlight-records.ts";
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
  before: PastFields | null,
  after: PastFields,
): FieldSides[] {
  return fields.map((field) => {
    const sides = [
      before === null ? undefined : (fieldValueOf(before, field) ?? null),
      fieldValueOf(after, field) ?? null,
    ];
    const isShown = isFieldVisible(kind, field) && sides.every((value) => isShort(kind, field, value));
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

/** A string is the id itself; an object has an `id`. */
function referenceId(value: unknown): string | null {
  const id = typeof value === "object" && value !== null ? (value as { id?: unknown }).id : value;
  return typeof id === "string" ? id : null;
}

/** Ids referenced by the values. */
export function referencedIds(kind: AnyKind, sides: readonly FieldSides[]): string[] {
  return sides
    .filter(({ field }) => isReference(kind, field))
    .flatMap(({ from, to }) => [from, to])
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .map(referenceId)
    .filter((id) => id !== null);
}

/** @param names with the referenced ids prefetched */
export function renderFields(kind: AnyKind, sides: readonly FieldSides[], names: HighlightNames): HighlightField[] {
  return sides.map(({ field, from, to }) => {
    const render = (value: unknown) => (isReference(kind, field) ? withNames(value, names) : shorten(value));
    return {
      field,
      ...(from === undefined ? {} : { from: render(from) }),
      ...(to === undefined ? {} : { to: render(to) }),
    };
  });
}

function withNames(value: unknown, names: HighlightNames): unknown {
  if (Array.isArray(value)) return value.map((item) => withNames(item, names));
  const id = referenceId(value);
  return id === null ? value : names.of(id);
}

function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  return typeof value === "string" ? [...value].slice(0, VALUE_TEXT_MAX).join("") : value;
}
