// Edited fields of a record, and their merge with concurrent changes. Pure.

import { ownValue } from "../text/own-value.ts";
import {
  customKeyOf,
  type FormField,
  isSameTyped,
  sentValue,
  type Typed,
  typedOf,
  type Values,
  valueIn,
} from "./field.ts";

/** Input by field; untouched fields are absent. */
export type TypedFields = Readonly<Record<string, Typed>>;

/** Field changed by both, to different values. */
export interface Clash {
  readonly field: FormField;
  readonly was: Typed;
  readonly theirs: Typed;
  readonly mine: Typed;
}

/** Fields that differ from `base`. */
export function editedOf(fields: readonly FormField[], base: Values, typed: TypedFields): FormField[] {
  return fields.filter((field) => {
    const mine = ownValue(typed, field.name);
    return mine !== undefined && !isSameTyped(mine, typedOf(field, valueIn(base, field)));
  });
}

/**
 * Body of an update: required fields with their current values, and edited ones. Omitted fields stay unchanged.
 * @param all the fields of the operation
 * @param current the record to be updated
 */
export function bodyOf(
  all: readonly FormField[],
  current: Values,
  edited: readonly FormField[],
  typed: TypedFields,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, isRequired } of all)
    if (isRequired && Object.hasOwn(current, name)) body[name] = ownValue(current, name);
  const custom: Record<string, unknown> = {};
  for (const field of edited) {
    const key = customKeyOf(field);
    const value = sentValue(field, ownValue(typed, field.name) as Typed, typed.type ?? current.type);
    if (key === null) body[field.name] = value;
    else custom[key] = value;
  }
  // Custom fields not in the body keep their values.
  return Object.keys(custom).length === 0 ? body : { ...body, custom_fields: custom };
}

/** Fields changed by others: conflicts with own edits, and the names of the rest. */
export function meanwhile(
  fields: readonly FormField[],
  base: Values,
  theirs: Values,
  typed: TypedFields,
): { readonly clashes: Clash[]; readonly others: string[] } {
  const edited = new Set(editedOf(fields, base, typed));
  const clashes: Clash[] = [];
  const others: string[] = [];
  for (const field of fields) {
    const [was, is] = [typedOf(field, valueIn(base, field)), typedOf(field, valueIn(theirs, field))];
    if (isSameTyped(was, is)) continue;
    const mine = ownValue(typed, field.name);
    if (!edited.has(field) || mine === undefined) others.push(field.name);
    else if (!isSameTyped(mine, is)) clashes.push({ field, was, theirs: is, mine });
  }
  return { clashes, others };
}
