// Records for tests of search: a MAC address that moved between switches, similar, hostile and deleted names, and a
// DHCP range. No assertions.

import type { Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";

/** MAC address of laptop-7: now at reading-sw, earlier at library-sw, and also learned in another network. */
export const MOVED_MAC = "00:1b:21:aa:bb:cc";
/** Name with executable markup, a direction override, and no break opportunity. */
export const RUNNING_NAME = `<script>document.title="run"</script> \u202egnp.exe 🖧 ${"w".repeat(180)}`;

/** Fills two networks through the API. @returns a timestamp at which the MAC address was at library-sw */
export async function fillSearchFixture(client: Client, networkId: string, organizationId: string): Promise<string> {
  const host = (network_id: string, name: string, fields: JsonRecord = {}) =>
    expectOk(client.post("hosts", { network_id, name, hidden: false, tags: [], ...fields }));
  const secret = await expectOk(client.post("networks", { organization_id: organizationId, name: "Vault" }));
  const subnet = await expectOk(
    client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Lab", subnet_type: "Lan", tags: [] }),
  );
  const address = { subnet_id: subnet.id, ip_address: "10.2.3.4", mac_address: MOVED_MAC };
  const range = { first: "10.2.3.200", last: "10.2.3.220", purpose: "Dhcp", description: "Clients", tags: [] };
  await expectOk(client.post("ip-ranges", { network_id: networkId, subnet_id: subnet.id, ...range }));
  await host(networkId, "laptop-7", { ip_addresses: [address] });
  const port = async (network_id: string, name: string, fdb_macs: string[]) => {
    const { id: host_id } = await host(network_id, name);
    const fields = { host_id, network_id, if_index: 7, if_descr: "GigabitEthernet1/0/7", if_name: "Gi1/0/7" };
    const entry = { ...fields, if_type: 6, admin_status: "Up", oper_status: "Up", fdb_macs };
    const { id } = await expectOk(client.post("if-entries", entry));
    return { ...entry, id };
  };
  const setMacs = (entry: { readonly id: string }, fdb_macs: string[]) =>
    expectOk(client.put(`if-entries/${entry.id}`, { ...entry, fdb_macs }));
  const library = await port(networkId, "library-sw", [MOVED_MAC]);
  const reading = await port(networkId, "reading-sw", []);
  await port(secret.id, "vault-sw", [MOVED_MAC]);
  const { updated_at } = await host(networkId, "printer-2");
  await setMacs(library, []);
  await setMacs(reading, [MOVED_MAC]);
  await host(networkId, "twin");
  await host(networkId, "twin");
  await host(networkId, RUNNING_NAME);
  const deletedHost = await host(networkId, "old-server");
  await client.delete(`hosts/${deletedHost.id}`);
  return updated_at;
}
