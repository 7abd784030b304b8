// The custom fields of the organization, as they were defined at the instant that is shown: what people called them, and
// of what type they were. Asked for once for each instant, when the first is wanted, and again when one of them is written.

import { type Signal, signal } from "@preact/signals";
import { forgetFields, onForgotten } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { onChanges } from "../api/live.ts";
import { fieldLabel } from "../text/lists.ts";
import { ownValue } from "../text/own-value.ts";
import { at } from "../time/at.ts";

export type CustomField = DataOf<"/api/v1/custom-fields">[number];

/** What a record has of them, by key. */
export interface Holding {
  readonly custom_fields?: Readonly<Record<string, unknown>> | undefined;
}

const PREFIX = "custom_fields.";
/** As many as an organization can have, and more. */
const FIELDS_MAX = 1_000;

/** Whoever moves through time looks at many instants. */
const INSTANTS_MAX = 30;

/** By instant, as the address has it; null for now. What was looked at last comes last. */
const defined = new Map<string | null, Signal<readonly CustomField[] | undefined>>();

/** Those of a kind of record, in the order in which they were made; none while they are not known. */
export function definedFieldsOf(kind: string): readonly CustomField[] {
  const fields = definedAt(at.value) ?? definedAt(null) ?? [];
  return fields.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
}

/**
 * What is defined of a field by its name, `custom_fields.rack`: as of the instant that is shown, or of today where it was
 * not there then. Null for another field, and for one that is gone.
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
  if (key === null) return ownValue(record as Readonly<Record<string, unknown>>, field);
  const values = (record as Holding).custom_fields;
  return ownValue(values, key);
}

/** What people call a field: of a custom one its label. */
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

/** Undefined while they are not known. */
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
    // They stay keys: what the page shows is more than their names.
  }
}
