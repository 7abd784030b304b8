// Which credentials are tried at an address, and in which order: what was named for it, what is assigned to the host there and the
// address, to the host, to the network. Pure, but for the opening of the secrets, which is somebody else's.

import type { SnmpCredential } from "../snmp/credential.ts";
import type { WorkingCredential } from "../sightings.ts";
import type { KnownNetwork } from "./known-network.ts";
import type { OpenedCredential } from "./opened-credentials.ts";
import type { Refusal } from "./probes.ts";

/** What an address is asked with. */
export interface Choice {
  readonly credentials: readonly SnmpCredential[];
  /** Those that cannot be used. */
  readonly refused: readonly Refusal[];
  /** What opened it the last time, where that is among them. */
  readonly remembered: WorkingCredential | null;
}

export class Credentials {
  private readonly network: KnownNetwork;
  private readonly open: (id: string) => OpenedCredential | null;
  /** Credentials by an address that they were given to begin with. */
  private readonly named = new Map<string, string[]>();
  private readonly broadcast: readonly string[];
  private readonly ofHost = new Map<string, Array<{ readonly id: string; readonly addressIds: readonly string[] | null }>>();

  /**
   * @param targetIps addresses that credentials were given to begin with
   * @param open opens a credential; null for one that is gone
   */
  constructor(network: KnownNetwork, targetIps: ReadonlyArray<{ readonly credential_id: string; readonly ip_addresses: readonly string[] }>, open: (id: string) => OpenedCredential | null) {
    this.network = network;
    this.open = open;
    for (const { credential_id, ip_addresses } of targetIps) for (const address of ip_addresses) this.named.set(address, [...(this.named.get(address) ?? []), credential_id]);
    this.broadcast = network.assignments.flatMap((each) => (each.host_id === null ? [each.credential_id] : []));
    for (const { host_id, credential_id: id, ip_address_ids: addressIds } of network.assignments) {
      if (host_id !== null) this.ofHost.set(host_id, [...(this.ofHost.get(host_id) ?? []), { id, addressIds }]);
    }
  }

  /** Whether there is nothing at all to ask anybody with. */
  get isEmpty(): boolean {
    return this.network.assignments.length === 0 && this.named.size === 0;
  }

  /** Whether a host has a credential of its own. */
  isOwn(hostId: string): boolean {
    return this.ofHost.has(hostId);
  }

  at(address: string): Choice {
    const ids = this.idsAt(address);
    const known = this.network.remembered.get(address);
    const remembered = known !== undefined && ids.includes(known.credential_id) ? known : null;
    const ordered = remembered === null ? ids : [remembered.credential_id, ...ids.filter((id) => id !== remembered.credential_id)];
    const opened = ordered.map((id) => this.open(id)).filter((each) => each !== null);
    return {
      credentials: opened.flatMap((each) => (each.ok ? [each.credential] : [])),
      refused: opened.flatMap((each) => (each.ok ? [] : [each.refusal])),
      remembered,
    };
  }

  /** From the most to the least precise, each once. */
  private idsAt(address: string): string[] {
    const atAddress: string[] = [];
    const atHost: string[] = [];
    for (const known of this.network.byAddress.get(address) ?? []) {
      for (const { id, addressIds } of this.ofHost.get(known.host_id) ?? []) {
        if (addressIds === null) atHost.push(id);
        else if (addressIds.includes(known.id)) atAddress.push(id);
      }
    }
    return [...new Set([...(this.named.get(address) ?? []), ...atAddress, ...atHost, ...this.broadcast])];
  }
}
