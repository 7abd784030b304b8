// Custom field: organization-defined attribute of records. Its key never changes.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import { FIELD_CHOICES_MAX, FIELD_KEY_MAX_LENGTH, FIELD_URL_MAX_LENGTH } from "../../base/custom-field-limits.ts";
import { namesOf } from "../../base/fields.ts";
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
import type { RecordOf, Sayable } from "../record.ts";
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
  called: ({ key, label, description }) => [
    { field: "key", value: key, as: "Name" },
    { field: "label", value: label, as: "Name" },
    { field: "description", value: description, as: "Text" },
  ],
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
    "What the field is called in records, filters and tables: lower-case letters, digits and underscores, beginning with a letter. It never changes.",
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
  description: "What a field of type choice can be, in the order in which it is offered; empty for other types.",
});
const Default = Type.Union(
  [Type.String({ maxLength: FIELD_URL_MAX_LENGTH }), Type.Number(), Type.Boolean(), Type.Null()],
  { description: "The value of new records that give none; null for no value." },
);

const described = {
  label: Type.Optional(
    Type.String({ ...Name, description: "What people read; it can be renamed. Default in a create: the key." }),
  ),
  kinds: Kinds,
  type: FieldTypeName,
  choices: Type.Optional(Choices),
  required: Type.Optional(
    Type.Boolean({
      description: "Whether people must give a value; what discovery finds may lack it. Default in a create: false.",
    }),
  ),
  default: Type.Optional(Default),
  description: Type.Optional(Nullable(Description)),
} satisfies Sayable<CustomFieldRecord, "organization_id" | "key">;
export const CUSTOM_FIELD_DESCRIBED = namesOf(described);
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
  created_at: "2026-11-21T09:15:00.123Z",
  updated_at: "2026-11-21T09:15:00.123Z",
  valid_from: "2026-11-21T09:15:00.123Z",
  valid_to: null,
  lineage_id: null,
};
