// Two hosts and a VLAN with custom field values, one of them hostile, for tests of the console.

import type { Client } from "./client.ts";
import { expectOk } from "./factories.ts";

export const HOSTILE = '<img src=x onerror=alert(1)> "خادم"';
export const MANUAL = "https://docs.example/acme/9000";

/** @returns ids and, as `before`, a timestamp at which core-1 was still in the room North and had its rack */
export async function addRackedHosts(
  client: Client,
  networkId: string,
): Promise<{ readonly hostId: string; readonly vlanId: string; readonly before: string }> {
  for (const field of [
    { key: "rack", label: "Rack <b>", kinds: ["host", "vlan"], type: "text" },
    { key: "manual", label: "Manual", kinds: ["host"], type: "url" },
    { key: "notes", label: "Notes", kinds: ["host"], type: "text" },
    { key: "room", label: "Room", kinds: ["host"], type: "choice", choices: ["North", "South"] },
    { key: "height", label: "Height", kinds: ["host"], type: "number" },
  ])
    await expectOk(client.post("custom-fields", field));
  const values = { rack: HOSTILE, manual: MANUAL, notes: "https://not.a.link.example", room: "North", height: 2 };
  const host = await expectOk(client.post("hosts", { network_id: networkId, name: "core-1", custom_fields: values }));
  await expectOk(client.post("hosts", { network_id: networkId, name: "plain" }));
  const vlan = await expectOk(
    client.post("vlans", { network_id: networkId, number: 7, custom_fields: { rack: "R7" } }),
  );
  await expectOk(client.put(`hosts/${host.id}`, { ...host, custom_fields: { room: "South", rack: null } }));
  return { hostId: host.id, vlanId: vlan.id, before: host.updated_at };
}
