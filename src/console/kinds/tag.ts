// List columns and form fields of tags.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const tagDetails: KindDetails<keyof components["schemas"]["Tag"]> = {
  columns: { name: [14, "tagged"], color: 7, description: 24, is_application: 8, created_at: 11, updated_at: 11 },
  shown: ["name", "color", "description", "is_application", "created_at"],
  example: "is_application = true",
  form: ["name", "color", "description", "is_application"],
  defaults: { color: "Blue", is_application: false },
};
