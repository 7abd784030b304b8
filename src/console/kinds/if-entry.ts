// List columns, form fields and facts of interfaces.

import type { components } from "#api";
import type { KindDetails } from "./details.ts";
import { wordList } from "./word-list.ts";

export const ifEntryDetails: KindDetails<keyof components["schemas"]["IfEntry"]> = {
  columns: {
    host_id: 12,
    if_name: [9, "page"],
    if_index: 5,
    if_descr: 15,
    if_alias: 15,
    oper_status: [9, "status"],
    admin_status: [11, "status"],
    speed_bps: 5,
    mac_address: [10, "copied"],
    native_vlan_id: 9,
    vlan_ids: 12,
    lag_id: 9,
    parent_id: 9,
    fdb_macs: [5, "count"],
    lldp_sys_name: 12,
    lldp_capabilities: 12,
    cdp_device_id: 12,
    cdp_capabilities: 12,
    network_id: 9,
    last_seen_at: 11,
    created_at: 11,
    updated_at: 11,
  },
  shown: wordList("host_id if_name if_alias oper_status admin_status speed_bps mac_address native_vlan_id"),
  order: "created_at",
  example: 'oper_status = "Down" AND speed_bps >= 1G',
  views: [
    { name: "Ports unused for 90 days", filter: 'always(oper_status = "Down", "-90d") AND if_type = 6' },
    { name: "Flapping today", filter: 'changes(oper_status, "-24h") >= 6' },
    {
      name: "Enabled, but no link for 30 days",
      filter: 'always(oper_status = "Down", "-30d") AND admin_status = "Up"',
    },
  ],
  unlisted: ["more_neighbors"],
  form: wordList(
    "if_name if_alias if_descr if_index if_type admin_status oper_status speed_bps mac_address ip_address_id",
    "native_vlan_id vlan_ids lag_id parent_id",
  ),
  // Learned from devices.
  unset: wordList(
    "fdb_macs lldp_sys_name lldp_sys_desc lldp_port_desc lldp_mgmt_addr lldp_capabilities cdp_device_id cdp_port_id",
    "cdp_platform cdp_address cdp_capabilities",
  ),
  isDiscovered: true,
  facts: ["if_descr", "if_alias", "mac_address", "if_type"],
  shownElsewhere: wordList(
    "host_id network_id if_name if_index oper_status admin_status speed_bps native_vlan_id vlan_ids fdb_macs neighbor",
    "lag_id parent_id lldp_sys_name lldp_port_id lldp_chassis_id lldp_capabilities cdp_device_id cdp_port_id cdp_capabilities",
    "updated_at last_seen_at",
  ),
};
