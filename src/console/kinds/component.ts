// List columns of components.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const componentDetails: KindDetails<keyof components["schemas"]["Component"]> = {
  columns: {
    serial_number: [10, "page"],
    host_id: 11,
    class: 7,
    position: 5,
    manufacturer: 10,
    model: 11,
    network_id: 9,
    last_seen_at: 11,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["serial_number", "host_id", "class", "position", "manufacturer", "model", "last_seen_at"],
  order: "serial_number",
  example: 'class = StackMember AND model : "48"',
  views: [{ name: "New this week", filter: 'created_at > "-7d"', order: "-created_at" }],
  emptyHint: "Scans with SNMP find the chassis and stack members of devices.",
};
