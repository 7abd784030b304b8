// Fields of forms: those that the API takes, in the order of their kind, and those that the organization has defined.

import { CUSTOM_LIMITS, FORMS } from "#forms";
import { type DataOf, read } from "../api/client.ts";
import { type EditedKind, loadedDetails, operationOn } from "../kinds/kinds.ts";
import type { FormField } from "./field.ts";
import { formFields } from "./form-fields.ts";

/** All fields that the API takes of a record that is there, or of a new one. */
export function allFieldsOf(kind: EditedKind, isNew: boolean): readonly FormField[] {
  return FORMS[operationOn(isNew ? "create" : "update", kind)];
}

/** Those of the form: what its kind mentions, in that order, then whatever else can be typed. */
export function fieldsOf(kind: EditedKind, isNew: boolean): readonly FormField[] {
  return formFields(allFieldsOf(kind, isNew), loadedDetails(kind) ?? {}, isNew);
}

/** More than a kind can have. */
const DEFINITIONS_MAX = 1_000;

type Definition = DataOf<"/api/v1/custom-fields">[number];
/** What the organization has added to a kind. @throws Refusal */
export async function definitionsOf(kind: EditedKind): Promise<readonly Definition[]> {
  if (!allFieldsOf(kind, false).some(({ name }) => name === "custom_fields")) return [];
  const { data } = await read("/api/v1/custom-fields", { query: { limit: DEFINITIONS_MAX } }).load();
  return data.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
}

export function customField({ key, label, type, choices, required, description }: Definition): FormField {
  const types = {
    text: "text",
    url: "text",
    number: "number",
    boolean: "flag",
    date: "date",
    choice: "choice",
  } as const;
  return {
    name: `custom_fields.${key}`,
    label,
    type: types[type],
    isNullable: !required,
    isRequired: false,
    ...(type === "choice" ? { choices } : {}),
    ...(type === "text" || type === "url" ? { maxLength: CUSTOM_LIMITS[type] } : {}),
    ...(description ? { description } : {}),
  };
}
