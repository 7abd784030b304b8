// What an edit comes to: the fields that are others than when it began, and how they stand to what others made of the
// record meanwhile. Plain functions.

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

/** What was typed, by field; a field that nobody touched is not in it. */
export type TypedFields = Readonly<Record<string, Typed>>;

/** A field that both changed, each to something else. */
export interface Clash {
  readonly field: FormField;
  readonly was: Typed;
  readonly theirs: Typed;
  readonly mine: Typed;
}

/** The fields that are others than in `base`. */
export function editedOf(fields: readonly FormField[], base: Values, typed: TypedFields): FormField[] {
  return fields.filter((field) => {
    const mine = ownValue(typed, field.name);
    return mine !== undefined && !isSameTyped(mine, typedOf(field, valueIn(base, field)));
  });
}

/**
 * The body of an update: what the API requires as it is, and what was edited. What is left out stays.
 * @param all the fields of the operation
 * @param current the record as it is to be changed
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
  // Keys that are not named keep their values.
  return Object.keys(custom).length === 0 ? body : { ...body, custom_fields: custom };
}

/** The fields that others changed since: those that were edited too, to something else, and the rest by name. */
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
