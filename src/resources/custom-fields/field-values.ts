// Custom-field values of a record in responses and in write bodies. Independent of definitions.

import { Type } from "@sinclair/typebox";
import { FIELD_KEY_MAX_LENGTH, FIELD_URL_MAX_LENGTH, FIELDS_OF_KIND_MAX } from "../../base/custom-field-limits.ts";
import { CUSTOM_FIELDS, customFieldName } from "../../base/custom-field-names.ts";
import type { IndexedName } from "../../db/name-entries.ts";
import { type NamedFields, namesIn } from "../searching.ts";
import type { FieldValue } from "./field-type.ts";

/** Values by key; fields without a value are absent. */
export type FieldValues = Readonly<Record<string, FieldValue>>;
/** Values in a write; null clears a field. */
export type GivenValues = Readonly<Record<string, FieldValue | null>>;

const anyValue = [Type.String({ maxLength: FIELD_URL_MAX_LENGTH }), Type.Number(), Type.Boolean()] as const;
const options = { maxProperties: FIELDS_OF_KIND_MAX, propertyNames: { maxLength: FIELD_KEY_MAX_LENGTH } };

/** Response schema. */
export const customFieldsOfResponse = {
  [CUSTOM_FIELDS]: Type.Optional(
    Type.Unsafe<FieldValues>(
      Type.Object(
        {},
        {
          additionalProperties: Type.Union([...anyValue]),
          description: "The values of custom fields by key (`/custom-fields`). Absent if empty.",
        },
      ),
    ),
  ),
};

/** Body schema. */
export const customFieldsOfBody = {
  [CUSTOM_FIELDS]: Type.Optional(
    Type.Unsafe<GivenValues>(
      Type.Object(
        {},
        {
          ...options,
          additionalProperties: Type.Union([...anyValue, Type.Null()]),
          description:
            "The values of custom fields by key (`/custom-fields`): given ones are set, null clears one, others stay.",
        },
      ),
    ),
  ),
};

/**
 * Appends the text values of custom fields to a record's search names. Called for every written record, so it modifies
 * the list passed in.
 */
export function withValueNames(texts: IndexedName[], values: FieldValues | undefined): readonly IndexedName[] {
  if (values === undefined) return texts;
  for (const [key, value] of Object.entries(values))
    if (typeof value === "string") texts.push({ field: customFieldName(key), value, as: "Name" });
  return texts;
}

/** Like namesIn, with the text values of custom fields. */
export function namesAndValuesIn<R extends { readonly custom_fields?: FieldValues | undefined }>(
  fields: NamedFields<R>,
) {
  const names = namesIn<R>(fields);
  return (record: R) => withValueNames(names(record), record.custom_fields);
}

/** Text values only. */
export function wordsOfValues(values: FieldValues | undefined): string[] {
  return values === undefined ? [] : Object.values(values).filter((value) => typeof value === "string");
}
