// Form fields of a kind: those of the API, in the kind's order, and the organization's custom fields.

import { CUSTOM_LIMITS, FORMS } from "#forms";
import { type DataOf, read } from "../api/client.ts";
import type { FormField } from "../forms/field.ts";
import { type EditedKind, loadedDetails, operationOn } from "../kinds/kinds.ts";
import { formFields } from "./form-fields.ts";

/** All fields that the API accepts for an existing or a new record. */
export function allFieldsOf(kind: EditedKind, isNew: boolean): readonly FormField[] {
  return FORMS[operationOn(isNew ? "create" : "update", kind)];
}

/** Form fields: those that the kind lists, in that order, then all other editable ones. */
export function fieldsOf(kind: EditedKind, isNew: boolean): readonly FormField[] {
  return formFields(allFieldsOf(kind, isNew), loadedDetails(kind) ?? {}, isNew);
}

/** Exceeds the API's limit per kind. */
const DEFINITIONS_MAX = 1_000;

type Definition = DataOf<"/api/v1/custom-fields">[number];
/** Custom field definitions of a kind. @throws Refusal */
export async function definitionsOf(kind: EditedKind): Promise<readonly Definition[]> {
  if (!allFieldsOf(kind, false).some(({ name }) => name === "custom_fields")) return [];
  const { data } = await read("/api/v1/custom-fields", { query: { limit: DEFINITIONS_MAX } }).load();
  return data.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
}

export function customField({ key, label, type, choices, required, description }: Definition): FormField {
  return {
    name: `custom_fields.${key}`,
    label,
    type: type === "url" ? "text" : type === "boolean" ? "flag" : type,
    isNullable: !required,
    isRequired: false,
    ...(type === "choice" ? { choices } : {}),
    ...(type === "text" || type === "url" ? { maxLength: CUSTOM_LIMITS[type] } : {}),
    ...(description ? { description } : {}),
  };
}
