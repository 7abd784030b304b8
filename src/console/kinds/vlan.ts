// List columns, form fields and facts of VLANs.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const vlanDetails: KindDetails<keyof components["schemas"]["Vlan"]> = {
  columns: { number: 5, name: [14, "page"], description: 20, network_id: 9, created_at: 11, updated_at: 11 },
  shown: ["number", "name", "description", "network_id", "updated_at"],
  order: "number",
  example: "number >= 100 AND number < 200",
  form: ["number", "name", "description"],
  isDiscovered: true,
  shownElsewhere: ["number", "name", "description", "network_id"],
};
