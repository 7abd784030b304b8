// List columns and form fields of networks.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const networkDetails: KindDetails<keyof components["schemas"]["Network"]> = {
  columns: {
    name: 16,
    description: 24,
    stale_after_hours: 9,
    expire_addresses_after_hours: 9,
    expire_hosts_after_hours: 9,
    expire_random_macs_after_hours: 9,
    tags: 12,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["name", "description", "stale_after_hours", "tags", "created_at"],
  example: "stale_after_hours > 24",
  form: [
    "name",
    "description",
    "stale_after_hours",
    "expire_addresses_after_hours",
    "expire_hosts_after_hours",
    "expire_random_macs_after_hours",
    "tags",
  ],
};
