// Network for walks through host pages: a renamed switch with 24 ports, its connected hosts, a deleted host, and a
// merged one. No assertions.

import type { Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";

export interface FilledHosts {
  readonly switchId: string;
  /** Ports of the switch. */
  readonly ports: readonly JsonRecord[];
  readonly deletedHost: JsonRecord;
  /** The surviving host of the merge. */
  readonly survivingHost: JsonRecord;
}

/** Fills a network through the API. */
export async function fillHosts(client: Client, networkId: string): Promise<FilledHosts> {
  const add = (path: string, fields: JsonRecord) => expectOk(client.post(path, { network_id: networkId, ...fields }));
  const subnet = await add("subnets", { cidr: "10.2.3.0/24", name: "Lab", subnet_type: "Lan", tags: [] });
  const host = (name: string, ip_address: string) => {
    const address = { subnet_id: subnet.id, ip_address, mac_address: `00:1b:21:00:00:0${ip_address.at(-1)}` };
    return add("hosts", { name, hidden: false, tags: [], ip_addresses: [address] });
  };
  const switchId = (await host("access-1", "10.2.3.1")).id;
  await host("printer-2", "10.2.3.2");
  const ports: JsonRecord[] = [];
  for (let index = 1; index <= 24; index += 1)
    ports.push(
      await add("if-entries", {
        host_id: switchId,
        if_index: index,
        if_descr: `GigabitEthernet1/0/${index}`,
        if_name: `Gi1/0/${index}`,
        if_alias: index === 1 ? "<b>uplink</b>" : null,
        if_type: 6,
        speed_bps: 1_000_000_000,
        admin_status: index === 24 ? "Down" : "Up",
        oper_status: index % 2 === 0 ? "Down" : "Up",
        fdb_macs: index === 3 ? ["00:1b:21:00:00:02"] : [],
        ...(index === 5
          ? {
              lldp_sys_name: "core-9",
              lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:99" },
              lldp_port_id: { subtype: "InterfaceName", value: "Te1/1/4" },
            }
          : {}),
      }),
    );
  const before = await expectOk(client.get(`hosts/${switchId}`));
  const reason = { "x-change-reason": "CHG-17: renamed" };
  await expectOk(client.put(`hosts/${switchId}`, { ...editable(before), name: "access-one" }, reason));
  const deletedHost = await host("old-server", "10.2.3.9");
  await client.delete(`hosts/${deletedHost.id}`, { "x-change-reason": "scrapped" });
  const survivingHost = await add("hosts", { name: "core-router", hidden: false, tags: [] });
  const mergedHost = await host("<b>10.2.3.99</b>", "10.2.3.8");
  await expectOk(client.put(`hosts/${survivingHost.id}/consolidate/${mergedHost.id}`, {}));
  return { switchId, ports, deletedHost, survivingHost };
}

/** Body of a host update: the writable fields. */
function editable({ id, network_id, name, hidden, tags, hostname, description }: JsonRecord): JsonRecord {
  return { id, network_id, name, hidden, tags, hostname, description };
}
