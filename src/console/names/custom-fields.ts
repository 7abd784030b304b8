// The custom fields of the organization, as they are defined now: what people call them, and of what type they are.
// Asked for once, when the first is wanted, and again when one of them is written.

import { signal } from "@preact/signals";
import { forgetFields, onForgotten } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { onChanges } from "../api/live.ts";
import { fieldText } from "../text/lists.ts";

export type CustomField = DataOf<"/api/v1/custom-fields">[number];

/** What a record has of them, by key. */
export interface Holding {
  readonly custom_fields?: Readonly<Record<string, unknown>> | undefined;
}

const PREFIX = "custom_fields.";
/** As many as an organization can have, and more. */
const FIELDS_MAX = 1_000;

const defined = signal<readonly CustomField[]>([]);
let isAsked = false;

/** Those of a kind of record, in the order in which they were made; none while they are not known. */
export function definedFieldsOf(kind: string): readonly CustomField[] {
  if (!isAsked) void ask();
  return defined.value.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
}

/** What is defined of a field by its name, `custom_fields.rack`; null for another field, and for one that is gone. */
export function customFieldOf(field: string): CustomField | null {
  const key = customKey(field);
  if (key === null) return null;
  if (!isAsked) void ask();
  return defined.value.find((each) => each.key === key) ?? null;
}

/** `rack` of `custom_fields.rack`; null for another field. */
export function customKey(field: string): string | null {
  return field.startsWith(PREFIX) ? field.slice(PREFIX.length) : null;
}

/** `custom_fields.rack` of `rack`. */
export function customName(key: string): string {
  return PREFIX + key;
}

/** The value of a field of a record by its name, custom or not. */
export function valueOfField(record: unknown, field: string): unknown {
  const key = customKey(field);
  if (key === null) return (record as Readonly<Record<string, unknown>>)[field];
  const values = (record as Holding).custom_fields;
  return values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
}

/** What people call a field: of a custom one its label. */
export function fieldTitle(field: string): string {
  return fieldText[field] ?? customFieldOf(field)?.label ?? customKey(field) ?? field;
}

onChanges((changes) => {
  if (changes?.some(({ type }) => type === "custom_field") === false) return;
  forgetFields();
  if (isAsked) void ask();
});

onForgotten(() => {
  isAsked = false;
  defined.value = [];
});

async function ask(): Promise<void> {
  isAsked = true;
  try {
    defined.value = (await read("/api/v1/custom-fields", { query: { limit: FIELDS_MAX } }).load()).data;
  } catch {
    // They stay keys: what the page shows is more than their names.
  }
}
