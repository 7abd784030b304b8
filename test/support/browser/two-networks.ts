// Two networks with the same contents: one for users limited to it, and the Vault. No assertions.

import type { Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";
import { type FilledNetwork, fillNetwork } from "./networks.ts";

export interface TwoNetworks {
  readonly own: FilledNetwork;
  readonly vault: JsonRecord;
  /** Contents of the Vault. */
  readonly otherNetwork: FilledNetwork;
  /** Sequence of the Vault's last transaction; its neighbors belong to the other network. */
  readonly vaultSequence: number;
}

/**
 * Expected failures of requests for records out of reach, which ask whether they ever existed. The browser's own
 * message has no URL.
 */
export const MISSING_RECORD = /^404 for \S+\/(history\?|transactions\/\d+)|status of 404/;

/** Pages of the Vault's records. */
export function vaultPages({ otherNetwork, vaultSequence }: TwoNetworks): string[] {
  const { switchId, flapped, subnet, vlan, beforeFlap } = otherNetwork;
  return [
    ...[`/hosts/${switchId}`, `/interfaces/${flapped.id}`, `/subnets/${subnet.id}`, `/vlans/${vlan.id}`],
    ...[`/hosts/${switchId}?at=${beforeFlap}`, `/changes/${vaultSequence}`],
  ];
}

/** Fills a network, and adds the Vault to its organization, through the API. */
export async function fillTwoNetworks(client: Client, networkId: string, organizationId: string): Promise<TwoNetworks> {
  const own = await fillNetwork(client, networkId);
  const vault = await expectOk(client.post("networks", { organization_id: organizationId, name: "Vault" }));
  const otherNetwork = await fillNetwork(client, vault.id);
  const vaultSequence = (await expectOk(client.get("ledger"))).sequence;
  await expectOk(client.post("vlans", { network_id: networkId, number: 77, name: "Later" }));
  return { own, vault, otherNetwork, vaultSequence };
}
