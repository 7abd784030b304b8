// Two VLANs for tests of changes: one with markup in its name, the other renamed with a reason. No assertions.

import type { Client } from "../appliance/client.ts";
import { expectOk } from "../appliance/factories.ts";

/** Writes through the API. @returns the timestamp of the first VLAN, before the others */
export async function changeVlans(client: Client, networkId: string): Promise<string> {
  const vlan = await expectOk(client.post("vlans", { network_id: networkId, number: 120, name: "Voice" }));
  await expectOk(client.post("vlans", { network_id: networkId, number: 130, name: "<i>Guests</i>" }));
  const { id, network_id, number } = vlan;
  const reason = { "x-change-reason": "CHG-4711: as it is called" };
  await expectOk(client.put(`vlans/${id}`, { id, network_id, number, name: "Phones" }, reason));
  return vlan.created_at;
}
