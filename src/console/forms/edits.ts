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
  const type = typed.type ?? current.type;
  return {
    ...requiredOf(all, current),
    ...bodyWith(edited.map((field) => [field.name, sentValue(field, ownValue(typed, field.name) as Typed, type)])),
  };
}

/** Required fields with their current values. */
export function requiredOf(all: readonly FormField[], current: Values): Record<string, unknown> {
  const required = all.filter(({ name, isRequired }) => isRequired && Object.hasOwn(current, name));
  return Object.fromEntries(required.map(({ name }) => [name, ownValue(current, name)]));
}

/** Body with these fields. Custom fields not in the body keep their values. */
export function bodyWith(values: ReadonlyArray<readonly [name: string, value: unknown]>): Record<string, unknown> {
  const own = values.filter(([name]) => customKeyOf({ name }) === null);
  const custom = values.flatMap(([name, value]) => {
    const key = customKeyOf({ name });
    return key === null ? [] : [[key, value] as const];
  });
  return { ...Object.fromEntries(own), ...(custom.length === 0 ? {} : { custom_fields: Object.fromEntries(custom) }) };
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
