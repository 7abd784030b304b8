// Custom field definitions at the shown timestamp, loaded on first use per timestamp and reloaded after a change.

import { type Signal, signal } from "@preact/signals";
import { type DataOf, read } from "../api/client.ts";
import { onChanges } from "../api/live.ts";
import { dropFieldResponses, onResponsesCleared } from "../api/response.ts";
import { fieldLabel } from "../text/lists.ts";
import { ownValue } from "../text/own-value.ts";
import { at } from "../time/at.ts";

export type CustomField = DataOf<"/api/v1/custom-fields">[number];

/** A record's custom values, by key. */
export interface WithCustomFields {
  readonly custom_fields?: Readonly<Record<string, unknown>> | undefined;
}

const PREFIX = "custom_fields.";
/** Exceeds the API's limit per organization. */
const FIELDS_MAX = 1_000;

/** Limit of cached timestamps: stepping through time visits many. */
const INSTANTS_MAX = 30;

/** Definitions by timestamp, as in the URL; null for now. Least recently used first. */
const fieldsByInstant = new Map<string | null, Signal<readonly CustomField[] | undefined>>();

/** Custom fields of a record kind in order of creation; empty while loading. */
export function definedFieldsOf(kind: string): readonly CustomField[] {
  const fields = fieldsAt(at.value) ?? fieldsAt(null) ?? [];
  return fields.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
}

/** Definition of a field such as `custom_fields.rack`, at the shown timestamp or else now; null if there is none. */
export function customFieldOf(field: string): CustomField | null {
  const key = customKey(field);
  if (key === null) return null;
  for (const instant of new Set([at.value, null])) {
    const definition = fieldsAt(instant)?.find((field) => field.key === key);
    if (definition !== undefined) return definition;
  }
  return null;
}

/** `rack` for `custom_fields.rack`; null for other fields. */
export function customKey(field: string): string | null {
  return field.startsWith(PREFIX) ? field.slice(PREFIX.length) : null;
}

/** `custom_fields.rack` for `rack`. */
export function customName(key: string): string {
  return PREFIX + key;
}

/** Value of any field of a record, custom or not. */
export function valueOfField(record: unknown, field: string): unknown {
  const key = customKey(field);
  if (key === null) return ownValue(record as Readonly<Record<string, unknown>>, field);
  return ownValue((record as WithCustomFields).custom_fields, key);
}

/** Display title of a field; the label of a custom one. */
export function fieldTitle(field: string): string {
  return customFieldOf(field)?.label ?? customKey(field) ?? fieldLabel(field);
}

onChanges((changes) => {
  if (changes?.some(({ type }) => type === "custom_field") === false) return;
  dropFieldResponses();
  const now = fieldsByInstant.get(null);
  if (now !== undefined) void load(null, now);
});

onResponsesCleared(() => fieldsByInstant.clear());

/** Definitions at a timestamp; undefined while loading. */
function fieldsAt(instant: string | null): readonly CustomField[] | undefined {
  const cached = fieldsByInstant.get(instant);
  const fields = cached ?? signal<readonly CustomField[] | undefined>(undefined);
  fieldsByInstant.delete(instant);
  fieldsByInstant.set(instant, fields);
  for (const oldest of fieldsByInstant.keys()) {
    if (fieldsByInstant.size <= INSTANTS_MAX) break;
    fieldsByInstant.delete(oldest);
  }
  if (cached === undefined) void load(instant, fields);
  return fields.value;
}

async function load(instant: string | null, fields: Signal<readonly CustomField[] | undefined>): Promise<void> {
  try {
    const query = { limit: FIELDS_MAX, ...(instant === null ? {} : { at: instant }) };
    fields.value = (await read("/api/v1/custom-fields", { query }).load()).data;
  } catch {
    // On failure, keys are shown instead; the rest of the page still works.
  }
}
