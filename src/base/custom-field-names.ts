// How the entries of an object of custom fields are called among the fields of a record: `custom_fields.rack` counts,
// differs and is filtered as a field of its own.

import { ownValue } from "./fields.ts";

/** The field of a record that holds them. */
export const CUSTOM_FIELDS = "custom_fields";
const PREFIX = `${CUSTOM_FIELDS}.`;

type Fields = Readonly<Record<string, unknown>>;

/** `custom_fields.rack` of `rack`. */
export function customFieldName(key: string): string {
  return PREFIX + key;
}

/** `rack` of `custom_fields.rack`; null for another field. */
export function customFieldKey(field: string): string | null {
  return field.startsWith(PREFIX) ? field.slice(PREFIX.length) : null;
}

/** The value of a field by its name; undefined where it has none. */
export function fieldValueOf(record: Fields, field: string): unknown {
  const key = customFieldKey(field);
  if (key === null) return ownValue(record, field);
  const values = record[CUSTOM_FIELDS] as Fields | undefined;
  return ownValue(values, key);
}

/** The names of the custom fields in which two states of a record differ. */
export function changedCustomFields(old: unknown, now: unknown): string[] {
  const [before, after] = [(old ?? {}) as Fields, (now ?? {}) as Fields];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => ownValue(before, key) !== ownValue(after, key)).map(customFieldName);
}

/**
 * The custom fields of a record with some of them as they are in another state of it; undefined for none.
 * @param fields of which those are taken that are custom fields
 */
export function mergedCustomFields(record: Fields, from: Fields, fields: readonly string[]): Fields | undefined {
  const merged: Record<string, unknown> = { ...(record[CUSTOM_FIELDS] as Fields | undefined) };
  for (const field of fields) {
    const key = customFieldKey(field);
    if (key === null) continue;
    const value = fieldValueOf(from, field);
    if (value === undefined) delete merged[key];
    else merged[key] = value;
  }
  return inOrder(merged);
}

/** In the one order in which records keep them; undefined for none. */
export function inOrder<Value>(values: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> | undefined {
  const keys = Object.keys(values);
  return keys.length === 0
    ? undefined
    : Object.fromEntries(keys.sort().map((key) => [key, ownValue(values, key) as Value]));
}
