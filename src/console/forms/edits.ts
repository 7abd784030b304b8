// A record's edited fields, and merging them with concurrent changes. Pure.

import { ownValue } from "../text/own-value.ts";
import {
  customKeyOf,
  type FormField,
  isSameInput,
  sentValue,
  type Typed,
  typedOf,
  type Values,
  valueIn,
} from "./field.ts";

/** Input by field; untouched fields are absent. */
export type TypedFields = Readonly<Record<string, Typed>>;

/** A field that this user and others changed to different values. */
export interface Conflict {
  readonly field: FormField;
  readonly was: Typed;
  readonly theirs: Typed;
  readonly mine: Typed;
}

/** Fields whose input differs from `base`. */
export function editedOf(fields: readonly FormField[], base: Values, typed: TypedFields): FormField[] {
  return fields.filter((field) => {
    const mine = ownValue(typed, field.name);
    return mine !== undefined && !isSameInput(mine, typedOf(field, valueIn(base, field)));
  });
}

/**
 * Request body for an update: required fields with their current values, and edited ones. Others stay unchanged.
 * @param all all fields that the operation accepts
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

/** Request body with these fields. Custom fields missing from a body keep their values. */
export function bodyWith(values: ReadonlyArray<readonly [name: string, value: unknown]>): Record<string, unknown> {
  const own = values.filter(([name]) => customKeyOf({ name }) === null);
  const custom = values.flatMap(([name, value]) => {
    const key = customKeyOf({ name });
    return key === null ? [] : [[key, value] as const];
  });
  return { ...Object.fromEntries(own), ...(custom.length === 0 ? {} : { custom_fields: Object.fromEntries(custom) }) };
}

/** Fields changed by others: conflicts with this user's edits, and the names of the other fields. */
export function concurrentChanges(
  fields: readonly FormField[],
  base: Values,
  theirs: Values,
  typed: TypedFields,
): { readonly conflicts: Conflict[]; readonly others: string[] } {
  const edited = new Set(editedOf(fields, base, typed));
  const conflicts: Conflict[] = [];
  const others: string[] = [];
  for (const field of fields) {
    const [was, current] = [typedOf(field, valueIn(base, field)), typedOf(field, valueIn(theirs, field))];
    if (isSameInput(was, current)) continue;
    const mine = ownValue(typed, field.name);
    if (!edited.has(field) || mine === undefined) others.push(field.name);
    else if (!isSameInput(mine, current)) conflicts.push({ field, was, theirs: current, mine });
  }
  return { conflicts, others };
}
