// List columns and form fields of address ranges.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const ipRangeDetails: KindDetails<keyof components["schemas"]["IpRange"]> = {
  columns: {
    first: [12, "copied"],
    last: [12, "copied"],
    purpose: 8,
    description: 20,
    subnet_id: 11,
    tags: 12,
    network_id: 9,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["first", "last", "purpose", "description", "subnet_id", "tags"],
  order: "first",
  example: "purpose = Dhcp",
  form: ["first", "last", "purpose", "description", "tags"],
  // The API sets the most specific subnet.
  unset: ["subnet_id"],
  defaults: { purpose: "Reserved" },
};
