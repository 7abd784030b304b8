// Custom fields as a resource.

import { ADMIN, VIEWER } from "../../access/actor.ts";
import { listCell, schemaColumns } from "../../schemas/csv.ts";
import type { Resource } from "../resource.ts";
import { CUSTOM_FIELD_EXAMPLE, CustomField, type CustomFieldRecord, customFieldKind } from "./custom-field.ts";

export const customFieldResource: Resource<CustomFieldRecord> = {
  kind: customFieldKind,
  path: "custom-fields",
  group: "Custom fields",
  about: "Fields that an organization adds to its records.",
  responseSchema: CustomField,
  columns: schemaColumns(CustomField).map((column) =>
    column.name === "choices" ? { ...column, cell: ({ choices }) => listCell(choices as string[]) } : column,
  ),
  example: CUSTOM_FIELD_EXAMPLE,
  read: VIEWER,
  write: ADMIN,
};
