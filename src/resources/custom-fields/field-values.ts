// The custom fields of a record, as answers have them and as writes say them. Knows no definition.

import { Type } from "@sinclair/typebox";
import { FIELD_KEY_MAX_LENGTH, FIELD_URL_MAX_LENGTH, FIELDS_OF_KIND_MAX } from "../../base/custom-field-limits.ts";
import { CUSTOM_FIELDS, customFieldName } from "../../base/custom-field-names.ts";
import type { CalledText } from "../../db/called-words.ts";
import type { FieldValue } from "./field-type.ts";

/** By key; only those that have a value. */
export type FieldValues = Readonly<Record<string, FieldValue>>;
/** The same of a write: null clears one. */
export type SaidValues = Readonly<Record<string, FieldValue | null>>;

const anyValue = [Type.String({ maxLength: FIELD_URL_MAX_LENGTH }), Type.Number(), Type.Boolean()] as const;
const options = { maxProperties: FIELDS_OF_KIND_MAX, propertyNames: { maxLength: FIELD_KEY_MAX_LENGTH } };

/** In an answer. */
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

/** In a body. */
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
 * What a record is found by, with all that is text of its custom fields. Every record that is written asks for it: the
 * list is the one that was given.
 */
export function withCalledValues(texts: CalledText[], values: FieldValues | undefined): readonly CalledText[] {
  if (values === undefined) return texts;
  for (const [key, value] of Object.entries(values))
    if (typeof value === "string") texts.push({ field: customFieldName(key), value, as: "Name" });
  return texts;
}

/** The texts among values. */
export function wordsOfValues(values: FieldValues | undefined): string[] {
  return values === undefined ? [] : Object.values(values).filter((value) => typeof value === "string");
}
