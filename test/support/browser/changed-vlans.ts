// Two VLANs, one with markup in its name, the other renamed with a reason: for tests of changes. No assertions.

import type { Client } from "../appliance/client.ts";
import { made } from "../appliance/factories.ts";

/** Writes through the API. @returns the timestamp of the first VLAN, before the others */
export async function changeVlans(client: Client, networkId: string): Promise<string> {
  const vlan = await made(client.post("vlans", { network_id: networkId, number: 120, name: "Voice" }));
  await made(client.post("vlans", { network_id: networkId, number: 130, name: "<i>Guests</i>" }));
  const { id, network_id, number } = vlan;
  const reason = { "x-change-reason": "CHG-4711: as it is called" };
  await made(client.put(`vlans/${id}`, { id, network_id, number, name: "Phones" }, reason));
  return vlan.created_at;
}
