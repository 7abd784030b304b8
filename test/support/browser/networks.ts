// Network for journeys through interfaces, subnets and VLANs: a switch with a flapping port, hostile names, a full, an
// empty and an IPv6 subnet. No assertions.

import type { Client } from "../appliance/client.ts";
import type { Wire } from "../appliance/factories.ts";

/** Right-to-left text, markup, an emoji, and no break opportunity. */
export const HOSTILE_NAME = `<script>alert(1)</script>\u202eשרת🖨️${"x".repeat(180)}`;

export interface FilledNetwork {
  readonly switchId: string;
  /** Went down and up, then changed its speed and its station. */
  readonly flapped: Wire;
  /** After the first link-up, before the link-down. */
  readonly beforeFlap: string;
  readonly subnet: Wire;
  readonly subnet6: Wire;
  readonly parent: Wire;
  readonly vlan: Wire;
  readonly goneSubnet: Wire;
}

/** Data of a successful answer. @throws on a refusal */
async function data(answer: Promise<{ status: number; body: Wire }>): Promise<Wire> {
  const { status, body } = await answer;
  if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
  return body.data as Wire;
}

/** Belongs to no host. */
export const UNKNOWN_MAC = "b8:27:eb:00:00:08";

/** Fills a network through the API. */
export async function fillNetwork(client: Client, networkId: string): Promise<FilledNetwork> {
  const vlan = await data(client.post("vlans", { network_id: networkId, number: 20, name: "Offices" }));
  const subnetOf = (cidr: string, name: string, more: Wire = {}) =>
    data(client.post("subnets", { network_id: networkId, cidr, name, subnet_type: "Lan", tags: [], ...more }));
  const parent = await subnetOf("10.2.0.0/16", "Campus");
  const subnet = await subnetOf("10.2.3.0/28", "Offices", { vlan_id: vlan.id });
  await subnetOf("10.2.4.0/24", HOSTILE_NAME.slice(0, 100));
  const subnet6 = await subnetOf("2001:db8:2:3::/64", "Offices, IPv6");
  const goneSubnet = await subnetOf("10.9.9.0/24", "Old lab");
  await client.delete(`subnets/${goneSubnet.id}`, { "x-change-reason": "moved out" });
  await data(
    client.post("ip-ranges", {
      network_id: networkId,
      subnet_id: subnet.id,
      first: "10.2.3.8",
      last: "10.2.3.11",
      purpose: "Dhcp",
      description: "Clients",
      tags: [],
    }),
  );
  const hostOf = (name: string, subnetId: string, address: string, mac: string) =>
    data(
      client.post("hosts", {
        network_id: networkId,
        name,
        hidden: false,
        tags: [],
        ip_addresses: [{ subnet_id: subnetId, ip_address: address, mac_address: mac }],
      }),
    );
  const switchId = (await hostOf("access-1", subnet.id, "10.2.3.1", "00:1b:21:00:00:01")).id as string;
  await hostOf("printer-2", subnet.id, "10.2.3.2", "00:1b:21:00:00:02");
  await hostOf(HOSTILE_NAME, subnet.id, "10.2.3.3", "00:1b:21:00:00:03");
  await hostOf("twin-a", subnet.id, "10.2.3.5", "00:1b:21:00:00:05");
  await hostOf("twin-b", subnet.id, "10.2.3.5", "00:1b:21:00:00:06");
  await hostOf("server-6", subnet6.id, "2001:db8:2:3::10", "00:1b:21:00:00:10");
  const created = await data(
    client.post("if-entries", {
      host_id: switchId,
      network_id: networkId,
      if_index: 7,
      if_descr: "GigabitEthernet1/0/7",
      if_name: "Gi1/0/7",
      if_alias: HOSTILE_NAME.slice(0, 60),
      if_type: 6,
      speed_bps: 1_000_000_000,
      admin_status: "Up",
      oper_status: "Up",
      native_vlan_id: vlan.id,
      fdb_macs: ["00:1b:21:00:00:02"],
    }),
  );
  const change = async (changes: Wire) => {
    const before = await data(client.get(`if-entries/${created.id}`));
    return data(client.put(`if-entries/${created.id}`, { ...sentBack(before), ...changes }));
  };
  await change({ oper_status: "Down", fdb_macs: [] });
  await change({ oper_status: "Up" });
  await change({ oper_status: "Down" });
  await change({ oper_status: "Up", speed_bps: 100_000_000, fdb_macs: ["00:1b:21:00:00:03"] });
  await data(
    client.post("if-entries", {
      host_id: switchId,
      network_id: networkId,
      if_index: 8,
      if_descr: "GigabitEthernet1/0/8",
      if_name: "Gi1/0/8",
      if_type: 6,
      admin_status: "Up",
      oper_status: "Up",
      vlan_ids: [vlan.id],
      fdb_macs: [UNKNOWN_MAC],
    }),
  );
  return {
    switchId,
    flapped: created,
    beforeFlap: created.created_at as string,
    subnet,
    subnet6,
    parent,
    vlan,
    goneSubnet,
  };
}

/** Body of an interface update: the writable fields. */
function sentBack(entry: Wire): Wire {
  const { created_at, updated_at, valid_from, valid_to, lineage_id, last_seen_at, ...rest } = entry;
  return rest;
}
