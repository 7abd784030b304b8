// Writes of custom fields, one record at a time.

import type { RecordWrites } from "../record-writes.ts";
import { customFieldCommands } from "./commands.ts";
import { CustomFieldCreate, CustomFieldUpdate } from "./custom-field.ts";
import { customFieldResource } from "./resource.ts";

export const customFieldWrites: RecordWrites = {
  resource: customFieldResource,
  Create: CustomFieldCreate,
  create: customFieldCommands["custom_field.create"],
  Update: CustomFieldUpdate,
  update: customFieldCommands["custom_field.update"],
  key: ["key"],
  typedBy: { default: "type" },
  isTableOnly: true,
};
