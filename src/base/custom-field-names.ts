// Field names of custom-field entries: `custom_fields.rack` is counted, compared and filtered as a separate field.

import { ownValue } from "./fields.ts";

/** Record field with the custom-field object. */
export const CUSTOM_FIELDS = "custom_fields";
const PREFIX = `${CUSTOM_FIELDS}.`;

type Fields = Readonly<Record<string, unknown>>;

/** `rack` → `custom_fields.rack`. */
export function customFieldName(key: string): string {
  return PREFIX + key;
}

/** `custom_fields.rack` → `rack`; null for other fields. */
export function customFieldKey(field: string): string | null {
  return field.startsWith(PREFIX) ? field.slice(PREFIX.length) : null;
}

/** Value of a field by name; undefined without one. */
export function fieldValueOf(record: Fields, field: string): unknown {
  const key = customFieldKey(field);
  if (key === null) return ownValue(record, field);
  const values = record[CUSTOM_FIELDS] as Fields | undefined;
  return ownValue(values, key);
}

/** Names of the custom fields that differ between two states of a record. */
export function changedCustomFields(old: unknown, current: unknown): string[] {
  const [before, after] = [(old ?? {}) as Fields, (current ?? {}) as Fields];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => ownValue(before, key) !== ownValue(after, key)).map(customFieldName);
}

/**
 * The custom fields of a record, some replaced by their value in another state; undefined for none.
 * @param fields names to replace; only custom fields are used
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
  return canonicalOrder(merged);
}

/** The canonical order for storage; undefined for none. */
export function canonicalOrder<Value>(
  values: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> | undefined {
  const keys = Object.keys(values);
  return keys.length === 0
    ? undefined
    : Object.fromEntries(keys.sort().map((key) => [key, ownValue(values, key) as Value]));
}
