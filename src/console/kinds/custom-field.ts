// List columns and form fields of custom fields.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const customFieldDetails: KindDetails<keyof components["schemas"]["CustomField"]> = {
  columns: {
    key: 10,
    label: 12,
    type: 7,
    kinds: [18, "kinds"],
    choices: [16, "plain"],
    required: 7,
    default: [10, "plain"],
    description: 20,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["key", "label", "type", "kinds", "required", "default", "description"],
  order: "key",
  example: "required = true",
  form: ["key", "label", "kinds", "type", "choices", "required", "default", "description"],
  defaults: { type: "text", required: false },
};
