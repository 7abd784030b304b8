// Network at two timestamps, for journeys that compare: a host added, one removed, a port down, a switch partly
// replaced, an address and a VLAN moved. No assertions.

import type { Client } from "../appliance/client.ts";
import type { Wire } from "../appliance/factories.ts";

/** Without a break opportunity, right to left, with markup. */
export const RENAMED = `<b>acc</b>-\u202e${"z".repeat(120)}`;

export interface TwoInstants {
  /** Timestamps of the API: before all changes, after those of a few records, after those of many. */
  readonly before: string;
  readonly after: string;
  readonly late: string;
  readonly switchId: string;
  readonly portId: string;
  readonly subnetId: string;
  readonly vlanId: string;
  readonly leftId: string;
  readonly cameId: string;
}

/** More than one page of a read. */
export const MANY = 1_100;

/** Data of a successful answer. @throws on a refusal */
async function data(answer: Promise<{ status: number; body: Wire }>): Promise<Wire> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data as Wire;
}

/** Fills a network through the API, with a marker at the start. */
export async function fillTwoInstants(client: Client, networkId: string): Promise<TwoInstants> {
  const instant = async () => (await data(client.get("ledger"))).at as string;
  const tag = await data(client.post("tags", { name: "Core", color: "Blue" }));
  const vlan = await data(client.post("vlans", { network_id: networkId, number: 20, name: "Offices" }));
  const subnetOf = (cidr: string, name: string) =>
    data(client.post("subnets", { network_id: networkId, cidr, name, subnet_type: "Lan", tags: [] }));
  const subnet = await subnetOf("10.2.3.0/28", "Offices");
  const oldSubnet = await subnetOf("10.9.9.0/24", "Old lab");
  const hostOf = (name: string, last: number, more: Wire = {}) =>
    data(
      client.post("hosts", {
        network_id: networkId,
        name,
        hidden: false,
        tags: [],
        ip_addresses: [{ subnet_id: subnet.id, ip_address: `10.2.3.${last}`, mac_address: `00:1b:21:00:00:0${last}` }],
        ...more,
      }),
    );
  const core = await hostOf("core", 1, {
    serial_number: "FOC1",
    model: "C9300-24T",
    tags: [tag.id],
    ports: [{ number: 22, protocol: "Tcp" }],
  });
  const left = await hostOf("leaving", 2);
  const portOf = (index: number) =>
    data(
      client.post("if-entries", {
        host_id: core.id,
        if_index: index,
        if_descr: `GigabitEthernet1/0/${index}`,
        if_name: `Gi1/0/${index}`,
        if_type: 6,
        admin_status: "Up",
        oper_status: "Up",
        native_vlan_id: vlan.id,
      }),
    );
  const ports = [await portOf(1), await portOf(2), await portOf(3)];
  const many = Array.from({ length: MANY }, (_, n) => ({
    network_id: networkId,
    name: `host-${1_000 + n}`,
    hidden: true,
    tags: [],
    ip_addresses: [],
  }));
  const writeHosts = async (hosts: readonly Wire[]) => {
    for (let start = 0; start < MANY; start += 550)
      await data(client.post("hosts/bulk", hosts.slice(start, start + 550)));
  };
  await writeHosts(many);
  await data(client.post("markers", { name: "before the move", network_id: networkId }));
  const before = await instant();

  await data(client.delete(`hosts/${left.id}`, { "x-change-reason": "sold" }));
  const came = await hostOf("arriving", 5);
  const [down, gone] = ports;
  const { created_at, updated_at, valid_from, valid_to, lineage_id, last_seen_at, ...sent } = down as Wire;
  await data(client.put(`if-entries/${down?.id}`, { ...sent, oper_status: "Down", if_alias: RENAMED }));
  await data(client.delete(`if-entries/${gone?.id}`));
  await portOf(4);
  await data(
    client.put(`hosts/${core.id}`, {
      id: core.id,
      name: "core",
      hidden: false,
      tags: [],
      serial_number: "FOC2",
      model: null,
      description: RENAMED,
      ip_addresses: [{ subnet_id: subnet.id, ip_address: "10.2.3.6", mac_address: "00:1b:21:00:00:01" }],
      ports: [{ number: 443, protocol: "Tcp" }],
    }),
  );
  await data(client.put(`vlans/${vlan.id}`, { network_id: networkId, number: 20, name: "Offices, new" }));
  await data(
    client.put(`subnets/${subnet.id}`, {
      network_id: networkId,
      cidr: "10.2.3.0/28",
      name: "Offices",
      subnet_type: "Lan",
      tags: [],
      vlan_id: vlan.id,
    }),
  );
  await data(client.delete(`subnets/${oldSubnet.id}`));
  await data(
    client.post("subnets", {
      network_id: networkId,
      cidr: "10.2.5.0/24",
      name: "New lab",
      subnet_type: "Lan",
      tags: [],
    }),
  );
  const after = await instant();

  const { data: known } = (await client.get("hosts?hidden=true&limit=0&include_children=false")).body;
  const made = known.map(({ id, name }: Wire) => ({ id, network_id: networkId, name, manufacturer: "Juniper" }));
  await writeHosts(made.map((host: Wire) => ({ ...host, hidden: true, tags: [] })));
  return {
    before,
    after,
    late: await instant(),
    switchId: core.id as string,
    portId: down?.id as string,
    subnetId: subnet.id as string,
    vlanId: vlan.id as string,
    leftId: left.id as string,
    cameId: came.id as string,
  };
}
