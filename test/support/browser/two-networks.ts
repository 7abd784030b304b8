// Two networks with the same contents: one for users limited to it, and the Vault. No assertions.

import type { Client } from "../appliance/client.ts";
import { made, type Wire } from "../appliance/factories.ts";
import { type FilledNetwork, fillNetwork } from "./networks.ts";

export interface TwoNetworks {
  readonly own: FilledNetwork;
  readonly vault: Wire;
  /** In the Vault. */
  readonly beyond: FilledNetwork;
  /** Sequence of the Vault's last transaction; its neighbors belong to the other network. */
  readonly ofVault: number;
}

/** Fills a network, and adds the Vault to its organization, through the API. */
export async function fillTwoNetworks(client: Client, networkId: string, organizationId: string): Promise<TwoNetworks> {
  const own = await fillNetwork(client, networkId);
  const vault = await made(client.post("networks", { organization_id: organizationId, name: "Vault" }));
  const beyond = await fillNetwork(client, vault.id);
  const ofVault = (await made(client.get("ledger"))).sequence;
  await made(client.post("vlans", { network_id: networkId, number: 77, name: "Later" }));
  return { own, vault, beyond, ofVault };
}
