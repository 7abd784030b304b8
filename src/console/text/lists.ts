// UI strings for lists. Field labels are derived from the schema names, spelled out.

import { capital } from "../kinds/kinds.ts";
import { ownValue } from "./own-value.ts";

/** Titles of fields whose schema name differs from the common name. */
const TITLES: Readonly<Record<string, string>> = {
  hostname: "Host name",
  ip_addresses: "Addresses",
  sys_object_id: "System object id",
  sys_location: "Location",
  sys_contact: "Contact",
  chassis_id: "Chassis id",
  require_change_reason: "Reason required",
  credential_ids: "Credentials",
  last_seen_at: "Last seen",
  created_at: "Created",
  updated_at: "Updated",
  if_index: "Index",
  if_name: "Interface",
  if_descr: "Description",
  if_alias: "Alias",
  if_type: "Type",
  speed_bps: "Speed",
  admin_status: "Administrative status",
  oper_status: "Operational status",
  vlan_ids: "VLANs",
  fdb_macs: "Forwards to",
  lldp_port_id: "LLDP port id",
  lldp_chassis_id: "LLDP chassis id",
  cdp_device_id: "CDP device id",
  cdp_port_id: "CDP port id",
  ip_address: "Address",
  service_definition: "Service",
  subnet_type: "Type",
  timezone: "Time zone",
  next_run_at: "Runs next",
  targets: "Scope",
  is_enabled: "Enabled",
  entity: "Kind",
  signs: "Recognized by",
  is_application: "Application",
  at: "Instant",
  stale_after_hours: "Stale after (hours)",
  expire_addresses_after_hours: "Addresses expire after (hours)",
  expire_hosts_after_hours: "Hosts expire after (hours)",
  expire_random_macs_after_hours: "Random MACs expire after (hours)",
  ip_address_id: "Address",
  lag_id: "Aggregate",
  parent_id: "Unit of",
};

/** Spellings of words in schema names. */
const WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries("cdp cidr ip lldp mac url vlan".split(" ").map((word) => [word, word.toUpperCase()])),
  ...{ addr: "address", desc: "description", descr: "description", mgmt: "management", sys: "system" },
};

/** Label of a field: "LLDP management address" for `lldp_mgmt_addr`. */
export function fieldLabel(name: string): string {
  const words = name.replace(/_ids?$/, "").split("_");
  return ownValue(TITLES, name) ?? capital(words.map((word) => ownValue(WORDS, word) ?? word).join(" "));
}

export const listText = {
  filterBy: (title: string) => `Filter by ${title}`,
} as const;
