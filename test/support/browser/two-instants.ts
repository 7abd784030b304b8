// Network at two timestamps, for comparisons: a host added, one removed, a port down, a switch partly replaced, an
// address and a VLAN moved. No assertions.

import type { Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";

/** Name with markup, right-to-left text, and no break opportunity. */
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
  readonly deletedId: string;
  readonly addedId: string;
}

/** More than one page of a read. */
export const MANY = 1_100;

/** Fills a network through the API, with a marker at the start. */
export async function fillTwoInstants(client: Client, networkId: string): Promise<TwoInstants> {
  const instant = async () => (await expectOk(client.get("ledger"))).at as string;
  const add = (path: string, fields: JsonRecord) => expectOk(client.post(path, { network_id: networkId, ...fields }));
  const tag = await expectOk(client.post("tags", { name: "Core", color: "Blue" }));
  const vlan = await add("vlans", { number: 20, name: "Offices" });
  const subnetOf = (cidr: string, name: string) => add("subnets", { cidr, name, subnet_type: "Lan", tags: [] });
  const subnet = await subnetOf("10.2.3.0/28", "Offices");
  const oldSubnet = await subnetOf("10.9.9.0/24", "Old lab");
  const hostOf = (name: string, last: number, fields: JsonRecord = {}) =>
    add("hosts", {
      name,
      hidden: false,
      tags: [],
      ip_addresses: [{ subnet_id: subnet.id, ip_address: `10.2.3.${last}`, mac_address: `00:1b:21:00:00:0${last}` }],
      ...fields,
    });
  const core = await hostOf("core", 1, {
    serial_number: "FOC1",
    model: "C9300-24T",
    tags: [tag.id],
    ports: [{ number: 22, protocol: "Tcp" }],
  });
  const deleted = await hostOf("leaving", 2);
  const portOf = (index: number) => {
    const names = { if_descr: `GigabitEthernet1/0/${index}`, if_name: `Gi1/0/${index}` };
    const up = { if_type: 6, admin_status: "Up", oper_status: "Up", native_vlan_id: vlan.id };
    return expectOk(client.post("if-entries", { host_id: core.id, if_index: index, ...names, ...up }));
  };
  const ports = [await portOf(1), await portOf(2), await portOf(3)];
  const many = Array.from({ length: MANY }, (_, n) => ({
    network_id: networkId,
    name: `host-${1_000 + n}`,
    hidden: true,
    tags: [],
    ip_addresses: [],
  }));
  const writeHosts = async (hosts: readonly JsonRecord[]) => {
    for (let start = 0; start < MANY; start += 550)
      await expectOk(client.post("hosts/bulk", hosts.slice(start, start + 550)));
  };
  await writeHosts(many);
  await add("markers", { name: "before the move" });
  const before = await instant();

  await expectOk(client.delete(`hosts/${deleted.id}`, { "x-change-reason": "sold" }));
  const added = await hostOf("arriving", 5);
  const [down, deletedPort] = ports;
  const { created_at, updated_at, valid_from, valid_to, lineage_id, last_seen_at, ...writableFields } =
    down as JsonRecord;
  await expectOk(client.put(`if-entries/${down?.id}`, { ...writableFields, oper_status: "Down", if_alias: RENAMED }));
  await expectOk(client.delete(`if-entries/${deletedPort?.id}`));
  await portOf(4);
  await expectOk(
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
  await expectOk(client.put(`vlans/${vlan.id}`, { network_id: networkId, number: 20, name: "Offices, new" }));
  const offices = { network_id: networkId, cidr: "10.2.3.0/28", name: "Offices", subnet_type: "Lan", tags: [] };
  await expectOk(client.put(`subnets/${subnet.id}`, { ...offices, vlan_id: vlan.id }));
  await expectOk(client.delete(`subnets/${oldSubnet.id}`));
  await subnetOf("10.2.5.0/24", "New lab");
  const after = await instant();

  const { data: known } = (await client.get("hosts?hidden=true&limit=0&include_children=false")).body;
  const juniper = { network_id: networkId, manufacturer: "Juniper", hidden: true, tags: [] };
  await writeHosts(known.map(({ id, name }: JsonRecord) => ({ id, name, ...juniper })));
  return {
    before,
    after,
    late: await instant(),
    switchId: core.id as string,
    portId: down?.id as string,
    subnetId: subnet.id as string,
    vlanId: vlan.id as string,
    deletedId: deleted.id as string,
    addedId: added.id as string,
  };
}
