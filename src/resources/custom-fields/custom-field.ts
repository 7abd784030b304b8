// Custom field: organization-defined attribute of records. Its key never changes.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import { FIELD_CHOICES_MAX, FIELD_KEY_MAX_LENGTH, FIELD_URL_MAX_LENGTH } from "../../base/custom-field-limits.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import {
  Body,
  Description,
  defineFormat,
  Name,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  Uuid,
} from "../../schemas/schemas.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { namesIn } from "../searching.ts";
import { FIELD_KINDS, FIELD_TYPES } from "./field-type.ts";

export const customFields = sqliteTable("custom_fields", liveColumns);

export const customFieldKind: Kind<CustomFieldRecord> = {
  name: "custom_field",
  plural: "custom_fields",
  words: { one: "custom field", many: "custom fields" },
  label: (field) => field.label,
  code: 21,
  table: customFields,
  scopes: {},
  observed: [],
  absent: "null",
  identity: (field) => `${field.organization_id}/${field.key}`,
  unique: { field: "key", value: (field) => field.key },
  indexedNames: namesIn<CustomFieldRecord>({ key: "Name", label: "Name", description: "Text" }),
  sortKeys: { label: textSortKey },
};

defineFormat("custom-field-key", {
  parse: (text) => (/^[a-z][a-z0-9_]*$/.test(text) ? text : null),
  sentence: "must begin with a lower-case letter, followed by lower-case letters, digits and underscores",
});

const Key = Type.String({
  format: "custom-field-key",
  minLength: 1,
  maxLength: FIELD_KEY_MAX_LENGTH,
  description:
    "The field's name in records, filters and tables: lower-case letters, digits and underscores, beginning with a letter. It never changes.",
});
const Kinds = Type.Array(OneOf(FIELD_KINDS), {
  minItems: 1,
  description: "The kinds of records that have the field; duplicates are dropped.",
});
const FieldTypeName = OneOf(FIELD_TYPES, {
  description: "`date`: a day such as 2026-11-21. `choice`: one of `choices`. `url`: a link, http or https.",
});
const Choices = Type.Array(Name, {
  maxItems: FIELD_CHOICES_MAX,
  description: "The options of a field of type choice, in display order; empty for other types.",
});
const Default = Type.Union(
  [Type.String({ maxLength: FIELD_URL_MAX_LENGTH }), Type.Number(), Type.Boolean(), Type.Null()],
  { description: "The value of new records that do not specify one; null for no value." },
);

const described = {
  label: Type.Optional(
    Type.String({ ...Name, description: "The display name; it can be changed. Default on create: the key." }),
  ),
  kinds: Kinds,
  type: FieldTypeName,
  choices: Type.Optional(Choices),
  required: Type.Optional(
    Type.Boolean({
      description: "Whether users must provide a value; discovered records may lack it. Default on create: false.",
    }),
  ),
  default: Type.Optional(Default),
  description: Type.Optional(Nullable(Description)),
} satisfies WriteSchemas<CustomFieldRecord, "organization_id" | "key">;
const identifying = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid) };

export const CustomFieldCreate = Body({ ...identifying, key: Key, ...described }, { ignored: RECORD_READ_ONLY });
export const CustomFieldUpdate = Body(
  { ...identifying, key: Type.Optional(Key), ...described },
  { ignored: RECORD_READ_ONLY },
);
export type CustomFieldCreate = Static<typeof CustomFieldCreate>;
export type CustomFieldUpdate = Static<typeof CustomFieldUpdate>;

export const CustomField = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    key: Key,
    label: Name,
    kinds: Kinds,
    type: FieldTypeName,
    choices: Choices,
    required: Type.Boolean(),
    default: Default,
    description: Nullable(Description),
    ...recordFields,
  },
  { $id: "CustomField" },
);
export interface CustomFieldRecord extends RecordOf<typeof CustomField> {}

export const CUSTOM_FIELD_EXAMPLE: Static<typeof CustomField> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021",
  organization_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  key: "support_until",
  label: "Support until",
  kinds: ["host"],
  type: "date",
  choices: [],
  required: false,
  default: null,
  description: null,
  ...RECORD_EXAMPLE,
};
