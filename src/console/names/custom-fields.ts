// Custom field definitions of the organization at the shown instant: labels and types. Loaded on first use per instant,
// and again after a change.

import { type Signal, signal } from "@preact/signals";
import { forgetFields, onForgotten } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { onChanges } from "../api/live.ts";
import { fieldLabel } from "../text/lists.ts";
import { ownValue } from "../text/own-value.ts";
import { at } from "../time/at.ts";

export type CustomField = DataOf<"/api/v1/custom-fields">[number];

/** Custom values of a record, by key. */
export interface Holding {
  readonly custom_fields?: Readonly<Record<string, unknown>> | undefined;
}

const PREFIX = "custom_fields.";
/** Above the API's limit per organization. */
const FIELDS_MAX = 1_000;

/** Stepping through time visits many instants. */
const INSTANTS_MAX = 30;

/** By instant, as in the address; null for now. Least recently used first. */
const defined = new Map<string | null, Signal<readonly CustomField[] | undefined>>();

/** Fields of a record kind in order of creation; empty while loading. */
export function definedFieldsOf(kind: string): readonly CustomField[] {
  const fields = definedAt(at.value) ?? definedAt(null) ?? [];
  return fields.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
}

/**
 * Definition of a field such as `custom_fields.rack`, at the shown instant, or now if it did not exist then. Null for
 * another or a deleted field.
 */
export function customFieldOf(field: string): CustomField | null {
  const key = customKey(field);
  if (key === null) return null;
  for (const instant of new Set([at.value, null])) {
    const found = definedAt(instant)?.find((each) => each.key === key);
    if (found !== undefined) return found;
  }
  return null;
}

/** `rack` for `custom_fields.rack`; null for another field. */
export function customKey(field: string): string | null {
  return field.startsWith(PREFIX) ? field.slice(PREFIX.length) : null;
}

/** `custom_fields.rack` for `rack`. */
export function customName(key: string): string {
  return PREFIX + key;
}

/** Value of a record's field, custom or not. */
export function valueOfField(record: unknown, field: string): unknown {
  const key = customKey(field);
  if (key === null) return ownValue(record as Readonly<Record<string, unknown>>, field);
  const values = (record as Holding).custom_fields;
  return ownValue(values, key);
}

/** Display title of a field; the label of a custom one. */
export function fieldTitle(field: string): string {
  return customFieldOf(field)?.label ?? customKey(field) ?? fieldLabel(field);
}

onChanges((changes) => {
  if (changes?.some(({ type }) => type === "custom_field") === false) return;
  forgetFields();
  const now = defined.get(null);
  if (now !== undefined) void ask(null, now);
});

onForgotten(() => {
  defined.clear();
});

/** Undefined while loading. */
function definedAt(instant: string | null): readonly CustomField[] | undefined {
  const known = defined.get(instant);
  const fields = known ?? signal<readonly CustomField[] | undefined>(undefined);
  defined.delete(instant);
  defined.set(instant, fields);
  for (const oldest of defined.keys()) {
    if (defined.size <= INSTANTS_MAX) break;
    defined.delete(oldest);
  }
  if (known === undefined) void ask(instant, fields);
  return fields.value;
}

async function ask(instant: string | null, fields: Signal<readonly CustomField[] | undefined>): Promise<void> {
  try {
    const query = { limit: FIELDS_MAX, ...(instant === null ? {} : { at: instant }) };
    fields.value = (await read("/api/v1/custom-fields", { query }).load()).data;
  } catch {
    // On failure the keys are shown; the rest of the page still works.
  }
}
