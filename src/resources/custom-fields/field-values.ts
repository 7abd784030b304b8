// Custom-field values of a record in responses and in write bodies. Must not know any definition.

import { Type } from "@sinclair/typebox";
import { FIELD_KEY_MAX_LENGTH, FIELD_URL_MAX_LENGTH, FIELDS_OF_KIND_MAX } from "../../base/custom-field-limits.ts";
import { CUSTOM_FIELDS, customFieldName } from "../../base/custom-field-names.ts";
import type { CalledText } from "../../db/called-words.ts";
import type { FieldValue } from "./field-type.ts";

/** Values by key; fields without a value are absent. */
export type FieldValues = Readonly<Record<string, FieldValue>>;
/** Values in a write; null clears a field. */
export type SaidValues = Readonly<Record<string, FieldValue | null>>;

const anyValue = [Type.String({ maxLength: FIELD_URL_MAX_LENGTH }), Type.Number(), Type.Boolean()] as const;
const options = { maxProperties: FIELDS_OF_KIND_MAX, propertyNames: { maxLength: FIELD_KEY_MAX_LENGTH } };

/** Response schema. */
export const customFieldsOfAnswer = {
  [CUSTOM_FIELDS]: Type.Optional(
    Type.Unsafe<FieldValues>(
      Type.Object(
        {},
        {
          additionalProperties: Type.Union([...anyValue]),
          description: "The values of custom fields by key (`/custom-fields`). Absent if there is none.",
        },
      ),
    ),
  ),
};

/** Body schema. */
export const customFieldsOfBody = {
  [CUSTOM_FIELDS]: Type.Optional(
    Type.Unsafe<SaidValues>(
      Type.Object(
        {},
        {
          ...options,
          additionalProperties: Type.Union([...anyValue, Type.Null()]),
          description:
            "The values of custom fields by key (`/custom-fields`): those named are set, null clears one, others stay.",
        },
      ),
    ),
  ),
};

/**
 * Appends the text values of custom fields to a record's search names. Called for every written record, so it modifies
 * the list passed in.
 */
export function withCalledValues(texts: CalledText[], values: FieldValues | undefined): readonly CalledText[] {
  if (values === undefined) return texts;
  for (const [key, value] of Object.entries(values))
    if (typeof value === "string") texts.push({ field: customFieldName(key), value, as: "Name" });
  return texts;
}

/** Text values only. */
export function wordsOfValues(values: FieldValues | undefined): string[] {
  return values === undefined ? [] : Object.values(values).filter((value) => typeof value === "string");
}
