// List columns and form fields of ports.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const portDetails: KindDetails<keyof components["schemas"]["Port"]> = {
  columns: {
    number: 6,
    protocol: 7,
    type: 10,
    host_id: 12,
    network_id: 9,
    last_seen_at: 11,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["number", "protocol", "type", "host_id", "last_seen_at"],
  order: "number",
  example: 'protocol = "Tcp" AND number < 1024',
  views: [{ name: "New this week", filter: 'created_at > "-7d"', order: "-created_at" }],
  form: ["number", "protocol"],
  defaults: { protocol: "Tcp" },
  isDiscovered: true,
};
