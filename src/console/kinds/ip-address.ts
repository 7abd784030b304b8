// List columns and form fields of IP addresses.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";

export const ipAddressDetails: KindDetails<keyof components["schemas"]["IpAddress"]> = {
  columns: {
    ip_address: [12, "copied"],
    host_id: 11,
    mac_address: [10, "copied"],
    name: 9,
    subnet_id: 11,
    network_id: 9,
    last_seen_at: 11,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["ip_address", "host_id", "mac_address", "name", "subnet_id", "last_seen_at"],
  order: "ip_address",
  example: 'ip_address : "10.2.0.0/16"',
  views: [
    { name: "Without a MAC address", filter: "NOT mac_address:*" },
    { name: "New this week", filter: 'created_at > "-7d"', order: "-created_at" },
  ],
  form: ["ip_address", "mac_address", "name", "subnet_id"],
  unset: ["position"],
  isDiscovered: true,
};
