// List columns and form fields of services.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const serviceDetails: KindDetails<keyof components["schemas"]["Service"]> = {
  columns: {
    name: 14,
    service_definition: 10,
    host_id: 12,
    bindings: [6, "count"],
    tags: 11,
    network_id: 9,
    last_seen_at: 11,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["name", "service_definition", "host_id", "bindings", "tags", "last_seen_at"],
  example: 'service_definition = "Ssh"',
  views: [{ name: "New this week", filter: 'created_at > "-7d"', order: "-created_at" }],
  form: ["name", "service_definition", "tags"],
  unset: ["position"],
  isDiscovered: true,
};
