// Network for walks through interfaces, subnets and VLANs: a switch with a flapping port, hostile names, and a full, an
// empty and an IPv6 subnet. No assertions.

import type { Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";

/** Name with markup, right-to-left text, an emoji, and no break opportunity. */
export const HOSTILE_NAME = `<script>alert(1)</script>\u202eשרת🖨️${"x".repeat(180)}`;

export interface FilledNetwork {
  readonly switchId: string;
  /** Interface that went down and up, then changed its speed and its station. */
  readonly flapped: JsonRecord;
  /** Timestamp after the first link-up, before the link-down. */
  readonly beforeFlap: string;
  readonly subnet: JsonRecord;
  readonly subnet6: JsonRecord;
  readonly parent: JsonRecord;
  readonly vlan: JsonRecord;
  readonly deletedSubnet: JsonRecord;
}

/** MAC address of no host. */
export const UNKNOWN_MAC = "b8:27:eb:00:00:08";

/** Fills a network through the API. */
export async function fillNetwork(client: Client, networkId: string): Promise<FilledNetwork> {
  const add = (path: string, fields: JsonRecord) => expectOk(client.post(path, { network_id: networkId, ...fields }));
  const vlan = await add("vlans", { number: 20, name: "Offices" });
  const subnetOf = (cidr: string, name: string, fields: JsonRecord = {}) =>
    add("subnets", { cidr, name, subnet_type: "Lan", tags: [], ...fields });
  const parent = await subnetOf("10.2.0.0/16", "Campus");
  const subnet = await subnetOf("10.2.3.0/28", "Offices", { vlan_id: vlan.id });
  await subnetOf("10.2.4.0/24", HOSTILE_NAME.slice(0, 100));
  const subnet6 = await subnetOf("2001:db8:2:3::/64", "Offices, IPv6");
  const deletedSubnet = await subnetOf("10.9.9.0/24", "Old lab");
  await client.delete(`subnets/${deletedSubnet.id}`, { "x-change-reason": "moved out" });
  const clients = { first: "10.2.3.8", last: "10.2.3.11", purpose: "Dhcp", description: "Clients", tags: [] };
  await add("ip-ranges", { subnet_id: subnet.id, ...clients });
  const hostOf = (name: string, subnet_id: string, ip_address: string, mac_address: string) =>
    add("hosts", { name, hidden: false, tags: [], ip_addresses: [{ subnet_id, ip_address, mac_address }] });
  const switchId = (await hostOf("access-1", subnet.id, "10.2.3.1", "00:1b:21:00:00:01")).id as string;
  await hostOf("printer-2", subnet.id, "10.2.3.2", "00:1b:21:00:00:02");
  await hostOf(HOSTILE_NAME, subnet.id, "10.2.3.3", "00:1b:21:00:00:03");
  await hostOf("twin-a", subnet.id, "10.2.3.5", "00:1b:21:00:00:05");
  await hostOf("twin-b", subnet.id, "10.2.3.5", "00:1b:21:00:00:06");
  await hostOf("server-6", subnet6.id, "2001:db8:2:3::10", "00:1b:21:00:00:10");
  const portOf = (if_index: number, fields: JsonRecord) => {
    const names = { if_descr: `GigabitEthernet1/0/${if_index}`, if_name: `Gi1/0/${if_index}` };
    const up = { if_type: 6, admin_status: "Up", oper_status: "Up" };
    return add("if-entries", { host_id: switchId, if_index, ...names, ...up, ...fields });
  };
  const flapped = await portOf(7, {
    if_alias: HOSTILE_NAME.slice(0, 60),
    speed_bps: 1_000_000_000,
    native_vlan_id: vlan.id,
    fdb_macs: ["00:1b:21:00:00:02"],
  });
  const change = async (changes: JsonRecord) => {
    const before = await expectOk(client.get(`if-entries/${flapped.id}`));
    return expectOk(client.put(`if-entries/${flapped.id}`, { ...updateBody(before), ...changes }));
  };
  await change({ oper_status: "Down", fdb_macs: [] });
  await change({ oper_status: "Up" });
  await change({ oper_status: "Down" });
  await change({ oper_status: "Up", speed_bps: 100_000_000, fdb_macs: ["00:1b:21:00:00:03"] });
  await portOf(8, { vlan_ids: [vlan.id], fdb_macs: [UNKNOWN_MAC] });
  return { switchId, flapped, beforeFlap: flapped.created_at, subnet, subnet6, parent, vlan, deletedSubnet };
}

/** Body of an interface update: the writable fields. */
function updateBody(entry: JsonRecord): JsonRecord {
  const { created_at, updated_at, valid_from, valid_to, lineage_id, last_seen_at, ...rest } = entry;
  return rest;
}
