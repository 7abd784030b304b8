// MAC address that moved between switches; similar, hostile and deleted names; a DHCP range: for tests of search. No
// assertions.

import type { Client } from "../appliance/client.ts";
import { made, type Wire } from "../appliance/factories.ts";

/** Of laptop-7: now on a port of reading-sw, earlier of library-sw, and learned on a port of another network. */
export const MOVED_MAC = "00:1b:21:aa:bb:cc";
/** Executable markup, a direction override, and no break opportunity. */
export const RUNNING_NAME = `<script>document.title="run"</script> \u202egnp.exe 🖧 ${"w".repeat(180)}`;

/** Fills two networks through the API. @returns a timestamp at which the MAC address was at library-sw */
export async function fillFound(client: Client, networkId: string, organizationId: string): Promise<string> {
  const host = (network_id: string, name: string, more: Wire = {}) =>
    made(client.post("hosts", { network_id, name, hidden: false, tags: [], ...more }));
  const secret = await made(client.post("networks", { organization_id: organizationId, name: "Vault" }));
  const subnet = await made(
    client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Lab", subnet_type: "Lan", tags: [] }),
  );
  const address = { subnet_id: subnet.id, ip_address: "10.2.3.4", mac_address: MOVED_MAC };
  const range = { first: "10.2.3.200", last: "10.2.3.220", purpose: "Dhcp", description: "Clients", tags: [] };
  await made(client.post("ip-ranges", { network_id: networkId, subnet_id: subnet.id, ...range }));
  await host(networkId, "laptop-7", { ip_addresses: [address] });
  const port = async (network_id: string, name: string, fdb_macs: string[]) => {
    const { id: host_id } = await host(network_id, name);
    const fields = { host_id, network_id, if_index: 7, if_descr: "GigabitEthernet1/0/7", if_name: "Gi1/0/7" };
    const entry = { ...fields, if_type: 6, admin_status: "Up", oper_status: "Up", fdb_macs };
    const { id } = await made(client.post("if-entries", entry));
    return { ...entry, id };
  };
  const moved = (entry: { readonly id: string }, fdb_macs: string[]) =>
    made(client.put(`if-entries/${entry.id}`, { ...entry, fdb_macs }));
  const library = await port(networkId, "library-sw", [MOVED_MAC]);
  const reading = await port(networkId, "reading-sw", []);
  await port(secret.id, "vault-sw", [MOVED_MAC]);
  const { updated_at } = await host(networkId, "printer-2");
  await moved(library, []);
  await moved(reading, [MOVED_MAC]);
  await host(networkId, "twin");
  await host(networkId, "twin");
  await host(networkId, RUNNING_NAME);
  const gone = await host(networkId, "old-server");
  await client.delete(`hosts/${gone.id}`);
  return updated_at;
}
