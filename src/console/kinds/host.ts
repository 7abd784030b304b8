// List columns, form fields and facts of hosts.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";
import { wordList } from "./word-list.ts";

export const hostDetails: KindDetails<keyof components["schemas"]["ListedHost"]> = {
  columns: {
    name: [14, "page"],
    ip_addresses: [11, "addresses"],
    hostname: 15,
    description: 16,
    network_id: 9,
    manufacturer: 10,
    model: 12,
    serial_number: 10,
    device_type: 9,
    device_type_source: 8,
    asset_tag: 8,
    sys_name: 12,
    sys_location: 12,
    sys_contact: 12,
    sys_descr: 20,
    chassis_id: 12,
    bridge_address: [10, "copied"],
    engine_id: [12, "copied"],
    tags: 12,
    hidden: 5,
    last_seen_at: 11,
    created_at: 11,
    updated_at: 11,
  },
  shown: ["name", "ip_addresses", "hostname", "manufacturer", "model", "sys_location", "tags", "last_seen_at"],
  example: 'manufacturer = "Cisco" AND sys_location : "Building 3"',
  views: [
    { name: "Not seen for 30 days", filter: 'last_seen_at < "-30d"' },
    { name: "New this week", filter: 'created_at > "-7d"', order: "-created_at" },
  ],
  offersScan: true,
  columnQueries: { ip_addresses: { children: "ip_addresses" } },
  unlisted: ["interfaces", "ports", "services", "credential_assignments", "consolidated_into", "counts", "split_from"],
  form: wordList(
    "name hostname description tags device_type manufacturer model serial_number asset_tag management_url sys_name",
    "sys_descr sys_location sys_contact sys_object_id hidden",
  ),
  isDiscovered: true,
  removal: [
    "Its addresses, interfaces, ports and services are deleted too.",
    "Their addresses, interfaces, ports and services are deleted too.",
  ],
  facts: wordList(
    "name hostname description device_type device_type_source manufacturer model serial_number asset_tag sys_name",
    "sys_descr sys_location sys_contact sys_object_id chassis_id bridge_address engine_id management_url virtualization tags",
  ),
  shownElsewhere: [
    "ip_addresses",
    "network_id",
    "source",
    "created_at",
    "updated_at",
    "last_seen_at",
    "stale_since",
    "split_from",
  ],
};
